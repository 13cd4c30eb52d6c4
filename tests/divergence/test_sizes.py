"""Neighborhoods: sizes by the growth of balls, all points where there are few, and labels."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import DivergenceEmbedding, DivergenceNeighbors
from vicinal.divergence.growth import SIZES, growing_size, growth

every_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32])


@pytest.fixture
def iris():
    return load_iris(return_X_y=True)


def test_the_growth_of_a_plane_is_one_half():
    """Of d dimensions, 1/d: in the middle of many points, without noise."""
    side = np.linspace(-1, 1, 61)
    X = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    X += 0.01 * np.random.default_rng(0).normal(size=X.shape)
    middle = X[np.abs(X).max(axis=1) < 0.4]
    squared = np.sort(np.square(middle[:, None] - X).sum(axis=2), axis=1)[:, 1:60]
    assert_allclose(growth(squared, 25), 0.5, atol=0.03)


def test_noise_that_fills_all_dimensions_asks_for_larger_neighborhoods():
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0, 20, 600))
    thin, thick = (np.c_[t, width * rng.normal(size=(600, 3))] for width in (1e-3, 0.15))
    sizes = [DivergenceNeighbors("growth").fit(X).n_neighbors_ for X in (thin, thick)]
    assert sizes[0] < sizes[1]
    assert DivergenceEmbedding(n_neighbors="growth").fit(thick).n_neighbors_ == sizes[1]


@every_dtype
def test_the_size_of_largest_growth_is_taken(iris, dtype):
    X = iris[0].astype(dtype)
    squared = np.square(X[:, None].astype(float) - X).sum(axis=2)
    np.fill_diagonal(squared, np.inf)
    squared = np.sort(squared, axis=1)

    def naive(size):
        fewer, more = round(size / 1.5), round(size * 1.5)
        known = squared[:, fewer - 1] > 0
        logs = np.log(np.sqrt(squared[known][:, [fewer - 1, more - 1]]))
        return (logs[:, 1] - logs[:, 0]).mean() / np.log(more / fewer)

    expected = max(SIZES, key=naive)
    model = DivergenceNeighbors("growth").fit(X)
    assert model.n_neighbors_ == expected
    given = DivergenceNeighbors(expected).fit(X)
    assert_array_equal(model.gaussians_.values, given.gaussians_.values)


@pytest.mark.parametrize("n", [2, 3, 5, 9])
def test_growth_of_few_points_or_of_twins(n):
    for X in (np.random.default_rng(0).normal(size=(n, 2)), np.ones((n, 2))):
        assert 1 <= DivergenceNeighbors("growth").fit(X).n_neighbors_ < n
    assert growing_size(np.zeros((40, 39))) == 3


# --------------------------------------------------------------------------------- few points


@every_dtype
def test_fewer_points_than_neighbors_are_all_taken(dtype):
    X = np.random.default_rng(0).normal(size=(8, 2)).astype(dtype)
    model = DivergenceNeighbors()
    with pytest.warns(UserWarning, match="n_neighbors=10 is more than the 7 other points"):
        D = model.fit_transform(X)
    assert model.n_neighbors_ == 7
    assert_array_equal(D, DivergenceNeighbors(7).fit_transform(X))
    new = X[:3] + dtype(0.1)
    assert_array_equal(model.transform(new), DivergenceNeighbors(7).fit(X).transform(new))
    with pytest.warns(UserWarning, match="n_neighbors=10 is more than"):
        Z = DivergenceEmbedding().fit_transform(X)
    assert_array_equal(Z, DivergenceEmbedding(n_neighbors=7).fit_transform(X))


# -------------------------------------------------------------------------------------- labels


@every_dtype
def test_labels_make_neighborhoods_of_one_class(iris, dtype):
    X, y = iris[0].astype(dtype), iris[1]
    model = DivergenceNeighbors(6, gamma=0.1, use_labels=True).fit(X, y)
    for i in (0, 60, 120, 149):
        own = X[y == y[i]].astype(float)
        distances = np.square(own - X[i]).sum(axis=1)
        distances[np.flatnonzero(y == y[i]) == i] = np.inf
        near = own[np.argsort(distances, kind="stable")[:6]] - X[i]
        expected = near.T @ near / 6 + 0.1 * np.eye(4)
        assert_allclose(model.gaussians_[[i]].covariances()[0], expected, rtol=1e-6, atol=1e-9)


def test_labels_of_strings_and_neighborhoods_of_a_radius(iris):
    X, y = iris
    names = np.array(["a", "b", "c"])[y]
    one = DivergenceNeighbors(radius=1.0, gamma=0.1, use_labels=True).fit(X, names)
    other = DivergenceNeighbors(radius=1.0, gamma=0.1, use_labels=True).fit(X, y)
    assert_array_equal(one.gaussians_.values, other.gaussians_.values)
    plain = DivergenceNeighbors(radius=1.0, gamma=0.1).fit(X)
    assert np.abs(plain.gaussians_.covariances() - one.gaussians_.covariances()).max() > 1e-3


def test_small_classes_have_the_neighbors_there_are(iris):
    X, y = iris[0], iris[1].copy()
    y[:3], y[3] = 7, 8
    with pytest.warns(UserWarning, match=r"classes \[.*8.*\] have one member each"):
        model = DivergenceNeighbors(6, gamma=0.1, use_labels=True).fit(X, y)
    C = model.gaussians_.covariances()
    near = X[1:3] - X[0]
    assert_allclose(C[0], near.T @ near / 2 + 0.1 * np.eye(4), rtol=1e-9)
    assert_allclose(C[3], 0.1 * np.eye(4), rtol=1e-9)


def test_labels_change_nothing_unless_asked(iris):
    X, y = iris
    pipeline = make_pipeline(StandardScaler(), DivergenceNeighbors(n_graph_neighbors=5))
    assert (pipeline.fit_transform(X, y) != pipeline.fit_transform(X)).nnz == 0
    plain, shaped = (
        DivergenceEmbedding(method="mds", use_labels=use).fit_transform(X, y)
        for use in (False, True)
    )
    assert np.abs(plain - shaped).max() > 1e-3
    assert_array_equal(DivergenceEmbedding(method="mds").fit_transform(X), plain)


def test_labels_of_another_length_are_refused(iris):
    with pytest.raises(ValueError, match="y has 149 labels for 150 rows"):
        DivergenceNeighbors(use_labels=True).fit(iris[0], iris[1][1:])


def test_the_scale_of_affinities_is_a_quantile(iris):
    scales = [
        DivergenceEmbedding(
            method="laplacian", scale_quantile=q, n_graph_neighbors=60, random_state=0
        )
        .fit(iris[0])
        ._map.scale
        for q in (0.25, 0.5, 0.75)
    ]
    graph = DivergenceNeighbors(n_graph_neighbors=60).fit_transform(iris[0])
    both = graph.maximum(graph.T)
    assert_allclose(scales, np.quantile(both.data[both.data > 0], [0.25, 0.5, 0.75]), rtol=1e-9)
