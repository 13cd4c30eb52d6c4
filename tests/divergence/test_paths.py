import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from vicinal import DivergenceNeighbors
from vicinal.divergence import density_paths, pairwise


def naive_paths(weights):
    """Floyd and Warshall."""
    paths = weights.copy()
    for k in range(len(paths)):
        paths = np.minimum(paths, paths[:, k, None] + paths[k])
    return paths


@pytest.fixture
def points():
    return np.random.default_rng(0).normal(size=(40, 3))


@pytest.mark.parametrize(("exponent", "norm"), [(2.0, 2.0), (3.0, 1.0), (1.0, 2.0)])
def test_paths_are_the_shortest_of_powers(points, exponent, norm):
    weights = cdist(points, points, "minkowski", p=norm) ** exponent
    assert_allclose(density_paths(points, exponent=exponent, norm=norm), naive_paths(weights))


def test_exponent_one_is_the_distance_itself(points):
    assert_allclose(density_paths(points, exponent=1.0), cdist(points, points), atol=1e-12)


def test_paths_over_a_divergence(points):
    D = pairwise(points, divergence="bhattacharyya")
    assert_allclose(density_paths(points, divergence="bhattacharyya"), naive_paths(D))
    model = DivergenceNeighbors(5, divergence="bhattacharyya", gamma=0.1)
    expected = naive_paths(model.fit_transform(points) ** 2)
    assert_allclose(density_paths(points, divergence=model, exponent=2.0), expected)


def test_paths_obey_the_triangle_inequality_where_divergences_do_not(points):
    D, paths = pairwise(points), density_paths(points, divergence="jeffreys")
    assert (D[:, :, None] > D[:, None] + D.T[None] + 1e-9).any()
    slack = paths[:, None, :] - (paths[:, :, None] + paths[None])  # i → k against i → j → k
    assert slack.max() < 1e-9 * paths.max()


def test_graph_of_neighbors_leaves_components_apart(points):
    far = np.vstack([points, points + 100])
    paths = density_paths(far, n_graph_neighbors=6)
    assert np.isinf(paths[:40, 40:]).all()
    whole = density_paths(points, n_graph_neighbors=39)
    assert_allclose(whole, density_paths(points), rtol=1e-9)


def test_duplicates_are_at_no_distance(points):
    twice = np.vstack([points, points[:3]])
    paths = density_paths(twice)
    assert_array_equal(paths[[0, 1, 2], [40, 41, 42]], 0.0)
    assert_allclose(paths[0], paths[40])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"exponent": -1.0}, "exponent=-1.0"),
        ({"norm": 0.5}, "norm=0.5 must be at least 1"),
        ({"norm": 1.0, "divergence": "jeffreys"}, "norm=1.0 has no meaning"),
        ({"n_graph_neighbors": 40}, "n_graph_neighbors=40"),
        ({"divergence": "kl"}, "divergence='kl' is unknown"),
    ],
)
def test_errors_name_the_argument(points, options, message):
    with pytest.raises(ValueError, match=message):
        density_paths(points, **options)


# --------------------------------------------------------------------------------- hostile data


@pytest.mark.parametrize("norm", [1.0, 2.0, 3.0, 50.0, 1000.0])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3, 1e100])
def test_powers_of_a_norm_are_numbers(points, norm, scale):
    """100 to the power of 1000 is none, and 0.001 to it 0: lengths were inf, or 0."""
    lengths = density_paths(scale * points, exponent=1.0, norm=norm)
    largest = cdist(points, points, "chebyshev")
    if norm <= 3:
        assert_allclose(lengths / scale, cdist(points, points, "minkowski", p=norm), atol=1e-12)
    assert (lengths >= scale * largest * (1 - 1e-12)).all()
    assert (lengths <= scale * largest * 3 ** (1 / norm) * (1 + 1e-12)).all()


@pytest.mark.parametrize("options", [{}, {"n_graph_neighbors": 12}])
def test_paths_lead_over_twins(options):
    """More twins than neighbors, and a bridge from one of them."""
    X = np.r_[np.zeros(10), 1.0, 2.0, np.full(10, 3.0)][:, None]
    paths = density_paths(X, exponent=2.0, **options)
    assert_array_equal(paths[:10, :10], 0.0)
    assert_allclose(paths[:10, -10:], 3.0)


