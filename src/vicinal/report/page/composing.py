"""From a fitted model and rows to the parts of a page."""

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vicinal.facts import facts_in_words
from vicinal.pipelines import steps_before, steps_of
from vicinal.report.displays.projection import ProjectionDisplay
from vicinal.report.drawing.classes import Classes, names_note
from vicinal.report.names import shortened
from vicinal.report.numbers.features import importances_of, spreads
from vicinal.report.numbers.fitted import fitted_model
from vicinal.report.numbers.plane import in_the_plane
from vicinal.report.page.accuracy import accuracy_part
from vicinal.report.page.figures import Picture, figure_picture, missing_letters
from vicinal.report.page.interactive import (
    MOST_CHOOSABLE,
    MOST_SHOWN,
    interactive_data,
)
from vicinal.report.page.learning import density_section, feature_section, learning_section
from vicinal.report.page.notes import data_notes
from vicinal.report.page.parts import Report, Section
from vicinal.report.page.snippet import python_snippet, versions
from vicinal.report.page.subject import Subject, inside

__all__ = ["compose"]


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
    cv : int, "auto" or None, default="auto"
        Folds to judge a model by that learned from labels.
    title, data_name, command : str, optional
    extras : sequence of Section, default=()
        To come first.

    Returns
    -------
    Report
    """
    before, after = subject.stages[-2:]
    plane, equal, note = _plane(after.points)
    name = type(fitted_model(subject.model)).__name__
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
        before_name=inside(before.name),
        data=interactive_data(
            plane,
            subject.labels,
            before,
            after,
            subject.stages[0].points,
            _shown_features(subject),
            equal=equal,
        ),
        accuracy=accuracy_part(subject, test, cv),
        extras=extras,
        sections=_sections(subject),
        snippets=[
            python_snippet(subject.model, subject.learned_from_labels, data_name),
            *([command] if command else []),
        ],
    )


def _sections(subject: Subject) -> list[Section]:
    """What was learned, as far as the model can tell."""
    model, before, names = subject.model, subject.stages[-2], subject.names
    sections = (
        feature_section(model, before, names),
        density_section(model, before, names, subject.labels),
        learning_section(model),
    )
    return [section for section in sections if section is not None]


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
