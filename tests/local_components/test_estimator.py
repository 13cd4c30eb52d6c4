import re

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from local_components.paper import Paper
from local_components.quadrature import integral
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from vicinal import LocalComponents
from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.equations import Form
from vicinal.local_components.frame import GlobalFrame
from vicinal.local_components.learning import LocalProblem, Penalty
from vicinal.neighborhood.blocked import BlockedEngine

DRAWN = "rows are drawn by position: copies are not weights to the draw"
TIES = "among equal variances directions are any: fewer rows than columns"
EQUIVALENCE = "check_sample_weight_equivalence_on_dense_data"


def expected_failures(estimator):
    draws = estimator.batch_size or estimator.early_stopping
    if estimator.gaussian == "search":
        return {EQUIVALENCE: TIES}
    return {EQUIVALENCE: DRAWN} if draws else {}


@pytest.mark.filterwarnings("ignore:LocalComponents with regularization='auto'")
@parametrize_with_checks(
    [
        LocalComponents(),
        *(
            LocalComponents(**{"regularization": 0.1, **settings})
            for settings in (
                {},
                {"covariance": "diag", "accelerate": False},
                {"covariance": "spherical"},
                {"covariance": "low_rank"},
                {"covariance": "local"},
                {"covariance": "local", "smoothing": 10},
                {"gaussian": "em", "regularization": (0.2, 0.1)},
                {"gaussian": "search"},
                {"kernel": "student"},
                {"batch_size": 20, "n_neighbors": 25},
                {"early_stopping": True},
                {"covariance": "local", "smoothing": 5, "regularization": "auto"},
            )
        ),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)[0]


@pytest.mark.parametrize("accelerate", [True, False])
@pytest.mark.parametrize(
    ("covariance", "expected"),
    [
        ("full", -1.66319837815),
        ("diag", -1.74403284705),
        ("spherical", -1.82658662539),
    ],
)
def test_golden_likelihoods_on_iris(iris, covariance, expected, accelerate):
    model = Paper(covariance=covariance, accelerate=accelerate, tol=1e-13).fit(iris)
    assert model.converged_
    assert_allclose(model.loo_log_likelihood_, expected, atol=1e-9)
    assert_allclose(model.history_["objective"][-1], model.loo_log_likelihood_, atol=1e-12)
    if covariance == "full":
        eigenvalues = [0.0104206796, 0.0244282190, 0.0409747231, 0.0986436653]
        assert_allclose(np.linalg.eigvalsh(model.covariance_), eigenvalues, rtol=1e-5)


def test_one_step_is_manifold_parzen(iris):
    model = Paper(accelerate=False, max_iter=1, tol=0.0)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        model.fit(iris)
    assert_allclose(model.loo_log_likelihood_, -2.57268039907, atol=1e-9)


@pytest.mark.parametrize("accelerate", [True, False])
@pytest.mark.parametrize("covariance", ["full", "diag", "spherical"])
@pytest.mark.parametrize("regularization", [0.0, 0.05])
def test_the_penalized_likelihood_never_falls(iris, covariance, regularization, accelerate):
    model = Paper(covariance=covariance, regularization=regularization, accelerate=accelerate).fit(
        iris
    )
    assert (np.diff(model.history_["objective"]) >= -1e-12).all()


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_acceleration_halves_the_e_steps(load, monkeypatch):
    """Every E-step counts, also those of extrapolations that were not kept."""
    X, visit = load(return_X_y=True)[0], LocalProblem._visit

    def objectives(**settings):
        seen = []

        def counted(problem, *args):
            result = visit(problem, *args)
            seen.append(result[0])
            return result

        monkeypatch.setattr(LocalProblem, "_visit", counted)
        Paper(tol=1e-12, **settings).fit(X)
        return np.array(seen)

    plain, fast = objectives(accelerate=False), objectives()
    best = max(plain.max(), fast.max())
    for gap in (1e-3, 1e-6, 1e-9):
        steps = [int((run >= best - gap).argmax()) + 1 for run in (plain, fast)]
        assert 1.6 * steps[1] <= steps[0]
        if gap < 1e-3:
            assert 2 * steps[1] <= steps[0]


@given(seed=st.integers(0, 2**32 - 1))
@examples(10)
def test_affine_equivariance(iris, seed):
    rng = np.random.default_rng(seed)
    M = rng.normal(size=(4, 4)) + 2 * np.eye(4)
    shift = 100 * rng.normal(size=4)
    plain = Paper(tol=1e-12).fit(iris)
    moved = Paper(tol=1e-12).fit(iris @ M.T + shift)
    expected = M @ plain.covariance_ @ M.T
    assert_allclose(moved.covariance_, expected, atol=1e-4 * np.abs(expected).max())
    log_volume = np.log(abs(np.linalg.det(M)))
    assert_allclose(moved.loo_log_likelihood_, plain.loo_log_likelihood_ - log_volume, atol=1e-6)
    assert_allclose(
        np.square(moved.transform(iris[:9] @ M.T + shift)[1:] - moved.transform(
            iris[:1] @ M.T + shift)).sum(axis=1),
        np.square(plain.transform(iris[1:9]) - plain.transform(iris[:1])).sum(axis=1),
        rtol=1e-3,
    )  # fmt: skip


def test_diagonal_is_scale_and_spherical_similarity_equivariant(iris):
    scale = np.array([2.0, 0.1, 30.0, 1.0])
    plain = Paper(covariance="diag", tol=1e-13).fit(iris)
    scaled = Paper(covariance="diag", tol=1e-13).fit(iris * scale)
    assert_allclose(np.diag(scaled.covariance_), np.diag(plain.covariance_) * scale**2, rtol=1e-6)
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    plain = Paper(covariance="spherical", tol=1e-13).fit(iris)
    turned = Paper(covariance="spherical", tol=1e-13).fit(3 * iris @ Q.T)
    assert_allclose(turned.covariance_, 9 * plain.covariance_, rtol=1e-6, atol=1e-12)


def test_densities_integrate_to_one():
    rng = np.random.default_rng(0)
    one = Paper().fit(rng.normal(size=(15, 1)) * 0.3)
    assert_allclose(integral(one, 1, 5, 0.01), 1.0, rtol=1e-6)
    two = Paper().fit(rng.normal(size=(8, 2)) * 0.5)
    assert_allclose(integral(two, 2, 5, 0.02), 1.0, rtol=1e-6)


def test_samples_have_the_moments_of_the_density(iris):
    weights = 1.0 + np.arange(150) % 3
    model = Paper(random_state=0).fit(iris, sample_weight=weights)
    draws = model.sample(40_000)
    mean = np.average(iris, axis=0, weights=weights)
    spread = np.cov(iris.T, aweights=weights, ddof=0) + model.covariance_
    assert_allclose(draws.mean(axis=0), mean, atol=0.05)
    assert_allclose(np.cov(draws.T), spread, atol=0.06)
    assert_array_equal(model.sample(5), Paper(random_state=0).fit(
        iris, sample_weight=weights).sample(5))  # fmt: skip


def test_weight_k_equals_k_copies(iris):
    weights = np.arange(150) % 3
    copies = np.repeat(iris, weights, axis=0)
    settings = {"regularization": 0.02, "tol": 1e-6}
    weighted = Paper(**settings).fit(iris, sample_weight=weights)
    repeated = Paper(**settings).fit(copies)
    assert_allclose(weighted.covariance_, repeated.covariance_, rtol=1e-6)
    assert_allclose(weighted.loo_log_likelihood_, repeated.loo_log_likelihood_, rtol=1e-9)


def test_components_are_white_locally(iris):
    model = Paper().fit(iris)
    A = model.components_
    assert_allclose(A @ model.covariance_ @ A.T, np.eye(4), atol=1e-8)
    widths = np.sqrt(np.diag(model.covariance_))
    assert_allclose(A * widths, (A * widths).T, atol=1e-12)  # the root closest to the features
    assert_array_equal(model.get_feature_names_out()[:1], ["localcomponents0"])
    pairs = iris[:10].reshape(5, 2, 4)
    difference = pairs[:, 0] - pairs[:, 1]
    expected = np.einsum("ij,jk,ik->i", difference, np.linalg.inv(model.covariance_), difference)
    assert_allclose(np.square(model.pair_distance(pairs)), expected, rtol=1e-6)


def test_grid_search_by_held_out_likelihood(iris):
    search = GridSearchCV(Paper(), {"regularization": [0.0, 0.01, 1.0]}, cv=3)
    search.fit(np.random.default_rng(0).permutation(iris))
    assert search.best_params_["regularization"] in (0.0, 0.01)


def test_a_far_outlier_scores_lowest(iris):
    X = np.vstack([iris, [[1e6, 0, 0, 0]]])
    model = Paper(regularization=1e-3).fit(X)
    assert np.isfinite(model.covariance_).all()
    assert np.isfinite(model.score_samples(X)).all()
    normal = Paper().fit(iris)
    assert normal.score_samples([[50.0, 0, 0, 0]])[0] < normal.score_samples(iris).min()


def test_an_offset_costs_nothing(iris):
    plain, far = Paper().fit(iris), Paper().fit(iris + 1e6)
    assert_allclose(far.loo_log_likelihood_, plain.loo_log_likelihood_, atol=1e-5)
    assert_allclose(far.score(iris + 1e6), plain.score(iris), atol=1e-4)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda X: np.c_[X, np.arange(150) % 2], "every point has a twin"),
        (lambda X: np.repeat(X[::3], 2, axis=0), "every row has a twin"),
        (lambda X: np.random.default_rng(0).integers(0, 3, (200, 3)), "every row has a twin"),
        (lambda X: np.c_[X, np.ones(150)], "column 4 of X is constant"),
        (lambda X: np.c_[X, X[:, 0] + X[:, 1]], "linearly dependent"),
        (lambda X: X[:1], "minimum of 2 is required"),
        (lambda X: np.where(X > 7, np.nan, X), "contains NaN"),
    ],
    ids=["binary", "duplicates", "grid", "constant", "dependent", "one row", "nan"],
)
@pytest.mark.parametrize(
    "settings",
    [{}, {"accelerate": False}, {"gaussian": "em"}, {"covariance": "local"}, {"batch_size": 30}],
    ids=str,
)
def test_degenerate_data_is_named(iris, spoil, message, settings):
    max_iter = 100 if "batch_size" in settings else 15
    with pytest.raises(ValueError, match=message):
        Paper(max_iter=max_iter, random_state=0, **settings).fit(spoil(iris))


