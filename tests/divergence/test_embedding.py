from unittest.mock import patch

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris, make_s_curve
from sklearn.exceptions import NotFittedError
from sklearn.manifold import Isomap, LocallyLinearEmbedding, trustworthiness
from sklearn.utils.estimator_checks import parametrize_with_checks

from vicinal import DivergenceEmbedding, DivergenceNeighbors
from vicinal.divergence.energy import best_size, laplacian_energy
from vicinal.divergence.graph import symmetric
from vicinal.divergence.learners import LEARNERS, learners_that

METHODS = tuple(LEARNERS)
WITH_TRANSFORM = learners_that(lambda learner: learner.extend is not None)

every_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32])
LIGHT = {"tsne": {"method_params": {"max_iter": 300}, "n_jobs": 1}}


@pytest.mark.filterwarnings("ignore:the neighborhood graph has")  # tiny sets of the checks
@pytest.mark.filterwarnings("ignore:n_neighbors=10 is more than")
@parametrize_with_checks(
    [
        DivergenceEmbedding(),
        DivergenceEmbedding(n_neighbors=3),
        DivergenceEmbedding(n_neighbors=3, method="mds"),
        DivergenceEmbedding(disconnected="separate"),
        DivergenceEmbedding(metric="precomputed"),
        DivergenceEmbedding(divergence="euclidean"),
    ],
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture
def curve():
    X, t = make_s_curve(300, noise=0.02, random_state=0)
    return X, t


@pytest.fixture
def iris():
    return load_iris().data


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore:Tensorflow not installed:ImportWarning")  # UMAP's own
def test_neighbors_stay_neighbors(curve, method):
    X, _ = curve
    model = DivergenceEmbedding(method=method, gamma=0.05, divergence="bhattacharyya")
    Z = model.set_params(random_state=0, **LIGHT.get(method, {})).fit_transform(X)
    assert Z.shape == (300, 2)
    # Those of the graph: local shape is part of what is near.
    distances = DivergenceNeighbors(gamma=0.05, divergence="bhattacharyya").fit_transform(X)
    assert trustworthiness(distances, Z, n_neighbors=10, metric="precomputed") > 0.85


@pytest.mark.parametrize("method", [*METHODS[:5]])
def test_the_same_seed_gives_the_same_coordinates(curve, method):
    X, _ = curve
    options = {"method": method, "gamma": 0.05, "random_state": 1, **LIGHT.get(method, {})}
    first, again = (DivergenceEmbedding(**options).fit_transform(X[:200]) for _ in range(2))
    assert_allclose(first, again, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("method", WITH_TRANSFORM)
@every_dtype
def test_new_points_come_to_lie_among_their_neighbors(curve, method, dtype):
    X = curve[0].astype(dtype)
    model = DivergenceEmbedding(method=method, gamma=0.05, n_neighbors=15, random_state=0)
    Z = model.fit(X[:250]).embedding_
    new = model.transform(X[250:])
    near = cdist(X[250:], X[:250]).argmin(axis=1)
    apart = np.linalg.norm(new - Z[near], axis=1)
    size = np.linalg.norm(Z - Z.mean(axis=0), axis=1).mean()
    assert np.median(apart) < 0.25 * size


@pytest.mark.parametrize("method", ["tsne", "umap"])
def test_methods_without_transform_have_none(method):
    model = DivergenceEmbedding(method=method)
    assert not hasattr(model, "transform")
    with pytest.raises(AttributeError, match="has no attribute 'transform'") as error:
        _ = model.transform
    assert "isomap, laplacian, lle, mds" in str(error.value.__cause__)


def test_isomap_is_scikit_learns(iris):
    ours = DivergenceEmbedding(n_graph_neighbors=60).fit(iris)
    graph = DivergenceNeighbors(n_graph_neighbors=60, square_root=True)
    theirs = Isomap(n_neighbors=60, metric="precomputed")
    Z = theirs.fit_transform(graph.fit_transform(iris))
    assert_allclose(np.abs(ours.embedding_), np.abs(Z), rtol=1e-9, atol=1e-9 * np.abs(Z).max())
    new = iris[::7] + 0.05
    extended = theirs.transform(graph.transform(new))
    assert_allclose(np.abs(ours.transform(new)), np.abs(extended), rtol=1e-6, atol=1e-8)


def test_equal_shapes_leave_lle_what_it_is():
    """With one covariance for all, neighbors and distances are Euclidean: scikit-learn's LLE."""
    X, _ = make_s_curve(200, random_state=0)
    ours = DivergenceEmbedding(method="lle", gamma=1e6, n_graph_neighbors=12)
    theirs = LocallyLinearEmbedding(n_neighbors=12, eigen_solver="dense").fit(X)
    for weights in ("distances", "coordinates"):
        Z = ours.set_params(lle_weights=weights).fit(X).embedding_
        assert_allclose(np.abs(Z), np.abs(theirs.embedding_), atol=1e-4)
        new = X[:20] + 0.01
        assert_allclose(np.abs(ours.transform(new)), np.abs(theirs.transform(new)), atol=1e-4)


# ----------------------------------------------------------------------- graphs of several parts


@pytest.fixture
def parts():
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(size=(40, 3)), rng.normal(size=(30, 3)) + 30])


