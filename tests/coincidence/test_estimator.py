from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from vicinal import CoincidenceClassifier, LatentCoincidence
from vicinal.coincidence import fits, trial
from vicinal.coincidence.equations import CoincidenceData, LatentMap, log_likelihood
from vicinal.coincidence.learning import CoincidenceProblem
from vicinal.coincidence.neighbors import LabeledPoints, labeled_pairs
from vicinal.neighborhood.pair_list import PairList


@parametrize_with_checks(
    [
        LatentCoincidence(),
        LatentCoincidence(pairs="all", scale="local"),
        LatentCoincidence(1, pairs="all", scale="local", early_stopping=False),
        LatentCoincidence(pairs="all", solver="em", max_iter=20, early_stopping=False),
        CoincidenceClassifier(),
        CoincidenceClassifier(1, solver="em", max_iter=50),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.fixture(scope="module")
def wine_pairs(wine):
    X, y = wine
    first, second, coincide = labeled_pairs(LabeledPoints(X, y), 3, "all")
    return X, np.column_stack([first, second]), coincide.astype(int)


def test_balance_scale_is_learned(load_dataset):
    """3-NN error: 18.8 % Euclidean, 6.7 % in the specification."""
    bunch = load_dataset("balance-scale")
    errors = {"euclid": [], "shared": [], "local": []}
    for seed in range(2):
        X, X_test, y, y_test = train_test_split(
            bunch.data, bunch.target, test_size=0.3, random_state=seed, stratify=bunch.target
        )
        scaler = StandardScaler().fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
        rule = KNeighborsClassifier(3)
        errors["euclid"].append(1 - rule.fit(X, y).score(X_test, y_test))
        for scale in ("shared", "local"):
            model = LatentCoincidence(scale=scale, random_state=0).fit(X, y)
            rule.fit(model.transform(X), y)
            errors[scale].append(1 - rule.score(model.transform(X_test), y_test))
    assert np.mean(errors["euclid"]) > 0.15
    assert np.mean(errors["shared"]) < 0.12
    assert np.mean(errors["local"]) < 0.12


def test_positions_and_points_give_the_same_fit(wine_pairs):
    X, positions, y = wine_pairs
    by_position = LatentCoincidence(2).fit_pairs(positions, y, X=X)
    by_points = LatentCoincidence(2).fit_pairs(X[positions], y)
    assert_allclose(by_points.log_likelihood_, by_position.log_likelihood_, rtol=1e-6)
    assert by_position.n_pairs_ == len(y)
    assert by_position.base_rate_ == y.mean()
    assert not hasattr(by_position, "validation_score_")
    assert_allclose(
        by_position.pair_probability(positions, X=X), by_position.pair_probability(X[positions]),
        rtol=1e-8,
    )  # fmt: skip
    assert_allclose(
        by_position.pair_distance(positions, X=X), -by_position.pair_score(X[positions]), rtol=1e-8
    )


def test_local_scales_belong_to_first_points(wine_pairs):
    X, positions, y = wine_pairs
    by_position = LatentCoincidence(2, scale="local").fit_pairs(positions, y, X=X)
    by_points = LatentCoincidence(2, scale="local").fit_pairs(X[positions], y)
    assert_allclose(by_points.log_likelihood_, by_position.log_likelihood_, rtol=1e-4)
    shared = LatentCoincidence(2).fit_pairs(positions, y, X=X)
    assert by_position.log_likelihood_ > shared.log_likelihood_


def test_the_certificate(wine_pairs):
    X, positions, y = wine_pairs
    full = LatentCoincidence(tol=1e-12).fit_pairs(positions, y, X=X)
    assert full.is_global_optimum_
    with pytest.warns(ConvergenceWarning):
        early = LatentCoincidence(max_iter=3).fit_pairs(positions, y, X=X)
    assert early.is_global_optimum_ is False
    local = LatentCoincidence(scale="local").fit_pairs(positions, y, X=X)
    assert local.is_global_optimum_ is None
    random = LatentCoincidence(init="random", tol=1e-12, random_state=0)
    random.fit_pairs(positions, y, X=X)
    assert_allclose(random.log_likelihood_, full.log_likelihood_, atol=1e-3)


def test_probabilities_are_calibrated_on_the_pairs_learned_from(wine_pairs):
    X, positions, y = wine_pairs
    model = LatentCoincidence().fit_pairs(positions, y, X=X)
    p = model.pair_probability(positions, X=X)
    # dL/dt ≤ 0: for pairs that do not coincide the odds sum to the number of those that do at most.
    assert (p / (1 - p))[y == 0].sum() <= y.sum() * (1 + 1e-3)
    likely, unlikely = p > 0.7, p < 0.3
    assert y[likely].mean() > 0.6
    assert y[unlikely].mean() < 0.4
    assert_allclose(np.log(np.where(y, p, 1 - p)).sum(), model.log_likelihood_, rtol=1e-6)


def test_another_base_rate(wine_pairs):
    X, positions, y = wine_pairs
    model = LatentCoincidence().fit_pairs(positions, y, X=X)
    p = model.pair_probability(positions, X=X)
    same = model.pair_probability(positions, X=X, base_rate=model.base_rate_)
    assert_allclose(same, p, rtol=1e-8)
    rare = model.pair_probability(positions, X=X, base_rate=0.01)
    prior = (0.01 / 0.99) / (model.base_rate_ / (1 - model.base_rate_))
    assert_allclose(rare / (1 - rare), p / (1 - p) * prior, rtol=1e-6)
    with pytest.raises(ValueError, match=r"base_rate=1\.5 must lie between 0 and 1"):
        model.pair_probability(positions, X=X, base_rate=1.5)


def test_constant_and_repeated_columns(wine):
    X, y = wine
    wide = np.c_[X, np.ones(len(X)), X[:, 0]]
    plain = LatentCoincidence(random_state=0, early_stopping=False, pairs="all", tol=1e-10)
    plain.fit(X, y)
    model = LatentCoincidence(random_state=0, early_stopping=False, pairs="all", tol=1e-10)
    model.fit(wide, y)
    W = model.components_
    assert_allclose(W[:, 13], 0.0, atol=1e-9 * np.abs(W).max())
    assert_allclose(W[:, 0], W[:, 14], atol=1e-8)
    em = LatentCoincidence(
        solver="em", early_stopping=False, max_iter=5, tol=0.0, pairs="all", random_state=0
    )
    with pytest.warns(ConvergenceWarning):
        em.fit(wide, y)
    assert np.isfinite(em.components_).all()


def test_an_offset_and_single_precision(wine):
    X, y = wine
    settings = {"pairs": "all", "early_stopping": False, "random_state": 0}
    plain = LatentCoincidence(**settings).fit(X, y)
    far = LatentCoincidence(**settings).fit(X + 1e6, y)
    assert_allclose(far.log_likelihood_, plain.log_likelihood_, rtol=1e-3)
    single = LatentCoincidence(**settings).fit(X.astype(np.float32), y)
    assert single.components_.dtype == np.float32
    assert_allclose(single.log_likelihood_, plain.log_likelihood_, rtol=1e-2)


def test_early_stopping_keeps_the_best_map(wine):
    X, y = wine
    model = LatentCoincidence(random_state=0).fit(X, y)
    seen = model.history_["validation"]
    assert_allclose(seen[-1], model.validation_score_)
    assert len(seen) == len(model.history_["objective"]) == model.recipe_["n_updates"] + 1
    again = LatentCoincidence(random_state=0).fit(X, y)
    assert_array_equal(again.components_, model.components_)
    assert_array_equal(model.classes_, [0, 1, 2])
    plain = LatentCoincidence(early_stopping=False).fit(X, y)
    assert plain.solver_ == "lbfgs"
    assert not hasattr(plain, "validation_score_")
    assert plain.recipe_["tried"] == []


def test_a_map_kept_for_its_neighbors_is_calibrated(wine):
    """No other size of W and σ² is likelier for the pairs of all rows."""
    X, y = wine
    model = LatentCoincidence(3, scale="shared", pairs="all", init="pca", random_state=0).fit(X, y)
    first, second, coincide = labeled_pairs(LabeledPoints(X - X.mean(axis=0), y), 3, "all")
    pairs = PairList(first, second, len(X))
    data = CoincidenceData(X - X.mean(axis=0), pairs, coincide, np.zeros(len(pairs), dtype=int))

    def likelihood(size, noise):
        latent = LatentMap(size * model.components_, noise * model.sigma2_, np.ones(1))
        return log_likelihood(data, latent)

    best = likelihood(1.0, 1.0)
    for size, noise in ((1.1, 1.0), (0.9, 1.0), (1.0, 1.2), (1.0, 0.8), (1.1, 1.2), (0.9, 0.8)):
        assert likelihood(size, noise) <= best + 1e-4
    assert_allclose(model.log_likelihood_, best, rtol=1e-8)
    assert model.n_pairs_ == len(pairs)


def test_a_start_of_ones_own():
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    start = np.cos(np.arange(8) + 1.0).reshape(2, 4)
    settings = {"init": (start, 0.5), "pairs": "impostors", "early_stopping": False}
    model = LatentCoincidence(2, tol=1e-12, **settings).fit(X, y)
    assert_allclose(model.history_["objective"][0] * 109, -75.86453804468, atol=1e-8)
    assert_allclose(model.log_likelihood_, -59.66032324, atol=1e-7)
    assert model.is_global_optimum_
    for solver in ("em", "em-endpoints"):
        model = LatentCoincidence(2, solver=solver, max_iter=10, tol=0.0, **settings)
        with pytest.warns(ConvergenceWarning, match="max_iter=10"):
            model.fit(X, y)
        expected = {"em": -62.2064054444, "em-endpoints": -72.2323322875}[solver]
        assert_allclose(model.log_likelihood_, expected, atol=1e-8)


def test_identical_pairs_with_both_labels():
    """Only t can explain them: the probability is that of the labels."""
    pairs = np.random.default_rng(0).normal(size=(10, 1, 2)).repeat(2, axis=1)
    y = np.arange(10) < 3
    model = LatentCoincidence(tol=1e-12).fit_pairs(pairs, y)
    assert_allclose(model.pair_probability(pairs), 0.3, atol=1e-3)


@pytest.mark.parametrize(
    ("pairs", "y", "X", "message"),
    [
        (np.zeros((4, 3)), [0, 1, 0, 1], None, r"pairs has shape \(4, 3\), expected \(n_pairs, 2"),
        (np.zeros((4, 3, 2)), [0, 1, 0, 1], None, r"pairs has shape \(4, 3, 2\)"),
        (np.ones((4, 2, 2)), [1, 1, 1, 1], None, "all 4 pairs in y coincide: pairs of both kinds"),
        (np.ones((4, 2, 2)), [0, 0, 0, 0], None, "all 4 pairs in y do not coincide"),
        (
            np.ones((4, 2, 2)),
            [0, 1, 2, 1],
            None,
            r"y has labels array\(\[2\]\): 1 says that a pair",
        ),
        (np.ones((4, 2, 2)), [0, 1], None, r"y has shape \(2,\), expected \(4,\)"),
        (np.full((4, 2, 2), np.nan), [0, 1, 0, 1], None, "pairs contains NaN"),
        ([[0, 1], [1, 9]], [0, 1], np.eye(3), "pairs names rows from 0 to 9, but X has 3 rows"),
        ([[0.5, 1], [1, 2]], [0, 1], np.eye(3), "whole numbers of shape"),
    ],
)
def test_wrong_pairs_are_named(pairs, y, X, message):
    with pytest.raises(ValueError, match=message):
        LatentCoincidence().fit_pairs(pairs, y, X=X)


def test_classes_apart_are_learned_from_all_pairs():
    X = np.r_[np.zeros((5, 2)), np.ones((5, 2))] + 0.01 * np.random.default_rng(0).normal(
        size=(10, 2)
    )
    y = np.arange(10) // 5
    with pytest.warns(UserWarning, match=r"no point has an impostor.*as with pairs='all'"):
        named = LatentCoincidence(pairs="impostors", random_state=0).fit(X, y)
    assert named.recipe_["pairs"] == "all"
    chosen = LatentCoincidence(random_state=0).fit(X, y)  # a choice, and no warning
    assert chosen.validation_score_ == 1.0
    assert chosen.pair_probability([[X[0], X[1]]]) > chosen.pair_probability([[X[0], X[9]]])
    with pytest.raises(ValueError, match="no class has two members"):
        LatentCoincidence(pairs="all", early_stopping=False).fit(X, np.arange(10))


@pytest.mark.parametrize("y", [[0, 0, 1, 1], [0, 0, 1, 2], [0, 0, 0, 1]])
def test_a_handful_of_rows(y):
    X = np.random.default_rng(0).normal(size=(4, 3))
    model = LatentCoincidence(random_state=0).fit(X, y)
    assert np.isfinite(model.components_).all()
    assert (model.pair_probability([[X[0], X[3]]]) >= 0).all()


def test_blobs_are_no_refusal():
    X, y = make_blobs(n_samples=60, centers=3, cluster_std=0.1, random_state=0)
    model = LatentCoincidence(random_state=0).fit(X, y)
    assert model.validation_score_ == 1.0
    # All is as good as can be: what is simplest is kept.
    assert model.recipe_["init"] == "identity"
    assert model.recipe_["n_updates"] == 0
    assert model.recipe_["reason"].startswith("the start: best of")
    assert model.n_iter_ == 1
    assert model.converged_
    assert model.sigma2_ > 0
    near, far = model.pair_probability([X[y == 0][:2], [X[y == 0][0], X[y == 1][0]]])
    assert near > 0.5 > far


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"n_components": 14}, ValueError, "n_components=14 must be a whole number from 1 to 13"),
        (
            {"pairs": "some"},
            ValueError,
            "pairs='some' is unknown: use one of 'auto', 'impostors', 'all'",
        ),
        ({"n_targets": 0}, ValueError, "n_targets=0 must be a whole number at least 1"),
        ({"scale": "none"}, ValueError, "scale='none' is unknown"),
        ({"solver": "sgd"}, ValueError, "solver='sgd' is unknown"),
        ({"init": "lca"}, ValueError, "init='lca' is unknown"),
        ({"init": np.eye(3)}, ValueError, r"init has shape \(3, 3\)"),
        ({"init": (np.eye(13), -1.0)}, ValueError, "must be positive and finite"),
        ({"init": (np.eye(13),)}, ValueError, "must be a map, or a map and"),
        ({"early_stopping": "often"}, ValueError, "early_stopping='often' is unknown"),
        ({"max_iter": 0}, ValueError, "max_iter=0 must be a whole number at least 1"),
        ({"tol": -1}, ValueError, "tol=-1 must be finite"),
    ],
)
def test_wrong_parameters_are_named(wine, settings, error, message):
    with pytest.raises(error, match=message):
        LatentCoincidence(**settings).fit(*wine)


