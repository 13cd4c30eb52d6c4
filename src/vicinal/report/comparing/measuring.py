"""Fitting every method to every fold, and judging it by the rows held out."""

import time
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from textwrap import shorten

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from vicinal.fitting.progress import shown_by
from vicinal.fitting.update import Update
from vicinal.interrupts import Interrupted, Interrupts
from vicinal.report.comparing.methods import Method, Setting
from vicinal.report.comparing.problem import Problem
from vicinal.report.comparing.progress import Progress, Watch
from vicinal.report.comparing.scores import FoldScores, log_losses

__all__ = ["Measured", "judge_fold", "measure"]

_LONGEST = 240  # characters of the message of an error


def judge_fold(
    model: BaseEstimator, X: NDArray, y: NDArray, train: NDArray, test: NDArray
) -> FoldScores:
    """Fit a classifier to some rows and judge it by others.

    Parameters
    ----------
    model : classifier
    X : ndarray of shape (n, n_features)
    y : ndarray of int, shape (n,)
    train, test : ndarray of int
        Positions of rows.

    Returns
    -------
    FoldScores
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        for kind in (UserWarning, RuntimeWarning):
            warnings.simplefilter("always", kind)
        began = time.perf_counter()
        model.fit(X[train], y[train])
        seconds = time.perf_counter() - began
        right = model.predict(X[test]) == y[test]
        losses = log_losses(y[test], np.asarray(model.predict_proba(X[test])), model.classes_)
        width = model.transform(X[test][:1]).shape[1]
    warned = {one.category.__name__: " ".join(str(one.message).split()) for one in caught[::-1]}
    return FoldScores(np.asarray(right), losses, seconds, width, warned)


@dataclass
class Measured:
    """What is known so far.

    Attributes
    ----------
    folds : dict of str to list of FoldScores
        By the label of the method, a fold after the other.
    skipped : dict of str to str
        Labels of methods that could not be done, and why.
    interrupted : bool
    """

    folds: dict[str, list[FoldScores]] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    interrupted: bool = False

    def skip(self, label: str, reason: str) -> None:
        """A method cannot be done: nothing of it is kept."""
        self.folds.pop(label, None)
        self.skipped[label] = reason

    def settle(self) -> None:
        """After an interrupt, keep the folds that all methods have been judged on.

        Where there is none, the first fold of those methods that have one.
        """
        n_common = max(1, min(map(len, self.folds.values()), default=0))
        for label, found in list(self.folds.items()):
            del found[n_common:]
            if not found:
                self.skip(label, "interrupted before a first fold was done")
        if not self.folds:
            raise KeyboardInterrupt


def measure(
    problem: Problem,
    methods: Sequence[Method],
    setting: Setting,
    watch: Watch,
    interrupts: Interrupts | None = None,
) -> Measured:
    """Judge methods on the same folds, fold by fold, so that what is done can be compared.

    Parameters
    ----------
    problem : Problem
    methods : sequence of Method
    setting : Setting
    watch : callable
        Told how far it is.
    interrupts : Interrupts, optional
        What hears Ctrl-C already. None: it is heard here.

    Returns
    -------
    Measured
        After Ctrl-C, what had been done; KeyboardInterrupt is raised where that is nothing.
    """
    measured = Measured()
    possible = {}
    for method in methods:
        label, obstacle = method.called(setting), method.obstacle(setting)
        if obstacle:
            measured.skip(label, obstacle)
        else:
            possible[label], measured.folds[label] = method, []
    progress = Progress(list(possible), len(problem.folds))
    try:
        with (
            nullcontext(interrupts) if interrupts else Interrupts() as heard,
            shown_by(lambda name, max_iter: _Fit(heard, watch, progress)),
        ):
            _measure_folds(problem, possible, setting, measured, progress, watch, heard)
    except Interrupted:
        measured.interrupted = True
        measured.settle()
    return measured


class _Fit:
    """A fit of ours that is going on: it tells how far all is, and hears Ctrl-C.

    Parameters
    ----------
    heard : Interrupts
    watch : callable
    progress : Progress
    """

    def __init__(self, heard: Interrupts, watch: Watch, progress: Progress) -> None:
        self._heard, self._watch, self._progress = heard, watch, progress

    def __call__(self, update: Update) -> None:
        """There was an update."""
        self._heard.check()
        self._watch(self._progress)

    def close(self, message: str) -> None:
        """The fit has ended."""


def _measure_folds(
    problem: Problem,
    methods: dict[str, Method],
    setting: Setting,
    measured: Measured,
    progress: Progress,
    watch: Watch,
    heard: Interrupts,
) -> None:
    for fold, (train, test) in enumerate(problem.folds):
        for label in list(measured.folds):
            progress.begin(fold, label)
            watch(progress)
            model = methods[label].build(setting)
            try:
                scores = judge_fold(model, problem.X, problem.y, train, test)
            except (ValueError, MemoryError) as error:
                measured.skip(label, shorten(f"fold {fold + 1}: {error}", _LONGEST))
                progress.give_up()
                continue
            finally:
                heard.check()
            measured.folds[label].append(scores)
            progress.end(float(scores.right.mean()))
            watch(progress)
