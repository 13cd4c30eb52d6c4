import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.cluster import DBSCAN, OPTICS, AgglomerativeClustering
from sklearn.datasets import load_iris
from sklearn.manifold import TSNE, Isomap, SpectralEmbedding
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from vicinal import DivergenceNeighbors
from vicinal.divergence import local_gaussians, paired, pairwise
from vicinal.divergence.divergences import DIVERGENCES

TOO_FEW = "ten points, of which none has the ten other ones that a neighborhood takes by default"


def expected_failures(estimator):
    if estimator.n_neighbors != 10:
        return {}
    return dict.fromkeys(("check_estimators_nan_inf", "check_fit2d_1feature"), TOO_FEW)


@parametrize_with_checks(
    [
        DivergenceNeighbors(),
        DivergenceNeighbors(3, divergence="bhattacharyya", n_graph_neighbors=3),
        DivergenceNeighbors(3, radius=1.0, n_graph_neighbors=3, n_candidates=5),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture
def blobs():
    rng = np.random.default_rng(0)
    centers = np.repeat(np.eye(3, 6) * 6, 40, axis=0)
    return centers + rng.normal(size=(120, 6)), np.repeat(np.arange(3), 40)


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_graph_has_the_nearest_of_the_dense_distances(iris, divergence):
    X, _ = iris
    dense = DivergenceNeighbors(divergence=divergence).fit_transform(X)
    graph = DivergenceNeighbors(divergence=divergence, n_graph_neighbors=7).fit_transform(X)
    assert issparse(graph)
    assert_array_equal(np.diff(graph.indptr), 8)
    near = graph.indices.reshape(len(X), 8)
    assert_array_equal(near[:, 0], np.arange(len(X)))  # itself first
    assert_array_equal(graph.data.reshape(len(X), 8)[:, 0], 0.0)
    found = np.take_along_axis(dense, near, axis=1)
    assert_allclose(graph.data.reshape(len(X), 8), found, rtol=1e-9, atol=1e-12)
    others = dense + np.diag(np.full(len(X), np.inf))
    assert_allclose(found[:, 1:], np.sort(others, axis=1)[:, :7], rtol=1e-9)


def test_hellinger_neighbors_are_those_of_bhattacharyya(iris):
    """H is 1 for most pairs in double precision: ranks by H would be ties."""
    X, _ = iris
    by_h, by_b = (
        DivergenceNeighbors(divergence=name, n_graph_neighbors=140).fit_transform(X)
        for name in ("hellinger", "bhattacharyya")
    )
    assert (by_h.data == 1.0).mean() > 0.3
    assert_array_equal(by_h.indices, by_b.indices)


def test_all_as_candidates_are_no_restriction(blobs):
    X, _ = blobs
    whole = DivergenceNeighbors(n_graph_neighbors=6).fit_transform(X)
    same = DivergenceNeighbors(n_graph_neighbors=6, n_candidates=119).fit_transform(X)
    assert_array_equal(whole.indices, same.indices)
    assert_allclose(whole.data, same.data, rtol=1e-12)


def test_euclidean_candidates_miss_few(load_dataset):
    X = load_dataset("segment").data
    X = X[:, np.ptp(X, axis=0) > 0]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    whole = DivergenceNeighbors(n_graph_neighbors=10, gamma=1e-2).fit_transform(X)
    few = DivergenceNeighbors(n_graph_neighbors=10, gamma=1e-2, n_candidates=100).fit_transform(X)
    found, wanted = (graph.indices.reshape(len(X), 11)[:, 1:] for graph in (few, whole))
    recall = np.mean([np.isin(a, b).mean() for a, b in zip(wanted, found, strict=True)])
    assert recall > 0.9  # 0.90 to 1.0 in the reference


def test_neighborhoods_of_a_radius_may_differ_in_rank():
    X = np.random.default_rng(0).normal(size=(60, 40))
    model = DivergenceNeighbors(radius=7.3, gamma=0.1, divergence="riemann").fit(X)
    few = model.transform(X[:1])
    assert model.gaussians_.rank > 1
    assert_allclose(few, model.transform(X)[:1], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"n_graph_neighbors": 5}, {"radius": 0.8}])