@pytest.mark.parametrize("scale", ["shared", "local"])
def test_pairs_held_back_say_when_to_stop(wine_pairs, scale):
    X, positions, y = wine_pairs
    model = LatentCoincidence(scale=scale, early_stopping=True, random_state=0)
    model.fit_pairs(positions, y, X=X)
    assert model.validation_score_ == np.nanmax(model.history_["validation"])
    assert model.n_iter_ == model.recipe_["n_updates"] == len(model.history_["objective"]) - 1
    assert model.n_pairs_ == len(y)
    with pytest.raises(ValueError, match=r"validation_fraction=0\.01 of 4 pairs leaves none"):
        LatentCoincidence(early_stopping=True, validation_fraction=0.01).fit_pairs(
            positions[[0, 1, -2, -1]], [0, 1, 0, 1], X=X
        )


def test_a_start_by_classes_needs_classes(wine_pairs):
    X, positions, y = wine_pairs
    with pytest.raises(ValueError, match="init='rca' needs classes, which pairs do not have"):
        LatentCoincidence(init="rca").fit_pairs(positions, y, X=X)


def test_names_of_columns_are_kept(wine_pairs):
    X, positions, y = wine_pairs
    frame = pd.DataFrame(X, columns=[f"column {i}" for i in range(13)])
    model = LatentCoincidence(2).fit_pairs(positions, y, X=frame)
    assert_array_equal(model.feature_names_in_, frame.columns)
    assert_allclose(model.components_, LatentCoincidence(2).fit_pairs(positions, y, X).components_)


