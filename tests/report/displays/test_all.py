"""What holds for every display."""

import pickle
import sys

import numpy as np
import pytest
from matplotlib import rc_context
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.text import Text
from report.pictures import blobs, new_axes

from vicinal.report import (
    ComparisonDisplay,
    ConvergenceDisplay,
    DensityDisplay,
    FeatureImportanceDisplay,
    LocalEllipsesDisplay,
    MetricDisplay,
    NeighborhoodGraphDisplay,
    NeighborsAccuracyDisplay,
    ProjectionDisplay,
    RegularizationDisplay,
    ReliabilityDisplay,
    SpectrumDisplay,
)

LONG = "$a_1$ name that goes on and on, $ and on, and on"
POINTS, LABELS = blobs(3, 60)
NAMES = [LONG, "b_$2", "c^$"]
TITLE = "$100 for a title_ that is much too long to stand in one line above a small picture"


def chain(n):
    return np.eye(n, k=1)


DISPLAYS = {
    "projection": ProjectionDisplay(
        POINTS, LABELS, NAMES, TITLE, queries=POINTS[:2], query_neighbors=[[1, 2], [3, 4]]
    ),
    "metric": MetricDisplay(np.cov(POINTS.T), NAMES[:2], title=TITLE),
    "importance": FeatureImportanceDisplay([3.0, 2.0, 1.0], NAMES, title=TITLE),
    "spectrum": SpectrumDisplay([0.1, 0.2, 1.0], n_gaussian=1, title=TITLE, note="said_$ $"),
    "convergence": ConvergenceDisplay(
        {name: {"objective": [0.0, 1.0, 2.0], "validation": [0.0, 2.0, 1.0]} for name in NAMES},
        dict.fromkeys(NAMES, 1),
        title=TITLE,
        validation_apart=True,
    ),
    "density": DensityDisplay(POINTS, -np.abs(POINTS[:, 0]), axis_names=NAMES[:2], title=TITLE),
    "ellipses": LocalEllipsesDisplay(
        POINTS, POINTS[:3], [np.eye(2)] * 3, LABELS, NAMES, title=TITLE
    ),
    "graph": NeighborhoodGraphDisplay(POINTS, chain(60), LABELS, NAMES, title=TITLE),
    "regularization": RegularizationDisplay(
        [0.1, 1.0],
        {n: [0.5, 0.6] for n in NAMES},
        {n: [0.1, 0.1] for n in NAMES},
        (LONG, 1),
        title=TITLE,
    ),
    "reliability": ReliabilityDisplay([0.1, 0.6], [0.2, 0.5], [30, 10], title=TITLE),
    "comparison": ComparisonDisplay(
        {n: [0.5, 0.6] for n in NAMES},
        dict.fromkeys(NAMES, (0.4, 0.7)),
        highlighted=NAMES[1:],
        reference=LONG,
        title=TITLE,
    ),
    "accuracy": NeighborsAccuracyDisplay({n: [0.5, 0.6] for n in NAMES}, [1, 2], 50, title=TITLE),
}

pytestmark = pytest.mark.parametrize("display", DISPLAYS.values(), ids=DISPLAYS)


def all_texts(figure):
    return [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]


def test_plot_returns_itself_with_the_axes_given(display):
    ax = new_axes()
    assert display.plot(ax=ax) is display
    assert display.ax_ is ax
    assert display.figure_ is ax.figure


def test_it_makes_a_figure_of_its_own(display):
    plt = pytest.importorskip("matplotlib.pyplot")
    before = plt.get_fignums()
    figure = display.plot().figure_
    assert [n for n in plt.get_fignums() if n not in before] == [figure.number]
    plt.close(figure)
    assert plt.get_fignums() == before


@pytest.mark.parametrize("layout", [None, "constrained", "tight"])
def test_nothing_is_cut_off(display, layout):
    figure = display.plot(ax=new_axes(layout=layout)).figure_
    figure.draw_without_rendering()
    drawn, room = figure.get_tightbbox().extents, figure.bbox_inches.extents
    assert (drawn[:2] >= room[:2] - 0.01).all()
    assert (drawn[2:] <= room[2:] + 0.01).all()


def test_names_of_users_are_no_mathematics(display):
    figure = display.plot(ax=new_axes()).figure_
    figure.draw_without_rendering()
    for text in all_texts(figure):
        assert "$" not in text.get_text() or not text.get_parse_math()
    assert display.ax_.get_title().replace("\n", " ") == TITLE


def test_long_names_are_shortened(display):
    figure = display.plot(ax=new_axes()).figure_
    assert not any(LONG in text.get_text() for text in all_texts(figure))


def test_a_second_picture_on_the_same_axes(display):
    ax = new_axes()
    display.plot(ax=ax)
    n_before = len(ax.get_children())
    assert display.plot(ax=ax).ax_ is ax
    assert len(ax.get_children()) > n_before


def test_it_stands_among_others(display):
    axes = Figure().subplots(2, 2)
    display.plot(ax=axes[1, 0])
    assert not any(ax.collections or ax.lines for ax in (axes[0, 0], axes[0, 1], axes[1, 1]))


def test_text_follows_the_style_of_matplotlib(display):
    style = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
    with rc_context(dict.fromkeys(style, "#abcdef") | {"axes.facecolor": "none"}):
        ax = Figure(facecolor="none").subplots()
        figure = display.plot(ax=ax).figure_
        texts = all_texts(figure)
    cells = getattr(display, "text_", []) if isinstance(display, MetricDisplay) else []
    assert len(texts) > len(cells)
    for text in texts:
        if text not in cells:  # these stand on a ground of their own
            assert to_rgba(text.get_color())[:3] == to_rgba("#abcdef")[:3], text


def test_a_figure_can_be_pickled(display):
    figure = display.plot(ax=new_axes()).figure_
    assert len(pickle.loads(pickle.dumps(figure)).axes) == len(figure.axes)


def test_without_matplotlib(display, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"Display.plot needs matplotlib.* 'vicinal\[report\]'"):
        display.plot()
