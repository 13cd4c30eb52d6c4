"""The part of a page about accuracy: by test rows, by folds, or by rows among the others."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length

from vicinal.inputs.checks import check_count
from vicinal.report.displays.accuracy import NeighborsAccuracyDisplay
from vicinal.report.numbers.fitted import fitted_model
from vicinal.report.numbers.labels import coded_together
from vicinal.report.page.figures import Picture, svg_picture
from vicinal.report.page.judging import (
    StageAccuracy,
    Verdict,
    judge_between,
    judge_by_folds,
    judge_within,
)
from vicinal.report.page.parts import Accuracy, Table
from vicinal.report.page.stages import stages_of
from vicinal.report.page.subject import Subject, inside

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["accuracy_part"]

N_NEIGHBORS = 5
_FOLDS = 5
_QUICK_FIT = 5.0  # seconds of a fit that may be repeated for each fold
_MOST_REFITTED = 20_000  # rows; a model may have been fitted to fewer than there are here


def accuracy_part(
    subject: Subject, test: tuple[ArrayLike, ArrayLike] | None, cv: int | str | None
) -> Accuracy | None:
    """How well neighbors name classes at each stage; None where there are no classes.

    Parameters
    ----------
    subject : Subject
    test : tuple of X and y, or None
        Rows the model has not seen, to judge it by.
    cv : int, "auto" or None
        Folds to judge a model by that learned from labels.

    Returns
    -------
    Accuracy or None
    """
    if subject.y is None or subject.labels is None or len(subject.labels.names) < 2:
        return None
    verdict = _verdict(subject, test, cv)
    judged = verdict.stages
    best = max(one.accuracy for one in judged)
    rows = [
        [one.name, f"{one.n_coordinates:,}", f"{one.accuracy:.1%}", _percents(*one.interval)]
        for one in judged
    ]
    table = Table(
        ["Distances between", "Coordinates#", "Accuracy#", "95 % interval#"],
        rows,
        best=[i for i, one in enumerate(judged) if one.accuracy == best],
    )
    gain, low, high = judged[-1].gain_over(judged[-2])
    said = (
        f"Learned against {inside(judged[-2].name)}, on the same rows: {100 * gain:+.1f} "
        f"percentage points (95 % interval {100 * low:+.1f} to {100 * high:+.1f})."
    )
    return Accuracy(verdict.how, table, said, verdict.caution, [_curves(judged, verdict.how)])


def _percents(low: float, high: float) -> str:
    return f"{low:.1%} to {high:.1%}"


def _verdict(
    subject: Subject, test: tuple[ArrayLike, ArrayLike] | None, cv: int | str | None
) -> Verdict:
    assert subject.y is not None
    assert subject.labels is not None
    if test is not None:
        known, asked = coded_together(subject.y, test[1])
        new = stages_of(subject.model, test[0], "X_test")
        check_consistent_length(new[0].points, asked)
        return judge_between(subject.stages, known, new, asked, N_NEIGHBORS)
    folds, trouble = _n_folds(subject, cv), ""
    if folds:
        try:
            return judge_by_folds(subject.model, subject.X, subject.y, N_NEIGHBORS, folds)
        except ValueError as error:  # such as a class with rows in one fold only
            if cv != "auto":
                raise ValueError(
                    f"cv={cv!r}: the model cannot be fitted to a fold: {error}"
                ) from error
            trouble = (
                f" It could not be judged by folds, to one of which it cannot be fitted: {error}"
            )
    verdict = judge_within(
        subject.stages, subject.labels.codes, N_NEIGHBORS, subject.learned_from_labels
    )
    return replace(verdict, caution=verdict.caution + trouble)


def _n_folds(subject: Subject, cv: int | str | None) -> int:
    """How many folds to judge by; 0: none."""
    n = len(subject.stages[0].points)
    if cv not in (None, "auto"):
        check_count("cv", cv, 2, n, " (number of rows)")
    if cv is None or not subject.learned_from_labels:
        return 0
    if cv != "auto":
        return int(cv)
    times = getattr(fitted_model(subject.model), "history_", {}).get("time", [np.inf])
    return _FOLDS if times[-1] <= _QUICK_FIT and 2 * _FOLDS <= n <= _MOST_REFITTED else 0


def _curves(judged: list[StageAccuracy], how: str) -> Picture:
    """Accuracy against the number of neighbors."""
    curves = {one.name: one.right.mean(axis=0) for one in judged}
    most = len(next(iter(curves.values())))
    numbers = np.arange(1, most + 1)

    def draw(ax: "Axes") -> None:
        NeighborsAccuracyDisplay(curves, numbers, len(judged[0].right)).plot(ax=ax)

    alt = f"Accuracy for 1 to {most} neighbors at each stage. {how}"
    return svg_picture(
        draw, alt, key="accuracy", caption="Accuracy against the number of neighbors."
    )