def test_many_pairs_begin_where_some_end(wine_pairs):
    X, positions, y = wine_pairs
    plain = LatentCoincidence(tol=1e-10).fit_pairs(positions, y, X=X)
    with patch("vicinal.coincidence.given._SOME_PAIRS", 200):
        warm = LatentCoincidence(tol=1e-10, random_state=0).fit_pairs(positions, y, X=X)
    assert_allclose(warm.log_likelihood_, plain.log_likelihood_, rtol=1e-4)
    assert warm.history_["objective"][0] > plain.history_["objective"][0]


@pytest.mark.parametrize("init", ["rca", "lda", "scaled"])
@pytest.mark.parametrize("n_components", [2, None])
def test_units_of_columns_change_nothing(wine, init, n_components):
    """The law of these starts: distances, and with them all else, are those of other units."""
    X, y = wine
    units = 10.0 ** np.random.default_rng(0).uniform(-3, 3, X.shape[1])
    models = [
        LatentCoincidence(n_components, init=init, random_state=0).fit(points, y)
        for points in (X, X * units)
    ]
    pairs = np.stack([X[:40], X[60:100]], axis=1)
    assert_allclose(models[1].pair_distance(pairs * units), models[0].pair_distance(pairs), 1e-5)
    assert models[0].recipe_["n_updates"] == models[1].recipe_["n_updates"]


