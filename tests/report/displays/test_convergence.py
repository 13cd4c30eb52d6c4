import numpy as np
import pytest
from report.pictures import new_axes, note, words
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import DivergenceNeighbors, LatentCoincidence, LocalComponents, NeighborhoodComponents
from vicinal.report import ConvergenceDisplay
from vicinal.report.numbers.histories import MAX_UPDATES, kept_update

X, y = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def exact():
    return NeighborhoodComponents(n_components=2, regularization=0.01).fit(X, y)


@pytest.fixture(scope="module")
def batched():
    model = NeighborhoodComponents(
        2, solver="adam", batching="random", batch_size=50, max_iter=60, random_state=0
    )
    return model.fit(X, y)


@pytest.fixture(scope="module")
def coincidence():
    return LatentCoincidence(pairs="all", random_state=0).fit(X, y)


def convergence(model, **options):
    return ConvergenceDisplay.from_estimator(model, ax=new_axes(), **options)


def place(mark):
    return mark.get_xdata()[0], mark.get_ydata()[0]


def test_the_objective_against_updates(exact):
    display = convergence(exact)
    line = display.lines_["objective"]
    np.testing.assert_array_equal(line.get_ydata(), exact.history_["objective"])
    np.testing.assert_array_equal(line.get_xdata(), np.arange(exact.n_iter_ + 1))
    assert display.ax_.get_xlabel() == "update"
    assert display.ax_.get_legend() is None
    assert place(display.kept_["objective"])[1] == exact.objective_


def test_against_time(exact):
    display = convergence(exact, against="time")
    np.testing.assert_array_equal(display.lines_["objective"].get_xdata(), exact.history_["time"])
    assert display.ax_.get_xlabel() == "seconds"


def test_the_best_validation_score_is_marked(batched):
    display = convergence(batched)
    scores = batched.history_["validation"]
    line = display.validation_lines_["objective"]
    np.testing.assert_array_equal(line.get_ydata(), scores[np.isfinite(scores)])
    assert place(display.kept_["objective"]) == (np.nanargmax(scores), batched.validation_score_)
    assert display.validation_ax_ is display.ax_  # the same kind of number
    assert words(display.ax_.get_legend().get_texts()) == ["objective", "validation"]
    assert note(display) == "ring: the update that was kept"


def test_scores_of_another_kind_have_an_axis_of_their_own(coincidence):
    display = convergence(coincidence)
    assert display.validation_ax_ is not display.ax_
    assert place(display.kept_["objective"])[1] == coincidence.validation_score_
    assert display.validation_ax_.get_ylabel() == "validation score (dashed)"


def test_several_models(exact, batched, coincidence):
    chain = make_pipeline(StandardScaler(), NeighborhoodComponents(2)).fit(X, y)
    models = {"$x": exact, "batched": batched, "chain": chain, "pairs": coincidence}
    display = ConvergenceDisplay.from_estimators(models, ax=new_axes())
    assert list(display.lines_) == list(models)
    assert list(display.validation_lines_) == ["batched", "pairs"]
    legend = display.validation_ax_.get_legend()
    assert words(legend.get_texts()) == list(models)
    assert len({line.get_color() for line in display.lines_.values()}) == 4


def test_models_in_a_list_are_named_by_their_classes(exact, coincidence):
    display = ConvergenceDisplay.from_estimators([exact, coincidence, exact], ax=new_axes())
    names = ["NeighborhoodComponents", "LatentCoincidence", "NeighborhoodComponents 2"]
    assert list(display.lines_) == names


def test_what_is_kept_without_validation():
    model = LocalComponents().fit(X)
    assert kept_update(model, model.history_) == model.history_["objective"].argmax()
    noisy = LocalComponents(batch_size=50, max_iter=10, random_state=0).fit(X)
    assert kept_update(noisy, noisy.history_) == 10
    stream = LocalComponents(batch_size=30, random_state=0).partial_fit(X)
    assert kept_update(stream, stream.history_) == len(stream.history_["objective"]) - 1


def test_a_stream_has_no_times():
    stream = LocalComponents(random_state=0).partial_fit(X)
    assert len(convergence(stream).lines_) == 1
    with pytest.raises(ValueError, match=r"history of 'objective' has no 'time'"):
        convergence(stream, against="time")


def test_of_many_updates_some_are_drawn():
    objective = np.arange(3.0 * MAX_UPDATES)
    display = ConvergenceDisplay({"fit": {"objective": objective}}).plot(ax=new_axes())
    np.testing.assert_array_equal(display.lines_["fit"].get_ydata(), objective[::3])
    assert note(display) == "of every 3 updates one is drawn"


def test_a_single_update():
    display = ConvergenceDisplay({"fit": {"objective": [1.0]}}, {"fit": 0}).plot(ax=new_axes())
    assert place(display.kept_["fit"]) == (0, 1.0)


def test_ticks_have_no_offset():
    history = {"objective": [-13.918556, -13.918440, -13.918430]}
    display = ConvergenceDisplay({"fit": history}).plot(ax=new_axes())
    display.figure_.draw_without_rendering()
    assert display.ax_.yaxis.get_offset_text().get_text() == ""


def test_wrong_models(exact):
    with pytest.raises(NotFittedError, match="is not fitted: call fit first"):
        convergence(NeighborhoodComponents())
    with pytest.raises(TypeError, match="DivergenceNeighbors without history_"):
        convergence(DivergenceNeighbors().fit(X))
    with pytest.raises(ValueError, match="estimators is empty"):
        ConvergenceDisplay.from_estimators({}, ax=new_axes())
    with pytest.raises(ValueError, match="against='epoch' is unknown"):
        convergence(exact, against="epoch")


@pytest.mark.parametrize(
    ("history", "said"),
    [
        ({"step": [1.0]}, "history of 'fit' has no 'objective'"),
        ({"objective": [1.0], "time": [1.0, 2.0]}, r"columns of \[1, 2\] updates"),
        ({"objective": []}, r"columns of \[0\] updates"),
    ],
)
def test_bad_histories(history, said):
    with pytest.raises(ValueError, match=said):
        ConvergenceDisplay({"fit": history}).plot(ax=new_axes())