def test_transform_of_training_points_is_fit_transform(iris, options):
    X, _ = iris
    model = DivergenceNeighbors(**options)
    first = model.fit_transform(X)
    again = model.transform(X)
    assert abs(first - again).max() < 1e-9 * abs(first).max()


def test_new_point_has_the_gaussian_of_the_training_points_around_it():
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(50, 3)), rng.normal(size=(1, 3))
    got = DivergenceNeighbors(4, gamma=0.1).fit(X).transform(new)[0]
    near = np.argsort(np.square(X - new).sum(axis=1))[:4]
    C = (X[near] - new).T @ (X[near] - new) / 4 + 0.1 * np.eye(3)
    means, covariances = local_gaussians(X, 4, gamma=0.1)
    for j in range(50):
        u, P, Q = new[0] - means[j], np.linalg.inv(C), np.linalg.inv(covariances[j])
        jeffreys = 0.5 * u @ (P + Q) @ u + 0.5 * np.trace(P @ covariances[j] + Q @ C) - 3
        assert_allclose(got[j], jeffreys, rtol=1e-9)


def test_square_roots_of_squared_divergences_only(iris):
    X, _ = iris
    for name in DIVERGENCES:
        plain = DivergenceNeighbors(divergence=name).fit_transform(X)
        rooted = DivergenceNeighbors(divergence=name, square_root=True).fit_transform(X)
        squared = name in ("jeffreys", "bhattacharyya")
        assert_allclose(rooted, np.sqrt(plain) if squared else plain, rtol=1e-12)


def test_functions_say_what_the_estimator_says(iris):
    X, _ = iris
    D = DivergenceNeighbors(5, divergence="riemann").fit_transform(X)
    assert_array_equal(pairwise(X, n_neighbors=5, divergence="riemann"), D)
    new = X[:10] + 0.01
    model = DivergenceNeighbors(5).fit(X)
    assert_array_equal(pairwise(new, X, n_neighbors=5), model.transform(new))


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_given_pairs_only(iris, divergence):
    X, _ = iris
    pairs = np.random.default_rng(0).integers(0, 150, size=(300, 2))
    D = pairwise(X, divergence=divergence)
    found = paired(X, pairs, divergence=divergence)
    assert_allclose(found, D[pairs[:, 0], pairs[:, 1]], rtol=1e-9, atol=1e-12)
    assert_array_equal(found, paired(X, pairs[:, ::-1], divergence=divergence))
    assert paired(X, np.empty((0, 2), dtype=int), divergence=divergence).shape == (0,)
    with pytest.raises(ValueError, match="pairs names rows"):
        paired(X, [[0, 150]])


def test_approximate_search_is_nearly_exact(iris):
    X, _ = iris
    exact = DivergenceNeighbors().fit_transform(X)
    near = DivergenceNeighbors(search="approximate").fit_transform(X)
    assert np.isclose(exact, near, rtol=1e-6).mean() > 0.95


def test_float32_stays_float32(iris):
    X = iris[0].astype(np.float32)
    assert DivergenceNeighbors().fit_transform(X).dtype == np.float32
    assert DivergenceNeighbors(n_graph_neighbors=3).fit_transform(X).dtype == np.float32


def test_engines_agree():
    X = np.random.default_rng(0).normal(size=(60, 20))
    for name in DIVERGENCES:
        low, dense = (
            DivergenceNeighbors(4, divergence=name, gamma=0.1, engine=engine).fit_transform(X)
            for engine in ("low-rank", "dense")
        )
        assert_allclose(low, dense, rtol=1e-9)


# ------------------------------------------------- what takes the output: scikit-learn's own


def test_isomap_takes_the_graph(blobs):
    X, _ = blobs
    graph = DivergenceNeighbors(gamma=0.1, n_graph_neighbors=50, square_root=True)
    pipeline = make_pipeline(graph, Isomap(n_neighbors=50, metric="precomputed"))
    assert pipeline.fit_transform(X).shape == (120, 2)
    assert pipeline.transform(X[:5]).shape == (5, 2)