INITS = ["auto", "rca", "lda", "scaled", "pca", "identity", "random", "map", "map and noise"]


def given_in(units, init, shape):
    """A start for points times a power of two: maps that are given are of the columns."""
    start = np.cos(np.arange(np.prod(shape)) + 1.0).reshape(shape)
    return {"map": start / units, "map and noise": (start / units, 0.5)}.get(init, init)


@pytest.mark.parametrize("init", INITS)
@pytest.mark.parametrize("power", [-90, 13])
def test_a_power_of_two_in_all_columns_changes_no_bit(wine, init, power):
    X, y = wine
    s = 2.0**power
    settings = {"pairs": "all", "scale": "shared", "max_iter": 20, "random_state": 0}
    models = [
        LatentCoincidence(2, init=given_in(units, init, (2, 13)), **settings).fit(units * X, y)
        for units in (1.0, s)
    ]
    assert_array_equal(s * models[1].components_, models[0].components_)
    assert models[1].sigma2_ == models[0].sigma2_
    assert models[1].log_likelihood_ == models[0].log_likelihood_
    assert models[1].n_iter_ == models[0].n_iter_


@pytest.mark.parametrize("init", ["auto", "pca", "identity", "random", "map and noise"])
def test_units_of_pairs_change_no_bit(wine_pairs, init):
    X, positions, y = wine_pairs
    models = [
        LatentCoincidence(2, init=given_in(units, init, (2, 13)), random_state=0).fit_pairs(
            positions, y, X=units * X
        )
        for units in (1.0, 2.0**13)
    ]
    assert_array_equal(2.0**13 * models[1].components_, models[0].components_)
    assert models[1].is_global_optimum_ == models[0].is_global_optimum_


