import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from vicinal import NeighborhoodComponents

pytest.importorskip("sklearn.callback", reason="this scikit-learn has no callbacks")


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


class Recorder:
    """Keeps what it is told and stops the fit when asked to."""

    def __init__(self, stop_after=None):
        self.stop_after, self.events, self.scores = stop_after, [], []

    def setup(self, estimator, context):
        self.events.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.events.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, X, y, fitted_estimator):
        self.events.append(f"end {context.task_name}")
        self.scores.append(fitted_estimator.score(X, y))
        return len(self.scores) == self.stop_after

    def teardown(self, estimator, context):
        self.events.append("teardown")


def test_scikit_learn_callbacks_see_every_update(iris):
    recorder = Recorder()
    model = NeighborhoodComponents(2, init="pca").set_callbacks(recorder).fit(*iris)
    assert recorder.events.count("end update") == model.n_iter_
    assert recorder.events[:2] == ["setup", "begin fit"]
    assert recorder.events[-2:] == ["end fit", "teardown"]
    assert recorder.scores[-1] == model.score(*iris)


def test_a_callback_can_stop_the_fit_without_a_warning(iris):
    model = NeighborhoodComponents(2, init="pca").set_callbacks(Recorder(stop_after=3)).fit(*iris)
    assert model.n_iter_ == 3
    assert not model.converged_


def test_callbacks_hear_of_one_fit_where_a_collapsed_map_is_replaced(iris, monkeypatch):
    monkeypatch.setattr("vicinal.nca.fits._DEAD", 1e9)
    recorder = Recorder()
    with pytest.warns(ConvergenceWarning, match="all points look alike"):
        model = NeighborhoodComponents(2).set_callbacks(recorder).fit(*iris)
    assert model.recipe_["regularization"] is None  # the start, and the last the callbacks see
    assert recorder.events.count("begin fit") == recorder.events.count("end fit") == 1
    assert recorder.scores[-1] == model.score(*iris)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_callbacks_hear_of_every_restart(iris):
    recorder = Recorder()
    kept = NeighborhoodComponents(2, regularization=0.01, n_init=3, max_iter=4, random_state=0)
    kept.set_callbacks(recorder).fit(*iris)
    assert recorder.events.count("end update") == 12
    assert recorder.scores[-1] == kept.score(*iris)
