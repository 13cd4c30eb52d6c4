from dataclasses import replace

import numpy as np
import pytest
from report.pictures import blobs, new_axes, note, words
from scipy.integrate import trapezoid
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import LocalComponents, NeighborhoodComponents
from vicinal.report import DensityDisplay
from vicinal.report.numbers.marginals import (
    frame_limits,
    grid_of,
    kernel_plane,
    marginal_log_density,
    most_points,
)
from vicinal.report.numbers.plane import Plane

rng = np.random.default_rng(0)
# Two clusters along the first feature, all three correlated.
X = rng.standard_normal((120, 3)) @ [[1.0, 0.4, 0.2], [0.0, 0.8, -0.3], [0.0, 0.0, 0.6]]
X[:60, 0] += 5.0

MODELS = {
    "full": LocalComponents(),
    "gaussian": LocalComponents(gaussian="search"),
    "local": LocalComponents(covariance="local", smoothing=20),
    "student": LocalComponents(kernel="student", degrees_of_freedom=9.0),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    return MODELS[request.param].fit(X)


@pytest.fixture(scope="module")
def planar():
    return LocalComponents().fit(X[:, :2])


def density(model, X, **options):
    return DensityDisplay.from_estimator(model, X, ax=new_axes(), **options)


def test_a_marginal_is_the_integral_of_the_density(model):
    places = X[:7, [0, 2]]
    heights = np.linspace(-12, 12, 2001)
    rows = np.empty((len(places), len(heights), 3))
    rows[:, :, [0, 2]], rows[:, :, 1] = places[:, None], heights
    values = np.exp(model.score_samples(rows.reshape(-1, 3))).reshape(rows.shape[:2])
    expected = np.log(trapezoid(values, heights, axis=1))
    plane = Plane(np.zeros(3), np.eye(3)[[0, 2]])
    found = marginal_log_density(model, plane, places)
    np.testing.assert_allclose(found, expected, atol=2e-3)


def test_a_marginal_integrates_to_one(model):
    plane = kernel_plane(model, X)
    limits = frame_limits(plane.project(X))
    middle, reach = limits.mean(axis=0), np.ptp(limits, axis=0)
    grid = grid_of(
        lambda Q: marginal_log_density(model, plane, Q),
        np.array([middle - reach, middle + reach]),
        151,
    )
    inner = trapezoid(np.exp(grid.log_density), grid.axes[1], axis=1)
    assert trapezoid(inner, grid.axes[0]) == pytest.approx(1.0, abs=5e-3)


def test_kernels_are_round_in_their_plane():
    model = MODELS["gaussian"].fit(X)
    D = kernel_plane(model, X).directions
    np.testing.assert_allclose(D @ model.covariance_ @ D.T, np.eye(2), atol=1e-8)


def test_weights_of_kernels_count():
    weights = np.arange(len(X)) % 3
    plane = Plane(np.zeros(3), np.eye(3)[:2])
    model = LocalComponents().fit(X, sample_weight=weights)
    copies = LocalComponents().fit(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(
        marginal_log_density(model, plane, X[:5, :2]),
        marginal_log_density(copies, plane, X[:5, :2]),
        atol=1e-4,
    )


def test_colors_and_outliers_are_those_of_the_whole_model(model):
    display = density(model, X, features=(0, 1), n_outliers=3)
    scores = model.score_samples(X)
    np.testing.assert_allclose(np.sort(display.points_.get_array()), np.sort(scores))
    lowest = np.argsort(scores)[:3]
    np.testing.assert_allclose(display.outliers_.get_offsets(), X[lowest, :2])
    assert words(display.names_) == [str(row) for row in lowest]
    assert "the 3 of lowest log-density" in note(display)


def test_lines_enclose_shares_of_the_points(planar):
    display = density(planar, X[:, :2], grid_size=120)
    at = planar.score_samples(X[:, :2])
    inside = [(at > level).mean() for level in display.contours_.levels]
    np.testing.assert_allclose(inside, [0.99, 0.95, 0.8, 0.5], atol=0.02)
    np.testing.assert_allclose(
        display.grid_log_density[3, 7],
        planar.score_samples([[display.grid[0][3], display.grid[1][7]]])[0],
        atol=2e-3,
    )
    assert "around 50 / 80 / 95 / 99 % of the points" in note(display)


def test_features_by_name_and_through_a_pipeline():
    import pandas as pd

    frame = pd.DataFrame(X, columns=["$a", "b", "c"])
    chain = make_pipeline(StandardScaler().set_output(transform="pandas"), LocalComponents())
    display = density(chain.fit(frame), frame, features=("c", "$a"))
    assert display.ax_.get_xlabel() == "c"
    assert display.ax_.get_ylabel() == "$a"
    scaled = chain[0].transform(frame).to_numpy()
    np.testing.assert_allclose(np.sort(display.points), np.sort(scaled[:, [2, 0]]))


def test_of_more_features_the_plane_of_the_kernels():
    model = MODELS["full"].fit(X)
    display = density(model, X)
    assert display.ax_.get_aspect() == 1
    assert "unit: width of a kernel" in note(display)
    # The clusters lie along the first axis.
    first = display.points[:, 0]
    assert abs(first[:60].mean() - first[60:].mean()) > 2 * first[:60].std()


def test_one_feature():
    model = LocalComponents().fit(X[:, :1])
    display = density(model, X[:, :1], feature_names=["only"])
    x, height = display.line_.get_data()
    np.testing.assert_allclose(height, np.exp(model.score_samples(x[:, None])), rtol=2e-3)
    assert set(display.points_.get_offsets()[:, 0]) == set(X[:, 0])
    assert display.points_.get_offsets()[:, 1].max() < 0
    assert display.ax_.get_xlabel() == "only"
    assert display.contours_ is None


def test_other_densities_of_two_features():
    kernels = KernelDensity(bandwidth=0.5).fit(X[:, :2])
    display = density(kernels, X[:, :2])
    places = np.array([[display.grid[0][5], display.grid[1][9]]])
    assert display.grid_log_density[5, 9] == pytest.approx(kernels.score_samples(places)[0])


def test_kernels_that_end_leave_holes():
    kernels = KernelDensity(bandwidth=0.5, kernel="tophat").fit(X[:, :2])
    assert len(density(kernels, X[:, :2]).contours_.levels) > 0


def test_other_densities_of_more_features_have_no_lines():
    display = density(GaussianMixture(2, random_state=0).fit(X), X)
    assert display.contours_ is None
    assert note(display).startswith("plane of largest variance")


def test_a_million_points_are_sampled():
    points = np.random.default_rng(1).standard_normal((1_000_000, 2))
    model = LocalComponents().fit(points[:200])
    display = density(model, points)
    assert len(display.log_density) == 20_000
    assert note(display).startswith("a sample of 20,000 of 1,000,000 points")
    assert display.points_.get_rasterized()
    row = int(display.names_[0].get_text())
    np.testing.assert_allclose(display.outliers_.get_offsets()[0], points[row])


def test_fewer_points_are_scored_beside_many_kernels():
    model = LocalComponents().fit(X[:20])
    assert most_points(model) == 20_000
    model._density = replace(model._density, points=range(400_000))
    assert most_points(model) == 10_000


def test_a_million_points_that_have_scores():
    points = np.random.default_rng(1).standard_normal((1_000_000, 2))
    score = -np.square(points).sum(axis=1)
    display = DensityDisplay.from_predictions(points, score, n_outliers=2, ax=new_axes())
    assert words(display.names_) == [str(row) for row in np.argsort(score)[:2]]
    assert len(display.points_.get_offsets()) <= 20_002


def test_scores_of_points_in_space():
    display = DensityDisplay.from_predictions(X, X[:, 0], value_name="$score", ax=new_axes())
    assert display.colorbar_.ax.get_ylabel() == "$score"
    assert note(display).startswith("plane of largest variance")


def test_a_very_far_point_is_left_outside_and_counted():
    points, _ = blobs(1, 300)
    points[0] = 1e4
    score = np.arange(300.0)
    display = DensityDisplay.from_predictions(points, score, ax=new_axes())
    assert np.ptp(display.ax_.get_xlim()) < 200
    assert words(display.names_) == ["1", "2", "3", "4"]
    assert "1 far point outside the frame" in note(display)


def test_scores_of_minus_infinity_are_outliers():
    score = np.append(np.zeros(20), -np.inf)
    display = DensityDisplay.from_predictions(blobs(1, 21)[0], score, n_outliers=1, ax=new_axes())
    assert words(display.names_) == ["20"]
    display.figure_.draw_without_rendering()


def test_few_points_have_as_many_outliers():
    display = DensityDisplay.from_predictions([[0.0, 0.0], [1.0, 1.0]], [0, 1], ax=new_axes())
    assert words(display.names_) == ["0", "1"]


def test_no_outliers(planar):
    display = density(planar, X[:, :2], n_outliers=0)
    assert display.names_ == []
    assert "ringed" not in note(display)


def test_a_constant_coordinate():
    points = np.column_stack([X[:, 0], np.ones(len(X))])
    display = DensityDisplay.from_predictions(points, X[:, 0], ax=new_axes())
    assert len(display.points_.get_offsets()) == len(X)


@pytest.mark.parametrize(
    ("points", "score", "said"),
    [
        (np.zeros((3, 2)), [1, 2], "inconsistent"),
        (np.zeros((2, 2)), [np.nan, 1], "log_density is NaN for 1 points"),
        (np.zeros((2, 3)), [0, 1], "points has 3 columns"),
    ],
)
def test_bad_input(points, score, said):
    with pytest.raises(ValueError, match=said):
        DensityDisplay(points, score).plot(ax=new_axes())


@pytest.mark.parametrize(
    ("features", "said"),
    [
        ((0, 0), "names the same feature twice"),
        ((0, 5), "5 is no position from 0 to 1"),
        (("x0", "y"), "'y' is the name of 0 features.* there are x0, x1"),
        ((0,), "must be two names or two positions"),
        ("x0", "must be two names or two positions"),
    ],
)
def test_bad_features(planar, features, said):
    with pytest.raises(ValueError, match=said):
        density(planar, X[:, :2], features=features)


def test_wrong_models():
    model = NeighborhoodComponents(2).fit(X, np.arange(len(X)) % 2)
    with pytest.raises(TypeError, match="NeighborhoodComponents without score_samples"):
        density(model, X)