def test_pairs_of_wide_tables_in_any_unit():
    rng = np.random.default_rng(0)
    X, positions = rng.normal(size=(30, 1200)), rng.integers(30, size=(60, 2))
    X[:, :5] += 5.0 * (np.arange(30) % 2)[:, None]
    coincide = positions[:, 0] % 2 == positions[:, 1] % 2
    plain, large = (
        LatentCoincidence(2).fit_pairs(positions, coincide, X=units * X) for units in (1.0, 1e4)
    )
    assert_allclose(large.log_likelihood_, plain.log_likelihood_, atol=1e-2)


@pytest.mark.parametrize("init", ["rca", "lda", "scaled", "pca", "identity", "random"])
def test_the_classifier_in_any_unit(init):
    X, y = load_digits(n_class=3, return_X_y=True)
    X, y = X[:200], y[:200]
    model = CoincidenceClassifier(3, init=init, random_state=0).fit(X, y)
    exact = CoincidenceClassifier(3, init=init, random_state=0).fit(2.0**13 * X, y)
    assert_array_equal(2.0**13 * exact.components_, model.components_)
    assert_array_equal(exact.predict_proba(2.0**13 * X), model.predict_proba(X))
    # A factor rounds points, and their unit is another: L-BFGS takes another way.
    large = CoincidenceClassifier(3, init=init, random_state=0).fit(1e4 * X, y)
    assert_allclose(large.log_likelihood_, model.log_likelihood_, atol=0.5)