def test_neighbors_of_a_graph_come_by_position_where_equally_near():
    X = np.array([[0.0], [1.0], [-1.0], [5.0]])
    paths = density_paths(X, exponent=1.0, n_graph_neighbors=1)
    assert_array_equal(paths[0], [0.0, 1.0, 1.0, 5.0])
    far = np.column_stack([X, np.full(4, 2.0**30)])  # products of large numbers would lose digits
    assert_array_equal(density_paths(far, exponent=1.0, n_graph_neighbors=1), paths)


@pytest.mark.parametrize(("scale", "exponent"), [(1e100, 4.0), (1e-100, 4.0), (10.0, 1000.0)])
def test_powers_of_lengths_that_are_no_numbers_are_refused(points, scale, exponent):
    with pytest.raises(ValueError, match=r"exponent=.* of lengths up to .*scale X"):
        density_paths(scale * points, exponent=exponent)


def test_gaps_that_vanish_are_none():
    X = np.array([[0.0], [1e-200], [1.0]])
    assert_allclose(density_paths(X), [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]])


@pytest.mark.parametrize("scale", [1e-160, 1e155])
def test_units_out_of_reach_are_refused_by_name(points, scale):
    with pytest.raises(ValueError, match=r"^X .*too (large|little) for float64: scale it"):
        density_paths(scale * points)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("options", [{}, {"divergence": "bhattacharyya"}])
@pytest.mark.parametrize("k", [None, 8])
def test_any_precision_and_number_of_threads(points, dtype, options, k):
    X = points.astype(dtype)
    options = {**options, "n_graph_neighbors": k}
    one, two = (density_paths(X, n_jobs=n_jobs, **options) for n_jobs in (1, 2))
    assert_array_equal(one, two)
    exact = density_paths(X.astype(np.float64), **options)
    assert_allclose(one, exact, rtol=1e-5 if dtype == np.float32 else 0)


def test_a_graph_of_all_twins():
    assert_array_equal(density_paths(np.ones((20, 2)), n_graph_neighbors=3)[0], [0.0] * 20)


# ------------------------------------------------------------------------------------ new points


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "options", [{}, {"norm": 1.0, "exponent": 3.0}, {"divergence": "bhattacharyya"}]
)
def test_new_points_go_over_an_edge_and_on_along_the_paths(points, dtype, options):
    Y, X = points.astype(dtype), points[:7].astype(dtype) + dtype(0.05)
    found = density_paths(X, Y, **options)
    paths = density_paths(Y, **options)
    if "divergence" in options:
        edges = pairwise(X, Y, **options)
    else:
        edges = cdist(X, Y, "minkowski", p=options.get("norm", 2.0))
        edges **= options.get("exponent", 2.0)
    expected = (edges[:, :, None] + paths).min(axis=1)
    assert_allclose(found, expected, rtol=1e-9 if dtype == np.float64 else 1e-4)


@pytest.mark.parametrize("options", [{}, {"divergence": "jeffreys"}])
def test_the_training_points_again_have_their_own_paths(points, options):
    assert_allclose(density_paths(points, points, **options), density_paths(points, **options),
                    rtol=1e-9, atol=1e-9)  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"divergence": "jeffreys"}])
def test_new_points_have_edges_to_the_nearest_only(points, options):
    k, X = 4, points[:5] + 0.05
    found = density_paths(X, points, n_graph_neighbors=k, **options)
    paths = density_paths(points, n_graph_neighbors=k, **options)
    edges = pairwise(X, points, **options) if options else cdist(X, points) ** 2
    for row, edge in zip(found, edges, strict=True):
        near = np.argsort(edge)[:k]
        assert_allclose(row, (edge[near, None] + paths[near]).min(axis=0), rtol=1e-9)


def test_new_points_of_other_features_are_refused(points):
    with pytest.raises(ValueError, match=r"X has 1 features, and Y has"):
        density_paths(points[:, :1], points)
