import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from vicinal import LocalComponents
from vicinal.local_components import fit as shared_fit
from vicinal.local_components import per_point_fit

pytest.importorskip("sklearn.callback", reason="this scikit-learn has no callbacks")


@pytest.fixture(scope="module")
def iris():
    X = load_iris().data
    return (X - X.mean(axis=0)) / X.std(axis=0)


class Recorder:
    """Keeps the scores of what it is shown, and stops the fit when asked to."""

    def __init__(self, stop_after=None):
        self.stop_after, self.scores = stop_after, []

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, X, y, fitted_estimator):
        self.scores.append(fitted_estimator.score(X))
        return len(self.scores) == self.stop_after

    def teardown(self, estimator, context):
        pass


def fitted(X, stop_after=None, **settings):
    recorder = Recorder(stop_after)
    model = LocalComponents(regularization=0.1, random_state=0, **settings)
    return model.set_callbacks(recorder).fit(X), recorder.scores


KINDS = [{}, {"covariance": "diag"}, {"gaussian": "em"}, {"n_mixture": 2, "max_iter": 6}]


@pytest.mark.parametrize("settings", KINDS, ids=str)
def test_callbacks_see_every_update_and_the_model_in_the_end(iris, settings):
    model, scores = fitted(iris, **settings)
    assert len(scores) == model.n_iter_ + 1  # and the end of the fit
    assert scores[-1] == pytest.approx(model.score(iris), abs=1e-12)


@pytest.mark.parametrize("settings", KINDS, ids=str)
def test_a_callback_ends_the_fit_without_a_warning(iris, settings):
    model, scores = fitted(iris, stop_after=2, **settings)
    assert (model.n_iter_, len(scores), model.converged_) == (2, 3, False)


def test_callbacks_hear_of_both_runs_where_points_have_covariances_of_their_own(iris):
    shared, of_shared = fitted(iris)
    model, scores = fitted(iris, covariance="local")
    assert len(scores) == shared.n_iter_ + model.n_iter_ + 1
    assert scores[: shared.n_iter_] == of_shared[:-1]
    assert scores[-1] == pytest.approx(model.score(iris), abs=1e-12)


def test_who_ends_the_first_of_two_runs_ends_the_fit(iris):
    model, scores = fitted(iris, stop_after=2, covariance="local")
    assert (model.n_iter_, len(scores), model.converged_) == (2, 3, False)
    assert model.local_covariances_.shape == (150, 4, 4)  # those of neighbors
    assert scores[-1] == pytest.approx(model.score(iris), abs=1e-12)


def test_who_ends_the_second_of_two_runs_keeps_what_it_reached(iris):
    shared, _ = fitted(iris)
    model, scores = fitted(iris, stop_after=shared.n_iter_ + 2, covariance="local")
    assert (model.n_iter_, model.converged_) == (2, False)
    assert scores[-1] == pytest.approx(model.score(iris), abs=1e-12)


def test_ctrl_c_in_the_first_of_two_runs_begins_no_other(iris, monkeypatch):
    plain, seen = per_point_fit.run, []

    def interrupted(solver, start, **settings):
        def stop(update):
            if update.iteration == 2:
                raise KeyboardInterrupt

        return plain(solver, start, **{**settings, "callbacks": [stop]})

    monkeypatch.setattr(shared_fit, "run", interrupted)
    monkeypatch.setattr(per_point_fit, "run", lambda *_, **__: seen.append("another run"))
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model = LocalComponents(covariance="local", regularization=0.1).fit(iris)
    assert seen == []
    assert np.isfinite(model.score(iris))
    assert not model.converged_
