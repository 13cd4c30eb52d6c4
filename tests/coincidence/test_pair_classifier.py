import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, fbeta_score, roc_auc_score

from vicinal import LatentCoincidence
from vicinal.coincidence.pair_classifier import STRATEGIES, best_threshold, even_distance

X, CLASSES = load_iris(return_X_y=True)
RNG = np.random.default_rng(0)
PAIRS = RNG.integers(len(X), size=(1200, 2))
SAME = (CLASSES[PAIRS[:, 0]] == CLASSES[PAIRS[:, 1]]).astype(int)
LEARNED, NEW = slice(0, 600), slice(600, None)
ALL_STRATEGIES = [
    {"strategy": "accuracy"},
    {"strategy": "f_beta", "beta": 2.0},
    {"strategy": "max_tpr", "min_rate": 0.95},
    {"strategy": "max_tnr", "min_rate": 0.9},
]


@pytest.fixture
def model():
    return LatentCoincidence().fit_pairs(PAIRS[LEARNED], SAME[LEARNED], X)


def test_before_calibration_the_likelier_is_predicted(model):
    predicted = model.predict_pairs(PAIRS[NEW], X)
    assert predicted.dtype.kind == "i"
    assert_array_equal(predicted, model.pair_probability(PAIRS[NEW], X) >= 0.5)
    assert_array_equal(predicted, model.predict_pairs(X[PAIRS[NEW]]))
    assert_array_equal(predicted, model.pair_score(PAIRS[NEW], X) >= -model.threshold_)
    assert_allclose(model.score_pairs(PAIRS[NEW], SAME[NEW], X), (predicted == SAME[NEW]).mean())
    assert model.score_pairs(X[PAIRS[NEW]], SAME[NEW]) > 0.85
    assert roc_auc_score(SAME[NEW], model.pair_score(PAIRS[NEW], X)) > 0.9


@pytest.mark.parametrize("learn", ["fit", "fit_pairs", "local"])
def test_every_fit_sets_the_threshold(model, learn):
    model.calibrate_threshold(PAIRS[NEW], SAME[NEW], X, strategy="max_tnr", min_rate=1.0)
    calibrated = model.threshold_
    if learn == "fit":
        model.fit(X, CLASSES)
    else:
        model.set_params(scale="local" if learn == "local" else "shared")
        model.fit_pairs(PAIRS[LEARNED], SAME[LEARNED], X)
    assert model.threshold_ == even_distance(len(model.components_), model.sigma2_) != calibrated


@pytest.mark.parametrize(("p", "sigma2"), [(1, 0.0), (3, 0.05), (2, 0.49), (1, 1.4)])
def test_the_distance_of_an_even_chance(p, sigma2):
    c = 1 + 2 * sigma2
    assert_allclose(c ** (-p / 2) * np.exp(-(even_distance(p, sigma2) ** 2) / (2 * c)), 0.5)


def test_where_no_pair_is_likely_to_coincide_none_is_predicted():
    """Only the noise explains equal points that belong together in 3 of 10 cases."""
    pairs = RNG.normal(size=(10, 1, 2)).repeat(2, axis=1)
    model = LatentCoincidence().fit_pairs(pairs, np.arange(10) < 3)
    assert model.threshold_ < 0
    assert not model.predict_pairs(pairs).any()
    assert model.score_pairs(pairs, np.arange(10) < 3) == 0.7


@pytest.mark.parametrize("labels", [SAME, SAME == 1, 2 * SAME - 1, SAME.astype(float)])
def test_labels_of_every_kind_say_the_same(model, labels):
    again = LatentCoincidence().fit_pairs(PAIRS[LEARNED], labels[LEARNED], X)
    assert_array_equal(again.components_, model.components_)
    expected = model.score_pairs(PAIRS[NEW], SAME[NEW], X)
    assert again.score_pairs(PAIRS[NEW], labels[NEW], X) == expected
    again.calibrate_threshold(PAIRS[NEW], labels[NEW], X)
    assert again.threshold_ == model.calibrate_threshold(PAIRS[NEW], SAME[NEW], X).threshold_


@pytest.mark.parametrize("settings", ALL_STRATEGIES, ids=lambda settings: settings["strategy"])
def test_calibration_is_what_is_predicted_by(model, settings):
    default = model.predict_pairs(PAIRS[NEW], X)
    assert model.calibrate_threshold(PAIRS[NEW], SAME[NEW], X, **settings) is model
    predicted, y = model.predict_pairs(PAIRS[NEW], X), SAME[NEW]
    if settings["strategy"] == "accuracy":
        assert accuracy_score(y, predicted) >= accuracy_score(y, default)
    elif settings["strategy"] == "f_beta":
        assert fbeta_score(y, predicted, beta=2) >= fbeta_score(y, default, beta=2)
    elif settings["strategy"] == "max_tpr":
        assert (predicted[y == 0] == 0).mean() >= 0.95
    else:
        assert (predicted[y == 1] == 1).mean() >= 0.9


# Few distances, many of them equal, zeros and neighbors among numbers with them.
DISTANCES = st.sampled_from([0.0, 5e-324, 0.5, 1.0, np.nextafter(1.0, 2.0), 2.0, 3.5, 1e308])
LABELED = st.lists(st.tuples(DISTANCES, st.booleans()), min_size=2, max_size=25).filter(
    lambda pairs: len({coincide for _, coincide in pairs}) == 2
)


