import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report.pictures import new_axes, note
from scipy.stats import binomtest
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_iris
from sklearn.metrics import brier_score_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import LatentCoincidence, NeighborhoodComponents
from vicinal.report import ReliabilityDisplay
from vicinal.report.numbers.calibration import equal_count_bins, wilson_interval

X, y = load_iris(return_X_y=True)
rng = np.random.default_rng(0)
PAIRS = rng.integers(len(X), size=(1200, 2))
SAME = y[PAIRS[:, 0]] == y[PAIRS[:, 1]]


@pytest.fixture(scope="module")
def model():
    return LatentCoincidence().fit_pairs(PAIRS[:600], SAME[:600], X)


def predictions(y_true, y_prob, **options):
    return ReliabilityDisplay.from_predictions(y_true, y_prob, ax=new_axes(), **options)


def shown(display):
    line, _, (bars,) = display.line_
    return np.column_stack(line.get_data()), np.array(bars.get_segments())


def test_bins_by_hand():
    said = [0.1, 0.9, 0.2, 0.8, 0.3, 0.5]
    happened = [0, 1, 1, 1, 0, 0]
    display = predictions(happened, said, n_bins=3)
    points, bars = shown(display)
    np.testing.assert_allclose(points, [(0.15, 0.5), (0.4, 0.0), (0.85, 1.0)])
    assert display.counts.tolist() == [2, 2, 2]
    assert display.calibration_error_ == pytest.approx((0.35 + 0.4 + 0.15) / 3)
    brier = np.mean([0.1**2, 0.1**2, 0.8**2, 0.2**2, 0.3**2, 0.5**2])
    assert display.brier_score == pytest.approx(brier)
    assert note(display) == (
        f"Brier score {brier:.3f}, expected calibration error 0.300\n"
        "6 predictions in 3 bins of equal count"
    )
    for (_, share), bar in zip(points, bars, strict=True):
        expected = binomtest(round(2 * share), 2).proportion_ci(method="wilson")
        np.testing.assert_allclose(bar[:, 1], expected, atol=1e-6)


def test_scikit_learn_agrees():
    said = rng.random(1000)
    happened = rng.random(1000) < said
    display = predictions(happened, said, n_bins=5)
    observed, predicted = calibration_curve(happened, said, n_bins=5, strategy="quantile")
    np.testing.assert_allclose(display.prob_true, observed)
    np.testing.assert_allclose(display.prob_pred, predicted)
    assert display.brier_score == pytest.approx(brier_score_loss(happened, said))


@given(
    st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]), min_size=1, max_size=60),
    st.integers(1, 12),
)
def test_bins_are_ordered_filled_and_share_equal_values(values, n_bins):
    values = np.array(values)
    bins = equal_count_bins(values, n_bins)
    assert set(bins) == set(range(bins.max() + 1))
    assert bins.max() < n_bins
    order = np.argsort(values)
    assert (np.diff(bins[order]) >= 0).all()
    for value in set(values):
        assert len(set(bins[values == value])) == 1


@pytest.mark.parametrize(("k", "n"), [(0, 5), (5, 5), (3, 7), (500, 1000)])
def test_wilson_intervals(k, n):
    low, high = wilson_interval(np.array([k / n]), np.array([n]))
    expected = binomtest(k, n).proportion_ci(method="wilson")
    np.testing.assert_allclose([low[0], high[0]], expected, atol=1e-6)


def test_the_histogram_counts_all_predictions():
    said = np.append(np.full(30, 0.1), np.full(10, 0.9))
    display = predictions(said > 0.5, said)
    heights = np.array([bar.get_height() for bar in display.histogram_])
    tall = np.flatnonzero(heights)
    assert heights[tall[0]] == pytest.approx(3 * heights[tall[1]])


def test_small_probabilities_are_looked_at_closely():
    display = predictions([0, 1] * 50, np.linspace(0, 0.02, 100), n_bins=1)
    assert display.ax_.get_xlim()[1] > 0.9  # one half did happen
    display = predictions([0] * 99 + [1], np.linspace(0, 0.02, 100), n_bins=1)
    assert display.ax_.get_xlim() == display.ax_.get_ylim()
    assert display.ax_.get_xlim()[1] < 0.2


def test_a_million_predictions():
    said = rng.random(1_000_000)
    display = predictions(rng.random(1_000_000) < said, said)
    assert (display.counts == 100_000).all()
    assert display.calibration_error_ < 0.005


def test_probabilities_of_pairs(model):
    display = ReliabilityDisplay.from_estimator(
        model, PAIRS[600:], SAME[600:], X=X, n_bins=4, ax=new_axes()
    )
    said = model.pair_probability(PAIRS[600:], X=X)
    other = predictions(SAME[600:], said, n_bins=4)
    np.testing.assert_array_equal(shown(display)[0], shown(other)[0])
    assert display.ax_.get_title() == "LatentCoincidence"
    points = X[PAIRS[600:]]
    as_points = ReliabilityDisplay.from_estimator(
        model, points, SAME[600:], n_bins=4, ax=new_axes()
    )
    np.testing.assert_allclose(as_points.prob_pred, display.prob_pred)
    signs = ReliabilityDisplay.from_estimator(
        model, points, 2 * SAME[600:].astype(int) - 1, n_bins=4, ax=new_axes()
    )
    np.testing.assert_array_equal(signs.prob_true, as_points.prob_true)


def test_another_base_rate(model):
    options = {"X": X, "n_bins": 1, "ax": new_axes()}
    display = ReliabilityDisplay.from_estimator(
        model, PAIRS[600:], SAME[600:], base_rate=0.01, **options
    )
    expected = model.pair_probability(PAIRS[600:], X, base_rate=0.01).mean()
    assert display.prob_pred[0] == pytest.approx(expected)


def test_everything_happened():
    display = predictions([1, 1, 1], [0.5, 0.5, 0.5])
    points, _ = shown(display)
    np.testing.assert_array_equal(points, [[0.5, 1.0]])


@pytest.mark.parametrize(
    ("y_true", "y_prob", "said"),
    [
        ([0, 2], [0.5, 0.5], "y_true has values array.*: 1 says that it happened"),
        ([0, 1], [0.5, 1.5], "y_prob must be probabilities"),
        ([0, 1], [0.5, np.nan], "y_prob must be probabilities"),
        ([0, 1], [0.5], "inconsistent"),
        ([], [], "at least one"),
    ],
)
def test_bad_predictions(y_true, y_prob, said):
    with pytest.raises(ValueError, match=said):
        predictions(y_true, y_prob)


def test_bad_bins():
    with pytest.raises(ValueError, match="n_bins=0"):
        predictions([0, 1], [0.2, 0.4], n_bins=0)
    with pytest.raises(ValueError, match="counts must be positive"):
        ReliabilityDisplay([0.1], [0.1], [0]).plot(ax=new_axes())


def test_wrong_models(model):
    with pytest.raises(TypeError, match="NeighborhoodComponents without pair_probability"):
        ReliabilityDisplay.from_estimator(NeighborhoodComponents(2).fit(X, y), PAIRS, SAME)
    chain = make_pipeline(StandardScaler(), LatentCoincidence(random_state=0)).fit(X, y)
    with pytest.raises(TypeError, match="estimator is a pipeline"):
        ReliabilityDisplay.from_estimator(chain, PAIRS, SAME)
