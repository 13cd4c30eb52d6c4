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
