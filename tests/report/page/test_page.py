"""The page as a file: what it says, and what it refuses."""

import json
import re

import pytest
from report.page.conftest import EVIL

from vicinal import (
    CoincidenceClassifier,
    DivergenceEmbedding,
    DivergenceNeighbors,
    LatentCoincidence,
    LocalComponents,
    NeighborhoodComponents,
)
from vicinal.report import write_report
from vicinal.report.page import learning


def words_of(path):
    """The text of a page, without scripts and styles."""
    page = path.read_text()
    page = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


def data_of(path):
    found = re.search(r'id="data">(.*?)</script>', path.read_text(), flags=re.DOTALL)
    return json.loads(found[1])


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
    classifier = CoincidenceClassifier(max_iter=5, tol=1.0).fit(iris.data, iris.target)
    with pytest.raises(TypeError, match="CoincidenceClassifier places no rows"):
        write_report(classifier, iris.data, iris.target, path)


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
