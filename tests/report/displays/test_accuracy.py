import numpy as np
import pytest
from report.pictures import blobs, new_axes, note, words
from sklearn.decomposition import PCA
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import DivergenceNeighbors, NeighborhoodComponents
from vicinal.report import NeighborsAccuracyDisplay

X, y = blobs(2, 90, n_components=4)
X = X * (1.0, 5.0, 1.0, 1.0) + 3 * np.random.default_rng(1).standard_normal(X.shape)
TRAIN, TEST = np.arange(45), np.arange(45, 90)


@pytest.fixture(scope="module")
def model():
    return NeighborhoodComponents(n_components=2).fit(X[TRAIN], y[TRAIN])


def curves(display):
    return {name: line.get_ydata() for name, line in display.lines_.items()}


def test_scikit_learn_agrees_on_test_points(model):
    display = NeighborsAccuracyDisplay.from_estimator(
        model, X[TRAIN], y[TRAIN], X[TEST], y[TEST], max_neighbors=9, ax=new_axes()
    )
    learned, raw = curves(display)["NeighborhoodComponents"], curves(display)["raw"]
    for k in range(1, 10):
        rule = KNeighborsClassifier(k).fit(X[TRAIN], y[TRAIN])
        assert raw[k - 1] == rule.score(X[TEST], y[TEST])
        rule.fit(model.transform(X[TRAIN]), y[TRAIN])
        assert learned[k - 1] == rule.score(model.transform(X[TEST]), y[TEST])
    assert note(display).startswith("45 test points, their neighbors among 45 others")


def test_scikit_learn_agrees_on_leaving_one_out():
    display = NeighborsAccuracyDisplay.from_predictions(
        {"raw": X}, y, max_neighbors=5, ax=new_axes()
    )
    for k in range(1, 6):
        scores = cross_val_score(KNeighborsClassifier(k), X, y, cv=LeaveOneOut())
        assert curves(display)["raw"][k - 1] == scores.mean()
    assert note(display).startswith("leave-one-out: 90 points")


def test_bands_are_standard_errors():
    display = NeighborsAccuracyDisplay({"raw": [0.5, 0.8]}, [1, 2], 100).plot(ax=new_axes())
    heights = display.bands_["raw"].get_paths()[0].vertices[:, 1]
    assert heights.min() == pytest.approx(0.5 - 0.05)
    assert heights.max() == pytest.approx(0.8 + 0.04)


def test_baselines(model):
    display = NeighborsAccuracyDisplay.from_estimator(
        model,
        X[TRAIN],
        y[TRAIN],
        X[TEST],
        y[TEST],
        baselines=("raw", "standardized", "pca"),
        max_neighbors=3,
        ax=new_axes(),
    )
    found = curves(display)
    assert list(found) == ["NeighborhoodComponents", "raw", "standardized", "PCA"]
    for name, before in (
        ("standardized", StandardScaler()),
        ("PCA", make_pipeline(StandardScaler(), PCA(2))),
    ):
        rule = make_pipeline(before, KNeighborsClassifier(3)).fit(X[TRAIN], y[TRAIN])
        assert found[name][2] == rule.score(X[TEST], y[TEST])
    assert words(display.ax_.get_legend().get_texts()) == list(found)


def test_several_models(model):
    models = {"raw": None, "$learned": model}
    display = NeighborsAccuracyDisplay.from_estimators(models, X, y, max_neighbors=4, ax=new_axes())
    assert list(display.lines_) == list(models)
    assert len({line.get_marker() for line in display.lines_.values()}) == 2


def test_labels_may_be_strings_and_unknown_in_training():
    display = NeighborsAccuracyDisplay.from_predictions(
        {"raw": [[0.0], [1.0]]},
        ["a", "b"],
        {"raw": [[0.1], [0.9], [0.5]]},
        ["a", "b", "new"],
        max_neighbors=1,
        ax=new_axes(),
    )
    assert curves(display)["raw"][0] == pytest.approx(2 / 3)


def test_twins_do_not_vote_for_themselves():
    display = NeighborsAccuracyDisplay.from_predictions(
        {"same": np.zeros((4, 1))}, [0, 1, 2, 3], max_neighbors=1, ax=new_axes()
    )
    assert curves(display)["same"][0] == 0


def test_a_million_points_are_sampled():
    rng = np.random.default_rng(0)
    points = rng.standard_normal((1_000_000, 2))
    labels = (points[:, 0] > 0).astype(int) + 2 * (points[:, 1] > 0)
    display = NeighborsAccuracyDisplay.from_predictions(
        {"raw": points}, labels, max_neighbors=3, ax=new_axes()
    )
    assert 4_900 <= display.n_scored <= 5_000
    assert f"a sample of {display.n_scored:,} of 1,000,000 points" in note(display)
    assert curves(display)["raw"].min() > 0.98


@pytest.mark.parametrize("n_classes", [2, 26])
def test_classes(n_classes):
    points, labels = blobs(n_classes, 6 * n_classes)
    display = NeighborsAccuracyDisplay.from_predictions(
        {"raw": points}, labels, max_neighbors=5, ax=new_axes()
    )
    expected = cross_val_score(KNeighborsClassifier(1), points, labels, cv=LeaveOneOut()).mean()
    assert curves(display)["raw"][0] == expected


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"max_neighbors": 90}, "max_neighbors=90 must be .* 1 to 89"),
        ({"X_test": X}, "test rows are given without y_test"),
        ({"y_test": y}, "y_test are given without test rows"),
        ({"baselines": ("lda",)}, "baselines='lda' is unknown"),
        ({"baselines": "raw"}, r"baselines='raw' must be a list: use \['raw'\]"),
    ],
)
def test_bad_input(model, options, said):
    with pytest.raises(ValueError, match=said):
        NeighborsAccuracyDisplay.from_estimator(model, X, y, ax=new_axes(), **options)


def test_bad_numbers():
    with pytest.raises(ValueError, match=r"accuracies of 'raw' has shape \(1,\), expected \(2,\)"):
        NeighborsAccuracyDisplay({"raw": [0.5]}, [1, 2], 10).plot(ax=new_axes())
    with pytest.raises(ValueError, match="n_scored=0"):
        NeighborsAccuracyDisplay({"raw": [0.5]}, [1], 0).plot(ax=new_axes())
    with pytest.raises(ValueError, match="no metric to look at"):
        NeighborsAccuracyDisplay.from_predictions({}, y, ax=new_axes())
    with pytest.raises(ValueError, match="inconsistent"):
        NeighborsAccuracyDisplay.from_predictions({"raw": X[:5]}, y, ax=new_axes())


def test_wrong_models():
    with pytest.raises(TypeError, match="distances rather than places"):
        NeighborsAccuracyDisplay.from_estimator(DivergenceNeighbors().fit(X), X, y, ax=new_axes())
