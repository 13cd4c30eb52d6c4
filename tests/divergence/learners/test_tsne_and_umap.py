"""t-SNE and UMAP: what they are given, and what is refused before they would."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.manifold._t_sne import _joint_probabilities_nn
from sklearn.neighbors import NearestNeighbors

from vicinal import DivergenceEmbedding, DivergenceNeighbors
from vicinal.divergence.learners.tsne import T_SNE, _relative
from vicinal.divergence.learners.umap import _unit_neighbors

LIGHT = {"tsne": {"max_iter": 250}, "umap": {"n_epochs": 20}}
pytestmark = pytest.mark.filterwarnings("ignore:Tensorflow not installed:ImportWarning")


@pytest.fixture
def iris():
    return load_iris().data[::3]


def graph(X, k=15):
    return DivergenceNeighbors(5, n_graph_neighbors=k, square_root=True).fit_transform(X)


def probabilities(distances, perplexity=4.0):
    near = NearestNeighbors(n_neighbors=14, metric="precomputed").fit(distances)
    squares = near.kneighbors_graph(mode="distance")
    squares.data **= 2
    return _joint_probabilities_nn(squares, perplexity, 0).toarray()


def test_the_distances_of_each_point_have_a_scale_of_their_own_in_tsne(iris):
    whole = graph(iris)
    relative = _relative(whole)
    assert_array_equal(relative.indices, whole.indices)
    assert relative.data.min() == 0.0
    assert relative.data.max() == 1.0
    assert_allclose(probabilities(relative), probabilities(whole), rtol=1e-3, atol=1e-7)


@pytest.mark.parametrize("scale", [1e-100, 1e60])
def test_the_scale_of_all_distances_changes_nothing(iris, scale):
    whole, other = graph(iris), graph(iris)
    other.data *= scale
    assert_allclose(_relative(other).data, _relative(whole).data, rtol=1e-9, atol=1e-12)
    for one, two in zip(_unit_neighbors(other), _unit_neighbors(whole), strict=True):
        assert_allclose(one, two, rtol=1e-6)


def test_umap_is_given_the_nearest_in_order_and_fewer_than_there_are_points(iris):
    whole = graph(iris.astype(np.float32), 49)
    indices, distances = _unit_neighbors(whole)
    assert indices.shape == distances.shape == (50, 49)
    assert distances.dtype == np.float32
    assert_array_equal(indices[:, 0], np.arange(50))
    assert (np.diff(distances, axis=1) >= 0).all()


@pytest.mark.parametrize("method", ["tsne", "umap"])
@pytest.mark.parametrize("scale", [1e-130, 1e130])
def test_any_scale_has_finite_coordinates(iris, method, scale):
    model = DivergenceEmbedding(method=method, random_state=0, method_params=LIGHT[method])
    assert np.isfinite(model.fit_transform(scale * iris)).all()


@pytest.mark.parametrize("method", ["tsne", "umap"])
def test_twins_and_one_far_away_have_finite_coordinates(iris, method):
    X = np.vstack([np.repeat(iris[:2], 20, axis=0), [[1e8] * 4]])
    model = DivergenceEmbedding(method=method, random_state=0, method_params=LIGHT[method])
    assert np.isfinite(model.fit_transform(X)).all()


@pytest.mark.parametrize("n", [2, 3, 5])
def test_few_points_have_a_tsne(iris, n):
    model = DivergenceEmbedding(1, method="tsne", n_neighbors=1, method_params=LIGHT["tsne"])
    assert np.isfinite(model.set_params(random_state=0).fit_transform(iris[:n])).all()


@pytest.mark.parametrize("perplexity", [0.3, 4.0, 29.7, 49.0])
def test_tsne_gets_as_many_neighbors_as_it_asks_for(iris, perplexity):
    model = DivergenceEmbedding(method="tsne", method_params={"perplexity": perplexity})
    wanted = min(49, int(3 * perplexity + 1))
    assert T_SNE.graph_neighbors(model, 50) == wanted
    model.set_params(random_state=0, method_params={"perplexity": perplexity, "max_iter": 250})
    assert model.fit(iris).neighbors_.n_graph_neighbors == wanted


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method_params": {"perplexity": 50}}, r'"perplexity"\]=50 must be .* below 50'),
        ({"method_params": {"perplexity": "5"}}, r"\]='5' must be a number"),
        ({"n_graph_neighbors": 10}, "n_graph_neighbors=10 are too few.*49"),
        ({"n_components": 4}, 'n_components=4 is too many for method="tsne"'),
        ({"method_params": {"perplexty": 5}}, "method_params.'perplexty'. is unknown.*perplexity"),
        ({"method_params": {"metric": "l1"}}, 'method_params."metric". is decided by the graph'),
        ({"method_params": {"method": "exact"}}, 'method_params."method". is decided'),
        ({"method": "umap", "method_params": {"n_neighbours": 5}}, "is unknown: .*min_dist"),
        ({"method": "umap", "method_params": {"n_neighbors": 5}}, "is decided by the graph"),
        ({"method": "umap", "n_components": 48}, 'method="umap" needs 51 points'),
    ],
)
def test_what_they_would_refuse_is_refused_by_our_names(iris, options, message):
    with pytest.raises(ValueError, match=message):
        DivergenceEmbedding(**{"method": "tsne", **options}).fit(iris)


def test_method_params_are_a_dict(iris):
    with pytest.raises(TypeError, match=r"method_params=\[5\] must be a dict"):
        DivergenceEmbedding(method="tsne", method_params=[5]).fit(iris)
