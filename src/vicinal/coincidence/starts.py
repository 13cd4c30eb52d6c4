"""Where a fit begins: its coordinates, and a map of them at which the likelihood is not flat."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from vicinal.coincidence.equations import CoincidenceData, LatentMap
from vicinal.inputs.checks import check_choice
from vicinal.inputs.features import Features, moments
from vicinal.inputs.starts import given_map, starting_map
from vicinal.neighborhood import gram, times

__all__ = ["STARTS", "Frame", "check_init", "frame_of", "latent_start", "spreads"]

STARTS = ("auto", "rca", "lda", "scaled", "pca", "identity", "random")

# Whose coordinates do not depend on the unit of any one column.
_UNITLESS = ("scaled", "rca", "lda")

# σ² of a start, and the mean squared distance of coincident pairs under it.
_SIGMA2, _NEAR = 0.1, 1.0


@dataclass(frozen=True)
class Frame:
    """Coordinates in which neighbors are looked for and a map is learned.

    Attributes
    ----------
    init : str, array or tuple
        The start they belong to.
    matrix : ndarray of shape (D, D), optional
        From the columns to the coordinates; None: the columns in one unit.
    unit : float
        That unit.
    """

    init: Any
    matrix: NDArray | None = None
    unit: float = 1.0

    def points(self, X: NDArray) -> NDArray:
        """Rows of X in these coordinates."""
        return X / self.unit if self.matrix is None else times(X, self.matrix.T)

    def outward(self, W: NDArray) -> NDArray:
        """A map of these coordinates, for the columns."""
        return W / self.unit if self.matrix is None else W @ self.matrix


def check_init(init: Any) -> None:
    """Refuse names that are unknown; maps are looked at where their shape is known."""
    if isinstance(init, str):
        check_choice("init", init, STARTS)


def frame_of(
    init: Any, X: NDArray, labels: NDArray | None = None, basis: NDArray | None = None
) -> Frame:
    """Coordinates of a start, from points around 0.

    Those of "scaled", "rca" and "lda" do not depend on the units of the columns: columns of
    standard deviation 1; coordinates white within classes, their covariance shrunk where there
    are few points, those in which means of classes differ most first; and these alone. Those of
    other starts are the columns in one unit near their size, as steps of a solver have one length
    for map and noise. Where points are coordinates along a `basis` of the few rows of a wide
    table, all starts have that unit: of standard deviation 1 all rows would be as far from each
    other.
    """
    unit = _unit(X)
    if not (isinstance(init, str) and init in _UNITLESS):
        return Frame(init, unit=unit)
    to_scale = 1.0 / (spreads(X) if basis is None else np.full(X.shape[1], unit))
    if init == "scaled":
        return Frame(init, np.diag(to_scale))
    if labels is None:
        raise ValueError(
            f'init={init!r} needs classes, which pairs do not have: use fit, or init="scaled".'
        )
    features = Features(X * to_scale, np.zeros(X.shape[1]), 1.0)
    known = moments(features, labels, int(labels.max()) + 1)
    white = starting_map("auto", known, X.shape[1])
    if init == "lda":
        white[max(1, np.count_nonzero(known.counts) - 1) :] = 0.0
    return Frame(init, white * to_scale)


def _unit(X: NDArray) -> float:
    """The power of two nearest to the root mean square of points around 0; 1 where they are 0.

    It rounds nothing: points as far apart as others stay so, and a map that is given returns as
    it was.
    """
    size, power = np.frexp(np.sqrt(np.einsum("nd,nd->", X, X) / X.size))
    return float(np.ldexp(0.5 if size < 0.75 else 1.0, power)) if size else 1.0


def spreads(X: NDArray) -> NDArray:
    """Standard deviations of columns around 0; the largest for those that have none."""
    found = np.sqrt(np.einsum("nd,nd->d", X, X) / len(X))
    return np.where(found > 0, found, found.max() or 1.0)


def latent_start(
    init: Any,
    data: CoincidenceData,
    n_components: int,
    rng: np.random.Generator,
    basis: NDArray | None = None,
    unit: float = 1.0,
) -> LatentMap:
    """From a name, a map, or a map and σ².

    Data, and what is learned from a start, are in the coordinates of its frame. A map that is
    given is of the columns: it is brought to the `basis` and the `unit` of the frame.
    """
    if not isinstance(init, str):
        W, sigma2 = _map_and_noise(init)
        D = data.X.shape[1] if basis is None else basis.shape[1]
        W = given_map(W, n_components, D)
        W = (W if basis is None else W @ basis.T) * unit
        return LatentMap(W, sigma2, np.ones(data.n_anchors))
    W = _directions(init, data, n_components, rng)
    squared = data.pairs.squared_distances(times(data.X, W.T))
    near = float(squared[data.coincide].mean()) or float(squared.mean()) or 1.0
    return LatentMap(W * np.sqrt(_NEAR / near), _SIGMA2, np.ones(data.n_anchors))


def _directions(
    init: str, data: CoincidenceData, n_components: int, rng: np.random.Generator
) -> NDArray:
    D = data.X.shape[1]
    if init == "random":
        return rng.standard_normal((n_components, D))
    if init in ("identity", "rca", "lda") or (init == "scaled" and n_components == D):
        return np.eye(n_components, D)
    covariance = gram(data.X, data.X)
    return eigh(covariance, subset_by_index=[D - n_components, D - 1])[1].T[::-1]


def _map_and_noise(init: Any) -> tuple[Any, float]:
    """What is given as a map, and σ²."""
    if not isinstance(init, tuple):
        return init, _SIGMA2
    if len(init) != 2:
        raise ValueError(f"init={init!r} must be a map, or a map and σ².")
    sigma2 = float(init[1])
    if not 0 < sigma2 < np.inf:
        raise ValueError(f"σ² in init is {sigma2!r}, but must be positive and finite.")
    return init[0], sigma2
