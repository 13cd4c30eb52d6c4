"""Rivals of Figure 3: directions that look least Gaussian, by FastICA and by NGCA.

Both see white rows and follow the same fixed-point step, for a function h of a projection,

    β(ω) = mean of z h(ω·z) - h'(ω·z) ω,

which is 0 where ω·z is Gaussian and independent of the rest (Stein's identity).
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Of NGCA: steps of the fixed point, functions of each kind, and the length below which a
# direction is taken for noise (Blanchard et al. 2006, section 4).
N_STEPS, N_FUNCTIONS, LEAST_LENGTH = 10, 1000, 1.5

# Directions at a time: what they need in memory is rows times these.
_AT_ONCE = 250


class Contrast(NamedTuple):
    """h and h', with a parameter."""

    value: Callable[[NDArray, NDArray], NDArray]
    slope: Callable[[NDArray, NDArray], NDArray]
    parameters: tuple[float, float]  # range, for NGCA


def _bump(u: NDArray, s: NDArray) -> NDArray:
    return np.exp(-(u**2) / (2 * s**2))


NGCA_CONTRASTS = (
    Contrast(
        lambda u, s: u**3 * _bump(u, s),
        lambda u, s: (3 * u**2 - u**4 / s**2) * _bump(u, s),
        (0.5, 5.0),
    ),
    Contrast(lambda u, a: np.tanh(a * u), lambda u, a: a / np.cosh(a * u) ** 2, (0.0, 5.0)),
    Contrast(lambda u, a: np.sin(a * u), lambda u, a: a * np.cos(a * u), (0.0, 4.0)),
    Contrast(lambda u, a: np.cos(a * u), lambda u, a: -a * np.sin(a * u), (0.0, 4.0)),
)

_ONE = np.ones(1)
ICA_CONTRASTS = {
    "tanh": NGCA_CONTRASTS[1],
    "gauss": Contrast(
        lambda u, _: u * np.exp(-(u**2) / 2), lambda u, _: (1 - u**2) * np.exp(-(u**2) / 2), (1, 1)
    ),
    "cube": Contrast(lambda u, _: u**3, lambda u, _: 3 * u**2, (1, 1)),
}


def fast_ica(
    Z: NDArray, n_components: int, contrast: Contrast, seed: int, max_iter: int = 1000
) -> NDArray:
    """The first components of white rows, one after the other (deflation)."""
    rng, found = np.random.default_rng(seed), np.empty((0, Z.shape[1]))
    for _ in range(n_components):
        w = _unit(rng.normal(size=Z.shape[1]))
        for _ in range(max_iter):
            u = Z @ w
            beta = Z.T @ contrast.value(u, _ONE) / len(Z) - contrast.slope(u, _ONE).mean() * w
            following = _unit(beta - found.T @ (found @ beta))
            has_converged = abs(abs(following @ w) - 1) < 1e-8
            w = following
            if has_converged:
                break
        found = np.vstack([found, w])
    return Z @ found.T


def ngca(Z: NDArray, n_components: int, seed: int) -> NDArray:
    """The space that directions of least Gaussianity, by many functions, have in common."""
    rng = np.random.default_rng(seed)
    vectors = np.vstack(
        [
            _directions(Z, contrast, parameters, rng)
            for contrast in NGCA_CONTRASTS
            for parameters in _in_parts(contrast)
        ]
    )
    lengths = np.linalg.norm(vectors, axis=1)
    # Where no direction is surely more than noise, the longest are all there is.
    least = min(LEAST_LENGTH, np.sort(lengths)[-n_components])
    kept = vectors[lengths >= least]
    return Z @ np.linalg.eigh(kept.T @ kept)[1][:, -n_components:]


def _in_parts(contrast: Contrast) -> Iterator[NDArray]:
    """Parameters over the range, the lower end (where h may be 0) left out."""
    low, high = contrast.parameters
    grid = np.linspace(low, high, N_FUNCTIONS + 1)[1:]
    yield from np.split(grid, range(_AT_ONCE, N_FUNCTIONS, _AT_ONCE))


def _directions(
    Z: NDArray, contrast: Contrast, parameters: NDArray, rng: np.random.Generator
) -> NDArray:
    """β for each parameter, from random directions, in units of its standard error."""
    n, W = len(Z), _unit(rng.normal(size=(len(parameters), Z.shape[1])))
    for _ in range(N_STEPS - 1):
        W = _unit(_beta(Z, W, contrast, parameters)[0])
    beta, spread = _beta(Z, W, contrast, parameters)
    variance = spread - np.square(beta).sum(axis=1)
    return beta * np.sqrt(n / np.maximum(variance, np.finfo(float).tiny))[:, None]


def _beta(
    Z: NDArray, W: NDArray, contrast: Contrast, parameters: NDArray
) -> tuple[NDArray, NDArray]:
    """β of each direction, and the mean of |z h - h' ω|²."""
    U = Z @ W.T
    value, slope = contrast.value(U, parameters), contrast.slope(U, parameters)
    beta = value.T @ Z / len(Z) - slope.mean(axis=0)[:, None] * W
    squares = np.square(Z).sum(axis=1)[:, None] * value**2 - 2 * value * slope * U + slope**2
    return beta, squares.mean(axis=0)


def _unit(v: NDArray) -> NDArray:
    return v / np.linalg.norm(v, axis=-1, keepdims=True)
