"""Rows that a density makes too unlikely: scikit-learn's interface for detectors of outliers."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin

from vicinal.inputs.points import WeightedPoints
from vicinal.inputs.tensors import answers_in_kind
from vicinal.local_components.density import Density
from vicinal.neighborhood import Engine
from vicinal.rows.methods import answers_in_blocks

__all__ = ["DensityOutlierMixin", "offset_of"]

# Share of the rows, each left out in turn, below whose density a row is an outlier by default.
_AUTO_SHARE = 0.05

# Rows that are looked at.
_MOST_ROWS = 20_000


class DensityOutlierMixin(OutlierMixin):
    """Rows below a log-density `offset_` are outliers."""

    offset_: float

    def score_samples(self, X: ArrayLike) -> NDArray:
        """Log-density of points, which an estimator knows."""
        raise NotImplementedError

    @answers_in_blocks
    @answers_in_kind
    def decision_function(self, X: ArrayLike) -> NDArray:
        """Log-density minus `offset_`: negative for outliers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points to evaluate.

        Returns
        -------
        ndarray of shape (n_samples,)
            ``score_samples(X) - offset_``.
        """
        log_p = self.score_samples(X)
        return log_p - self.offset_

    @answers_in_blocks
    @answers_in_kind
    def predict(self, X: ArrayLike) -> NDArray:
        """Whether each point is an outlier or like the training rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points to evaluate.

        Returns
        -------
        ndarray of int, shape (n_samples,)
            -1 for outliers, 1 for all other points.
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)


def offset_of(
    density: Density, contamination: Any, engine: Engine, rng: np.random.Generator
) -> float:
    """The log-density below which a row is an outlier.

    "auto": below which one row in twenty lies if it is left out. A number: below which that
    share of the rows lies as the density has them, which makes them likelier than new ones.

    Parameters
    ----------
    density : Density
    contamination : float or "auto"
    engine : Engine
    rng : numpy.random.Generator
        For a sample of many rows.
    """
    merged = density.merged(_MOST_ROWS, rng)
    if contamination == "auto":
        return _below(merged.left_out(engine), merged.points, _AUTO_SHARE)
    return _below(density.log_density(merged.points.X, engine), merged.points, float(contamination))


def _below(scores: NDArray, points: WeightedPoints, share: float) -> float:
    """A number with that share of the scores below, halfway to the next one."""
    order = np.argsort(scores, kind="stable")
    seen = np.cumsum(points.counts[order])
    n_below = int(np.searchsorted(seen, share * points.total * (1.0 + 1e-12), side="right"))
    edge = scores[order[[max(n_below - 1, 0), min(n_below, len(order) - 1)]]]
    return float(edge[0] if n_below == 0 else edge.mean())