def test_a_map_that_is_kept_returns_as_it_was():
    """Where no update helps: the unit it was brought to rounds nothing."""
    X, y = make_blobs(n_samples=60, centers=3, cluster_std=0.1, random_state=0)
    start = np.array([[0.1, 0.7], [-0.3, 0.2]])
    model = LatentCoincidence(init=start, random_state=0).fit(1e3 * X, y)
    assert model.recipe_["n_updates"] == 0
    share = model.components_ / start
    assert_allclose(share, share[0, 0], rtol=1e-12)  # of the likeliest size


def test_unscaled_tables_by_default():
    X, y = load_wine(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, random_state=0, stratify=y)
    for n_components in (2, None):
        model = LatentCoincidence(n_components, random_state=0).fit(X, y)
        rule = KNeighborsClassifier(5).fit(model.transform(X), y)
        assert rule.score(model.transform(X_test), y_test) > 0.93
    assert CoincidenceClassifier().fit(X, y).score(X_test, y_test) > 0.93


def test_trials_are_written_down(wine):
    model = LatentCoincidence(random_state=0).fit(*wine)
    tried = model.recipe_["tried"]
    assert [each["init"] for each in tried if each["n_updates"] == 0] == ["identity", "rca", "lda"]
    assert all(0 < each["accuracy"] <= 1 and 0 < each["score"] <= 1 for each in tried)
    by_name = LatentCoincidence(init="identity", random_state=0).fit(*wine).recipe_["tried"]
    ways = [(each["pairs"], each["scale"], each["solver"]) for each in by_name[1:]]
    assert ways == [
        ("all", "shared", "lbfgs"),
        ("all", "shared", "em"),
        ("all", "local", "lbfgs"),
        ("impostors", "shared", "lbfgs"),
    ]
    kept = max(each["score"] for each in tried if each["init"] == model.recipe_["init"])
    assert kept >= max(each["score"] for each in tried if each["n_updates"] == 0) - 0.01
    named = LatentCoincidence(init="pca", pairs="impostors", scale="local", random_state=0)
    assert len(named.fit(*wine).recipe_["tried"]) == 2


