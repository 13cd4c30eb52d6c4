"""Section 2.2: does EM climb to the maximum of the likelihood? On pairs of section 3.2, κ = 1."""

import warnings
from collections.abc import Sequence
from itertools import islice

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from reproduce.experiment import Measured, Unit, drawable
from reproduce.latent_coincidence.em import VARIANTS, maps, pairs_of
from vicinal import LatentCoincidence, datasets
from vicinal.coincidence.equations import CoincidenceData, LatentMap, log_likelihood

# Names of what is measured, the log-likelihood of a pair below its maximum in nats: variants.
FORMS = {
    "printed": ("shared-printed", "as printed"),
    "endpoints": ("shared", "as printed, with the right variance"),
    "differences": ("shared-differences", "on differences of a pair"),
}


def measure(unit: Unit) -> dict:
    """Gap after the last iteration in thousandths, noise σ² there, and gaps along the way."""
    bunch = datasets.load(unit["set"], download=False)
    X, y = StandardScaler().fit_transform(bunch.data.astype(float)), bunch.target
    data = pairs_of(X, y, unit["n_targets"], local=False)
    W = np.random.default_rng(unit["seed"]).standard_normal((X.shape[1], X.shape[1]))
    start = LatentMap(W, 0.5, np.ones(1))
    best, sigma2 = highest(X, y, W, unit["n_targets"])
    found: dict = {"sigma2-maximum": sigma2}
    for name, (variant, _) in FORMS.items():
        gaps, last = climb(data, variant, start, unit["iterations"], best)
        found |= {name: 1000 * gaps[-1], f"sigma2-{name}": last.sigma2}
        if unit["seed"] == 0:
            found[f"curve-{name}"] = np.round(gaps, 9).tolist()
    return found


def highest(X: NDArray, y: NDArray, W: NDArray, n_targets: int) -> tuple[float, float]:
    """The maximum (of a concave problem) per pair, by L-BFGS, and its noise."""
    model = LatentCoincidence(
        pairs="impostors",
        scale="shared",
        n_targets=n_targets,
        init=(W, 0.5),
        solver="lbfgs",
        early_stopping=False,
        tol=1e-12,
        max_iter=5000,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    return model.log_likelihood_ / model.n_pairs_, model.sigma2_


def climb(
    data: CoincidenceData, variant: str, start: LatentMap, iterations: int, best: float
) -> tuple[list[float], LatentMap]:
    """Gaps after 0, 1, 2, 4, ... and the last iteration, and the last map."""
    gaps = []
    for n, latent in enumerate(islice(maps(data, VARIANTS[variant], start), iterations + 1)):
        if n & (n - 1) == 0 or n == iterations:
            gaps.append(best - log_likelihood(data, latent) / len(data))
    return gaps, latent


def draw(all_measured: Sequence[Measured]) -> Figure:
    """Gaps over iterations, from the first seed's start."""
    shown = drawable(all_measured, f"curve-{next(iter(FORMS))}")
    figure = Figure(figsize=(3.4 * len(shown), 3.4), layout="constrained")
    axes = figure.subplots(1, len(shown), squeeze=False)[0]
    for ax, (unit, found) in zip(axes, shown, strict=True):
        for (name, (_, label)), style in zip(FORMS.items(), ("-o", "-s", "-^"), strict=True):
            gaps = found[f"curve-{name}"]
            after = [2**i for i in range(len(gaps) - 2)] + [unit["iterations"]]
            ax.loglog(after, gaps[1:], style, markersize=4, label=label)
        ax.set(title=unit["set"], xlabel="iterations of EM", ylim=(1e-6, 1))
    axes[0].set_ylabel("nats per pair below the maximum")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure
