"""Section 3.2: k nearest neighbors, before and after; and the same by projections to the plane."""

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from benchmarks.common.judging import neighbor_accuracy
from benchmarks.common.splits import Split, stratified_split
from reproduce.experiment import Measured, Unit
from reproduce.latent_coincidence.drawing import draw_errors
from reproduce.latent_coincidence.em import VARIANTS, maps, pairs_of, principal_start
from reproduce.latent_coincidence.parts import part_of
from vicinal.coincidence.neighbors import LabeledPoints, labeled_pairs

# Numbers of iterations after which rows held back are labeled.
CHECKS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)

# Share of the training rows that are held back to choose one of these.
_HELD_BACK = 0.2

METHODS = {"euclid": "Euclidean", "lca": "LCA, stopped early", "lca-last": "LCA, last iteration"}


def measure(unit: Unit) -> dict[str, float]:
    """Test errors in percent; how far classes are apart; when the fit was stopped."""
    part = part_of(unit)
    learned = learned_maps(part, unit)
    n_stop = iterations_to_stop(part, unit)
    k, W = unit["n_targets"], learned[n_stop]
    return {
        "euclid": neighbor_error(part, learned[0], k),
        "lca": neighbor_error(part, W, k),
        "lca-last": neighbor_error(part, learned[max(learned)], k),
        "contrast-euclid": contrast(part, learned[0], k),
        "contrast-lca": contrast(part, W, k),
        "iterations": float(n_stop),
        "features": float(part.X.shape[1]),
    }


def learned_maps(part: Split, unit: Unit) -> dict[int, NDArray]:
    """W after some numbers of iterations, the start first."""
    variant = VARIANTS[unit["variant"]]
    data = pairs_of(part.X, part.y, unit["n_targets"], local=variant.local)
    start = principal_start(data, unit.get("n_components", part.X.shape[1]))
    checks = {n for n in CHECKS if n <= unit["iterations"]}
    along: Iterator = islice(maps(data, variant, start), max(checks) + 1)
    return {n: latent.W for n, latent in enumerate(along) if n in checks}


def iterations_to_stop(part: Split, unit: Unit) -> int:
    """The fewest after which rows held back are labeled best; the others were learned from."""
    inner = stratified_split(part.X, part.y, unit["seed"], test_size=_HELD_BACK)
    learned = learned_maps(inner, unit)
    errors = {n: neighbor_error(inner, W, unit["n_targets"]) for n, W in learned.items()}
    return min(errors, key=errors.__getitem__)


def neighbor_error(part: Split, W: NDArray, k: int) -> float:
    """Test error in percent of k nearest neighbors under a map."""
    Z, Z_test = part.X @ W.T, part.X_test @ W.T
    return 100 * (1 - neighbor_accuracy(k, Z, part.y, Z_test, part.y_test))


def contrast(part: Split, W: NDArray, k: int) -> float:
    """How much farther other classes are than the own one, among test rows.

    The ratio of root mean squared distances under the map, over pairs of a test row and its k
    nearest of other classes, and its k nearest of the own, before the map.
    """
    first, second, same = labeled_pairs(LabeledPoints(part.X_test, part.y_test), k, "all")
    Z = part.X_test @ W.T
    squared = np.square(Z[first] - Z[second]).sum(axis=1)
    return float(np.sqrt(squared[~same].mean() / squared[same].mean()))


def draw(all_measured: Sequence[Measured]) -> Figure:
    """Errors with the poster's scales, a row for each set."""
    shown = [one for one in all_measured if one.unit["variant"] == "local"]
    return draw_errors(shown, METHODS, "3-NN test error (%)")