def test_scales_of_anchors(wine):
    X, y = wine
    model = LatentCoincidence(3, scale="local", pairs="all", random_state=0).fit(X, y)
    assert model.scales_.shape == (len(X),)
    assert_allclose(np.log(model.scales_).mean(), 0.0, atol=1e-10)
    assert_allclose(model.anchors_, model.transform(X), rtol=1e-6, atol=1e-8)
    pair = np.array([[X[3], X[70]]])
    near = np.square(model.transform(X) - model.transform(X[3:4])).sum(axis=1).argsort()[:10]
    kappa2 = np.median(np.square(model.scales_[near]))
    c, squared = kappa2 + 2 * model.sigma2_, np.square(model.pair_distance(pair))
    printed = (kappa2 / c) ** (3 / 2) * np.exp(-squared / (2 * c))
    assert_allclose(model.pair_probability(pair), printed, rtol=1e-6)
    assert not hasattr(model.set_params(scale="shared").fit(X, y), "scales_")


@pytest.mark.parametrize("scale", ["auto", "local"])
def test_threads_change_no_bit(scale):
    X, y = load_digits(return_X_y=True)
    models = [
        LatentCoincidence(2, scale=scale, random_state=0, n_jobs=n).fit(X[:600], y[:600])
        for n in (1, 2)
    ]
    assert_array_equal(models[0].components_, models[1].components_)
    assert models[0].recipe_ == models[1].recipe_


def interrupt_after(n, module):
    """A score, or an update, that hears Ctrl-C the n-th time."""
    left = iter(range(n))

    def hear(*args, **kwargs):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return module(*args, **kwargs)

    return hear


@pytest.mark.parametrize("n", [6, 20, 60])
def test_ctrl_c_in_a_trial_keeps_the_best_so_far(wine, n):
    X, y = wine
    scores = interrupt_after(n, trial._scores)
    with patch.object(trial, "_scores", scores), pytest.warns(ConvergenceWarning) as caught:
        model = LatentCoincidence(2, random_state=0).fit(X, y)
    assert len(caught) == 1
    assert "interrupted; the best map of the trials is kept" in str(caught[0].message)
    assert not model.converged_
    assert model.n_pairs_ < 6 * len(X)
    assert model.transform(X).shape == (178, 2)


def test_ctrl_c_before_anything_is_known(wine):
    scores = interrupt_after(0, trial._scores)
    with patch.object(trial, "_scores", scores), pytest.raises(KeyboardInterrupt):
        LatentCoincidence(2, random_state=0).fit(*wine)


def test_ctrl_c_in_the_last_search_keeps_the_best_map_of_the_trials(wine):
    search = interrupt_after(0, fits.pairs_or_all)
    with (
        patch.object(fits, "pairs_or_all", search),
        pytest.warns(ConvergenceWarning, match="the best map of the trials"),
    ):
        model = LatentCoincidence(2, random_state=0).fit(*wine)
    assert 0.9 < model.validation_score_ <= 1


def test_ctrl_c_is_heard_once_by_all_classes(wine, capsys):
    X, y = wine
    solve = interrupt_after(40, CoincidenceProblem.value_and_gradient)
    model = CoincidenceClassifier(verbose=1)
    with (
        patch.object(CoincidenceProblem, "value_and_gradient", solve),
        pytest.warns(ConvergenceWarning) as caught,
    ):
        model.fit(X, y)
    messages = [str(each.message) for each in caught]
    assert "interrupted; the best parameters so far are kept" in messages[0]
    assert "the maps of the classes" in messages[1]
    assert len(messages) == 2
    assert np.isfinite(model.predict_proba(X)).all()
    shown = capsys.readouterr().err
    assert "CoincidenceClassifier, class 0" in shown
    assert "np.int64" not in shown


