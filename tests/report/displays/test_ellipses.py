import numpy as np
import pytest
from report.pictures import blobs, new_axes, note, words

from vicinal import (
    DivergenceEmbedding,
    DivergenceNeighbors,
    LocalComponents,
    NeighborhoodComponents,
)
from vicinal.report import LocalEllipsesDisplay
from vicinal.report.numbers.shapes import far_apart, spread_out

X, y = blobs(3, 150, n_components=4)


@pytest.fixture(scope="module")
def divergence():
    return DivergenceNeighbors(n_neighbors=12, gamma=0.1).fit(X)


def ellipses(model, *args, **options):
    return LocalEllipsesDisplay.from_estimator(model, *args, ax=new_axes(), **options)


def row_of(center, points):
    return int(np.square(points - center).sum(axis=1).argmin())


def test_covariances_are_those_of_the_chosen_features(divergence):
    display = ellipses(divergence, X, y, features=(1, 3))
    whole = divergence.gaussians_.covariances()
    for center, covariance in zip(display.centers, display.covariances, strict=True):
        row = row_of(center, X[:, [1, 3]])
        np.testing.assert_allclose(center, X[row, [1, 3]])
        np.testing.assert_allclose(covariance, whole[row][np.ix_([1, 3], [1, 3])])
    assert words(display.names_) == ["0", "1", "2"]


def test_half_axes_and_angles():
    angle = 0.3
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    covariance = rotation @ np.diag([4.0, 0.25]) @ rotation.T
    display = LocalEllipsesDisplay(X[:, :2], [[1.0, 2.0]], [covariance])
    drawn = display.plot(ax=new_axes(), n_std=2.0).ellipses_
    display.figure_.draw_without_rendering()  # only then are they given their shapes
    circle = drawn.get_paths()[0].vertices
    rim = circle[np.isclose(np.linalg.norm(circle, axis=1), circle.max())]
    rim = rim @ drawn.get_transforms()[0][:2, :2].T
    squared = np.einsum("ni,ij,nj->n", rim, np.linalg.inv(covariance), rim)
    np.testing.assert_allclose(squared, 2.0**2)  # 2 standard deviations from the center
    np.testing.assert_array_equal(drawn.get_offsets(), [[1.0, 2.0]])
    assert note(display) == "1 ellipse of 2 standard deviations"


def test_the_widest_plane_of_more_features(divergence):
    display = ellipses(divergence, X)
    assert display.ax_.get_aspect() == 1
    assert note(display).startswith("plane of largest variance")
    assert (np.linalg.eigvalsh(display.covariances) > 0).all()


def test_an_embedding_shows_the_gaussians_of_its_neighbors(divergence):
    model = DivergenceEmbedding(method="mds", n_neighbors=12, gamma=0.1, random_state=0).fit(X)
    one, other = (ellipses(m, X, features=(0, 1)).covariances for m in (model, divergence))
    np.testing.assert_allclose(one, other)


def test_local_covariances():
    model = LocalComponents(covariance="local", smoothing=20).fit(X[:, :2])
    display = ellipses(model, X[:, :2])
    row = row_of(display.centers[0], X[:, :2])
    np.testing.assert_allclose(display.covariances[0], model.local_covariances_[row])


def test_a_shared_covariance():
    model = LocalComponents(gaussian="search").fit(X)
    display = ellipses(model, X, features=(0, 1))
    expected = np.broadcast_to(model.covariance_[:2, :2], display.covariances.shape)
    np.testing.assert_allclose(display.covariances, expected)
    said = "one covariance for all kernels"
    assert said in note(display)
    assert ("Gaussian directions as wide" in note(display)) == (model.n_gaussian_ > 0)


def test_other_points_than_those_learned_from(divergence):
    display = ellipses(divergence, X[:10] + 1.0, features=(0, 1))
    np.testing.assert_allclose(display.points, X[:10, :2] + 1.0)
    assert row_of(display.centers[0], X[:, :2]) < len(X)


def test_ellipses_are_spread_and_hardly_overlap(divergence):
    display = ellipses(divergence, X, features=(0, 1), n_ellipses=25, n_std=0.5)
    assert 5 < len(display.centers) <= 25
    gaps = np.linalg.norm(display.centers[:, None] - display.centers, axis=2)
    assert gaps[~np.eye(len(gaps), dtype=bool)].min() > 0
    np.testing.assert_array_equal(
        far_apart(display.centers, 0.25 * display.covariances), np.arange(len(display.centers))
    )


def test_ellipses_that_overlap_are_left_out():
    centers = np.array([[0.0, 0.0], [0.5, 0.0], [9.0, 0.0]])
    np.testing.assert_array_equal(far_apart(centers, np.array([np.eye(2)] * 3)), [0, 2])


def test_one_point_for_each_full_cell():
    rng = np.random.default_rng(0)
    points = rng.standard_normal((5000, 2))
    chosen = spread_out(points, 30)
    assert len(set(chosen)) == 30
    assert np.ptp(points[chosen], axis=0).min() > 3
    assert len(spread_out(np.zeros((10, 2)), 5)) == 1


def test_a_million_points_are_sampled():
    points = np.random.default_rng(0).standard_normal((1_000_000, 2))
    display = ellipses(LocalComponents().fit(points[:100]), points)
    assert "a sample of 20,000 of 1,000,000 points" in note(display)


def test_ellipses_are_inside_the_frame():
    display = LocalEllipsesDisplay(X[:, :2], [[0.0, 0.0]], [np.diag([100.0, 400.0])])
    ax = display.plot(ax=new_axes()).ax_
    assert ax.get_xlim()[0] < -10
    assert ax.get_ylim()[1] > 20


@pytest.mark.parametrize("n_classes", [2, 26])
def test_classes(n_classes):
    points, labels = blobs(n_classes, 5 * n_classes)
    display = LocalEllipsesDisplay(points, points[:2], [np.eye(2)] * 2, labels)
    assert len(display.plot(ax=new_axes()).names_) == n_classes


def test_bad_input(divergence):
    with pytest.raises(ValueError, match=r"covariances has shape \(2, 2\), expected \(1, 2, 2\)"):
        LocalEllipsesDisplay(X[:, :2], X[:1, :2], np.eye(2)).plot(ax=new_axes())
    with pytest.raises(ValueError, match="n_ellipses=0"):
        ellipses(divergence, X, n_ellipses=0)
    with pytest.raises(ValueError, match="X has 1 feature"):
        ellipses(DivergenceNeighbors().fit(X[:, :1]), X[:, :1])
    with pytest.raises(TypeError, match="NeighborhoodComponents, which has no local Gaussians"):
        ellipses(NeighborhoodComponents(2).fit(X, y), X)
