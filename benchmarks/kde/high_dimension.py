"""Errors of the log-density in many dimensions."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.common.pages import Page
from benchmarks.kde.contenders import Density, isotropic_gaussian_kde, log_of, vicinal
from benchmarks.kde.problems import Mixture, oracle, scott

HIGH_N, HIGH_D, HIGH_QUERIES = 10_000, 64, 200
HIGH_FACTORS = (1.0, 0.5, 0.25)  # times Scott's rule
WRONG = 0.01  # nats


def high_methods(X: np.ndarray, bandwidth: float) -> dict[str, Density]:
    """Log-densities, where nothing has to be fast."""
    from sklearn.neighbors import KernelDensity

    def tree(**settings: Any) -> Density:
        return KernelDensity(bandwidth=bandwidth, **settings).fit(X).score_samples

    model = isotropic_gaussian_kde(X, bandwidth)
    return {
        "vicinal": vicinal(X, bandwidth, 0.0),
        "vicinal, 1e-4": vicinal(X, bandwidth, 1e-4),
        "scikit-learn": tree(),
        "depth first": tree(breadth_first=False),
        "rtol 1e-4": tree(rtol=1e-4),
        "ball tree": tree(algorithm="ball_tree"),
        "leaf_size n": tree(leaf_size=len(X)),
        "SciPy logpdf": lambda Q: model.logpdf(Q.T),
        "SciPy log(pdf)": lambda Q: log_of(model.evaluate(Q.T)),
    }


def high_queries(X: np.ndarray, new: np.ndarray, bandwidth: float) -> dict[str, np.ndarray]:
    """Near the points, and from the same distribution."""
    noise = np.random.default_rng(2).normal(size=new.shape)
    return {"near points": X[: len(new)] + 0.1 * bandwidth * noise, "new": new}


def high_dimension(page: Page) -> None:
    page.say(HIGH.strip().format(n=HIGH_N, d=HIGH_D, m=HIGH_QUERIES, wrong=WRONG))
    page.say()
    mixture, rng = Mixture(HIGH_D), np.random.default_rng(1)
    X, new = mixture.draw(HIGH_N, rng), mixture.draw(HIGH_QUERIES, rng)
    methods = list(high_methods(X[:500], 1.0))
    row = page.table(["bandwidth", "queries", "depth", *methods])
    for factor in HIGH_FACTORS:
        bandwidth = factor * scott(HIGH_N, HIGH_D)
        for name, Q in high_queries(X, new, bandwidth).items():
            row(f"{bandwidth:.3g} ({factor:g} × Scott)", name, *high_cells(X, Q, bandwidth))
    page.say()


def high_cells(X: np.ndarray, Q: np.ndarray, bandwidth: float) -> Iterator[str]:
    """How deep the queries are, and errors in nats."""
    truth = oracle(Q, X, bandwidth).log_density
    # 0: all points at the query.
    depth = truth + X.shape[1] * np.log(bandwidth * np.sqrt(2 * np.pi))
    yield f"{depth.min():.0f}, {np.median(depth):.0f}, {depth.max():.0f}"
    for density in high_methods(X, bandwidth).values():
        errors = np.abs(density(Q) - truth)
        wrong = f", {np.mean(errors > WRONG):.0%} wrong" if errors.max() > WRONG else ""
        yield f"{errors.max():.2g} ({np.median(errors):.2g}{wrong})"


HIGH = """
## d = {d}: errors of the log-density

n = {n:,}, {m} queries. Errors in nats: the largest, the median, and how many queries are wrong by
more than {wrong:g}. "Near points": points of the data moved by a tenth of the bandwidth along each
axis; "new": from the same distribution. Depth: log-density less that of all points at the query;
lowest, median, highest. vicinal, 1e-4: with that tolerance.

"scikit-learn" is `KernelDensity` with default settings (rtol = atol = 0, meant to be exact); the
four columns after it change the setting they name. Its trees begin with bounds for all points and,
on the way down, subtract those of a node and add those of its children. What rounding leaves of
the first bounds, about log(2^-53) = -37 below them, stays in the result: it often takes the place
of a density that is deeper, and spoils digits of others by its share. That is a matter of depth,
not of dimension, but in high dimension many queries are deep. A difference below zero
counts as nothing and can end the search too early. rtol does not bound these errors; a single leaf
(leaf_size = n) avoids them. Compare scikit-learn's issues 7492, 25799 and 27186.
"""
