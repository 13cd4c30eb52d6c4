"""From a fitted model and rows to the parts of a page."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length, column_or_1d

from vicinal.facts import facts_in_words
from vicinal.inputs.checks import check_count
from vicinal.pipelines import steps_before, steps_of
from vicinal.report.displays.accuracy import NeighborsAccuracyDisplay
from vicinal.report.displays.projection import ProjectionDisplay
from vicinal.report.drawing.classes import Classes, coded_together, names_note
from vicinal.report.drawing.names import shortened
from vicinal.report.drawing.plane import in_the_plane
from vicinal.report.numbers.features import importances_of, spreads
from vicinal.report.numbers.fitted import fitted_model
from vicinal.report.page.figures import Picture, figure_picture, missing_letters, svg_picture
from vicinal.report.page.interactive import (
    MOST_CHOOSABLE,
    MOST_SHOWN,
    interactive_data,
)
from vicinal.report.page.judging import (
    StageAccuracy,
    Verdict,
    judge_between,
    judge_by_folds,
    judge_within,
)
from vicinal.report.page.learning import density_section, feature_section, learning_section
from vicinal.report.page.notes import data_notes
from vicinal.report.page.parts import Accuracy, Report, Section, Table
from vicinal.report.page.snippet import python_snippet, versions
from vicinal.report.page.stages import Stage, feature_names, stages_of

__all__ = ["Subject", "compose"]

N_NEIGHBORS = 5
_FOLDS = 5
_QUICK_FIT = 5.0  # seconds of a fit that may be repeated for each fold
_MOST_REFITTED = 20_000  # rows; a model may have been fitted to fewer than there are here


@dataclass(frozen=True)
class Subject:
    """What a page is about.

    Attributes
    ----------
    model : fitted transformer or pipeline
    X : array-like of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,) or None
    labels : Classes or None
    names : list of str
        Of the features.
    stages : list of Stage
    """

    model: BaseEstimator
    X: Any
    y: NDArray | None
    labels: Classes | None
    names: list[str]
    stages: list[Stage]

    @classmethod
    def of(cls, model: BaseEstimator, X: Any, y: Any, names: Any, class_names: Any) -> "Subject":
        """The subject of what was given, which is checked."""
        stages = stages_of(model, X)
        n = len(stages[0].points)
        labels = None if y is None else Classes.of(y, class_names, n, "y")
        known = None if y is None else column_or_1d(y)
        return cls(model, X, known, labels, feature_names(model, X, names), stages)

    @property
    def learned_from_labels(self) -> bool:
        """Whether the model's fit needs classes."""
        return bool(getattr(fitted_model(self.model).__sklearn_tags__().target_tags, "required", 0))


def compose(
    subject: Subject,
    *,
    test: tuple[ArrayLike, ArrayLike] | None = None,
    cv: int | str | None = "auto",
    title: str | None = None,
    data_name: str | None = None,
    command: str | None = None,
    extras: Sequence[Section] = (),
) -> Report:
    """Everything a page says.

    Parameters
    ----------
    subject : Subject
    test : tuple of X and y, optional
        Rows the model has not seen, to judge it by.
    cv : int, "auto" or None
        Folds to judge a model by that learned from labels.
    title, data_name, command : str, optional
    extras : sequence of Section
        To come first.

    Returns
    -------
    Report
    """
    model, before, after = subject.model, *subject.stages[-2:]
    plane, equal, note = _plane(after.points)
    name = type(fitted_model(model)).__name__
    of = f" of {data_name}" if data_name else ""
    about = f"{_counted(len(plane), 'row')}{of}, {_counted(len(subject.names), 'feature')}"
    alt = _alt(name, subject, note)
    return Report(
        title=title or f"{name}{f': {data_name}' if data_name else ''}",
        subtitle=f"{about}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        footer=f"Written by {versions()}. This file needs no network and sends nothing.",
        facts=_facts(subject),
        notes=data_notes(
            subject.stages[0].points, subject.labels, subject.names, len(subject.stages) > 2
        ),
        still=_still(plane, subject.labels, alt),
        map_note=_map_note(len(plane), note, subject.labels),
        map_alt=f"Interactive scatter plot. {alt}",
        choice_note=_choice_note(len(plane)),
        before_name=_inside(before.name),
        data=interactive_data(
            plane,
            subject.labels,
            before,
            after,
            subject.stages[0].points,
            _shown_features(subject),
            equal=equal,
        ),
        accuracy=_accuracy(subject, test, cv),
        extras=extras,
        sections=[
            section
            for section in (
                feature_section(model, before, subject.names),
                density_section(model, before, subject.names, subject.labels),
                learning_section(model),
            )
            if section
        ],
        snippets=[python_snippet(model, subject.learned_from_labels, data_name)]
        + ([command] if command else []),
    )