@pytest.mark.parametrize("method", ["isomap", "laplacian", "lle"])
def test_components_are_connected_with_a_warning(parts, method):
    model = DivergenceEmbedding(method=method, n_graph_neighbors=5, gamma=0.5, random_state=0)
    with pytest.warns(UserWarning, match=r"has 2 components \(40, 30 points\)"):
        Z = model.fit_transform(parts)
    assert np.isfinite(Z).all()
    first = Z[:, 0] - Z[:, 0].mean()  # the parts lie on two sides
    assert len(set(np.sign(first[:40]))) == len(set(np.sign(first[40:]))) == 1


@pytest.mark.parametrize(
    "method",
    ["isomap", "laplacian", "lle"],
)
def test_components_are_refused_by_name(parts, method):
    model = DivergenceEmbedding(method=method, n_graph_neighbors=5, gamma=0.5, disconnected="raise")
    with pytest.raises(ValueError, match=r"2 components \(40, 30 points\).*n_graph_neighbors"):
        model.fit(parts)


@pytest.mark.parametrize("k", [8, 55])  # graphs of two components, and of one
@pytest.mark.filterwarnings("ignore:the neighborhood graph has")
def test_energy_chooses_among_the_sizes_of_the_paper(iris, k):
    model = DivergenceEmbedding(method="laplacian", n_neighbors="energy", n_graph_neighbors=k)
    energies = model.fit(iris).energies_
    assert list(energies) == list(range(3, 26))
    assert model.n_neighbors_ == max(energies, key=energies.get) == model.neighbors_.n_neighbors
    graph = symmetric(DivergenceNeighbors(10, n_graph_neighbors=k).fit_transform(iris))
    # Naively: all eigenvalues of D⁻¹ W.
    D = graph.toarray()
    W = np.where(D > 0, np.exp(-D / np.median(D[D > 0])), 0.0)
    twins = graph.tocoo()
    twins = (twins.data == 0) & (twins.row != twins.col), twins
    W[twins[1].row[twins[0]], twins[1].col[twins[0]]] = 1.0
    values = np.linalg.eigvals(W / W.sum(axis=1, keepdims=True)).real
    assert_allclose(energies[10], np.sort(values)[-3:].sum(), rtol=1e-9)


def test_energy_of_as_many_components_as_eigenvalues_is_all_there_can_be(parts):
    """The paper's ideal, footnote 8: no refusal, and the smallest of sizes that do not differ."""
    graph = symmetric(DivergenceNeighbors(5, n_graph_neighbors=5, gamma=0.5).fit_transform(parts))
    rng = np.random.default_rng(0)
    assert_allclose(laplacian_energy(graph, 2, None, rng), 2.0)
    assert laplacian_energy(graph, 3, None, rng) < 3.0
    model = DivergenceEmbedding(
        1, n_neighbors="energy", n_graph_neighbors=5, gamma=0.5, disconnected="separate"
    )
    with (
        pytest.warns(UserWarning, match=r"of 3, 4, .* points have 2 components or more.*smallest"),
        pytest.warns(UserWarning, match="were embedded side by side"),
    ):
        model.fit(parts)
    assert model.n_neighbors_ == 3
    assert best_size(lambda m: 2.0 - (m == 3), 30, 5)[0] == 4


# ----------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "pca"}, "method='pca' is unknown"),
        ({"n_components": 0}, "n_components=0"),
        ({"n_neighbors": "auto"}, "n_neighbors='auto' is unknown: use one of 'energy', 'growth'"),
        ({"n_neighbors": "energy", "divergence": "euclidean"}, "Euclidean have none"),
        ({"scale_quantile": 1.5}, "scale_quantile=1.5"),
        ({"metric": "cosine"}, "metric='cosine' is unknown"),
        ({"use_labels": True}, "use_labels=True needs labels"),
        ({"n_neighbors": "energy", "method": "mds"}, 'n_neighbors="energy" needs a graph'),
        ({"n_neighbors": "energy", "radius": 1.0}, "no meaning with radius=1.0"),
        ({"method": "mds", "n_graph_neighbors": 5}, "n_graph_neighbors=5 has no meaning"),
        ({"method": "mds", "n_candidates": 5}, "n_candidates=5 has no meaning"),
        ({"method": "lle", "method_params": {"reg": 1}}, "method_params has no meaning"),
        ({"scale": 0.0}, "scale=0"),
        ({"disconnected": "drop"}, "disconnected='drop' is unknown"),
        ({"lle_weights": "gram"}, "lle_weights='gram' is unknown"),
    ],
)
def test_errors_name_the_argument(iris, options, message):
    with pytest.raises(ValueError, match=message):
        DivergenceEmbedding(**options).fit(iris)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_neighbors": 2.5}, "n_neighbors=2.5 must be a whole number"),
        ({"n_neighbors": None}, "n_neighbors=None must be a whole number"),
        ({"n_neighbors": 2.5, "radius": 1.0}, "n_neighbors=2.5 must be a whole number"),
        ({"n_jobs": "all"}, "n_jobs='all' must be a number of threads"),
    ],
)
def test_errors_of_type_name_the_argument(iris, options, message):
    with pytest.raises(TypeError, match=message):
        DivergenceEmbedding(**options).fit(iris)


