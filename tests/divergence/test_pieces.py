"""Graphs of several components: joined, or each embedded for itself and set side by side."""

import warnings
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from vicinal import DivergenceEmbedding, DivergenceNeighbors
from vicinal.divergence.graph import part_of, pieces_of, with_edges
from vicinal.divergence.learners.laplacian import leading_eigenvalues

METHODS = ("isomap", "laplacian", "lle")

every_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32])
every_method = pytest.mark.parametrize("method", METHODS)


@pytest.fixture
def parts():
    rng = np.random.default_rng(0)
    return [rng.normal(size=(40, 3)), rng.normal(size=(30, 3)) + 30, rng.normal(size=(25, 3)) - 40]


def quietly(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X)


def same_but_for_sign_and_shift(Z, other, rtol):
    Z, other = Z - Z.mean(axis=0), other - other.mean(axis=0)
    signs = np.sign((Z * other).sum(axis=0))
    assert_allclose(Z, signs * other, rtol=rtol, atol=rtol * np.abs(other).max())


@every_method
@every_dtype
def test_side_by_side_each_component_is_what_it_is_alone(parts, method, dtype):
    options = {"method": method, "n_graph_neighbors": 6, "gamma": 0.5, "random_state": 0}
    model = DivergenceEmbedding(disconnected="separate", **options)
    with pytest.warns(UserWarning, match=r"3 components \(40, 30, 25 points\).* side by side"):
        Z = model.fit_transform(np.vstack(parts).astype(dtype))
    assert Z.dtype == dtype
    ends = np.cumsum([0, 40, 30, 25])
    for part, start, end in zip(parts, ends, ends[1:], strict=False):
        alone = DivergenceEmbedding(**options).fit_transform(part.astype(dtype))
        same_but_for_sign_and_shift(Z[start:end], alone, 1e-6 if dtype == np.float64 else 2e-3)
    # From left to right, with room between them.
    for middle in ends[1:-1]:
        assert Z[middle:, 0].min() - Z[:middle, 0].max() > 0.1 * np.ptp(Z[:40, 0])


@every_method
@every_dtype
def test_new_points_go_to_the_component_of_their_nearest(parts, method, dtype):
    X = np.vstack(parts).astype(dtype)
    options = {"method": method, "n_graph_neighbors": 6, "gamma": 0.5, "random_state": 0}
    model = quietly(DivergenceEmbedding(disconnected="separate", **options), X)
    new = X[[3, 50, 80]] + dtype(0.01)
    found = model.transform(new)
    assert found.dtype == dtype
    assert_allclose(found, model.embedding_[[3, 50, 80]], atol=0.35 * np.ptp(model.embedding_[:40]))
    alone = DivergenceEmbedding(**options).fit(X[:40])
    shift = model.embedding_[:40] - alone.embedding_
    if np.ptp(shift, axis=0).max() < 1e-3:  # of the same signs
        assert_allclose(found[0], alone.transform(new[:1])[0] + shift[0], atol=2e-3)


def test_paths_and_affinities_end_where_components_do(parts):
    X, options = np.vstack(parts), {"gamma": 0.5, "n_graph_neighbors": 6}
    labels = np.repeat([0, 1, 2], [40, 30, 25])
    between = labels[:, None] != labels
    apart = quietly(DivergenceEmbedding(disconnected="separate", **options), X)
    assert_array_equal(np.isinf(apart.dist_matrix_), between)
    joined = quietly(DivergenceEmbedding(**options), X)
    assert np.isfinite(joined.dist_matrix_).all()
    assert_allclose(joined.dist_matrix_[~between], apart.dist_matrix_[~between])
    with pytest.raises(AttributeError, match='affinity_matrix_ is there with method="laplacian"'):
        _ = joined.affinity_matrix_
    model = DivergenceEmbedding(method="laplacian", disconnected="separate", **options)
    W = quietly(model, X).affinity_matrix_.toarray()
    assert not W[between].any()
    graph = DivergenceNeighbors(gamma=0.5, n_graph_neighbors=6).fit_transform(X).tocoo()
    pair = graph.row[1], graph.col[1]  # a point and its nearest
    inside = graph.data[(graph.row != graph.col) & (labels[graph.row] == 0)]
    assert 0 < W[pair] <= 1
    assert_allclose(W[pair], np.exp(-graph.data[1] / np.median(inside)), rtol=0.2)
    with pytest.raises(AttributeError, match='dist_matrix_ is there with method="isomap"'):
        _ = model.dist_matrix_


def test_components_of_fewer_points_than_coordinates():
    X = np.vstack([np.random.default_rng(0).normal(size=(20, 5)), np.eye(3, 5) + 100])
    for method in METHODS:
        model = DivergenceEmbedding(
            4, method=method, n_graph_neighbors=2, gamma=0.1, disconnected="separate"
        )
        Z = quietly(model, X).embedding_
        assert np.isfinite(Z).all()
        assert_array_equal(Z[20:, 2:], 0.0)  # three points have two coordinates
        assert np.isfinite(model.transform(X + 0.01)).all()


