"""The page as a file: what it says, and what it refuses."""

import base64
import json
import re

import numpy as np
import pytest
from report.page.conftest import EVIL
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from vicinal import (
    CoincidenceClassifier,
    DivergenceEmbedding,
    DivergenceNeighbors,
    LatentCoincidence,
    LocalComponents,
    NeighborhoodComponents,
)
from vicinal.report import write_report
from vicinal.report.names import plain_text
from vicinal.report.page import learning


def words_of(path):
    """The text of a page, without scripts and styles."""
    page = path.read_text()
    page = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


def data_of(path):
    found = re.search(r'id="data">(.*?)</script>', path.read_text(), flags=re.DOTALL)
    return json.loads(found[1])


def unpacked(packed):
    return np.frombuffer(base64.b64decode(packed["bytes"]), dtype=f"<{packed['dtype']}")


def test_the_page_says_what_was_done(iris_page):
    words = words_of(iris_page)
    for part in (
        "What was fitted",
        "5-fold cross-validation",
        "After StandardScaler",
        "percentage points (95 % interval",
        "Neighbors of a chosen row",
        "Which features matter",
        "How the fit went",
        "from vicinal import NeighborhoodComponents",
        "1 of 150 rows repeat another one",
    ):
        assert part in words


def test_user_text_never_becomes_markup(iris_page):
    page = iris_page.read_text()
    assert EVIL not in page
    assert "<img src=x" not in page
    assert page.count("<script") == 3  # the data, plotly and our own


def test_every_family(iris, tmp_path):
    models = [
        LocalComponents(regularization=0.01),
        LocalComponents(regularization=0.01, gaussian="em"),
        LatentCoincidence(2, pairs="all", random_state=0),
        DivergenceEmbedding(method="laplacian", gamma=0.1, n_graph_neighbors=60, random_state=0),
        DivergenceEmbedding(method="tsne", gamma=0.1, random_state=0),
        NeighborhoodComponents(1, max_iter=30),
        NeighborhoodComponents(3),
    ]
    for model in models:
        model.fit(iris.data, iris.target)
        path = tmp_path / "page.html"
        write_report(model, iris.data, iris.target, path, cv=None)
        assert type(model).__name__ in words_of(path)


def test_without_labels(iris, tmp_path):
    path = tmp_path / "page.html"
    write_report(LocalComponents(regularization=0.01).fit(iris.data), iris.data, None, path)
    words = words_of(path)
    assert "before and after" not in words
    assert "Mean log-density of these rows" in words
    assert "The least likely of them" in words
    assert data_of(path)["points"]["labels"] is None


def test_a_single_feature(iris, tmp_path):
    path = tmp_path / "page.html"
    model = LocalComponents(regularization=0.01).fit(iris.data[:, :1])
    write_report(model, iris.data[:, :1], iris.target, path)
    assert "Density and outliers" in words_of(path)


def test_of_many_rows_some_are_scored(iris, tmp_path, monkeypatch):
    monkeypatch.setattr(learning, "MOST_SCORED", 40)
    path = tmp_path / "page.html"
    X = iris.data.copy()
    X[7] += 100.0
    model = LocalComponents(regularization=0.01).fit(X)
    seen = []
    score = LocalComponents.score_samples
    monkeypatch.setattr(
        LocalComponents, "score_samples", lambda self, X: seen.append(len(X)) or score(self, X)
    )
    write_report(model, X, None, path)
    assert max(seen) == 40
    assert "Mean log-density of a sample of 40 rows" in words_of(path)


def test_rows_to_judge_by(iris, iris_model, tmp_path):
    path = tmp_path / "page.html"
    X, y = iris.data, iris.target
    write_report(iris_model, X[::2], y[::2], path, X_test=X[1::2], y_test=y[1::2])
    assert "75 test rows, named by their 5 nearest among 75 training rows" in words_of(path)
    with pytest.raises(ValueError, match="X_test and y_test go together"):
        write_report(iris_model, X, y, path, X_test=X)


def test_slow_fits_are_not_repeated(iris, iris_model, tmp_path, monkeypatch):
    history = {**iris_model[-1].history_, "time": iris_model[-1].history_["time"] + 60.0}
    monkeypatch.setattr(iris_model[-1], "history_", history)
    path = tmp_path / "page.html"
    write_report(iris_model, iris.data, iris.target, path)
    assert "flattered" in words_of(path)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"cv": 1}, "cv=1 must be a whole number from 2 to 150"),
        ({"class_names": ["a"]}, "class_names has 1 names, but y has 3 classes"),
        ({"feature_names": ["a"]}, "feature_names is 1 names"),
    ],
)
def test_names_that_do_not_fit(iris, iris_model, tmp_path, options, said):
    with pytest.raises(ValueError, match=said):
        write_report(iris_model, iris.data, iris.target, tmp_path / "page.html", **options)
    assert list(tmp_path.iterdir()) == []


