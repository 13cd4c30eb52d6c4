"""Showing what was found: a figure, and a page."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vicinal.demo.chapter import Chapter
from vicinal.demo.story import Story
from vicinal.report import write_report
from vicinal.report.support import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from vicinal.report.page.parts import Section

__all__ = ["draw", "draw_chapter", "write_page"]

DIM, STRONG = "#555555", "#1b5e20"


def draw(story: Story) -> "Figure":
    """All chapters side by side: before above, after below.

    Parameters
    ----------
    story : Story

    Returns
    -------
    matplotlib.figure.Figure
        Bound to no window.

    Examples
    --------
    >>> from vicinal.demo import draw, tell_story
    >>> figure = draw(tell_story())  # doctest: +SKIP
    """
    require_matplotlib("The picture")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    n = len(story.chapters)
    figure = Figure(figsize=(3.7 * n, 8.0), facecolor="white")
    # All chapters share the width of a page: the words in their panels have to be larger for that.
    with rc_context({"font.size": 13}):
        axes = figure.subplots(2, n)
        for column, chapter in zip(axes.T, story.chapters, strict=True):
            for ax, panel in zip(column, chapter.panels, strict=True):
                panel.draw(ax)
    figure.subplots_adjust(left=0.03, right=0.99, bottom=0.085, top=0.885, wspace=0.14, hspace=0.32)
    for column, chapter in zip(axes.T, story.chapters, strict=True):
        _name_panels(column, chapter)
        column[0].annotate(
            chapter.title,
            (0.5, 1.14),
            xycoords="axes fraction",
            ha="center",
            fontsize=20,
            fontweight="bold",
        )
    for ax, word in zip(axes[:, 0], ("before", "after"), strict=True):
        ax.annotate(
            word,
            (-0.06, 0.5),
            xycoords="axes fraction",
            rotation=90,
            ha="right",
            va="center",
            fontsize=17,
            color=DIM,
        )
    return figure


def draw_chapter(chapter: Chapter) -> "Figure":
    """One chapter: before and after.

    Parameters
    ----------
    chapter : Chapter

    Returns
    -------
    matplotlib.figure.Figure
        Bound to no window.
    """
    require_matplotlib("The picture")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 5.1), facecolor="white")
    axes = figure.subplots(1, 2)
    figure.subplots_adjust(left=0.05, right=0.985, bottom=0.09, top=0.89, wspace=0.12)
    for ax, panel in zip(axes, chapter.panels, strict=True):
        panel.draw(ax)
    _name_panels(axes, chapter)
    return figure


def _name_panels(axes: "Sequence[Axes]", chapter: Chapter) -> None:
    for ax, outcome, color in zip(
        axes, (chapter.before, chapter.after), (DIM, STRONG), strict=True
    ):
        title = f"{outcome.method}: {chapter.said(outcome)}"
        ax.set_title(title, fontsize=13.5, color=color, pad=8)


def write_page(story: Story, path: Path, command: str | None = None) -> None:
    """Write the report: the chapters, and all about NCA of the wines in the plane.

    Parameters
    ----------
    story : Story
    path : Path
    command : str, optional
        What repeats it.
    """
    split = story.split
    write_report(
        story.model,
        split.X_train,
        split.y_train,
        path,
        X_test=split.X_test,
        y_test=split.y_test,
        feature_names=split.feature_names,
        title='vicinal demo: what "near" means',
        data_name="the wines of scikit-learn (load_wine), as they were measured",
        command=command,
        extras=[_gains(story), *(_section(chapter) for chapter in story.chapters)],
    )


def _gains(story: Story) -> "Section":
    from vicinal.report.page.parts import Section, Table

    rows = [
        [
            chapter.title,
            chapter.measure,
            chapter.said(chapter.before),
            chapter.said(chapter.after),
            chapter.gain_said(),
        ]
        for chapter in story.chapters
    ]
    table = Table(["", "Measured", "Before#", "After#", "Gain ± standard error#"], rows)
    text = (
        "All numbers are for rows that no method had seen. The data were picked to show where "
        "learning helps; benchmarks/results/ also has where it does not. Below the chapters the "
        "model of the wines is described in full."
    )
    return Section("Five times, near meant the wrong thing at first", [text], [], table)


def _section(chapter: Chapter) -> "Section":
    from vicinal.report.page.figures import figure_picture
    from vicinal.report.page.parts import Section, Table

    rows = [[one.method, chapter.said(one), f"{one.fit_seconds:.2f}"] for one in chapter.outcomes]
    table = Table(
        ["Method", "Held-out#", "Fit, s#"],
        rows,
        caption=chapter.measure,
        best=[i for i, one in enumerate(chapter.outcomes) if one.is_ours],
    )
    alt = f"{chapter.data}, by {chapter.before.method} and by {chapter.after.method}"
    return Section(
        f"{chapter.title}: {chapter.data}",
        [f"{chapter.trouble} {chapter.cure}"],
        [figure_picture(draw_chapter(chapter), alt)],
        table,
    )