def test_weights_make_twins(iris):
    with pytest.raises(ValueError, match="every row has a twin"):
        Paper().fit(iris, sample_weight=np.full(150, 2.0))


@pytest.mark.parametrize("covariance", ["full", "diag", "spherical", "low_rank"])
def test_a_far_pair_of_outliers_is_harmless(iris, covariance):
    """Though the kernels are 1e-13 of the global variance; one alone makes a kernel reach it."""
    plain = Paper(covariance=covariance).fit(iris)
    pair = Paper(covariance=covariance).fit(np.vstack([iris, [[1e6, 0, 0, 0]] * 2]))
    assert_allclose(pair.covariance_, plain.covariance_, rtol=0.05, atol=0.002)
    one = Paper(covariance=covariance).fit(np.vstack([iris, [[1e6, 0, 0, 0]]]))
    assert np.linalg.eigvalsh(one.covariance_)[-1] > 1e9
    assert np.isfinite(one.loo_log_likelihood_)


def test_an_outlier_that_local_covariances_cannot_stand_is_named(iris):
    X = np.vstack([iris, [[1e6, 0, 0, 0]] * 2])
    with pytest.raises(ValueError, match="kernel widths from the others: local covariances lose"):
        Paper(covariance="local").fit(X)


@pytest.mark.parametrize("n", [2, 3, 5, 10, 17, 18, 30])
@pytest.mark.parametrize("settings", [{}, {"gaussian": "em"}, {"gaussian": "search"}], ids=str)
def test_few_points_end_in_a_finite_density_or_a_named_error(n, settings):
    """n ≤ 2d - 2 = 18: no upper bound, but EM may stop before it gets there."""
    X = np.random.default_rng(n).normal(size=(n, 10))
    try:
        model = Paper(**settings).fit(X)
    except ValueError as raised:
        error = str(raised)
    else:
        error = ""
        assert np.isfinite(model.score_samples(X)).all()
        assert np.linalg.eigvalsh(model.covariance_)[0] > 1e-12
    assert not error or (n <= 18 and re.search("too few|fewer rows than columns", error))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda X: X[:6],
        lambda X: np.c_[X, np.arange(150) % 2],
        lambda X: np.c_[X, np.ones(150)],
        lambda X: np.repeat(X[::3], 2, axis=0),
    ],
    ids=["few", "binary", "constant", "duplicates"],
)
def test_a_penalty_cures_degenerate_data(iris, spoil):
    model = Paper(regularization=0.05).fit(spoil(iris))
    assert np.isfinite(model.loo_log_likelihood_)
    assert np.linalg.eigvalsh(model.covariance_)[0] > 0.01


