import os
import signal
import threading
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import NeighborhoodComponents
from vicinal.interrupts import Interrupts
from vicinal.report.comparing.measuring import judge_fold, measure
from vicinal.report.comparing.methods import BASELINE, Method, Setting
from vicinal.report.comparing.problem import Problem
from vicinal.report.comparing.progress import show_nothing

X, y = load_iris(return_X_y=True)
SETTING = Setting(2, 120, 4, 3, 0)

in_the_main_thread = pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(),
    reason="signals reach the main thread only",
)


class Guess(ClassifierMixin, BaseEstimator):
    """Says the first class, after what it was told to do."""

    def __init__(self, act=None):
        self.act = act

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        if self.act is not None:
            self.act()
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))

    def transform(self, X):
        return X


def guess(name, act=None):
    return Method(name, name, BASELINE, lambda setting: Guess(act))


def problem(n_folds=4):
    return Problem.of(X, y, cv=n_folds, n_repeats=1)


@pytest.fixture
def usual_interrupts():
    """A job in the background of a script has Ctrl-C switched off."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press():
    os.kill(os.getpid(), signal.SIGINT)


def times(n, act):
    """Does nothing but at the n-th call."""
    calls = []

    def call():
        calls.append(None)
        if len(calls) == n:
            act()

    return call


def test_a_fold_is_judged_by_rows_that_were_not_learned_from():
    train, test = problem().folds[0]
    model = make_pipeline(StandardScaler(), LinearDiscriminantAnalysis())
    scores = judge_fold(model, X, y, train, test)
    alone = make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()).fit(X[train], y[train])
    np.testing.assert_array_equal(scores.right, alone.predict(X[test]) == y[test])
    assert scores.losses.mean() == pytest.approx(log_loss(y[test], alone.predict_proba(X[test])))
    assert (scores.n_components, scores.warned) == (2, {})
    assert scores.seconds > 0


def test_warnings_are_kept_and_not_shown():
    def act():
        for text in ("first\nof all", "second"):
            warnings.warn(text, UserWarning, stacklevel=2)
        warnings.warn("old", DeprecationWarning, stacklevel=2)

    scores = judge_fold(Guess(act), X, y, *problem().folds[0])
    assert scores.warned == {"UserWarning": "first of all"}


def test_all_methods_meet_all_folds():
    seen = []

    def watch(progress):
        if progress.label:
            seen.append((progress.fold, progress.label))

    measured = measure(problem(3), [guess("a"), guess("b")], SETTING, watch)
    assert seen == [(fold, label) for fold in range(3) for label in "ab"]
    assert {label: len(found) for label, found in measured.folds.items()} == {"a": 3, "b": 3}
    assert not measured.skipped
    assert not measured.interrupted


def test_what_cannot_be_done_is_left_out_with_its_reason():
    def fail():
        raise ValueError("too\nodd")

    blocked = Method("c", "c", BASELINE, lambda s: Guess(), obstacle=lambda s: "too large")
    methods = [guess("a", times(2, fail)), guess("b"), blocked]
    measured = measure(problem(), methods, SETTING, show_nothing)
    assert measured.skipped == {"c": "too large", "a": "fold 2: too odd"}
    assert list(measured.folds) == ["b"]
    assert len(measured.folds["b"]) == 4


def test_errors_that_nobody_foresaw_are_not_hidden():
    def fail():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        measure(problem(), [guess("a", fail)], SETTING, show_nothing)


@in_the_main_thread
@pytest.mark.usefixtures("usual_interrupts")
def test_after_an_interrupt_the_folds_are_those_in_common():
    methods = [guess("a"), guess("b", times(3, press)), guess("c")]
    measured = measure(problem(), methods, SETTING, show_nothing)
    assert measured.interrupted
    assert [len(found) for found in measured.folds.values()] == [2, 2, 2]


@in_the_main_thread
@pytest.mark.usefixtures("usual_interrupts")
def test_after_an_interrupt_of_the_first_fold():
    methods = [guess("a"), guess("b", press), guess("c")]
    measured = measure(problem(), methods, SETTING, show_nothing)
    assert [len(found) for found in measured.folds.values()] == [1]
    assert list(measured.skipped) == ["b", "c"]


@in_the_main_thread
@pytest.mark.usefixtures("usual_interrupts")
def test_an_interrupt_before_anything_is_done():
    with pytest.raises(KeyboardInterrupt):
        measure(problem(), [guess("a", press)], SETTING, show_nothing)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@in_the_main_thread
@pytest.mark.usefixtures("usual_interrupts")
def test_an_interrupt_inside_a_fit_of_ours_ends_the_comparison():
    """By itself, a fit takes Ctrl-C as a wish to keep the best so far, and returns."""
    told = []

    def watch(progress):
        told.append(progress.label)
        if told.count("nca") == 4:  # an update or two after the fit has begun
            press()

    nca = Method("nca", "nca", BASELINE, lambda s: NeighborhoodComponents(2))
    measured = measure(problem(), [guess("a"), nca], SETTING, watch)
    assert measured.interrupted
    assert list(measured.folds) == ["a"]


def test_an_interrupt_that_was_heard_elsewhere():
    interrupts = Interrupts()

    def act():
        interrupts.happened = True  # lost inside a callback from C, but remembered

    measured = measure(problem(), [guess("a", times(3, act))], SETTING, show_nothing, interrupts)
    assert measured.interrupted
    assert len(measured.folds["a"]) == 2
