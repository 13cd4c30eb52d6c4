import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix, issparse
from sklearn.base import clone
from sklearn.cluster import DBSCAN, OPTICS, AgglomerativeClustering
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.manifold import TSNE, Isomap, SpectralEmbedding
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from vicinal import DivergenceNeighbors
from vicinal.divergence import density_paths, local_gaussians, paired, pairwise
from vicinal.divergence.divergences import DIVERGENCES
from vicinal.divergence.gaussians import KINDS

every_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32])


@pytest.mark.filterwarnings("ignore:n_neighbors=10 is more than")  # tiny sets of the checks
@parametrize_with_checks(
    [
        DivergenceNeighbors(),
        DivergenceNeighbors(3, divergence="bhattacharyya", n_graph_neighbors=3),
        DivergenceNeighbors(3, radius=1.0, n_graph_neighbors=3, n_candidates=5),
        DivergenceNeighbors(metric="precomputed"),
        DivergenceNeighbors(divergence="euclidean", n_graph_neighbors=3),
        DivergenceNeighbors("growth"),
    ],
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
@every_dtype
def test_graph_has_the_nearest_of_the_dense_distances(iris, divergence, dtype):
    X = iris[0].astype(dtype)
    rtol = 1e-9 if dtype == np.float64 else 1e-6
    dense = DivergenceNeighbors(divergence=divergence).fit_transform(X)
    graph = DivergenceNeighbors(divergence=divergence, n_graph_neighbors=7).fit_transform(X)
    assert issparse(graph)
    assert_array_equal(np.diff(graph.indptr), 8)
    near = graph.indices.reshape(len(X), 8)
    assert_array_equal(near[:, 0], np.arange(len(X)))  # itself first
    assert_array_equal(graph.data.reshape(len(X), 8)[:, 0], 0.0)
    found = np.take_along_axis(dense, near, axis=1)
    assert_allclose(graph.data.reshape(len(X), 8), found, rtol=rtol, atol=1e-12)
    others = dense + np.diag(np.full(len(X), np.inf))
    assert_allclose(found[:, 1:], np.sort(others, axis=1)[:, :7], rtol=rtol, atol=1e-12)


@every_dtype
def test_hellinger_neighbors_are_those_of_bhattacharyya(iris, dtype):
    """H is 1 for most pairs in double precision: ranks by H would be ties."""
    X = iris[0].astype(dtype)
    by_h, by_b = (
        DivergenceNeighbors(divergence=name, n_graph_neighbors=140, gamma=1e-4).fit_transform(X)
        for name in ("hellinger", "bhattacharyya")
    )
    assert (by_h.data == 1.0).mean() > 0.3
    assert_array_equal(by_h.indices, by_b.indices)


@every_dtype
def test_all_as_candidates_are_no_restriction(blobs, dtype):
    X = blobs[0].astype(dtype)
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
@every_dtype
def test_transform_of_training_points_is_fit_transform(iris, options, dtype):
    X = iris[0].astype(dtype)
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


def test_approximate_search_of_few_is_exact_but_for_ties(blobs):
    X, _ = blobs
    exact, near = (DivergenceNeighbors(search=s).fit_transform(X) for s in ("exact", "approximate"))
    assert_allclose(near, exact, rtol=1e-9, atol=1e-12)


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


@every_dtype
def test_isomap_takes_the_graph(blobs, dtype):
    X = blobs[0].astype(dtype)
    graph = DivergenceNeighbors(gamma=0.1, n_graph_neighbors=50, square_root=True)
    pipeline = make_pipeline(graph, Isomap(n_neighbors=50, metric="precomputed"))
    assert pipeline.fit_transform(X).shape == (120, 2)
    assert pipeline.transform(X[:5]).shape == (5, 2)


@every_dtype
def test_tsne_takes_graph_and_distances(blobs, dtype):
    X = blobs[0].astype(dtype)
    tsne = TSNE(metric="precomputed", init="random", perplexity=10, max_iter=250, random_state=0)
    for k in (31, None):
        distances = DivergenceNeighbors(gamma=0.1, n_graph_neighbors=k, square_root=True)
        assert make_pipeline(distances, clone(tsne)).fit_transform(X).shape == (120, 2)


@every_dtype
def test_spectral_embedding_takes_the_graph(blobs, dtype):
    X, y = blobs[0].astype(dtype), blobs[1]
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


@every_dtype
def test_nearest_neighbors_classify_new_points(blobs, dtype):
    X, y = blobs[0].astype(dtype), blobs[1]
    graph = DivergenceNeighbors(gamma=0.5, n_graph_neighbors=5)
    pipeline = make_pipeline(graph, KNeighborsClassifier(5, metric="precomputed"))
    assert pipeline.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.95


# ----------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_neighbors": "all"}, "n_neighbors='all' is unknown: use one of 'growth'"),
        ({"n_neighbors": "growth", "radius": 1.0}, "no meaning with radius=1.0"),
        ({"metric": "cosine"}, "metric='cosine' is unknown"),
        ({"gamma": "scale"}, "gamma='scale' is unknown"),
        ({"use_labels": "yes"}, "use_labels='yes'"),
        ({"use_labels": True}, r"use_labels=True needs labels: call fit\(X, y\)"),
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


@pytest.mark.parametrize(
    ("n_jobs", "kind"), [(0, ValueError), ("2", TypeError), (1.5, TypeError), (True, TypeError)]
)
def test_what_is_no_number_of_threads_is_refused(iris, n_jobs, kind):
    X, _ = iris
    for work in (
        lambda: DivergenceNeighbors(n_jobs=n_jobs).fit(X),
        lambda: pairwise(X, n_jobs=n_jobs),
        lambda: paired(X, [[0, 1]], n_jobs=n_jobs),
        lambda: density_paths(X, n_jobs=n_jobs),
    ):
        with pytest.raises(kind, match=rf"n_jobs={n_jobs!r} must be a number of threads"):
            work()


def test_any_number_of_threads_will_do(iris):
    X, _ = iris
    D = DivergenceNeighbors(n_jobs=1).fit_transform(X)
    for n_jobs in (10**7, -100, np.int64(2)):
        assert_array_equal(DivergenceNeighbors(n_jobs=n_jobs).fit_transform(X), D)


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


# --------------------------------------------------------------------------------- hostile data


@pytest.mark.parametrize("covariance", KINDS)
@pytest.mark.parametrize("exponent", [-139, -77, -38, 38, 77, 139])
@pytest.mark.filterwarnings("ignore:covariance=.frank-wolfe. stopped before")
def test_any_units_have_finite_divergences_or_are_refused_by_name(iris, covariance, exponent):
    X = 10.0**exponent * iris[0][::5]
    gamma = 0.1 if covariance.startswith("shrunk") else 1e-4
    for divergence in set(DIVERGENCES) - {"euclidean"}:
        model = DivergenceNeighbors(6, divergence=divergence, covariance=covariance, gamma=gamma)
        if exponent > 0 and covariance in ("trace", "frank-wolfe"):  # of absolute units
            with pytest.raises(ValueError, match=r"singular.*scale X"):
                model.fit_transform(X)
        else:
            assert np.isfinite(model.fit_transform(X)).all()


@pytest.mark.parametrize("covariance", ["shrunk", "shrunk-diagonal", "ledoit-wolf", "oas"])
@pytest.mark.parametrize("scale", [2.0**-450, 2.0**450])
def test_shares_do_not_depend_on_units(iris, covariance, scale):
    X, _ = iris
    gamma = 0.1 if covariance.startswith("shrunk") else 0.0
    one, other = (
        DivergenceNeighbors(10, covariance=covariance, gamma=gamma).fit_transform(x)
        for x in (X, scale * X)
    )
    assert_allclose(other, one, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-160, 1e155])