def test_umap_missing_is_said_with_the_remedy(iris):
    with (
        patch.dict("sys.modules", {"umap": None}),
        pytest.raises(ImportError, match=r"vicinal\[umap\]"),
    ):
        DivergenceEmbedding(method="umap").fit(iris)


# --------------------------------------------------------------------------------- hostile data

HOSTILE = {
    "discrete": np.random.default_rng(0).integers(0, 3, (120, 3)).astype(float),
    "all twins": np.ones((40, 3)),
    "one group of twins": np.vstack(
        [np.ones((30, 3)), np.random.default_rng(0).normal(size=(30, 3))]
    ),
    "two places": np.repeat([[0.0, 0.0], [1.0, 1.0]], 20, axis=0),
    "one far away": np.vstack([load_iris().data[::3], [[1e8] * 4]]),
    "a constant feature": np.c_[np.random.default_rng(0).normal(size=(40, 2)), np.ones(40)],
    "one feature": np.random.default_rng(0).normal(size=(40, 1)),
    "far from the origin": load_iris().data[::3] + 2.0**20,
    "tiny": 1e-130 * load_iris().data[::3],
    "huge": 1e130 * load_iris().data[::3],
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("method", WITH_TRANSFORM)
@every_dtype
@pytest.mark.parametrize("gamma", ["auto", 1e-4])
@pytest.mark.filterwarnings("ignore:the neighborhood graph has")
def test_hostile_data_have_finite_coordinates_or_are_refused_by_name(name, method, dtype, gamma):
    if name in ("tiny", "huge") and dtype == np.float32:
        pytest.skip("no numbers of float32")
    X = HOSTILE[name].astype(dtype)
    model = DivergenceEmbedding(method=method, gamma=gamma, random_state=0)
    Z = model.fit_transform(X)
    assert np.isfinite(Z).all()
    if method == "laplacian" and (np.abs(model.eigenvalues_) < 1e-10).any():
        with pytest.raises(ValueError, match="eigenvalue 0, which says nothing about new points"):
            model.transform(X)
    else:
        assert np.isfinite(model.transform(X)).all()


@pytest.mark.parametrize("method", ["isomap", "mds"])
@every_dtype
@pytest.mark.filterwarnings("ignore:the neighborhood graph has")
def test_training_points_stay_where_they_are(method, dtype):
    """Also those of components that are rounding errors: one feature has no second coordinate."""
    for name in ("discrete", "two places", "one feature", "a constant feature"):
        X = HOSTILE[name].astype(dtype)
        model = DivergenceEmbedding(3, method=method, random_state=0).fit(X)
        size = np.abs(model.embedding_).max()
        atol = (1e-7 if dtype == np.float64 else 1e-4) * size
        assert_allclose(model.transform(X), model.embedding_, atol=atol, err_msg=name)


@pytest.mark.parametrize("method", ["isomap", "laplacian"])
@pytest.mark.filterwarnings("ignore:the neighborhood graph has")
def test_twins_lie_at_one_place(method):
    X = HOSTILE["discrete"]
    Z = DivergenceEmbedding(method=method, random_state=0).fit_transform(X)
    if method == "laplacian":  # eigenvectors of twins differ, but less than those of others
        assert trustworthiness(X, Z, n_neighbors=3) > 0.7
        return
    places = np.unique(X, axis=0, return_inverse=True)[1].ravel()
    apart = cdist(Z, Z)
    assert apart[places[:, None] == places].max() < 1e-6 * apart.max()


@pytest.mark.parametrize("method", ["isomap", "laplacian", "lle", "umap"])
@pytest.mark.filterwarnings("ignore:Tensorflow not installed:ImportWarning")
def test_single_precision_has_the_embedding_of_the_same_points(curve, method):
    """Neighbors in their order, which scipy's conversion would lose."""
    X = curve[0].astype(np.float32)
    options = {"method": method, "gamma": 0.05, "random_state": 0}
    if method == "umap":
        options["method_params"] = {"n_epochs": 20}
    single = DivergenceEmbedding(**options).fit(X)
    double = DivergenceEmbedding(**options).fit(X.astype(np.float64))
    assert single.embedding_.dtype == np.float32
    atol = 1e-5 * np.abs(double.embedding_).max()
    assert_allclose(single.embedding_, double.embedding_, atol=atol)
    if method != "umap":
        new = X[::9] + np.float32(0.01)
        assert_allclose(single.transform(new), double.transform(new), atol=10 * atol)


@pytest.mark.parametrize("method", WITH_TRANSFORM)
@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.filterwarnings("ignore:the neighborhood graph has")
def test_very_few_points(method, n):
    X = np.random.default_rng(0).normal(size=(n, 2))
    model = DivergenceEmbedding(1, method=method, n_neighbors=n - 1, random_state=0)
    assert np.isfinite(model.fit_transform(X)).all()
    assert np.isfinite(model.transform(X + 0.1)).all()


@pytest.mark.parametrize("n", [2, 3, 5])
def test_energy_of_very_few_points(n):
    X = np.random.default_rng(0).normal(size=(n, 2))
    model = DivergenceEmbedding(1, n_neighbors="energy").fit(X)
    assert list(model.energies_) == ([n - 1] if n <= 3 else [3, 4])


@pytest.mark.parametrize("scale", [1e-160, 1e155])
@pytest.mark.parametrize("method", ["isomap", "mds"])
def test_units_out_of_reach_are_refused_by_name(iris, method, scale):
    with pytest.raises(ValueError, match=r"^X .*too (large|little) for float64: scale it"):
        DivergenceEmbedding(method=method).fit(scale * iris)


@pytest.mark.parametrize("method", WITH_TRANSFORM)
def test_new_points_out_of_reach_are_refused_by_name(curve, method):
    model = DivergenceEmbedding(method=method, random_state=0).fit(curve[0])
    with pytest.raises(ValueError, match=r"^X reaches 1e\+155, too large for float64"):
        model.transform(np.full((1, 3), 1e155))


# ------------------------------------------------------------------- what a fitted model is made of

OTHER = {
    "checkpoint": "elsewhere",
    "n_components": 1,
    "method": "tsne",
    "divergence": "riemann",
    "metric": "precomputed",
    "n_neighbors": 4,
    "radius": 1.5,
    "covariance": "oas",
    "gamma": 0.5,
    "n_graph_neighbors": 4,
    "n_candidates": 9,
    "use_labels": True,
    "disconnected": "raise",
    "scale": 3.0,
    "scale_quantile": 0.25,
    "lle_weights": "coordinates",
    "method_params": {"perplexity": 3},
    "search": "approximate",
    "engine": "dense",
    "memory_limit": "1GB",
    "random_state": 7,
    "n_jobs": 2,
    "verbose": 1,
}


@pytest.mark.parametrize("method", WITH_TRANSFORM)
def test_parameters_set_after_the_fit_change_nothing(curve, method):
    assert set(OTHER) == set(DivergenceEmbedding().get_params())
    X, new = curve[0][:250], curve[0][250:]
    model = DivergenceEmbedding(method=method, gamma=0.05, random_state=0).fit(X)
    before = model.transform(new)
    names = model.get_feature_names_out()
    model.set_params(**OTHER)
    assert_array_equal(model.transform(new), before)
    assert_array_equal(model.get_feature_names_out(), names)


def test_a_method_set_after_the_fit_gives_no_transform(iris):
    model = DivergenceEmbedding(method="tsne", random_state=0, **LIGHT["tsne"]).fit(iris[::3])
    assert not hasattr(model.set_params(method="isomap"), "transform")


def test_a_failed_fit_is_no_fit(curve):
    model = DivergenceEmbedding(random_state=0).fit(curve[0])
    with pytest.raises(ValueError, match="singular"):
        model.set_params(gamma=0.0, n_neighbors=2).fit(curve[0])
    with pytest.raises(NotFittedError):
        model.transform(curve[0])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore:Tensorflow not installed:ImportWarning")
def test_the_same_bits_again_at_any_number_of_threads(curve, method):
    X = curve[0][:150]
    X.flags.writeable = False
    found = []
    for n_jobs in (1, 2, 2):
        model = DivergenceEmbedding(method=method, gamma=0.05, random_state=0, n_jobs=n_jobs)
        params = {"tsne": {"max_iter": 250}, "umap": {"n_epochs": 20}}.get(method)
        Z = model.set_params(method_params=params).fit_transform(X)
        found.append((Z, model.transform(X + 0.01) if method in WITH_TRANSFORM else Z))
    for again in found[1:]:
        for one, other in zip(found[0], again, strict=True):
            assert_array_equal(one, other)