def test_large_tables_are_sampled(capsys):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(900, 4)), np.r_[rng.integers(0, 2, 890), np.full(10, 2)]
    X[:, 0] += 2 * y
    with (
        patch("vicinal.coincidence.sample.MOST_ROWS", 400),
        patch("vicinal.coincidence.fits.MOST_ANCHORS", 100),
    ):
        model = LatentCoincidence(verbose=1, random_state=0).fit(X, y)
        classes = CoincidenceClassifier(verbose=1, random_state=0).fit(X, y)
    assert 400 < model.recipe_["n_rows"] <= 410  # of rare classes more than their share
    assert model.recipe_["n_anchors"] == 100
    assert model.n_pairs_ <= 100 * 6
    assert classes.recipe_["n_rows"] == model.recipe_["n_rows"]
    assert_allclose(classes.means_[2], X[y == 2].mean(axis=0))
    shown = capsys.readouterr().err
    for name in ("LatentCoincidence", "CoincidenceClassifier"):
        assert f"{name}: learns from {model.recipe_['n_rows']} of 900 rows" in shown


def test_the_classifier(wine):
    X, X_test, y, y_test = train_test_split(*wine, random_state=0)
    model = CoincidenceClassifier(3).fit(X, y)
    assert model.score(X_test, y_test) > 0.9
    assert model.components_.shape == (3, 3, 13)
    p = model.predict_proba(X_test)
    assert_allclose(p.sum(axis=1), 1.0)
    assert_array_equal(model.predict(X_test), model.classes_[p.argmax(axis=1)])
    # P(y_c = 1 | x) as printed in section 3.1, up to the sum over classes.
    c, x = 1, X_test[0]
    scale = 1 + 2 * model.sigma2_[c]
    squared = np.square(model.components_[c] @ (x - model.means_[c])).sum()
    printed = scale ** (-3 / 2) * np.exp(-squared / (2 * scale))
    assert_allclose(np.exp(model._log_coincidence(X_test[:1])[0, c]), printed, rtol=1e-10)
    assert_allclose(model.means_[c], X[y == c].mean(axis=0), atol=1e-12)


def test_the_classifier_measures_from_means(wine):
    X, y = wine
    model = CoincidenceClassifier(3).fit(X, y)
    distances = model.transform(X)
    assert_allclose(distances, model.fit_transform(X, y))
    assert distances.shape == (len(X), 3)
    for c in range(3):
        at_mean = model.transform(model.means_[c : c + 1])[0]
        assert at_mean.argmin() == c
        assert_allclose(at_mean[c], 0.0, atol=1e-12)
    constant = -1.5 * np.log(1 + 2 * model.sigma2_)
    assert_allclose(model._log_coincidence(X), constant - distances**2 / 2, rtol=1e-10)
    names = ["coincidenceclassifier0", "coincidenceclassifier1", "coincidenceclassifier2"]
    assert_array_equal(model.get_feature_names_out(), names)


def test_the_classifier_of_pairs(wine):
    X, y = wine
    frame = pd.DataFrame(X, columns=[f"column {j}" for j in range(X.shape[1])])
    model = CoincidenceClassifier().fit(frame, y)
    positions = np.random.default_rng(0).integers(len(X), size=(400, 2))
    found = model.pair_probability(positions, frame)
    assert_allclose(found, model.pair_probability(X[positions]))
    shares = model.predict_proba(frame)
    assert_allclose(found, (shares[positions[:, 0]] * shares[positions[:, 1]]).sum(axis=1))
    same = y[positions[:, 0]] == y[positions[:, 1]]
    assert ((found >= 0.5) == same).mean() > 0.95
    assert ((found >= 0) & (found <= 1)).all()
    with pytest.raises(ValueError, match=r"pairs has shape \(1, 2, 2\)"):
        model.pair_probability([[[0.0, 1.0], [1.0, 0.0]]])
    assert not hasattr(model, "pair_distance")
