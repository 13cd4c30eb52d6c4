"""Euclid's distances in the place of divergences, by points, by all distances or by a graph."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix, issparse
from scipy.spatial.distance import cdist
from sklearn.cluster import DBSCAN
from sklearn.datasets import load_iris, make_s_curve
from sklearn.manifold import Isomap, LocallyLinearEmbedding
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline

from vicinal import DivergenceEmbedding, DivergenceNeighbors
from vicinal.divergence import paired, pairwise

every_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32])
WITH_TRANSFORM = ("isomap", "laplacian", "lle", "mds")


@pytest.fixture
def curve():
    return make_s_curve(180, noise=0.05, random_state=0)[0]


@pytest.fixture
def new():
    return make_s_curve(20, noise=0.05, random_state=1)[0]


# ------------------------------------------------------------------------------ Euclid's distances


@every_dtype
def test_euclid_has_plain_distances_and_no_gaussians(curve, new, dtype):
    X, new = curve.astype(dtype), new.astype(dtype)
    model = DivergenceNeighbors(divergence="euclidean")
    D = model.fit_transform(X)
    assert D.dtype == dtype
    rtol = 1e-12 if dtype == np.float64 else 1e-6
    assert_allclose(D, cdist(X, X), rtol=rtol, atol=1e-12)
    assert_allclose(model.transform(new), cdist(new, X), rtol=rtol)
    assert_array_equal(pairwise(X, divergence="euclidean"), D)
    assert_array_equal(paired(X, [[3, 7], [7, 3]], divergence="euclidean"), D[[3, 7], [7, 3]])
    assert not hasattr(model, "share_")
    roots = DivergenceNeighbors(divergence="euclidean", square_root=True).fit_transform(X)
    assert_array_equal(roots, D)  # these are distances already


def test_euclid_takes_what_has_no_covariances():
    X = np.repeat(np.eye(3), 4, axis=0)
    D = DivergenceNeighbors(2, divergence="euclidean", gamma=0.0).fit_transform(X)
    assert_allclose(D, cdist(X, X))


@every_dtype
@pytest.mark.parametrize("options", [{}, {"n_candidates": 30}])
def test_euclid_has_a_graph_of_the_nearest(curve, new, dtype, options):
    X, new = curve.astype(dtype), new.astype(dtype)
    model = DivergenceNeighbors(divergence="euclidean", n_graph_neighbors=6, **options)
    graph = model.fit_transform(X)
    near = np.argsort(cdist(X, X), axis=1)[:, :7]
    assert_array_equal(graph.indices.reshape(-1, 7), near)
    near = np.argsort(cdist(new, X), axis=1)[:, :7]
    assert_array_equal(model.transform(new).indices.reshape(-1, 7), near)


@pytest.mark.parametrize("unit", [1e-130, 1e130])
def test_euclid_is_in_the_units_of_the_data(curve, unit):
    D = DivergenceNeighbors(divergence="euclidean").fit_transform(unit * curve)
    assert_allclose(D, unit * cdist(curve, curve), rtol=1e-12)


def test_learners_of_euclid_are_scikit_learns(curve, new):
    options = {"divergence": "euclidean", "n_graph_neighbors": 10}
    ours = DivergenceEmbedding(**options).fit(curve)
    theirs = Isomap(n_neighbors=10).fit(curve)
    assert_allclose(np.abs(ours.embedding_), np.abs(theirs.embedding_), atol=1e-8)
    assert_allclose(np.abs(ours.transform(new)), np.abs(theirs.transform(new)), atol=1e-8)
    assert_allclose(ours.dist_matrix_, theirs.dist_matrix_, atol=1e-12)
    assert_allclose(ours.reconstruction_error_, theirs.reconstruction_error(), rtol=1e-8)
    ours = DivergenceEmbedding(method="lle", **options).fit(curve)
    theirs = LocallyLinearEmbedding(n_neighbors=10, eigen_solver="dense").fit(curve)
    assert_allclose(np.abs(ours.embedding_), np.abs(theirs.embedding_), atol=1e-6)
    assert_allclose(ours.reconstruction_error_, theirs.reconstruction_error_, rtol=1e-4)


# ---------------------------------------------------------------------- distances that are given


@pytest.mark.parametrize("method", WITH_TRANSFORM)
@every_dtype
def test_given_distances_are_as_good_as_points(curve, new, method, dtype):
    D, to_new = cdist(curve, curve).astype(dtype), cdist(new, curve).astype(dtype)
    given = DivergenceEmbedding(method=method, metric="precomputed", random_state=0).fit(D)
    points = DivergenceEmbedding(method=method, divergence="euclidean", random_state=0).fit(curve)
    atol = (1e-8 if dtype == np.float64 else 1e-3) * np.abs(points.embedding_).max()
    assert given.embedding_.dtype == dtype
    assert_allclose(given.embedding_, points.embedding_, atol=atol)
    assert_allclose(given.transform(to_new), points.transform(new), atol=20 * atol)


@pytest.mark.parametrize("method", ["isomap", "laplacian"])
@every_dtype
def test_a_given_graph_is_as_good_as_its_points(curve, new, method, dtype):
    graph = kneighbors_graph(curve, 15, mode="distance").astype(dtype)
    options = {"method": method, "random_state": 0}
    given = DivergenceEmbedding(metric="precomputed", **options).fit(graph)
    points = DivergenceEmbedding(divergence="euclidean", **options).fit(curve)
    atol = (1e-8 if dtype == np.float64 else 1e-3) * np.abs(points.embedding_).max()
    assert_allclose(given.embedding_, points.embedding_, atol=atol)
    model = DivergenceNeighbors(divergence="euclidean", n_graph_neighbors=14).fit(curve)
    assert_allclose(given.transform(model.transform(new)), points.transform(new), atol=20 * atol)


@pytest.mark.filterwarnings("ignore:Tensorflow not installed:ImportWarning")
def test_tsne_and_umap_take_given_distances(curve):
    D = cdist(curve, curve)
    graph = kneighbors_graph(curve, 40, mode="distance")
    light = {"tsne": {"max_iter": 250, "perplexity": 10}, "umap": {"n_epochs": 20}}
    for method, params in light.items():
        for X in (D, graph):
            model = DivergenceEmbedding(
                method=method, metric="precomputed", method_params=params, random_state=0, n_jobs=1
            )
            assert np.isfinite(model.fit_transform(X)).all()


@every_dtype
def test_neighbors_pass_distances_on(curve, new, dtype):
    D, to_new = cdist(curve, curve).astype(dtype), cdist(new, curve).astype(dtype)
    model = DivergenceNeighbors(metric="precomputed")
    assert_array_equal(model.fit_transform(D), D)
    assert_array_equal(model.transform(to_new), to_new)
    model = DivergenceNeighbors(metric="precomputed", n_graph_neighbors=4)
    graph, expected = model.fit_transform(D), np.argsort(D, axis=1)[:, :5]
    assert graph.dtype == dtype
    assert_array_equal(graph.indices.reshape(-1, 5), expected)
    assert_array_equal(model.transform(to_new).indices.reshape(-1, 5), np.argsort(to_new)[:, :5])
    sparse = kneighbors_graph(curve, 9, mode="distance").astype(dtype)
    again = model.fit_transform(sparse)
    assert_array_equal(again.indices.reshape(-1, 5), expected)
    whole = DivergenceNeighbors(metric="precomputed").fit_transform(sparse)
    assert issparse(whole)
    assert_array_equal(np.diff(whole.indptr), 10)  # each point itself, and its nine
    model.set_params(n_graph_neighbors=20)
    labels = make_pipeline(model, DBSCAN(eps=0.9, metric="precomputed")).fit_predict(D)
    assert set(labels) == {0}


def test_a_given_graph_of_several_components_stands_side_by_side():
    X = np.vstack([np.random.default_rng(0).normal(size=(30, 2)) + 40 * i for i in range(2)])
    graph = kneighbors_graph(X, 5, mode="distance")
    for method in ("isomap", "laplacian"):
        model = DivergenceEmbedding(method=method, metric="precomputed")
        with pytest.warns(UserWarning, match="2 components .* side by side"):
            Z = model.fit_transform(graph)
        assert Z[:30, 0].max() < Z[30:, 0].min()
    dense = DivergenceEmbedding(metric="precomputed", n_graph_neighbors=5)
    with pytest.warns(UserWarning, match="the shortest edge between every two of them was added"):
        dense.fit(cdist(X, X))
    points = DivergenceEmbedding(divergence="euclidean", n_graph_neighbors=5)
    with pytest.warns(UserWarning, match="the shortest edge"):
        assert_allclose(points.fit(X).dist_matrix_, dense.dist_matrix_)


def test_the_users_distances_are_neither_changed_nor_needed_later(curve, new):
    D = cdist(curve, curve)
    given = D.copy()
    model = DivergenceEmbedding(method="lle", metric="precomputed").fit(given)
    assert_array_equal(given, D)
    before = model.transform(cdist(new, curve))
    given[:] = 0.0
    assert_array_equal(model.transform(cdist(new, curve)), before)


D = cdist(*[load_iris().data[:40]] * 2)


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (D[:30], {}, "X has 30 rows and 40 columns"),
        (-D, {}, "Negative values in data"),
        (D + np.triu(D), {}, "must be symmetric"),
        (D + 1.0, {}, "zeros on its diagonal"),
        (D, {"n_candidates": 5, "n_graph_neighbors": 4}, 'not metric="precomputed"'),
        (csr_matrix(D), {"method": "mds"}, "X is a sparse graph: give them dense"),
        (csr_matrix(D), {"method": "lle"}, "a sparse graph does not tell"),
        (D, {"method": "lle", "lle_weights": "coordinates"}, "needs points"),
        (D, {"n_neighbors": "energy"}, "precomputed or Euclidean have none"),
        (
            kneighbors_graph(load_iris().data[:40], 4, mode="distance"),
            {"n_graph_neighbors": 6},
            "has 4 neighbors, and 6 are needed",
        ),
    ],
)
def test_what_distances_do_not_tell_is_refused_by_name(X, options, message):
    with pytest.raises(ValueError, match=message):
        DivergenceEmbedding(metric="precomputed", **options).fit(X)


def test_labels_do_not_shape_given_distances():
    with pytest.raises(ValueError, match=r"use_labels=True has no meaning with metric"):
        DivergenceNeighbors(metric="precomputed", use_labels=True).fit(D, np.arange(40) % 2)
