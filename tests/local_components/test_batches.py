"""Stochastic EM (section 5), rows held back, streams."""

import pickle

import numpy as np
import pytest
from local_components.paper import Paper
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning

from vicinal.fitting import Draws
from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.equations import Form
from vicinal.local_components.frame import GlobalFrame
from vicinal.local_components.learning import Batching, LocalProblem, Penalty
from vicinal.neighborhood.blocked import BlockedEngine


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)[0]


@pytest.mark.parametrize("settings", [{}, {"covariance": "diag"}, {"gaussian": "em"}], ids=str)
def test_all_points_in_a_batch_without_memory_is_em(iris, settings):
    batched = Paper(**settings, batch_size=150, discount=0.0, max_iter=7).fit(iris)
    plain = Paper(**settings, accelerate=False, max_iter=7, tol=0.0)
    with pytest.warns(ConvergenceWarning, match="max_iter=7"):
        plain.fit(iris)
    assert_allclose(batched.covariance_, plain.covariance_, rtol=1e-10)
    assert_allclose(batched.loo_log_likelihood_, plain.loo_log_likelihood_, rtol=1e-12)
    # The last objective is that of the last update; the order of the points is another.
    assert_allclose(batched.history_["objective"], plain.history_["objective"], rtol=1e-10)


@pytest.mark.parametrize("weights", [None, 1.0 + np.arange(150) % 3], ids=["plain", "weighted"])
def test_one_update_is_equation_7(iris, weights):
    points, form = WeightedPoints(iris, weights), Form()
    frame = GlobalFrame.of(points, form)
    problem = LocalProblem(points, frame, form, Penalty(), BlockedEngine())
    batching = Batching(size=30, n_keys=60, discount=0.4)
    assert_allclose(batching.kept(150), 0.4**0.2)
    objective, found = problem.batched(batching, Draws(np.random.default_rng(0)))(np.eye(4))
    # The same draws, by hand.
    rng = np.random.default_rng(0)
    rows = np.array_split(rng.permutation(150), 5)[-1]
    keys = np.sort(rng.choice(150, 60, replace=False, shuffle=False))
    white, counts = frame.inward(points).X, points.counts
    kernel = np.exp(-0.5 * np.square(white[rows, None] - white[keys]).sum(axis=-1)) * counts[keys]
    own = rows[:, None] == keys
    kernel -= own  # one copy of itself is left out
    total = kernel.sum(axis=1)
    apart = white[rows, None] - white[keys]
    C = np.einsum("i,ij,ijk,ijl->kl", counts[rows] / total, kernel, apart, apart)
    assert_allclose(found, C / counts[rows].sum(), rtol=1e-8, atol=1e-12)
    others = counts[keys].sum() - own.any(axis=1)
    log_p = np.log(total / others) - 2 * np.log(2 * np.pi) - frame.log_volume
    assert_allclose(objective, np.average(log_p, weights=counts[rows]), rtol=1e-10)


def test_small_batches_come_close_to_em():
    X, _ = make_blobs(3000, n_features=3, centers=4, random_state=0)
    exact = Paper().fit(X)
    model = Paper(batch_size=300, n_neighbors=2000, discount=0.3, random_state=0)
    model.fit(X)
    assert model.n_iter_ == 200  # twenty passes
    assert model.converged_
    assert_allclose(model.loo_log_likelihood_, exact.loo_log_likelihood_, atol=0.02)
    assert_allclose(model.covariance_, exact.covariance_, rtol=0.5, atol=0.02)


def test_the_same_seed_gives_the_same_batches(iris):
    first, second = (
        Paper(batch_size=40, n_neighbors=50, random_state=3).fit(iris) for _ in range(2)
    )
    assert_array_equal(first.covariance_, second.covariance_)
    assert_array_equal(first.sample(3), second.sample(3))


def test_all_neighbors_for_a_batch_and_a_batch_of_all(iris):
    for settings in ({"batch_size": 50}, {"n_neighbors": 100}):
        model = Paper(**settings, random_state=0).fit(iris)
        assert_allclose(model.loo_log_likelihood_, -1.663, atol=0.2)