def test_units_out_of_reach_are_refused_by_name(iris, scale):
    X, model = iris[0], DivergenceNeighbors()
    for work in (model.fit, model.fit_transform, pairwise, local_gaussians):
        with pytest.raises(ValueError, match=r"^X .*too (large|little) for float64: scale it"):
            work(scale * X)
    with pytest.raises(ValueError, match=r"^X .*too (large|little)"):
        paired(scale * X, [[0, 1]])


def test_new_points_out_of_reach_are_refused_by_name(iris):
    model = DivergenceNeighbors().fit(iris[0])
    for work in (model.transform, lambda X: pairwise(X, iris[0])):
        with pytest.raises(ValueError, match=r"^X reaches .*too large for float64"):
            work(1e155 * iris[0][:3])
        with pytest.raises(ValueError, match=r"2 of 2 local covariances are singular.*far from"):
            work(np.full((2, 4), 1e100))


def test_a_point_far_from_all_others_changes_nothing_for_them(iris):
    X, _ = iris
    more = np.vstack([X, [[1e8] * 4]])
    model = DivergenceNeighbors(gamma=1e-4)
    D = model.fit_transform(more)
    assert np.isfinite(D).all()
    assert_allclose(D[:-1, :-1], model.fit_transform(X), rtol=1e-9, atol=1e-12)
    # Medians and means over 151 points instead of 150: hardly anything.
    model = DivergenceNeighbors()
    D = model.fit_transform(more)
    assert np.isfinite(D).all()
    assert_allclose(D[:-1, :-1], model.fit_transform(X), rtol=0.02, atol=1e-2)


