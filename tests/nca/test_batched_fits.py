from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import parametrize_with_checks

from vicinal import NeighborhoodComponents
from vicinal.inputs.features import standard_units
from vicinal.inputs.splits import MOST_HELD_BACK, hold_back
from vicinal.nca import preparation, recipe
from vicinal.nca.batches import BATCHINGS

QUICK = {"max_iter": 60, "batch_size": 200, "random_state": 0}


@parametrize_with_checks(
    [
        NeighborhoodComponents(solver="adam", batching="random", batch_size=10, max_iter=20),
        NeighborhoodComponents(
            solver="adam", batching="stochastic", early_stopping=False, max_iter=20
        ),
        NeighborhoodComponents(kernel="compact", background=True, objective="log"),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    if "sample_weight_equivalence" in str(check):
        if estimator.solver == "adam":
            pytest.skip("other rows make other batches: a weight equals copies in exact fits only")
        pytest.skip("exponents of -300 in 30 dimensions make 1e-6 of rounding errors")
    check(estimator)


def in_one_unit(X, *_, **__):
    return replace(standard_units(X), unit=1.0)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return train_test_split(X / 16, y, random_state=0)


@pytest.fixture(scope="module")
def score_at_the_start(digits):
    X, X_test, y, y_test = digits
    start = NeighborhoodComponents(3, init="pca", max_iter=1, tol=1e9).fit(X, y)
    return start.score(X_test, y_test)


@pytest.mark.parametrize("batching", BATCHINGS)
@pytest.mark.parametrize("solver", ["adam", "sgd"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_batching_learns(digits, score_at_the_start, batching, solver):
    X, X_test, y, y_test = digits
    settings = {**QUICK, "max_iter": 200}
    model = NeighborhoodComponents(3, init="pca", solver=solver, batching=batching, **settings)
    model.fit(X, y)
    assert model.recipe_["batching"] == batching
    assert model.recipe_["solver"] == solver
    score = model.score(X_test, y_test)
    assert score > score_at_the_start + 0.05
    assert score > 0.78


@pytest.mark.parametrize("batching", BATCHINGS)
def test_the_same_seed_gives_the_same_map_at_any_number_of_threads(digits, batching, monkeypatch):
    monkeypatch.setattr("vicinal.neighborhood.tiled._PAIRS_WORTH_A_THREAD", 1)
    X, _, y, _ = digits
    fits = [
        NeighborhoodComponents(2, solver="adam", batching=batching, n_jobs=n, **QUICK).fit(X, y)
        for n in (1, 2)
    ]
    assert_array_equal(fits[0].components_, fits[1].components_)
    settings = {**QUICK, "random_state": 1}
    other = NeighborhoodComponents(2, solver="adam", batching=batching, **settings).fit(X, y)
    assert not np.allclose(other.components_, fits[0].components_)


def test_log_probabilities_in_batches_with_lonely_points(digits):
    X, X_test, y, y_test = digits
    settings = {**QUICK, "batch_size": 30, "max_iter": 200}
    model = NeighborhoodComponents(3, objective="log", solver="adam", **settings).fit(X, y)
    assert np.isfinite(model.history_["objective"]).all()
    assert model.score(X_test, y_test) > 0.8


def test_both_curves_are_kept_and_the_best_map_by_validation(digits):
    X, _, y, _ = digits
    model = NeighborhoodComponents(2, solver="adam", batching="random", **QUICK).fit(X, y)
    history = model.history_
    checked = np.flatnonzero(~np.isnan(history["validation"]))
    assert {len(values) for values in history.values()} == {61}
    assert checked[0] == 0
    assert checked[-1] == 60
    assert model.validation_score_ == np.nanmax(history["validation"])
    best = np.nanargmax(history["validation"])
    assert model.objective_ == history["objective"][best]


def test_early_stopping_of_an_exact_fit_keeps_the_best_map(digits):
    X, X_test, y, y_test = digits
    X, y = X[:300], y[:300]
    # A start that 210 points of 64 features know badly, so that validation soon has enough.
    settings = {"solver": "lbfgs", "init": "rca", "random_state": 0, "validation_fraction": 0.3}
    model = NeighborhoodComponents(5, early_stopping=True, n_iter_no_change=5, **settings)
    model.fit(X, y)
    assert model.converged_
    validation = model.history_["validation"]
    best = validation.argmax()
    assert len(validation) - 1 - best == 5  # stopped by patience
    assert model.validation_score_ == validation[best]
    assert model.objective_ < model.history_["objective"][-1]  # it went on climbing
    assert model.score(X_test, y_test) > 0.85
    to_the_end = NeighborhoodComponents(5, **settings).fit(X, y)
    assert not hasattr(to_the_end, "validation_score_")
    assert "validation" not in to_the_end.history_


def test_points_held_back_do_not_teach_but_take_part_in_predictions(digits):
    X, _, y, _ = digits
    settings = {"solver": "adam", "batching": "random", **QUICK}
    model = NeighborhoodComponents(2, **settings).fit(X, y)
    assert len(model._classifier.keys) == len(X)
    _, held_back = hold_back(y, 0.1, NeighborhoodComponents(random_state=0)._generator())
    moved = X.copy()
    moved[held_back] = 0.5 + 0.01 * X[held_back]  # hopeless, but within the range of the others
    other = NeighborhoodComponents(2, **settings).fit(moved, y)
    assert other.validation_score_ < 0.5 * model.validation_score_
    # The same steps up to the center and unit of the features, which all points determine.
    assert_allclose(other.history_["objective"][0], model.history_["objective"][0], rtol=1e-5)


def test_validation_takes_a_share_of_every_class_and_leaves_two():
    labels = np.repeat([0, 1, 2, 3], [1000, 200, 3, 1])
    rows, held_back = hold_back(labels, 0.1, np.random.default_rng(0))
    assert_array_equal(np.sort(np.r_[rows, held_back]), np.arange(1204))
    counts = np.bincount(labels[held_back], minlength=4)
    assert abs(counts[0] - 100) <= 1
    assert abs(counts[1] - 20) <= 1
    assert counts[2] <= 1
    assert counts[3] == 0
    _, held_back = hold_back(np.arange(200_000) % 7, 0.3, np.random.default_rng(0))
    assert abs(len(held_back) - MOST_HELD_BACK) <= 7


def test_nothing_to_validate_on():
    X = np.eye(4)
    with pytest.raises(ValueError, match="leaves none to validate on: raise it, or set early"):
        NeighborhoodComponents(early_stopping=True).fit(X, [0, 0, 1, 1])


def test_a_full_batch_for_adam_is_the_exact_objective(digits):
    X, _, y, _ = digits
    X, y = X[:400], y[:400]
    settings = {"regularization": 1e-3, "random_state": 0}
    exact = NeighborhoodComponents(2, solver="lbfgs", **settings).fit(X, y)
    model = NeighborhoodComponents(2, solver="adam", batching="full", max_iter=300, **settings)
    model.fit(X, y)
    assert model.converged_
    assert model.recipe_["batch_size"] is None
    assert_allclose(model.history_["objective"][0], exact.history_["objective"][0], rtol=1e-12)
    assert model.objective_ > 0.9 * exact.objective_


def test_a_subsample_is_an_exact_fit_of_part_of_the_points(digits):
    X, X_test, y, y_test = digits
    model = NeighborhoodComponents(3, batching="subsample", batch_size=400, random_state=0)
    model.fit(X, y)
    assert model.recipe_["solver"] == "lbfgs"
    assert model.converged_
    assert (np.diff(model.history_["objective"]) >= 0).all()
    assert len(model._classifier.keys) == len(X)
    assert model.score(X_test, y_test) > 0.85


def test_auto_changes_its_recipe_with_the_number_of_points(digits, monkeypatch):
    X, X_test, y, y_test = digits
    small = NeighborhoodComponents(2).fit(X, y)
    assert small.recipe_["solver"] == "lbfgs"
    assert small.recipe_["batching"] == "full"
    assert not small.recipe_["early_stopping"]
    assert "exact objective" in small.recipe_["reason"]
    monkeypatch.setattr(recipe, "EXACT_UP_TO", 1000)
    monkeypatch.setattr(recipe, "MOST_UPDATES", 200)
    large = NeighborhoodComponents(3, random_state=0, batch_size=500).fit(X, y)
    assert large.recipe_["solver"] == "adam"
    assert large.recipe_["batching"] == "random"
    assert large.recipe_["early_stopping"]
    assert large.recipe_["max_iter"] == large.n_iter_ == 200
    assert large.recipe_["regularization"] in large.path_["regularization"]
    assert not np.isnan(large.path_["regularization"]).any()
    assert large.converged_
    assert large.score(X_test, y_test) > 0.88


@pytest.mark.parametrize(
    ("n", "settings", "expected"),
    [
        (150, {}, ("lbfgs", "full", None, 200)),
        (5000, {}, ("lbfgs", "full", None, 200)),
        (5001, {}, ("adam", "random", 2000, 1000)),
        (40_000, {}, ("adam", "random", 2000, 3000)),
        (10**7, {}, ("adam", "random", 2000, 4000)),
        (10**7, {"solver": "lbfgs"}, ("lbfgs", "full", None, 200)),
        (10**7, {"batching": "subsample"}, ("lbfgs", "subsample", 3000, 200)),
        (10**7, {"batching": "stochastic"}, ("adam", "stochastic", 500, 4000)),
        (3000, {"solver": "adam"}, ("adam", "random", 2000, 1000)),
        (1000, {"solver": "adam"}, ("adam", "full", None, 1000)),
        (1000, {"batch_size": 300}, ("adam", "random", 300, 1000)),
        (1000, {"batch_size": 3000, "batching": "random"}, ("adam", "random", 1000, 1000)),
        (1000, {"batching": "projection", "max_iter": 7}, ("adam", "projection", 1000, 7)),
    ],
)
def test_what_is_left_open_is_filled_in(n, settings, expected):
    chosen = recipe.choose_recipe(NeighborhoodComponents(**settings), n)
    assert (chosen.solver, chosen.batching, chosen.batch_size, chosen.max_iter) == expected
    assert chosen.early_stopping == chosen.is_batched


def test_adam_on_a_rotation_of_the_inputs_rotates_the_map(digits, monkeypatch):
    """In one unit for all columns; those within classes are of columns, whatever their turn."""
    monkeypatch.setattr(
        preparation, "class_units", lambda X, *_, **__: replace(standard_units(X), unit=1.0)
    )
    X, _, y, _ = digits
    X = X[:, X.std(axis=0) > 0.1]  # a rotation needs distinct variances, not constants
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(X.shape[1],) * 2))[0]
    settings = {**QUICK, "max_iter": 10, "solver": "adam", "batching": "random"}
    settings["regularization"] = 1e-3
    plain = NeighborhoodComponents(2, **settings).fit(X, y)
    rotated = NeighborhoodComponents(2, **settings).fit(X @ Q.T, y)
    M, R = plain.get_mahalanobis_matrix(), rotated.get_mahalanobis_matrix()
    assert_allclose(Q.T @ R @ Q, M, atol=1e-3 * np.abs(M).max())


def test_renaming_the_classes_changes_nothing(digits):
    X, _, y, _ = digits
    plain = NeighborhoodComponents(2).fit(X[:500], y[:500])
    renamed = NeighborhoodComponents(2).fit(X[:500], np.array(list("jhgfdsapoi"))[y[:500]])
    assert_allclose(renamed.objective_, plain.objective_, rtol=1e-4)


def test_weights_in_batches(digits):
    """Points of weight 0 are absent; heavy points win."""
    X, _, y, _ = digits
    junk = np.random.default_rng(0).permutation(y)
    weights = np.repeat([1.0, 0.0], len(y))
    settings = {"solver": "adam", "batching": "random", **QUICK}
    clean = NeighborhoodComponents(2, **settings).fit(X, y)
    both = NeighborhoodComponents(2, **settings).fit(
        np.vstack([X, X]), np.r_[y, junk], sample_weight=weights
    )
    assert_array_equal(both.components_, clean.components_)
    light = NeighborhoodComponents(2, **settings).fit(
        np.vstack([X, X]), np.r_[y, junk], sample_weight=np.repeat([1.0, 1e-3], len(y))
    )
    assert light.score(X, y) > 0.75


def test_sgd_without_a_plan_warns_at_max_iter(digits):
    X, _, y, _ = digits
    with pytest.warns(ConvergenceWarning, match="max_iter=60 reached"):
        NeighborhoodComponents(2, solver="sgd", early_stopping=False, **QUICK).fit(X, y)


def test_float32_and_memory_maps(digits, tmp_path):
    X, _, y, _ = digits
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    settings = {"solver": "adam", "batching": "random", **QUICK}
    from_file = NeighborhoodComponents(2, **settings).fit(mapped, y)
    from_memory = NeighborhoodComponents(2, **settings).fit(X.astype(np.float32), y)
    assert from_file.components_.dtype == np.float32
    assert_array_equal(from_file.components_, from_memory.components_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_rates_of_ascent_can_be_given(digits):
    X, _, y, _ = digits
    settings = {**QUICK, "solver": "sgd", "batching": "random", "regularization": 1e-3}
    searched = NeighborhoodComponents(2, **settings).fit(X, y)
    given = NeighborhoodComponents(2, eta0=1e-9, t0=1.0, **settings).fit(X, y)
    step = given.history_["step"]
    assert (step[1:] < 1e-6).all()  # such rates go nowhere
    assert searched.history_["step"].max() > 1e-3
    gradients = step[1:] / (1e-9 / np.arange(1.0, len(step)))
    assert gradients.max() < 100 * gradients.min()
    only_t0 = NeighborhoodComponents(2, t0=1e6, **settings).fit(X, y)
    assert only_t0.history_["step"].max() < searched.history_["step"].max()


def test_rows_held_back_are_looked_at_as_often_and_by_what_was_asked_for(digits):
    X, _, y, _ = digits
    settings = {**QUICK, "solver": "adam", "batching": "random", "regularization": 1e-3}
    model = NeighborhoodComponents(
        2, validation_every=7, validation_metric="accuracy", **settings
    ).fit(X, y)
    scores = model.history_["validation"]
    checked = np.flatnonzero(np.isfinite(scores))
    assert_array_equal(checked[:-1], np.arange(0, len(scores) - 1, 7)[: len(checked) - 1])
    _, held_back = hold_back(y, 0.1, NeighborhoodComponents(random_state=0)._generator())
    assert_allclose(scores[checked] * len(held_back) % 1.0 % 1.0, 0.0, atol=1e-6)
    assert model.validation_score_ == np.nanmax(scores)