def test_rows_held_back_stop_a_fit_that_gets_worse():
    rng = np.random.default_rng(0)
    X, X_test = rng.normal(size=(2, 120, 12))
    # Almost no variance in one direction: EM gives every point its twin there.
    overfit = Paper().fit(X)
    model = Paper(early_stopping=True, validation_fraction=0.2, random_state=0).fit(X)
    assert model.score(X_test) > overfit.score(X_test)
    assert model.n_iter_ < overfit.n_iter_
    assert_allclose(model.validation_score_, np.nanmax(model.history_["validation"]))
    # All rows are centers, those held back too.
    assert_allclose(model.mean_, X.mean(axis=0), atol=0.3)
    assert len(model._density.points) == 120
    assert not hasattr(overfit.set_params(early_stopping=False).fit(X), "validation_score_")


def test_rows_held_back_beside_batches(iris):
    model = Paper(batch_size=30, early_stopping=True, random_state=0).fit(iris)
    assert np.isfinite(model.validation_score_)
    assert np.isfinite(model.history_["validation"]).sum() >= 20


def test_too_few_rows_to_hold_any_back():
    with pytest.raises(ValueError, match=r"validation_fraction=0\.9 of 3 points leaves 0"):
        Paper(early_stopping=True, validation_fraction=0.9).fit(np.eye(3, 1))


def test_one_call_of_a_stream_is_one_step_of_em(iris):
    stream = Paper(discount=0.0, batch_size=150, random_state=0).partial_fit(iris)
    step = Paper(accelerate=False, max_iter=1, tol=0.0)
    with pytest.warns(ConvergenceWarning):
        step.fit(iris)
    assert_allclose(stream.covariance_, step.covariance_, rtol=1e-10)
    assert_allclose(stream.score_samples(iris), step.score_samples(iris), rtol=1e-10)
    assert_allclose(stream.mean_, iris.mean(axis=0), rtol=1e-12)


@pytest.mark.parametrize("settings", [{}, {"gaussian": "em"}, {"covariance": "low_rank"}], ids=str)
def test_a_stream_learns_with_bounded_memory(settings):
    X, _ = make_blobs(4000, n_features=4, centers=5, random_state=0)
    model = Paper(reservoir_size=500, random_state=0, discount=0.1, **settings)
    scores = []
    for part in np.array_split(X, 10):
        model.partial_fit(part)
        scores.append(model.score(X))
    assert len(model._density.points) == 500
    assert scores[-1] > scores[0]
    assert model.n_iter_ == len(model.history_["objective"]) == 40
    assert_allclose(model.mean_, X.mean(axis=0), rtol=1e-9)
    exact = Paper(**settings).fit(X[::8])
    assert_allclose(model.score(X), exact.score(X), atol=0.4)
    again = pickle.loads(pickle.dumps(model)).partial_fit(X)
    assert_array_equal(again.covariance_, model.partial_fit(X).covariance_)


def test_a_stream_goes_on_from_a_fit(iris):
    model = Paper(random_state=0).fit(iris)
    before = model.covariance_.copy()
    model.partial_fit(iris[:1], sample_weight=[2.0])
    assert_allclose(model.covariance_, before, rtol=0.1)
    assert len(model._density.points) == 151
    with pytest.raises(ValueError, match="X has 3 features, but LocalComponents is expecting 4"):
        Paper().fit(iris).partial_fit(iris[:5, :3])
    assert not hasattr(model.fit(iris), "_stream")
    assert_allclose(model.covariance_, before, rtol=1e-12)


@pytest.mark.parametrize(
    "settings",
    [
        {"covariance": "local"},
        {"gaussian": "search"},
        {"early_stopping": True},
        {"covariance": "auto"},
    ],
    ids=str,
)
def test_what_a_stream_cannot_do_is_named(iris, settings):
    name, value = next(iter(settings.items()))
    with pytest.raises(AttributeError, match="partial_fit") as caught:
        Paper(**settings).partial_fit(iris)
    assert f"{name}={value!r} needs all points at once" in str(caught.value.__cause__)