def test_tsne_takes_graph_and_distances(blobs):
    X, _ = blobs
    tsne = TSNE(metric="precomputed", init="random", perplexity=10, max_iter=250, random_state=0)
    for k in (31, None):
        distances = DivergenceNeighbors(gamma=0.1, n_graph_neighbors=k, square_root=True)
        assert make_pipeline(distances, clone(tsne)).fit_transform(X).shape == (120, 2)


def test_spectral_embedding_takes_the_graph(blobs):
    X, y = blobs
    graph = DivergenceNeighbors(gamma=0.1, n_graph_neighbors=60).fit_transform(X)
    learner = SpectralEmbedding(
        affinity="precomputed_nearest_neighbors", n_neighbors=60, random_state=0
    )
    Z = learner.fit_transform(graph)
    assert KNeighborsClassifier(3).fit(Z, y).score(Z, y) > 0.9


def test_clusterings_take_distances(blobs):
    X, y = blobs
    distances = DivergenceNeighbors(20, gamma=0.5).fit_transform(X)
    near = float(np.median(np.sort(distances, axis=1)[:, 5]))
    for model in (
        DBSCAN(eps=2 * near, min_samples=4, metric="precomputed"),
        OPTICS(min_samples=8, metric="precomputed", cluster_method="dbscan", eps=2 * near),
        AgglomerativeClustering(3, metric="precomputed", linkage="average"),
    ):
        assert adjusted_rand_score(y, model.fit_predict(distances)) > 0.8
    graph = DivergenceNeighbors(20, gamma=0.5, n_graph_neighbors=30).fit_transform(X)
    sparse = DBSCAN(eps=2 * near, min_samples=4, metric="precomputed").fit_predict(graph)
    assert adjusted_rand_score(y, sparse) > 0.8


def test_nearest_neighbors_classify_new_points(blobs):
    X, y = blobs
    graph = DivergenceNeighbors(gamma=0.5, n_graph_neighbors=5)
    pipeline = make_pipeline(graph, KNeighborsClassifier(5, metric="precomputed"))
    assert pipeline.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.95


# ----------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_neighbors": 150}, "n_neighbors=150 must be a whole number from 1 to 149"),
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"divergence": "kl"}, "divergence='kl' is unknown"),
        ({"covariance": "full"}, "covariance='full' is unknown"),
        ({"engine": "gpu"}, "engine='gpu' is unknown"),
        ({"search": "lsh"}, "search='lsh' is unknown"),
        ({"gamma": -1.0}, "gamma=-1.0"),
        ({"gamma": 1.5, "covariance": "shrunk"}, "gamma=1.5 must lie between 0 and 1"),
        ({"radius": 0.0}, "radius=0"),
        ({"n_graph_neighbors": 150}, "n_graph_neighbors=150"),
        ({"n_candidates": 10}, "set n_graph_neighbors, too"),
        ({"n_graph_neighbors": 5, "n_candidates": 4}, "n_candidates=4"),
        ({"square_root": "yes"}, "square_root='yes'"),
    ],
)
def test_errors_name_the_argument(iris, options, message):
    with pytest.raises(ValueError, match=message):
        DivergenceNeighbors(**options).fit(iris[0])


def test_no_ridge_and_too_few_neighbors_is_refused(iris):
    with pytest.raises(ValueError, match=r"local covariances are singular.*Raise gamma=0"):
        DivergenceNeighbors(3, gamma=0.0).fit(iris[0])


def test_duplicates_have_a_finite_answer():
    X = np.repeat(np.random.default_rng(0).normal(size=(6, 3)), 5, axis=0)
    for name in DIVERGENCES:
        D = DivergenceNeighbors(4, divergence=name).fit_transform(X)  # covariances are γ I
        assert np.isfinite(D).all()
        assert_allclose(D[0, :5], 0.0, atol=1e-12)
    with pytest.raises(ValueError, match=r'covariances are singular.*use covariance="ridge"'):
        DivergenceNeighbors(4, covariance="shrunk", gamma=0.1).fit(X)


def test_nan_is_refused(iris):
    X = iris[0].copy()
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        DivergenceNeighbors().fit(X)