# ------------------------------------------------------------------------------------ the picture


def _plane(points: NDArray) -> tuple[NDArray, bool, str]:
    """Where rows are shown, whether both directions have one unit, and what was done to get it."""
    plane, note = in_the_plane(points, np.zeros(len(points), dtype=int))
    return plane, points.shape[1] > 1, note


def _still(plane: NDArray, labels: Classes | None, alt: str) -> Picture:
    from matplotlib.figure import Figure

    codes, names = (None, None) if labels is None else (labels.codes, labels.names)
    figure = Figure(figsize=(8.0, 6.0))
    with missing_letters():
        ProjectionDisplay(plane, codes, class_names=names).plot(ax=figure.subplots())
    return figure_picture(figure, alt)


def _alt(name: str, subject: Subject, note: str) -> str:
    classes = ""
    if subject.labels is not None:
        labels = subject.labels
        shown = ", ".join(shortened(labels.names[c], 40) for c in labels.told_apart)
        others = f" and {labels.n_others:,} others" if labels.n_others else ""
        classes = f", in {len(labels.names):,} classes: {shown}{others}"
    rows = _counted(len(subject.stages[-1].points), "row")
    return f"{rows} placed by {name}{classes}. {note}".strip()


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"


def _map_note(n: int, note: str, labels: Classes | None) -> str:
    sample = f"a sample of {MOST_SHOWN:,} of {n:,} rows" if n > MOST_SHOWN else ""
    others = "" if labels is None else names_note(labels, "in colors")
    return " ".join(f"{said[0].upper()}{said[1:]}." for said in (note, sample, others) if said)


def _choice_note(n: int) -> str:
    note = "Click a point, or give the number of a row, counted from 0. A star marks it in the "
    note += "picture, squares its neighbors before, rings its neighbors after."
    if n > MOST_CHOOSABLE:
        among = f" among the {MOST_SHOWN:,} shown" if n > MOST_SHOWN else ""
        note += f" The page carries the neighbors{among} of {MOST_CHOOSABLE:,} rows."
    return note


def _shown_features(subject: Subject) -> list[tuple[int, str]]:
    """Columns of the raw rows, the most important first."""
    X, prepared = subject.stages[0].points, subject.stages[-2].points
    A: NDArray = getattr(fitted_model(subject.model), "components_", np.empty(0))
    has_map = A.ndim == 2 and A.shape[1] == X.shape[1]
    weights = importances_of(A, spreads(prepared)) if has_map else spreads(X)
    order = np.argsort(-weights, kind="stable")
    return [(int(j), subject.names[j]) for j in order]


# -------------------------------------------------------------------------------------- the facts


def _facts(subject: Subject) -> list[tuple[str, str]]:
    last = fitted_model(subject.model)
    changed = last.__repr__(N_CHAR_MAX=10**4)
    facts = [("Model", changed)]
    before = steps_before(subject.model)
    if before is not None:
        facts.append(("Before it", ", ".join(type(step).__name__ for step in steps_of(before))))
    shape = f"{len(subject.stages[0].points):,} × {len(subject.names):,}"
    facts.append(("Rows × features", shape))
    learned = facts_in_words(last)
    if subject.labels is not None and "Classes" not in learned:
        facts.append(("Classes", f"{len(subject.labels.names):,}"))
    return [*facts, *learned.items()]


# ----------------------------------------------------------------------------------- the accuracy


def _accuracy(
    subject: Subject, test: tuple[ArrayLike, ArrayLike] | None, cv: int | str | None
) -> Accuracy | None:
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
        f"Learned against {_inside(judged[-2].name)}, on the same rows: {100 * gain:+.1f} "
        f"percentage points (95 % interval {100 * low:+.1f} to {100 * high:+.1f})."
    )
    return Accuracy(verdict.how, table, said, verdict.caution, [_curves(judged, verdict.how)])


def _inside(name: str) -> str:
    """A name as it stands within a sentence."""
    return name[:1].lower() + name[1:]


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

    def draw(ax: Any) -> None:
        NeighborsAccuracyDisplay(curves, numbers, len(judged[0].right)).plot(ax=ax)

    alt = f"Accuracy for 1 to {most} neighbors at each stage. {how}"
    return svg_picture(
        draw, alt, key="accuracy", caption="Accuracy against the number of neighbors."
    )
