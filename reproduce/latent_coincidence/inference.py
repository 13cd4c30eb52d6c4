"""Section 2.1: what is printed about z, given a pair and its label, beside draws from the model."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from reproduce.experiment import Measured, Unit
from reproduce.means import mean_of

# Names of what is measured, what they are, and the range that is drawn.
LABELS = {
    "probability": ("P(y = 1)", (0, 0.5)),
    "pull-1": ("mean of z given y = 1", (0, 0.5)),
    "push-0": ("minus mean of z given y = 0", (0, 0.5)),
    "variance-1": ("variance of z given y = 1", (0.5, 1.25)),
    "variance-0": ("variance of z given y = 0", (0.5, 1.25)),
}


def measure(unit: Unit) -> dict[str, float]:
    """Moments of z by draws, each with the probability of its label as weight.

    Wx is the origin and Wx' lies at a distance along the first axis. Means are shares of the way
    from Wx to Wx': how far z is pulled there (y = 1), or pushed away (y = 0).
    """
    p = unit["n_components"]
    rng = np.random.default_rng([unit["seed"], round(1000 * unit["distance"])])
    there = np.zeros(p)
    there[0] = unit["distance"]
    deviation = np.sqrt(unit["sigma2"])
    z = deviation * rng.standard_normal((unit["n_draws"], p))
    other = there + deviation * rng.standard_normal((unit["n_draws"], p))
    coincide = np.exp(-np.square(z - other).sum(axis=1) / (2 * unit["kappa2"]))
    (pull, variance_1), (opposite, variance_0) = (
        _moments(z, weight, there) for weight in (coincide, 1 - coincide)
    )
    return {
        "probability": float(coincide.mean()),
        "pull-1": pull,
        "push-0": -opposite,
        "variance-1": variance_1,
        "variance-0": variance_0,
    }


def printed(unit: Unit) -> dict[str, float]:
    """The same as the poster has it."""
    p, sigma2, kappa2 = unit["n_components"], unit["sigma2"], unit["kappa2"]
    c = kappa2 + 2 * sigma2
    b = sigma2 / c
    probability = (kappa2 / c) ** (p / 2) * np.exp(-(unit["distance"] ** 2) / (2 * c))
    nu = probability / (1 - probability)
    return {
        "probability": probability,
        "pull-1": b,
        "push-0": nu * b,
        "variance-1": p * sigma2 * (1 - b),
        "variance-0": p * sigma2 * (1 + nu * b),
    }


def corrected_variance(unit: Unit) -> float:
    """Of z given y = 0, with the term that the poster lacks."""
    found = printed(unit)
    b, nu_b = found["pull-1"], found["push-0"]
    return found["variance-0"] - nu_b * (b + nu_b) * unit["distance"] ** 2


def _moments(z: NDArray, weight: NDArray, there: NDArray) -> tuple[float, float]:
    """Mean as a share of the way, and variance (summed over coordinates)."""
    mean = weight @ z / weight.sum()
    variance = weight @ np.square(z - mean).sum(axis=1) / weight.sum()
    return float(mean @ there / (there @ there)), float(variance)


def draw(all_measured: Sequence[Measured]) -> Figure:
    """What is printed and what is right as lines, draws as points."""
    distances = sorted({unit["distance"] for unit, _ in all_measured})
    unit = all_measured[0].unit
    along = [{**unit, "distance": d} for d in np.linspace(min(distances), max(distances), 100)]
    figure = Figure(figsize=(12, 3), layout="constrained")
    axes = figure.subplots(1, len(LABELS))
    for ax, (name, (label, limits)) in zip(axes, LABELS.items(), strict=True):
        x = [one["distance"] for one in along]
        ax.plot(x, [printed(one)[name] for one in along], color="tab:red", label="as printed")
        if name == "variance-0":
            right = [corrected_variance(one) for one in along]
            ax.plot(x, right, color="tab:blue", linestyle="--", label="with the missing term")
        means = [mean_of(all_measured, name, distance=d) for d in distances]
        ax.plot(distances, [mean.value for mean in means], "o", color="black", label="draws")
        ax.set(title=label, xlabel="|W(x - x')|", ylim=limits)
        ax.title.set_fontsize(10)
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure
