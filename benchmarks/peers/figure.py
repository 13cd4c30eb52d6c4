"""Accuracy against time, drawn."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.peers.measuring import NEIGHBORS
from benchmarks.peers.methods import BASELINE, METHODS, OURS, PEER, Method
from benchmarks.peers.points import Found, Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Percentage points below the best that a panel shows; what is worse lies at its lower edge.
DEPTH = 25
# Seconds; what takes less, the start of a process drowns.
SHORTEST = 0.01
LINES = {OURS: "-", PEER: "--", BASELINE: ""}


def draw(found: Found, options: argparse.Namespace) -> "Figure":
    """Accuracy against time: a row of panels for each dimension, a column for each set."""
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(name for name, _ in found))
    shape = (len(options.dims), len(names))
    width = max(3.5 * len(names) + 0.3, 8.5)  # of the legend at least
    figure = Figure(figsize=(width, 3.2 * len(options.dims) + 1.5), layout="constrained")
    panels = figure.subplots(*shape, squeeze=False)
    for (name, d), points in found.items():
        axes = panels[options.dims.index(d), names.index(name)]
        Panel(axes, points, options.limit).draw(f"{name}, d = {d}")
    for axes in panels[:, 0]:
        axes.set_ylabel(f"{NEIGHBORS}-NN test accuracy, %")
    for axes in panels[-1]:
        axes.set_xlabel(f"seconds of the fit ({SHORTEST:g} or more)")
    add_legend(figure, found, options.limit)
    return figure


def add_legend(figure: "Figure", found: Found, limit: float) -> None:
    """Below the panels: methods that occur, and what the marks mean."""
    from matplotlib.lines import Line2D

    keys = dict.fromkeys(point.method for points in found.values() for point in points)
    lines = [Line2D([], [], label=METHODS[key].name, **style(METHODS[key])) for key in keys]
    mark = {"linestyle": "", "color": "0.3", "markersize": 6}
    lines.append(Line2D([], [], marker="x", label=f"over {limit:g} s or too large", **mark))
    lines.append(Line2D([], [], marker="v", label=f"more than {DEPTH} points below", **mark))
    columns = 3 if figure.get_size_inches()[0] < 12 else 5
    figure.legend(handles=lines, loc="outside lower center", ncols=columns, frameon=False)


def style(method: Method) -> dict:
    """Of a curve: ours drawn through, the others dashed."""
    return {
        "color": method.color,
        "marker": method.marker,
        "markersize": 9 if method.kind == BASELINE else 5,
        "linestyle": LINES[method.kind],
        "linewidth": 1.7 if method.kind == OURS else 1.2,
    }


class Panel:
    """Curves of one set in d dimensions."""

    def __init__(self, axes: "Axes", points: Sequence[Point], limit: float) -> None:
        self.axes, self.points, self.limit = axes, points, limit
        accuracies = [point.accuracy for point in points if point.measured]
        best, worst = max(accuracies, default=100.0), min(accuracies, default=0.0)
        self.floor = max(worst, best - DEPTH)
        self.margin = max(0.06 * (best - self.floor), 0.5)
        self.top = best + self.margin

    def draw(self, title: str) -> None:
        """Axes, curves and marks."""
        for key in dict.fromkeys(point.method for point in self.points):
            self.curve(key)
        self.given_up()
        self.axes.set_title(title, fontsize=10)
        self.axes.set_xscale("log")
        self.axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        self.axes.set_ylim(self.floor - 2 * self.margin, self.top)
        self.axes.grid(alpha=0.25, linewidth=0.6)

    def curve(self, key: str) -> None:
        """Points of a method in the order of their settings; those too low, at the edge."""
        points = [point for point in self.points if point.method == key and point.measured]
        times = np.array([max(point.mean("seconds"), SHORTEST) for point in points])
        accuracies = np.array([point.accuracy for point in points])
        drawn, low = style(METHODS[key]), accuracies < self.floor
        self.axes.plot(times, np.maximum(accuracies, self.floor), **{**drawn, "marker": ""})
        self.axes.plot(times[~low], accuracies[~low], **{**drawn, "linestyle": ""})
        edge = np.full(low.sum(), self.floor - self.margin)
        self.axes.plot(times[low], edge, color=drawn["color"], marker="v", linestyle="")

    def given_up(self) -> None:
        """A mark at the limit for every method that went over it with any setting."""
        failed = dict.fromkeys(point.method for point in self.points if point.is_too_much)
        if not failed:
            return
        self.axes.axvline(self.limit, color="0.7", linewidth=0.8, linestyle=":")
        place = self.axes.get_xaxis_transform()  # seconds, share of the height
        for i, key in enumerate(failed):
            mark = {"color": METHODS[key].color, "marker": "x", "markeredgewidth": 2}
            self.axes.plot([self.limit], [0.05 + 0.07 * i], transform=place, **mark)