def test_features_of_very_different_scales_are_refused_by_name():
    X = np.random.default_rng(0).normal(size=(40, 4)) * [1e-100, 1e-3, 1.0, 1e100]
    with pytest.raises(ValueError, match=r"features of very different scales.*or scale X"):
        DivergenceNeighbors(gamma=1e-4).fit(X)


def test_divergences_that_would_be_no_numbers_are_refused():
    X = np.repeat([[0.0], [1e139]], 5, axis=0)
    with pytest.raises(ValueError, match=r"would exceed 1e\+290: .* 1\.0e\+139 apart.*Raise gamma"):
        DivergenceNeighbors(3, gamma=1e-30).fit_transform(X)


@pytest.mark.parametrize("divergence", DIVERGENCES)
@every_dtype
def test_twins_are_at_divergence_0(divergence, dtype):
    """Exactly: not by rounding errors, which would be their order and the scale of a graph."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(20, 5)), 3, axis=0).astype(dtype)  # 2 twins, 3 other neighbors
    D = DivergenceNeighbors(5, divergence=divergence).fit_transform(X)
    same = np.repeat(np.arange(20), 3)
    assert_array_equal(D == 0, same[:, None] == same)
    model = DivergenceNeighbors(5, divergence=divergence, n_graph_neighbors=2)
    graph = model.fit_transform(X)
    assert_array_equal(graph.data, 0.0)
    assert_array_equal(same[graph.indices], np.repeat(same, 3))


@pytest.mark.parametrize("n", [2, 3, 11])
def test_as_many_neighbors_as_there_are_others(n):
    X = np.random.default_rng(0).normal(size=(n, 2))
    model = DivergenceNeighbors(n - 1, n_graph_neighbors=n - 1)
    graph = model.fit_transform(X)
    assert_allclose(graph.toarray(), DivergenceNeighbors(n - 1).fit_transform(X), atol=1e-9)
    assert np.isfinite(model.transform(X + 0.1).data).all()


# ------------------------------------------------------------------- what a fitted model is made of

OTHER = {
    "n_neighbors": 4,
    "radius": 1.5,
    "divergence": "riemann",
    "metric": "precomputed",
    "covariance": "oas",
    "gamma": 0.5,
    "n_graph_neighbors": 4,
    "n_candidates": 9,
    "use_labels": True,
    "square_root": True,
    "search": "approximate",
    "engine": "dense",
    "memory_limit": "1GB",
    "n_jobs": 2,
    "verbose": 1,
}


@pytest.mark.parametrize("options", [{}, {"n_graph_neighbors": 5, "n_candidates": 20}])
def test_parameters_set_after_the_fit_change_nothing(iris, options):
    assert set(OTHER) == set(DivergenceNeighbors().get_params())
    X, new = iris[0], iris[0][::7] + 0.05
    model = DivergenceNeighbors(**options).fit(X)
    before = model.transform(new)
    after = model.set_params(**OTHER).transform(new)
    assert issparse(after) == issparse(before)
    assert_array_equal(
        *(found.toarray() if issparse(found) else found for found in (before, after))
    )


@every_dtype
def test_the_users_array_is_neither_changed_nor_needed_later(iris, dtype):
    X = iris[0].astype(dtype)
    given, new = X.copy(), X[:5] + dtype(0.05)
    model = DivergenceNeighbors(5).fit(given)
    assert_array_equal(given, X)
    before = model.transform(new)
    given[:] = 0.0
    assert_array_equal(model.transform(new), before)


def test_a_failed_fit_is_no_fit(iris):
    model = DivergenceNeighbors(3, gamma=0.0)
    with pytest.raises(ValueError, match="singular"):
        model.fit(iris[0])
    with pytest.raises(NotFittedError):
        model.transform(iris[0])
    before = model.set_params(gamma="auto").fit_transform(iris[0])
    with pytest.raises(ValueError, match="singular"):
        model.set_params(gamma=0.0).fit(iris[0])
    assert_allclose(model.transform(iris[0]), before, atol=1e-9)  # as it was


def _layouts(X):
    locked = X.copy()
    locked.flags.writeable = False
    return {
        "read-only": locked,
        "Fortran": np.asfortranarray(X),
        "reversed": X[::-1].copy()[::-1],
        "big-endian": X.astype(">f8"),
        "object": X.astype(object),
        "frame": pd.DataFrame(X, columns=list("abcd")),
    }


@pytest.mark.parametrize("layout", _layouts(np.zeros((1, 4))))
def test_the_layout_of_the_array_changes_nothing(iris, layout):
    X, options = iris[0], {"n_graph_neighbors": 5}
    given = _layouts(X)[layout]
    found = DivergenceNeighbors(**options).fit_transform(given)
    expected = DivergenceNeighbors(**options).fit_transform(X)
    assert_array_equal(found.indices, expected.indices)
    assert_allclose(found.data, expected.data, rtol=1e-9)
    assert_array_equal(np.asarray(given, dtype=float), X)


def test_whole_numbers_and_truth_values_are_numbers():
    X = np.random.default_rng(0).integers(0, 2, (40, 3))
    expected = DivergenceNeighbors().fit_transform(X.astype(float))
    for given in (X, X.astype(np.uint8), X.astype(bool)):
        assert_array_equal(DivergenceNeighbors().fit_transform(given), expected)


def test_sparse_input_is_refused_by_name(iris):
    with pytest.raises(TypeError, match="Sparse data was passed for X"):
        DivergenceNeighbors().fit(csr_matrix(iris[0]))


@pytest.mark.parametrize("options", [{}, {"n_graph_neighbors": 5}, {"radius": 1.0}])
def test_the_same_bits_again_at_any_number_of_threads(iris, options):
    X = iris[0]
    found = []
    for n_jobs in (1, 2, 2, None):
        model = DivergenceNeighbors(n_jobs=n_jobs, **options)
        found.append((model.fit_transform(X), model.transform(X[::7] + 0.05)))
    for again in found[1:]:
        for one, other in zip(found[0], again, strict=True):
            assert_array_equal(*(x.toarray() if issparse(x) else x for x in (one, other)))
