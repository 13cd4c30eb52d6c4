"""A divergence and a learner are added by a value in a table, and by nothing else."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA

import vicinal
from vicinal import DivergenceEmbedding, DivergenceNeighbors
from vicinal.divergence import density_paths, paired, pairwise
from vicinal.divergence.divergences import DIVERGENCES, Divergence
from vicinal.divergence.learners import LEARNERS, Embedded, Learner

X = load_iris().data[:90]
NEW = X[::6] + 0.03


# ------------------------------------------------------------------------- a divergence in NumPy


def squared_euclidean(P, Q, upper):
    return np.square(P.means[:, None] - Q.means).sum(axis=2)


EUCLIDEAN = Divergence("squared-euclidean", squared_euclidean, squared=True, degree=2)


@pytest.fixture
def euclidean(monkeypatch):
    monkeypatch.setitem(DIVERGENCES, EUCLIDEAN.name, EUCLIDEAN)


@pytest.mark.usefixtures("euclidean")
@pytest.mark.parametrize("unit", [1.0, 1e-3, 1e50])
def test_a_divergence_of_ones_own_has_all_pairs(unit):
    model = DivergenceNeighbors(divergence="squared-euclidean", gamma=1e-4 * unit**2)
    D = model.fit_transform(unit * X)
    assert_allclose(D, cdist(unit * X, unit * X, "sqeuclidean"), rtol=1e-12)
    new = model.transform(unit * NEW)
    assert_allclose(new, cdist(unit * NEW, unit * X, "sqeuclidean"), rtol=1e-12)
    roots = model.set_params(square_root=True).fit_transform(unit * X)
    assert_allclose(roots, cdist(unit * X, unit * X), rtol=1e-12)


@pytest.mark.usefixtures("euclidean")
@pytest.mark.parametrize("options", [{}, {"n_candidates": 20}, {"covariance": "ledoit-wolf"}])
def test_a_divergence_of_ones_own_has_a_graph(options):
    model = DivergenceNeighbors(divergence="squared-euclidean", n_graph_neighbors=5, **options)
    graph, expected = model.fit_transform(X), cdist(X, X, "sqeuclidean")
    expected[np.arange(90), np.arange(90)] = -1.0  # twins come after the point itself
    order = np.sort(expected, axis=1)[:, :6]
    assert_allclose(graph.data.reshape(90, 6), np.maximum(order, 0.0), rtol=1e-12)
    new = model.transform(NEW)
    order = np.sort(cdist(NEW, X, "sqeuclidean"), axis=1)[:, :6]
    assert_allclose(new.data.reshape(-1, 6), order, rtol=1e-12)


@pytest.mark.usefixtures("euclidean")
def test_a_divergence_of_ones_own_has_functions_and_coordinates():
    expected = cdist(X, X, "sqeuclidean")
    assert_allclose(pairwise(X, divergence="squared-euclidean"), expected, rtol=1e-12)
    pairs = np.array([[0, 7], [7, 0], [3, 3]])
    assert_allclose(
        paired(X, pairs, divergence="squared-euclidean"), expected[tuple(pairs.T)], rtol=1e-12
    )
    # Classical scaling of Euclidean distances is PCA.
    Z = DivergenceEmbedding(method="mds", divergence="squared-euclidean").fit_transform(X)
    assert_allclose(cdist(Z, Z), cdist(*[PCA(2).fit_transform(X)] * 2), atol=1e-8)


def test_before_that_its_name_is_refused_with_the_list():
    with pytest.raises(
        ValueError, match=r"divergence='squared-euclidean' is unknown.*'jeffreys'.*'riem"
    ):
        DivergenceNeighbors(divergence="squared-euclidean").fit(X)


# ------------------------------------------- one that depends on which of two points comes first


def kullback_leibler(P, Q, upper):
    S, T, precisions = P.covariances(), Q.covariances(), np.linalg.inv(Q.covariances())
    u = P.means[:, None] - Q.means
    traces = np.einsum("ikl,jlk->ij", S, precisions)
    apart = np.einsum("ijk,jkl,ijl->ij", u, precisions, u)
    logs = np.linalg.slogdet(T)[1] - np.linalg.slogdet(S)[1][:, None]
    return np.maximum(traces + apart + logs - P.n_features, 0.0) / 2


@pytest.fixture
def directed(monkeypatch):
    value = Divergence("kullback-leibler", kullback_leibler, squared=True, symmetric=False)
    monkeypatch.setitem(DIVERGENCES, value.name, value)
    return {"divergence": value.name, "gamma": 0.01}


@pytest.mark.parametrize("options", [{}, {"n_neighbors": 2}, {"engine": "dense"}])
def test_both_ways_together_are_jeffreys(directed, options):
    """Of low rank, too: a divergence in NumPy asks for covariances, and gets whole ones."""
    D = DivergenceNeighbors(**{**directed, **options}).fit_transform(X)
    assert np.abs(D - D.T).max() > 1.0
    expected = DivergenceNeighbors(**{"gamma": 0.01, **options}).fit_transform(X)
    assert_allclose(D + D.T, expected, rtol=1e-7, atol=1e-9)


def test_a_divergence_goes_from_the_row_to_the_column(directed):
    D = DivergenceNeighbors(**directed).fit_transform(X)
    pairs = np.array([[0, 7], [7, 0], [80, 3], [5, 5]])
    assert_allclose(paired(X, pairs, **directed), D[tuple(pairs.T)], rtol=1e-9, atol=1e-12)
    for options in ({}, {"n_candidates": 89}):
        model = DivergenceNeighbors(n_graph_neighbors=5, **directed, **options)
        graph = model.fit_transform(X)
        rows = np.repeat(np.arange(90), 6)
        assert_allclose(graph.data, D[rows, graph.indices], rtol=1e-9, atol=1e-12)
    new = DivergenceNeighbors(**directed).fit(X).transform(X)  # the training points again
    assert_allclose(new, D, rtol=1e-9, atol=1e-9)


def test_where_the_order_must_not_matter_it_is_refused(directed):
    message = r"divergence='kullback-leibler' depends on which.*needs one that does not.*'jeffreys'"
    with pytest.raises(ValueError, match=message):
        DivergenceEmbedding(**directed).fit(X)
    with pytest.raises(ValueError, match=message):
        density_paths(X, divergence="kullback-leibler")


# ---------------------------------------------------------------------------------- a learner


def embed(space, divergences, settings, rng):
    D = space.distances(divergences)
    center = D.mean(axis=0)
    axes = np.linalg.svd(D - center, full_matrices=False)[2][: settings.n_components]
    return Embedded((D - center) @ axes.T, map={"center": center, "axes": axes})


def extend(space, divergences, points, embedded):
    D, known = space.distances(divergences), embedded.map
    return (D - known["center"]) @ known["axes"].T


PROFILES = Learner("profiles", embed, extend, graph=None, all_pairs=True)


@pytest.fixture
def profiles(monkeypatch):
    monkeypatch.setitem(LEARNERS, PROFILES.name, PROFILES)


@pytest.mark.usefixtures("profiles")
def test_a_learner_of_ones_own_embeds_and_extends(tmp_path):
    model = DivergenceEmbedding(method="profiles")
    Z = model.fit_transform(X)
    pca = PCA(2).fit(pairwise(X) ** 0.5)
    expected = pca.transform(pairwise(X) ** 0.5)
    assert_allclose(np.abs(Z), np.abs(expected), rtol=1e-7, atol=1e-9)
    assert_allclose(model.transform(X), Z, rtol=1e-7, atol=1e-7)
    expected = pca.transform(pairwise(NEW, X) ** 0.5)
    assert_allclose(np.abs(model.transform(NEW)), np.abs(expected), rtol=1e-7, atol=1e-9)
    vicinal.save(model, tmp_path / "profiles.skops")
    assert_array_equal(
        vicinal.load(tmp_path / "profiles.skops").transform(NEW), model.transform(NEW)
    )


@pytest.mark.usefixtures("profiles")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_graph_neighbors": 5}, 'n_graph_neighbors=5 has no meaning for method="profiles"'),
        ({"n_neighbors": "energy"}, 'needs a graph, and method="profiles" has none'),
        ({"method_params": {"a": 1}}, 'no meaning for method="profiles": it is for "tsne" or "um'),
    ],
)
def test_what_it_does_not_take_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        DivergenceEmbedding(method="profiles", **options).fit(X)


@pytest.mark.usefixtures("profiles")
def test_others_point_to_it():
    apart = np.vstack([X[:45], X[45:] + 100])
    with pytest.raises(ValueError, match=r'or method="mds", "tsne", "umap" or "profiles"\.'):
        DivergenceEmbedding(method="lle", gamma=0.1, disconnected="raise").fit(apart)
    with pytest.raises(AttributeError) as error:
        _ = DivergenceEmbedding(method="tsne").transform
    assert "use one of isomap, laplacian, lle, mds, profiles." in str(error.value.__cause__)
