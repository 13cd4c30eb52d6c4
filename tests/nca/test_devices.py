"""Fits on a device: those of the host to rounding, and nothing is waited for at an update."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning

torch = pytest.importorskip("torch")

from elsewhere import Elsewhere, counted_waits  # noqa: E402

from vicinal import NeighborhoodComponents  # noqa: E402
from vicinal.fitting import rescue, run  # noqa: E402
from vicinal.nca.batches import Batches  # noqa: E402
from vicinal.nca.loading import Sent  # noqa: E402
from vicinal.nca.preparation import prepare, training_set  # noqa: E402
from vicinal.nca.recipe import choose_recipe  # noqa: E402
from vicinal.neighborhood import ENGINES  # noqa: E402
from vicinal.neighborhood.blocked import BlockedEngine  # noqa: E402
from vicinal.neighborhood.gpu import DeviceLostError  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:.*stopped before convergence")

X, Y = load_iris(return_X_y=True)
DIGITS, CLASSES = load_digits(return_X_y=True)
WEIGHTS = np.arange(len(Y)) % 3 + 1.0


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch):
    monkeypatch.setitem(ENGINES, "elsewhere", lambda work, tolerance, n_jobs: Elsewhere(n_jobs))


def both(data, **parameters):
    """The model fitted on the host, and on the device."""
    models = (
        NeighborhoodComponents(**{"n_components": 2, "random_state": 0} | parameters, engine=engine)
        for engine in ("blocked", "elsewhere")
    )
    return [model.fit(*data) for model in models]


def assert_alike(expected, found, rtol=1e-6):
    assert found.engine_ == "elsewhere"
    for name in expected.history_.keys() - {"time"}:
        assert_allclose(found.history_[name], expected.history_[name], rtol=rtol, atol=rtol)
    assert type(found.components_) is np.ndarray
    assert found.components_.dtype == expected.components_.dtype
    assert_allclose(found.components_, expected.components_, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("solver", ["lbfgs", "cg", "bold-driver", "adam", "sgd"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_full_fits_are_those_of_the_host(solver, weights):
    data = (X, Y, weights)
    assert_alike(*both(data, solver=solver, batching="full", max_iter=8, regularization=1e-3))


BATCHINGS = ["random", "stochastic", "farthest", "projection"]


@pytest.mark.parametrize("batching", BATCHINGS)
@pytest.mark.parametrize("solver", ["adam", "sgd"])
def test_batched_fits_are_those_of_the_host(batching, solver):
    """Seeds give the same batches, in single precision."""
    options = {"solver": solver, "batching": batching, "batch_size": 60, "max_iter": 12}
    # SGD in steps so small that they do not make errors of rounding large.
    assert_alike(*both((X, Y), **options, regularization=1e-3, eta0=10.0, t0=100.0), rtol=1e-4)


@pytest.mark.parametrize(
    "parameters",
    [
        {"objective": "log"},
        {"kernel": "student"},
        {"kernel": "compact"},
        {"prior": "uniform"},
        {"kernel": "compact", "background": 0.1},
        {"kernel": "compact", "background": True},
        {"validation_metric": "accuracy"},
        {"n_init": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("solver", ["lbfgs", "adam"])
def test_variants_are_those_of_the_host(solver, parameters):
    batches = {"batching": "random", "batch_size": 60} if solver == "adam" else {}
    options = {"solver": solver, "max_iter": 6, "regularization": 1e-3, "early_stopping": True}
    rtol = 1e-4 if solver == "adam" else 1e-5
    assert_alike(*both((X, Y, WEIGHTS), **options, **batches, **parameters), rtol=rtol)


def test_choices_by_folds_are_those_of_the_host():
    expected, found = both((X, Y))
    assert expected.path_["chosen"] == found.path_["chosen"]
    assert_allclose(found.path_["accuracy"], expected.path_["accuracy"])
    assert_allclose(found.predict_proba(X), expected.predict_proba(X), rtol=1e-4, atol=1e-6)


def test_annealed_starts_are_those_of_the_host():
    assert_alike(*both((X, Y), annealing=True, max_iter=5, regularization=0.0), rtol=1e-4)


def test_streams_are_those_of_the_host():
    expected, found = both((X, Y), max_iter=5, regularization=0.0)
    for model in (expected, found):
        model.partial_fit(X, Y)
    assert_allclose(found.components_, expected.components_, rtol=1e-4, atol=1e-6)


def test_the_offset_of_sgd_is_searched_there():
    expected, found = both((X, Y), solver="sgd", batching="full", max_iter=10, regularization=0.0)
    assert_alike(expected, found, rtol=1e-4)


def problem_of(engine, n, weights=None, **parameters):
    """The problem, the recipe, the start and the check of a fit, as the estimator makes them."""
    data, labels = DIGITS[:n].astype(np.float32), CLASSES[:n]
    model = NeighborhoodComponents(2, solver="adam", batch_size=100, max_iter=40, **parameters)
    model.classes_ = np.unique(labels)
    recipe, rng = choose_recipe(model, n), np.random.default_rng(0)
    rows, held = training_set(model, data, labels, weights, recipe, rng)
    ready = prepare(model, rows, 2, recipe, rng)
    problem = ready.problem(engine, 1e-3)
    return problem, recipe, ready.start, problem.validation(held, recipe, None, rng), rng


def outcome_of(engine, n=400, callbacks=(), **parameters):
    problem, recipe, start, validation, rng = problem_of(
        engine, n, validation_every=10, **parameters
    )
    solver = problem.solver(recipe, start, validation, rng)
    options = {"max_iter": recipe.max_iter, "tol": None, "scheduled": True, "callbacks": callbacks}
    return run(solver, problem.start(recipe, start), validation=validation, **options)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"batching": "stochastic"},
        {"objective": "log"},
        {"prior": "uniform"},
        {"weights": np.arange(400) % 3 + 1.0},
        {"weights": np.arange(400) % 3 + 1.0, "prior": "uniform", "kernel": "student"},
    ],
    ids=lambda parameters: ", ".join(parameters) or "plain",
)
def test_no_update_waits_for_the_device(parameters, monkeypatch):
    """Between two checks of held-back points nothing comes to the host, but to the engine."""
    seen = []
    monkeypatch.setattr(rescue, "UNSAFE", np.inf)
    with counted_waits(monkeypatch) as waits:
        listen = [lambda update: seen.append(len(waits))]
        found = outcome_of(Elsewhere(), callbacks=listen, **parameters)
    assert isinstance(found.parameters, torch.Tensor)
    checks = np.diff(seen, prepend=0)
    assert_array_equal(np.flatnonzero(checks), [0, 10, 20, 30, 40])
    assert checks.max() <= 5  # the score, all numbers so far, the best map
    expected = outcome_of(BlockedEngine(compiled=False), **parameters)
    assert_allclose(found.parameters.numpy(), expected.parameters, rtol=1e-3, atol=1e-3)


def test_rows_and_an_epoch_of_positions_are_sent_once(monkeypatch):
    sent = []
    place = Elsewhere.place

    def watched(engine, array):
        if not isinstance(array, torch.Tensor):
            sent.append(np.shape(array))
        return place(engine, array)

    monkeypatch.setattr(Elsewhere, "place", watched)
    outcome_of(Elsewhere())
    n_learned = 400 - 40
    n_epochs = -(-41 // 4)
    # Positions and numbers of batches; labels of rows and of keys.
    assert sent.count((n_learned,)) == 2 * n_epochs + 2
    # Rows, in one part; keys of validation; the first row, for its kind.
    assert sent.count((n_learned, 64)) == 2
    assert len(sent) <= 2 * n_epochs + 10


@pytest.mark.parametrize("batching", ["random", "stochastic"])
def test_where_the_device_is_full_rows_stay_and_batches_are_sent(batching, monkeypatch):
    options = {"solver": "adam", "batch_size": 60, "max_iter": 8, "regularization": 1e-3}
    found = []
    for full in (False, True):
        monkeypatch.setattr(Elsewhere, "full", full)
        found.append(both((X, Y), batching=batching, **options)[1])
    assert_allclose(found[1].components_, found[0].components_, rtol=1e-3, atol=1e-5)


def test_other_errors_of_a_device_are_told(monkeypatch):
    def broken(engine, array):
        raise RuntimeError("the device is gone")

    monkeypatch.setattr(Elsewhere, "place", broken)
    with pytest.raises(RuntimeError, match="gone"):
        NeighborhoodComponents(2, engine="elsewhere", regularization=0.0).fit(X, Y)


def test_positions_are_those_drawn():
    rng = np.random.default_rng(0)
    batches = Batches("random", 17, 5, rng, lambda parameters: None)
    sent = Sent(Elsewhere(), batches)
    for _ in range(11):
        drawn = batches.next(None)
        assert_array_equal(sent().numpy(), drawn)


class LosesItsDevice(Elsewhere):
    """From some pass on nothing comes back."""

    n_passes, last = 0, 60

    def rows(self, pairs, law, *, moments=True):
        type(self).n_passes += 1
        if self.n_passes >= self.last:
            raise DeviceLostError("The device failed: no power.")
        return super().rows(pairs, law, moments=moments)


@pytest.mark.parametrize("solver", ["lbfgs", "adam"])
def test_a_device_that_is_lost_leaves_the_best_map_so_far(solver, monkeypatch):
    monkeypatch.setattr(LosesItsDevice, "n_passes", 0)
    monkeypatch.setattr(LosesItsDevice, "last", 8)
    monkeypatch.setitem(ENGINES, "failing", lambda *_: LosesItsDevice())
    model = NeighborhoodComponents(2, engine="failing", solver=solver, regularization=0.001)
    with pytest.warns(ConvergenceWarning, match=r"no power\. The best parameters so far are kept"):
        model.fit(X, Y)
    assert 3 < len(model.history_["objective"]) <= 8
    assert np.isfinite(model.transform(X)).all()


@pytest.mark.parametrize("unsafe", [0.0, 1e9])
def test_what_is_on_a_lost_device_only_is_lost(unsafe, monkeypatch):
    monkeypatch.setattr(LosesItsDevice, "n_passes", 0)
    monkeypatch.setattr(LosesItsDevice, "last", 8)
    monkeypatch.setitem(ENGINES, "failing", lambda *_: LosesItsDevice())
    monkeypatch.setattr(rescue, "UNSAFE", unsafe)
    arrived = rescue.arrived

    def unless_lost(updates):
        if LosesItsDevice.n_passes >= LosesItsDevice.last:
            raise DeviceLostError("Nothing can be read any more.")
        return arrived(updates)

    monkeypatch.setattr(rescue, "arrived", unless_lost)
    model = NeighborhoodComponents(2, engine="failing", solver="adam", regularization=0.001)
    with pytest.warns(ConvergenceWarning, match="no power"):
        model.fit(X, Y)
    assert len(model.history_["objective"]) == (7 if unsafe == 0.0 else 1)
    assert np.isfinite(model.transform(X)).all()


def test_a_device_that_is_lost_before_the_first_update_is_an_error(monkeypatch):
    monkeypatch.setattr(LosesItsDevice, "n_passes", 0)
    monkeypatch.setattr(LosesItsDevice, "last", 1)
    monkeypatch.setitem(ENGINES, "failing", lambda *_: LosesItsDevice())
    with pytest.raises(DeviceLostError, match="no power"):
        NeighborhoodComponents(2, engine="failing", regularization=0.001).fit(X, Y)