def rates(predicted, coincide):
    return predicted[coincide].mean(), 1.0 - predicted[~coincide].mean()


def goodness(predicted, coincide, strategy, beta, min_rate):
    """What a strategy makes as large as it can; what it may not do is -1."""
    tpr, tnr = rates(predicted, coincide)
    if strategy == "accuracy":
        return accuracy_score(coincide, predicted)
    if strategy == "f_beta":
        return fbeta_score(coincide, predicted, beta=beta, zero_division=0.0)
    kept, wanted = (tnr, tpr) if strategy == "max_tpr" else (tpr, tnr)
    return wanted if kept >= min_rate - 1e-12 else -1.0


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(LABELED, st.sampled_from([0.0, 0.5, 1.0, 3.0]), st.sampled_from([0.0, 0.3, 0.5, 0.8, 1.0]))
def test_no_threshold_is_better(strategy, labeled, beta, min_rate):
    distances, coincide = (np.array(part) for part in zip(*labeled, strict=True))
    threshold = best_threshold(distances, coincide, strategy, beta, min_rate)
    assert np.isfinite(threshold)
    found = distances <= threshold
    reached = goodness(found, coincide, strategy, beta, min_rate)
    assert reached >= 0
    equally_good = []
    for other in [-1.0, *np.unique(distances)]:  # one threshold for all ways to label them
        predicted = distances <= other
        value = goodness(predicted, coincide, strategy, beta, min_rate)
        assert value <= reached + 1e-12
        if value >= reached - 1e-12:
            equally_good.append(predicted.sum())
    assert found.sum() == (max if strategy == "max_tnr" else min)(equally_good)


def test_of_equal_scores_the_lower_threshold_whatever_rounding_says():
    """F of 1/2 is 5/6 for two of four that coincide, and for all four and one that does not."""
    distances = np.array([0.0, 0.0, 1.0, 1.0, 1.0])
    coincide = np.array([True, True, False, True, True])
    assert best_threshold(distances, coincide, "f_beta", beta=0.5) == 0.5


def test_a_threshold_lies_between_distances():
    distances = np.array([1.0, 2.0, 4.0, 8.0])
    coincide = np.array([True, True, False, False])
    assert best_threshold(distances, coincide, "accuracy") == 3.0
    assert best_threshold(distances, ~coincide, "accuracy") == 0.5
    assert best_threshold(distances, ~coincide, "max_tnr", min_rate=1.0) == 16.0
    assert best_threshold(distances.astype(np.float32), coincide, "accuracy") == 3.0


def test_single_precision_is_labeled_by_the_threshold_itself():
    model = LatentCoincidence().fit_pairs(PAIRS[LEARNED], SAME[LEARNED], X.astype(np.float32))
    model.components_ = np.eye(4, dtype=np.float32)
    one, next_one = np.float32(1.0), np.nextafter(np.float32(1.0), np.float32(2.0))
    pairs = np.zeros((2, 2, 4), dtype=np.float32)
    pairs[:, 1, 0] = one, next_one
    model.calibrate_threshold(pairs, [1, 0])
    assert float(one) < model.threshold_ < float(next_one)
    assert_array_equal(model.predict_pairs(pairs), [1, 0])


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"strategy": "best"}, ValueError, "strategy='best' is unknown: use one of 'accuracy', 'f"),
        ({"strategy": "max_tpr"}, ValueError, "strategy='max_tpr' needs min_rate"),
        ({"strategy": "max_tnr", "min_rate": 1.1}, ValueError, r"min_rate=1\.1 must lie between"),
        ({"strategy": "max_tnr", "min_rate": "1"}, TypeError, "min_rate='1' must be a number"),
        ({"min_rate": 0.5}, ValueError, r"min_rate=0\.5 has no meaning with strategy='accuracy'"),
        ({"strategy": "f_beta", "beta": -1.0}, ValueError, r"beta=-1\.0 must be finite and 0 or"),
        ({"y": np.ones(600)}, ValueError, "all 600 pairs in y coincide: pairs of both kinds"),
        ({"y": np.arange(600) % 3 - 1}, ValueError, r"y has labels array\(\[-1\]\): 1 says that"),
        ({"y": np.ones(3)}, ValueError, r"y has shape \(3,\), expected \(600,\)"),
    ],
)
def test_wrong_arguments_are_named(model, settings, error, message):
    before = model.threshold_
    with pytest.raises(error, match=message):
        model.calibrate_threshold(PAIRS[NEW], settings.pop("y", SAME[NEW]), X, **settings)
    assert model.threshold_ == before


def test_scores_need_pairs_but_not_of_both_kinds(model):
    together = PAIRS[NEW][SAME[NEW] == 1]
    assert model.score_pairs(together, np.ones(len(together)), X) > 0.8
    with pytest.raises(ValueError, match="pairs is empty: there is nothing to score"):
        model.score_pairs(np.empty((0, 2), dtype=int), [], X)
    for method in ("predict_pairs", "score_pairs", "calibrate_threshold"):
        arguments = (PAIRS, X) if method == "predict_pairs" else (PAIRS, SAME, X)
        with pytest.raises(NotFittedError):
            getattr(LatentCoincidence(), method)(*arguments)
