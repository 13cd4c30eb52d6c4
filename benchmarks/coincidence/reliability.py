"""Reliability diagram: what was said of pairs, and what was."""

from typing import TYPE_CHECKING

from benchmarks.coincidence.trials import KINDS, Kind, Trial

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# What is drawn: label, color and marker.
DRAWN = {
    KINDS[0]: ("random pairs, classes seen", "C0", "o"),
    KINDS[1]: ("random pairs, classes not seen", "C1", "s"),
    KINDS[2]: ("near pairs, classes seen", "C2", "^"),
    KINDS[4]: ("learned from near pairs, asked about random ones", "C3", "x"),
}


def reliability_diagram(trials: dict[str, dict[Kind, Trial]]) -> "Figure":
    """A panel for each set."""
    from matplotlib.figure import Figure

    n = len(trials)
    figure = Figure(figsize=(3.2 * n + 0.4, 3.9), layout="constrained")
    panels = figure.subplots(1, n, sharey=True, squeeze=False)[0]
    for axes, (name, of_set) in zip(panels, trials.items(), strict=True):
        draw_panel(axes, name, of_set)
    panels[0].set_ylabel("share of pairs of the same class")
    lines = panels[0].get_legend_handles_labels()
    figure.legend(*lines, frameon=False, loc="outside upper center", ncols=2)
    return figure


def draw_panel(axes: "Axes", name: str, trials: dict[Kind, Trial]) -> None:
    """Curves of one set."""
    axes.plot([0, 1], [0, 1], color="0.6", linewidth=1, linestyle="--")
    for kind, (label, color, marker) in DRAWN.items():
        bins = trials[kind].bins()
        axes.plot(bins.said, bins.was, color=color, marker=marker, markersize=4, label=label)
    axes.set(xlabel=f"pair_probability, {name}", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    axes.set_aspect("equal")