def test_too_few_points_for_a_bounded_likelihood_are_named(iris):
    """n ≤ 2d - 2. From the global covariance EM may stop before it gets there: go there."""
    points = WeightedPoints(iris[::25])
    form = Form()
    problem = LocalProblem(points, GlobalFrame.of(points, form), form, Penalty(), BlockedEngine())
    with pytest.raises(ValueError, match="6 points in 4 dimensions are too few"):
        problem.step(np.diag([1e-13, 1.0, 1.0, 1.0]))


def test_half_duplicates_are_fine(iris):
    model = Paper().fit(np.vstack([iris, iris[::2]]))
    assert np.isfinite(model.loo_log_likelihood_)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"covariance": "round"}, ValueError, "covariance='round' is unknown: use one of 'full'"),
        ({"regularization": -1}, ValueError, "regularization=-1 must be finite and 0 or larger"),
        ({"regularization": "much"}, ValueError, "regularization='much' is unknown: use one of 'a"),
        (
            {"regularization": (1, 2, 3)},
            ValueError,
            r"\(1, 2, 3\) must be one number, two, or 'aut",
        ),
        ({"regularization": (1, 2)}, ValueError, r"\(1, 2\) has a part for the global covariance"),
        ({"gaussian": True}, ValueError, "gaussian=True is unknown: use one of 'em', 'search'"),
        (
            {"gaussian": "em", "covariance": "diag"},
            ValueError,
            "gaussian='em' splits directions of all kinds: it needs covariance='full', not 'diag'",
        ),
        ({"rank": 5, "covariance": "low_rank"}, ValueError, "rank=5 must be a whole number from 1"),
        ({"rank": 2}, ValueError, "rank=2 is for covariance='low_rank', but covariance='full'"),
        ({"smoothing": 0}, ValueError, "smoothing=0 must be a whole number at least 1"),
        ({"smoothing": "much"}, ValueError, "smoothing='much' is unknown: use one of 'auto'"),
        ({"discount": 1.0}, ValueError, "discount=1.0 must be below 1"),
        ({"batch_size": 1}, ValueError, "batch_size=1 must be a whole number at least 2"),
        ({"n_neighbors": 2.5}, TypeError, "n_neighbors=2.5 must be a whole number at least 2"),
        ({"reservoir_size": 1}, ValueError, "reservoir_size=1 must be a whole number at least 2"),
        ({"early_stopping": "yes"}, ValueError, "early_stopping='yes' is unknown"),
        ({"validation_fraction": 1.0}, ValueError, "validation_fraction=1.0 must lie between 0"),
        (
            {"batch_size": 10, "covariance": "local"},
            ValueError,
            "batch_size=10 cannot be combined with covariance='local': drop one of them",
        ),
        (
            {"n_neighbors": 10, "gaussian": "search"},
            ValueError,
            "n_neighbors=10 cannot be combined with gaussian='search': drop one of them",
        ),
        ({"accelerate": 2}, ValueError, "accelerate=2 is unknown: use one of True, False"),
        ({"max_iter": 0}, ValueError, "max_iter=0 must be a whole number at least 1"),
        ({"tol": -1.0}, ValueError, "tol=-1.0 must be finite"),
        ({"engine": "gpu"}, ValueError, "engine='gpu' is unknown"),
    ],
)
def test_wrong_parameters_are_named(iris, arguments, error, message):
    with pytest.raises(error, match=message):
        Paper(**arguments).fit(iris)


