import pytest
from sklearn.datasets import load_iris

from vicinal import LatentCoincidence

pytest.importorskip("sklearn.callback", reason="this scikit-learn has no callbacks")


class Recorder:
    """Keeps where it is shown a row, and stops the fit when asked to."""

    def __init__(self, stop_after=None):
        self.stop_after, self.places = stop_after, []

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, X, y, fitted_estimator):
        self.places.append(fitted_estimator.transform(X[:1]).tolist())
        return len(self.places) == self.stop_after

    def teardown(self, estimator, context):
        pass


@pytest.mark.parametrize("stop_after", [None, 3])
def test_callbacks_see_every_update_and_may_end_the_fit(stop_after):
    X, y = load_iris(return_X_y=True)
    recorder = Recorder(stop_after)
    model = LatentCoincidence(2, random_state=0).set_callbacks(recorder).fit(X, y)
    assert len(recorder.places) == model.n_iter_ + 1  # and the end of the fit
    assert recorder.places[-1] == model.transform(X[:1]).tolist()
    assert model.converged_ is (stop_after is None)
    assert stop_after is None or model.n_iter_ == stop_after
