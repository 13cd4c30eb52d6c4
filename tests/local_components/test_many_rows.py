"""More rows than exact EM is for: a sample, then stochastic EM among all of them."""

import numpy as np
import pytest

from vicinal import LocalComponents
from vicinal.local_components import decision


@pytest.fixture
def few_are_many(monkeypatch):
    monkeypatch.setattr(decision, "MOST_EXACT", 500)


@pytest.mark.parametrize("regularization", ["auto", 0.0])
def test_a_sample_is_learned_from_and_all_rows_are_kernels(few_are_many, regularization):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(2500, 2)) * [0.1, 1], 3 + rng.normal(size=(2500, 2))])
    X_test = rng.permutation(X)[:500] + 1e-3
    X = rng.permutation(X)
    settings = {"regularization": regularization, "random_state": 0}
    model = LocalComponents(**settings).fit(X)
    assert len(model._density.points) == 5000
    sample = LocalComponents(**settings).fit(X[:500])
    assert model.score(X_test) > sample.score(X_test)
    # Narrower than those of the sample, as there are more of them.
    assert np.linalg.det(model.covariance_) < np.linalg.det(sample.covariance_)
    assert model.loo_log_likelihood_ > sample.loo_log_likelihood_ - 0.1


def test_every_stage_shows_progress(few_are_many, capfd):
    X = np.random.default_rng(0).normal(size=(2000, 2))
    LocalComponents(random_state=0, verbose=1).fit(X)
    shown = capfd.readouterr().err
    assert "LocalComponents, refining: all 30 updates of the schedule were made" in shown


def test_batches_take_all_rows(few_are_many):
    X = np.random.default_rng(0).normal(size=(1000, 2))
    settings = {"batch_size": 100, "n_neighbors": 200, "max_iter": 5}
    model = LocalComponents(random_state=0, regularization=0.0, **settings).fit(X)
    assert model.n_iter_ == 5


@pytest.mark.filterwarnings("ignore:LocalComponents with regularization:UserWarning")
def test_many_rows_few_of_which_differ(monkeypatch):
    monkeypatch.setattr("vicinal.local_components.decision.MOST_EXACT", 300)
    X = np.random.default_rng(0).integers(0, 3, size=(500, 2)).astype(float)
    model = LocalComponents(random_state=0).fit(X)
    assert np.isfinite(model.score_samples(X)).all()
