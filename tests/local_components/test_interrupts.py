"""Ctrl-C in any stage of a fit leaves a model that is fitted, or what there was before."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from vicinal import LocalComponents
from vicinal.local_components.learning import LocalProblem

STAGES = {
    "choosing": "vicinal.local_components.trials.few_updates",
    "start": "vicinal.local_components.fit.GlobalFrame.of",
    "likelihood": "vicinal.local_components.fit.mean_leave_one_out",
    "outliers": "vicinal.local_components.estimator.offset_of",
}


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(300, 2))


@pytest.fixture
def many_rows(monkeypatch):
    monkeypatch.setattr("vicinal.local_components.decision.MOST_EXACT", 300)
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(size=(500, 2)) * [0.1, 1], 3 + rng.normal(size=(500, 2))])


def interrupt(*args, **kwargs):
    raise KeyboardInterrupt


def interrupt_after(n):
    """A step of EM that is interrupted when it is made for the n-th time."""
    visit, n_steps = LocalProblem._visit, iter(range(n))

    def interrupted(problem, *args):
        if next(n_steps, None) is None:
            raise KeyboardInterrupt
        return visit(problem, *args)

    return interrupted


@pytest.mark.parametrize("stage", STAGES)
def test_a_model_is_as_it_was(rows, stage, monkeypatch):
    model, fresh = LocalComponents(random_state=0).fit(rows), LocalComponents()
    before, offset = model.score_samples(rows), model.offset_
    monkeypatch.setattr(STAGES[stage], interrupt)
    for interrupted in (model, fresh):
        with pytest.raises(KeyboardInterrupt):
            interrupted.fit(2 * rows)
    assert_array_equal(model.score_samples(rows), before)
    assert model.offset_ == offset
    with pytest.raises(NotFittedError):
        fresh.score_samples(rows)


@pytest.mark.parametrize("regularization", [0.0, 0.1])
def test_em_on_a_sample_is_kept_without_refinement(many_rows, regularization, monkeypatch):
    monkeypatch.setattr("vicinal.local_components.fit.refined", None)
    monkeypatch.setattr(LocalProblem, "_visit", interrupt_after(4))
    model = LocalComponents(regularization=regularization, random_state=0)
    with pytest.warns(ConvergenceWarning, match="LocalComponents stopped .* interrupted"):
        model.fit(many_rows)
    assert len(model._density.points) == len(many_rows)
    assert not model.converged_
    assert np.isfinite(model.score(many_rows))
    assert set(model.predict(many_rows)) <= {-1, 1}


def test_a_refinement_that_is_interrupted_leaves_the_sample(many_rows, monkeypatch):
    settings = {"regularization": 0.01, "random_state": 0}
    visit, seen = LocalProblem._visit, []

    def interrupted(problem, *args):
        seen.append(len(problem.points))
        if seen.count(1000) == 3:  # among all rows
            raise KeyboardInterrupt
        return visit(problem, *args)

    monkeypatch.setattr(LocalProblem, "_visit", interrupted)
    model = LocalComponents(**settings)
    with pytest.warns(ConvergenceWarning, match="refining stopped .* interrupted"):
        model.fit(many_rows)
    monkeypatch.setattr(
        "vicinal.local_components.fit.refined", lambda problem, reached, *_: reached
    )
    monkeypatch.setattr(LocalProblem, "_visit", visit)
    assert_array_equal(model.covariance_, LocalComponents(**settings).fit(many_rows).covariance_)


def test_nothing_is_learned_and_still_interrupted(rows, monkeypatch):
    monkeypatch.setattr("vicinal.local_components.given_fit.mean_leave_one_out", interrupt)
    model = LocalComponents(covariance=0.1)
    with pytest.raises(KeyboardInterrupt):
        model.fit(rows)
    with pytest.raises(NotFittedError):
        model.transform(rows)
