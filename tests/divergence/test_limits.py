"""What has no room is refused before any work, with its size and the remedy."""

from unittest.mock import patch

import numpy as np
import pytest

from vicinal import DivergenceEmbedding, DivergenceNeighbors
from vicinal.divergence import density_paths, local_gaussians, pairwise
from vicinal.divergence.limits import check_room, in_precision

N = 40_000  # 12.8 GB of all pairs


@pytest.fixture
def many():
    return np.random.default_rng(0).normal(size=(N, 2))


@pytest.fixture
def no_work():
    """Any search for neighbors, the first work there is, would be an error."""
    with patch("vicinal.divergence.local.nearest", side_effect=AssertionError):
        yield


def test_sizes_are_those_of_double_precision():
    check_room("this", (31_622, 31_622), "that")
    message = r"this would take 8 GB \(1000 × 1000001 numbers\), more than 8 GB: do that\."
    with pytest.raises(ValueError, match=message):
        check_room("this", (1000, 1_000_001), "do that")


@pytest.mark.usefixtures("no_work")
def test_all_divergences_of_many_points_are_refused(many):
    with pytest.raises(ValueError, match=r"12\.8 GB \(40000 × 40000.*set n_graph_neighbors"):
        DivergenceNeighbors(n_graph_neighbors=None).fit_transform(many)


@pytest.mark.usefixtures("no_work")
def test_all_divergences_of_many_new_points_are_refused_before_the_fit(many):
    with pytest.raises(ValueError, match=r"12\.8 GB \(40000 × 40000.*transform fewer rows"):
        pairwise(many, many)
    with pytest.raises(ValueError, match=r"12\.8 GB \(40000 × 40000"):
        DivergenceNeighbors(divergence="euclidean", n_graph_neighbors=None).fit_transform(many)


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("method", ["isomap", "mds"])
def test_embeddings_that_need_all_distances_are_refused(many, method):
    message = rf'method="{method}", would take 12\.8 GB.*transform the others.*method="laplacian"'
    with pytest.raises(ValueError, match=message):
        DivergenceEmbedding(method=method).fit(many)


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(("method", "n", "others"), [("tsne", 51_000, ""), ("lle", 301_000, "tr")])
def test_embeddings_that_take_long_say_so_before(method, n, others):
    X = np.random.default_rng(0).normal(size=(n, 2))
    model = DivergenceEmbedding(method=method, search="exact", n_candidates=500)
    with (
        pytest.warns(UserWarning, match=f'method="{method}" of {n} points.* minutes.*{others}'),
        pytest.raises(AssertionError),  # the first work
    ):
        model.fit(X)


def test_all_paths_of_many_points_are_refused(many):
    with pytest.raises(ValueError, match=r"lengths of all paths would take 12\.8 GB"):
        density_paths(many, n_graph_neighbors=3)


@pytest.mark.usefixtures("no_work")
def test_covariances_of_many_features_are_refused():
    X = np.random.default_rng(0).normal(size=(60, 20_000))
    with pytest.raises(ValueError, match=r"192 GB \(60 × 20000 × 20000.*DivergenceNeighbors"):
        local_gaussians(X)


@pytest.mark.parametrize("options", [{}, {"radius": 1e3}])
def test_directions_of_many_gaussians_are_refused(options):
    X = np.random.default_rng(0).normal(size=(60, 30))
    with (
        patch("vicinal.divergence.limits.MOST_BYTES", 1e5),
        pytest.raises(ValueError, match=r"directions would take .* GB \(60 × .*PCA"),
    ):
        DivergenceNeighbors(**options).fit(X)


@pytest.mark.parametrize(
    "model", [DivergenceNeighbors(), DivergenceEmbedding(), DivergenceEmbedding(method="mds")]
)
@pytest.mark.filterwarnings("ignore:the neighborhood graph has")
def test_too_many_new_points_at_a_time_are_refused(model):
    X = np.random.default_rng(0).normal(size=(60, 3))
    model.fit(X)
    with (
        patch("vicinal.divergence.limits.MOST_BYTES", 1e5),
        pytest.raises(ValueError, match=r"\(600 × 60 numbers\).*transform fewer rows"),
    ):
        model.transform(np.tile(X, (10, 1)))


@pytest.mark.parametrize(
    "options", [{"covariance": "shrunk-diagonal", "gamma": 0.1}, {"engine": "dense"}]
)
def test_comparing_in_all_of_many_dimensions_is_refused(options):
    X = np.random.default_rng(0).normal(size=(12, 20_000))
    with pytest.raises(ValueError, match=r"20000 features, at most 4000.*3\.2 GB.*8e\+12.*PCA"):
        DivergenceNeighbors(3, **options).fit_transform(X)


def test_numbers_too_large_for_single_precision_are_refused():
    assert in_precision(np.array([1e30]), np.float32, "they").dtype == np.float32
    assert in_precision(np.array([1e300]), np.float64, "they") == 1e300
    with pytest.raises(ValueError, match=r"they reach 1e\+39, too large for float32: give X as"):
        in_precision(np.array([1.0, -1e39]), np.float32, "they")


def test_divergences_too_large_for_single_precision_are_refused():
    X = np.repeat([[0.0, 0.0], [1e20, 1e20]], 15, axis=0).astype(np.float32)  # variances are gamma
    with pytest.raises(ValueError, match=r"divergences reach .*too large for float32"):
        DivergenceNeighbors(5).fit_transform(X)
    assert np.isfinite(DivergenceNeighbors(5).fit_transform(X.astype(np.float64))).all()