@pytest.mark.parametrize(
    "settings",
    [{}, {"n_mixture": 2}, {"covariance": "local"}, {"covariance": "scott"}],
    ids=lambda settings: "".join(map(str, settings.values())),
)
def test_engines_for_cpus_compute_in_double_precision_and_say_so(iris, settings):
    points = iris.astype(np.float32)
    known = {"regularization": 0.1, "tol": 0.01, "random_state": 0, **settings}
    if settings.get("covariance") == "scott":
        del known["regularization"]
    for precision in ("float32", "tf32"):
        with pytest.raises(ValueError, match=f"compute this in float64, not in .*{precision!r}"):
            LocalComponents(**known, precision=precision).fit(points)
    expected = LocalComponents(**known).fit(points).score_samples(points)
    found = LocalComponents(**known, precision="float64").fit(points)
    assert_array_equal(found.score_samples(points), expected)


def test_a_sample_has_a_seed_of_its_own(iris):
    model = LocalComponents(regularization=0.1, random_state=0).fit(iris)
    assert_array_equal(model.sample(3, random_state=0), model.sample(3))
    assert_array_equal(model.sample(3, random_state=5), model.sample(3, random_state=5))
    assert (model.sample(3, random_state=5) != model.sample(3)).all()


def test_sampling_needs_a_count(iris):
    with pytest.raises(ValueError, match="n_samples=0 must be a whole number at least 1"):
        Paper(covariance="spherical").fit(iris).sample(0)