def test_models_without_coordinates(iris, tmp_path):
    path = tmp_path / "page.html"
    model = DivergenceNeighbors(gamma=0.1).fit(iris.data)
    with pytest.raises(TypeError, match="distances rather than coordinates"):
        write_report(model, iris.data, iris.target, path)
    classifier = KNeighborsClassifier().fit(iris.data, iris.target)
    with pytest.raises(TypeError, match="KNeighborsClassifier places no rows"):
        write_report(classifier, iris.data, iris.target, path)


def test_distances_to_means_are_coordinates(iris, tmp_path):
    path = tmp_path / "page.html"
    model = CoincidenceClassifier(max_iter=5, tol=1.0).fit(iris.data, iris.target)
    write_report(model, iris.data, iris.target, path)
    assert "CoincidenceClassifier" in path.read_text()


def test_data_frames(iris, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(iris.data, columns=["sl", "sw", "pl", "pw"])
    model = NeighborhoodComponents(2).fit(frame, iris.target)
    path = tmp_path / "page.html"
    write_report(model, frame, iris.target_names[iris.target], path)
    features = data_of(path)["choice"]["features"]
    assert len(features) == 3
    assert set(features) < {"sl", "sw", "pl", "pw"}
    assert [c["name"] for c in data_of(path)["classes"]] == ["setosa", "versicolor", "virginica"]


@pytest.mark.parametrize("missing", ["plotly", "jinja2", "matplotlib"])
def test_missing_libraries_are_named(iris, iris_model, tmp_path, monkeypatch, missing):
    monkeypatch.setitem(__import__("sys").modules, missing, None)
    with pytest.raises(ImportError, match=rf"{missing}: pip install 'vicinal\[report\]'"):
        write_report(iris_model, iris.data, iris.target, tmp_path / "page.html")


def test_a_folder_that_is_not_there(iris, iris_model, tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        write_report(iris_model, iris.data, iris.target, tmp_path / "no" / "page.html")


# ---------------------------------------------------------------------------------- hard ground


def page_of(tmp_path, *args, **options):
    path = tmp_path / "page.html"
    write_report(*args, path, **options)
    return path


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("labeled", [True, False])
def test_a_row_or_two(iris, iris_model, tmp_path, n, labeled):
    path = page_of(tmp_path, iris_model, iris.data[:n], iris.target[:n] if labeled else None)
    assert f"{n} row{'s' * (n > 1)}, 4 features" in words_of(path)
    assert data_of(path)["choice"]["k"] == n - 1


def test_one_row_with_a_density(iris, tmp_path):
    model = LocalComponents(regularization=0.01).fit(iris.data)
    words = words_of(page_of(tmp_path, model, iris.data[:1], None))
    assert "Density and outliers" in words
    assert "Which features matter" not in words  # one row does not tell
    assert "Constant" not in words


@pytest.mark.parametrize("change", ["same", "one class", "unseen", "constant"])
def test_rows_with_little_to_say(iris, iris_model, tmp_path, change):
    X, y = iris.data[::5].copy(), iris.target[::5]
    if change == "same":
        X[:] = X[0]
    elif change == "constant":
        X[:, 1] = 2.0
    y = {"one class": y * 0, "unseen": y + 10}.get(change, y)
    words = words_of(page_of(tmp_path, iris_model, X, y, cv=None))
    assert "The rows as the model places them" in words
    assert "nan" not in words.lower().split()


def test_a_class_in_one_fold_only(iris, tmp_path):
    X, y = iris.data[:12], np.array([0] * 11 + [1])
    model = NeighborhoodComponents(2).fit(X, y)
    words = words_of(page_of(tmp_path, model, X, y))
    assert "12 rows, each named by its 5 nearest among all others" in words
    assert "could not be judged by folds" in words
    with pytest.raises(ValueError, match=r"cv=3: the model cannot be fitted to a fold: y has 1"):
        page_of(tmp_path, model, X, y, cv=3)


@pytest.mark.parametrize("power", [-300, -150, 100, 150, 300])
def test_numbers_of_any_size(iris, tmp_path, power):
    X = iris.data * 10.0**power
    path = page_of(tmp_path, FunctionTransformer().fit(X), X, iris.target)
    assert not re.search(r"\b(nan|inf|infinity)\b", words_of(path).lower())
    assert "unit: 1e" in words_of(path).lower()
    values = unpacked(data_of(path)["choice"]["values"]).reshape(-1, 3)
    np.testing.assert_allclose(values[:, 0], X[:, 2], rtol=1e-6)  # the one that varies most
    distances = unpacked(data_of(path)["choice"]["after"]["distance"]).reshape(150, -1)
    apart = np.sort(np.linalg.norm(iris.data[:, None] - iris.data, axis=2), axis=1)[:, 1:6]
    np.testing.assert_allclose(distances / 10.0**power, apart, rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize(
    ("X", "y", "error", "said"),
    [
        (np.nan, 0, ValueError, r"X has NaN, or a number too large, in 1 of 150 rows \(row 7"),
        (np.inf, 0, ValueError, "X has NaN, or a number too large, in 1 of 150 rows"),
        (0, np.nan, ValueError, r"y names no class .* in 1 of 150 rows"),
        (0, None, ValueError, r"y names no class .* in 1 of 150 rows"),
        (0, "a", TypeError, r"y has labels of types without a common order \(int, str\)"),
    ],
)
def test_what_is_no_number_and_no_class(iris, iris_model, tmp_path, X, y, error, said):
    rows, labels = iris.data.copy(), iris.target.astype(object)
    rows[7, 2] = X
    labels[7] = y
    with pytest.raises(error, match=said):
        page_of(tmp_path, iris_model, rows, labels)


def test_test_rows_are_looked_at_too(iris, iris_model, tmp_path):
    X, y, nothing = iris.data, iris.target, np.full((1, 4), np.nan)
    with pytest.raises(ValueError, match="X_test has NaN"):
        page_of(tmp_path, iris_model, X, y, X_test=nothing, y_test=[0])
    with pytest.raises(ValueError, match="y_test names no class"):
        page_of(tmp_path, iris_model, X, y, X_test=X[:1], y_test=[np.nan])


def test_numbers_that_a_step_cannot_hold(iris, tmp_path):
    model = make_pipeline(FunctionTransformer(lambda X: X * 1e300), FunctionTransformer())
    model.fit(iris.data)
    with np.errstate(over="ignore"), pytest.raises(ValueError, match="150 rows after Function"):
        page_of(tmp_path, model, iris.data * 1e300, iris.target)


@pytest.mark.parametrize(
    "name",
    [
        "\ud800 half",
        "\x00\x1b[31m",
        "\u202eturned",
        "日本語 😀",
        "",
        "$\\frac{",
        "{{ 7 * 7 }}",
        None,
    ],
)
def test_names_nobody_expects(iris, iris_model, tmp_path, name):
    path = page_of(
        tmp_path,
        iris_model,
        iris.data,
        iris.target,
        cv=None,
        feature_names=[name] * 4,
        class_names=[name] * 3,
        title=f"{name}",
        data_name=f"{name}",
        command=f"{name}",
    )
    data = data_of(path)
    assert data["choice"]["features"] == [plain_text(name)] * 3
    assert data["names"] == [plain_text(name)] * 3
    assert not re.search("[\x00-\x08\u202e]", path.read_text(encoding="utf-8"))


def test_labels_of_the_test_rows_may_be_others(iris, iris_model, tmp_path):
    path = page_of(
        tmp_path, iris_model, iris.data, iris.target, X_test=iris.data[:3], y_test=list("abc")
    )
    assert "0.0%" in words_of(path)


@pytest.mark.parametrize("n_classes", [20_000, 70_000])
def test_many_classes_are_a_group(tmp_path, n_classes):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n_classes + 5, 2)), np.append(np.arange(n_classes), [7] * 5)
    path = page_of(tmp_path, PCA().fit(X), X, y)
    words, data = words_of(path), data_of(path)
    assert f"the 40 largest of {n_classes:,} classes; gray: the {n_classes - 40:,} others" in words
    assert len(data["classes"]) == 41
    assert len(unpacked(data["choice"]["rows"])) == 2000
    assert path.stat().st_size < 6_000_000


def test_outliers_are_called_by_the_same_rows_everywhere(iris, tmp_path, monkeypatch):
    monkeypatch.setattr(learning, "MOST_SCORED", 40)
    model = LocalComponents(regularization=0.01).fit(iris.data)
    page = page_of(tmp_path, model, iris.data, None).read_text()
    section = page[page.index("Density and outliers") :]
    listed = re.findall(r'<th scope="row" class="number">(\d+)</th>', section)[:5]
    ringed = re.findall(r">(\d+)</text>", section[: section.index("How the fit went")])
    assert set(listed) <= set(ringed)
