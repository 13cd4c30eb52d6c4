"""Errors of several methods on several sets, as points."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from reproduce.experiment import Measured
from reproduce.means import mean_of


def draw_errors(all_measured: Sequence[Measured], methods: Mapping[str, str], axis: str) -> Figure:
    """A line for each set, a marker for each method, bars of one standard error."""
    sets = list(dict.fromkeys(unit["set"] for unit, _ in all_measured))
    figure = Figure(figsize=(8, 1.4 + 0.5 * len(sets)), layout="constrained")
    ax = figure.subplots()
    rows = np.arange(len(sets))
    for i, ((name, label), marker) in enumerate(zip(methods.items(), "os^Dv", strict=False)):
        means = [mean_of(all_measured, name, set=one) for one in sets]
        ax.errorbar(
            [mean.value for mean in means],
            rows + 0.12 * (i - (len(methods) - 1) / 2),  # apart, so that none hides another
            xerr=[mean.error or 0 for mean in means],
            fmt=marker,
            markersize=6,
            capsize=2,
            label=label,
        )
    ax.set_yticks(rows, sets)
    ax.grid(axis="y", alpha=0.3)
    ax.invert_yaxis()
    ax.set(xlabel=axis, xlim=(-1, None))  # so that an error of 0 is seen
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure
