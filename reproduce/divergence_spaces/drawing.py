"""Table 2 as pictures: printed numbers and ours."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reproduce.divergence_spaces.clusters import MEASURES, Found
from reproduce.divergence_spaces.embeddings import LEARNERS
from reproduce.divergence_spaces.printed import printed_numbers
from reproduce.divergence_spaces.significance import numbers_of
from reproduce.divergence_spaces.table import gather_divergences
from reproduce.experiment import Measured

TITLES = {
    "euc": "points (Euc)",
    "pca": "PCA",
    "isomap": "Isomap (ISM)",
    "laplacian": "Laplacian eigenmaps (LEM)",
    "lle": "LLE",
    "tsne": "t-SNE",
}


def draw_euclid(all_measured: Sequence[Measured]) -> Figure:
    """Ours over printed numbers, by method and measure."""
    figure = Figure(figsize=(9, 6.4), layout="constrained")
    printed = printed_numbers("table-2-euclid")
    for ax, (learner, title) in zip(figure.subplots(2, 3).ravel(), TITLES.items(), strict=True):
        for measure, marker in zip(MEASURES, "os^", strict=True):
            points = [
                (printed[f"{learner}/{unit['set']}/{measure}"], found[measure])
                for unit, found in all_measured
                if unit["learner"] == learner
            ]
            label = measure if measure == "purity" else measure.upper()
            ax.plot(*np.reshape(points, (-1, 2)).T, marker, markersize=5, alpha=0.8, label=label)
        ax.plot([0, 1], [0, 1], color="gray", linewidth=0.8)
        if not any(unit["learner"] == learner for unit, _ in all_measured):
            ax.text(0.5, 0.25, "not run", ha="center")
        ax.set(title=title, xlabel="printed", ylabel="ours", xlim=(-0.05, 1), ylim=(-0.05, 1))
        ax.set_aspect("equal")
    figure.axes[0].legend(loc="upper left")
    return figure


# How numbers are drawn: our name, label, marker.
KINDS = (
    ("ari", "X, best of all settings", "o"),
    ("ari-equal", "X, best of as many as Euclid has", "s"),
    ("ari-held", "X, chosen on other labels", "D"),
)


def draw_divergences(all_measured: Sequence[Measured]) -> Figure:
    """Adjusted Rand index of every set: printed, tuned as the paper does, tuned honestly."""
    learners = [one for one in LEARNERS if any(unit["learner"] == one for unit, _ in all_measured)]
    sets = list(dict.fromkeys(unit["set"] for unit, _ in all_measured))
    figure = Figure(figsize=(9, 2.2 * len(learners) + 1), layout="constrained")
    axes = figure.subplots(len(learners), 1, sharex=True, squeeze=False)[:, 0]
    for ax, learner in zip(axes, learners, strict=True):
        _draw_learner(ax, learner, sets, all_measured)
        ax.set(ylabel=f"X-{LEARNERS[learner]}, ARI")
        ax.grid(axis="y", alpha=0.3)
    axes[-1].set_xticks(range(len(sets)), sets, rotation=20)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _draw_learner(
    ax: Axes, learner: str, sets: Sequence[str], all_measured: Sequence[Measured]
) -> None:
    plain, tuned = printed_numbers("table-2-euclid"), printed_numbers("table-2")
    places = np.arange(len(sets))
    names = [f"{learner}/{one}/ari" for one in sets]
    style = {"linestyle": "", "color": "black", "markersize": 9}
    ax.plot(
        places - 0.15, [plain[name] for name in names], marker="_", label="plain, printed", **style
    )
    ax.plot(places - 0.15, [tuned[name] for name in names], marker="x", label="X, printed", **style)
    ours = numbers_of("table-2-euclid", "full")
    style = {"linestyle": "", "color": "C0", "markersize": 9, "markeredgewidth": 2}
    plain_ours = [ours.get(name, np.nan) for name in names]
    ax.plot(places - 0.05, plain_ours, marker="_", label="plain, best of all settings", **style)
    found = [_gathered(learner, one, all_measured) for one in sets]
    for shift, (name, label, marker) in enumerate(KINDS):
        values = [each.get(name, np.nan) for each in found]
        ax.plot(places - 0.05 + 0.1 * shift, values, marker, markersize=6, label=label)


def _gathered(learner: str, name: str, all_measured: Sequence[Measured]) -> Found:
    """Means of what is gathered of one set; {} where it was not measured."""
    units = [
        one for one in all_measured if (one.unit["learner"], one.unit["set"]) == (learner, name)
    ]
    if not units:
        return {}
    best, *held = gather_divergences(units)
    return {**best, "ari-held": float(np.mean([each["ari-held"] for each in held]))}