@every_method
def test_joined_components_lie_apart(parts, method):
    model = DivergenceEmbedding(2, method=method, n_graph_neighbors=6, gamma=0.5, random_state=0)
    Z = quietly(model, np.vstack(parts)).embedding_
    labels = np.repeat([0, 1, 2], [40, 30, 25])
    found = KMeans(3, n_init=10, random_state=0).fit_predict(Z)
    assert adjusted_rand_score(labels, found) == 1.0


def test_eigenvectors_of_joined_components_are_no_matter_of_rounding(parts):
    """Affinities between them vanish: any mixture of components was an eigenvector."""
    X, options = np.vstack(parts), {"method": "laplacian", "gamma": 0.5, "n_graph_neighbors": 6}
    model = quietly(DivergenceEmbedding(**options), X)
    assert 1e-9 < 1 - model.eigenvalues_[1] < 1e-2
    assert model.eigenvalues_[1] - model.eigenvalues_[2] > 1e-9
    other = quietly(DivergenceEmbedding(**options), X * (1 + 1e-12))
    assert_allclose(other.embedding_, model.embedding_, atol=1e-5 * np.abs(model.embedding_).max())


def test_many_points_in_components_have_eigenvectors_by_factors():
    """More than a dense solver is for, as many eigenvalues of nearly 1 as components."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(300, 4)) + 50 * i for i in range(4)])
    options = {"method": "laplacian", "n_graph_neighbors": 8, "random_state": 0}
    Z = quietly(DivergenceEmbedding(3, **options), X).embedding_
    found = KMeans(4, n_init=10, random_state=0).fit_predict(Z)
    assert adjusted_rand_score(np.repeat(np.arange(4), 300), found) == 1.0
    # Naively, for every component by itself.
    graph = DivergenceNeighbors(n_graph_neighbors=8).fit_transform(X)
    graph = graph.maximum(graph.T).tocsr()
    values = leading_eigenvalues(graph, 6, 5.0, rng)
    W = np.where(graph.toarray() > 0, np.exp(-graph.toarray() / 5.0), 0.0)
    expected = np.linalg.eigvals(W / W.sum(axis=1, keepdims=True)).real
    assert_allclose(values, np.sort(expected)[::-1][:6], atol=1e-9)


@every_method
@pytest.mark.parametrize("disconnected", ["connect", "separate"])
@pytest.mark.parametrize("k", [None, 4])
def test_one_point_far_away(method, disconnected, k):
    X = np.vstack([load_iris().data, [[100.0] * 4]])
    model = DivergenceEmbedding(
        method=method, disconnected=disconnected, n_graph_neighbors=k, random_state=0
    )
    assert np.isfinite(quietly(model, X).embedding_).all()
    assert np.isfinite(model.transform(X[::9] + 0.05)).all()


@pytest.mark.parametrize("gamma", ["auto", 1e-4])
@pytest.mark.parametrize("disconnected", ["connect", "separate"])
def test_iris_is_never_refused(gamma, disconnected):
    """At all settings of the paper its graph is of two components, footnote 8's ideal."""
    X = load_iris().data
    for method, m, k in product(METHODS, (3, 10, 25, "energy"), (3, 12, 25)):
        model = DivergenceEmbedding(
            method=method,
            n_neighbors=m,
            n_graph_neighbors=k,
            gamma=gamma,
            disconnected=disconnected,
        )
        assert np.isfinite(quietly(model, X).embedding_).all()


# ------------------------------------------------------------------------------------- the graph


@every_dtype
def test_some_rows_and_columns_of_a_graph_keep_the_order_of_edges(dtype):
    graph = csr_matrix(
        (np.array([0.0, 1.0, 2.0, 0.0, 3.0, 5.0], dtype), [2, 0, 1, 1, 2, 0], [0, 3, 5, 6]), (3, 3)
    )
    part = part_of(graph, np.array([0, 1]), np.array([1, 2]))
    assert part.dtype == dtype
    assert_array_equal(part.indices, [1, 0, 0, 1])
    assert_array_equal(part.data, [0, 2, 0, 3])
    assert_array_equal(part.indptr, [0, 2, 4])
    assert part_of(graph, np.array([2]), np.array([1, 2])).nnz == 0


@every_dtype
def test_further_edges_stand_at_the_ends_of_their_rows(dtype):
    graph = csr_matrix((np.array([0.0, 1.0, 0.0], dtype), [0, 1, 2], [0, 2, 2, 3]), (3, 3))
    more = with_edges(graph, np.array([0]), np.array([2]), np.array([7.0], dtype))
    assert more.dtype == dtype
    assert_array_equal(more.indptr, [0, 3, 3, 5])
    assert_array_equal(more.indices, [0, 1, 2, 2, 0])
    assert_array_equal(more.data, [0, 1, 7, 0, 7])
    n, labels = pieces_of(graph)
    assert n == 2
    assert_array_equal(labels, [0, 0, 1])
