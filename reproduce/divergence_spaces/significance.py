"""The Friedman and Bonferroni-Dunn tests of section 6 (Demšar 2006), of printed numbers and ours.

Each test ranks four methods on every set: k-means on the points, on their principal components, in
the plain embedding and in that by divergences.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.stats import friedmanchisquare, norm, rankdata

from reproduce.divergence_spaces.clusters import MEASURES
from reproduce.divergence_spaces.embeddings import LEARNERS
from reproduce.divergence_spaces.printed import BASELINES, printed_table
from reproduce.divergence_spaces.spaces import DIVERGENCES
from reproduce.experiment import Measured, Unit, units
from reproduce.lines import Lines, measured
from reproduce.means import means_of

LEVEL = 0.05

# Of fewer sets the tests can tell hardly anything. There are eleven, one of which takes hours.
LEAST_SETS = 10


class Source(NamedTuple):
    """Where numbers to be tested come from.

    Attributes
    ----------
    title : str
    items : tuple of str
        The one with plain embeddings, and the one with those by divergences.
    metrics : tuple of tuple of str
        By which of their metrics each tells numbers apart; of several the mean is taken. ("",):
        it does not.
    endings : tuple of str
        What follows the measure in names of numbers of each.
    """

    title: str
    items: tuple[str, str] = ("table-2-euclid", "table-2")
    metrics: tuple[tuple[str, ...], tuple[str, ...]] = (("",), ("",))
    endings: tuple[str, str] = ("", "")


SOURCES = {
    "best": Source("best of all settings"),
    "equal": Source("best of equally many settings", endings=("", "-equal")),
    "held": Source("chosen on other labels", endings=("-held", "-held")),
    "mean": Source("mean over settings", endings=("-mean", "-mean")),
    "untuned": Source(
        "untuned",
        ("untuned", "untuned"),
        (("euclidean/",), tuple(f"{name}/" for name in DIVERGENCES)),
    ),
}

TITLES = {"printed": "as printed", **{name: source.title for name, source in SOURCES.items()}}


def measure(unit: Unit) -> dict[str, float]:
    """Tests of one source, learner and measure; {} as long as too many of the sets are missing."""
    if unit["source"] == "printed":
        return tests_of(printed_table(unit["learner"], unit["measure"]))
    table = ours(SOURCES[unit["source"]], unit)
    complete = table[~np.isnan(table).any(axis=1)]
    return tests_of(complete) if len(complete) >= LEAST_SETS else {}


def tests_of(table: NDArray) -> dict[str, float]:
    """Friedman's test of all four, and how far apart the mean ranks of plain and X are.

    "gap" is what X is ahead by, significant where it is more than "critical", the critical
    difference of Bonferroni and Dunn for one method against three others.

    Parameters
    ----------
    table : ndarray of shape (n_sets, 4)
        Euc, PCA, plain and X.
    """
    n_sets, n_methods = table.shape
    ranks = rankdata(-table, axis=1).mean(axis=0)
    test = friedmanchisquare(*table.T)
    quantile = norm.isf(LEVEL / 2 / (n_methods - 1))
    plain, by_divergences = table[:, 2], table[:, 3]
    return {
        "friedman": float(test.statistic),
        "p": float(test.pvalue),
        "gap": float(ranks[2] - ranks[3]),
        "critical": float(quantile * math.sqrt(n_methods * (n_methods + 1) / 6 / n_sets)),
        "wins": int((by_divergences > plain).sum()),
        "losses": int((by_divergences < plain).sum()),
        "sets": n_sets,
        "difference": float((by_divergences - plain).mean()),
    }


def ours(source: Source, unit: Unit) -> NDArray:
    """What we found; NaN for a set that is not complete."""
    mode, name = unit["results"], unit["measure"]
    baselines = numbers_of("table-2-euclid", mode)
    learned = [numbers_of(item, mode) for item in source.items]

    def row(one: str) -> list[float]:
        base = [baselines.get(f"{b}/{one}/{name}{source.endings[0]}", np.nan) for b in BASELINES]
        for numbers, metrics, ending in zip(learned, source.metrics, source.endings, strict=True):
            names = [f"{unit['learner']}/{one}/{metric}{name}{ending}" for metric in metrics]
            base.append(float(np.mean([numbers.get(each, np.nan) for each in names])))
        return base

    sets = dict.fromkeys(each.split("/")[1] for each in baselines)
    return np.array([row(one) for one in sets]).reshape(-1, 4)


def numbers_of(item: str, mode: str) -> dict[str, float]:
    """What an item has found; the best of a grid only where the grid is complete."""
    from reproduce.papers import chosen  # which knows this module
    from reproduce.running import results_folder

    [(paper, experiment)] = chosen(f"divergence-spaces/{item}")
    settings = paper.settings(experiment, mode)
    lines = Lines(results_folder(paper, mode) / experiment.lines_file).of(units(settings))
    found = means_of(experiment, settings, measured(lines))
    return {name: mean.value for name, mean in found.items()}


def draw(all_measured: Sequence[Measured]) -> Figure:
    """How far X is ahead of the plain learner in mean rank, and what is significant."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    axes = figure.subplots(1, len(MEASURES), sharey=True)
    sources = [name for name in TITLES if any(u["source"] == name and f for u, f in all_measured)]
    for ax, name in zip(axes, MEASURES, strict=True):
        for shift, source in enumerate(sources):
            found = {
                unit["learner"]: numbers
                for unit, numbers in all_measured
                if (unit["source"], unit["measure"]) == (source, name) and numbers
            }
            left = 0.13 * (shift - (len(sources) - 1) / 2)
            places = [list(LEARNERS).index(one) + left for one in found]
            gaps = [numbers["gap"] for numbers in found.values()]
            ax.bar(places, gaps, width=0.12, color=f"C{shift}", label=TITLES[source])
            for place, numbers in zip(places, found.values(), strict=True):
                ends = (place - 0.06, place + 0.06)
                ax.plot(ends, 2 * [numbers["critical"]], color="black", linewidth=1.5)
        ax.axhline(0, color="black", linewidth=0.6)
        ax.set(title=name.upper() if name != "purity" else "purity")
        ax.set_xticks(range(len(LEARNERS)), LEARNERS.values())
    axes[0].set_ylabel("mean rank, plain minus X")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
