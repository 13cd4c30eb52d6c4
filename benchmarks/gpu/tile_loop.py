"""What one would write in torch: both passes over tiles of a distance matrix, for one set.

The yardstick of speed and, in single precision without TF32, of what "plain float32" errs by; in
double precision the reference of both. Gaussian law, no labels, every point left out of its own.
"""

from typing import NamedTuple

import torch
from torch import Tensor


class Passes(NamedTuple):
    """What both passes find of n points."""

    log_mass: Tensor
    centroid: Tensor
    total: Tensor
    moment: Tensor


def rows(Z: Tensor, tile: int = 4096) -> tuple[Tensor, Tensor]:
    """log Σ_j exp(-|z_i - z_j|²) and the centroids, (n,) and (n, d)."""
    log_mass, centroid = Z.new_empty(len(Z)), torch.empty_like(Z)
    squares = Z.square().sum(dim=1)
    for start in range(0, len(Z), tile):
        out = slice(start, min(start + tile, len(Z)))
        e = _exponents(Z, squares, out)
        log_mass[out] = torch.logsumexp(e, dim=1)
        centroid[out] = torch.exp(e - log_mass[out, None]) @ Z
    return log_mass, centroid


def columns(
    Z: Tensor, log_mass: Tensor, coefficients: Tensor, moments: bool = True, tile: int = 4096
) -> tuple[Tensor, Tensor]:
    """Σ_i C_ij and Σ_i C_ij z_i, (n,) and (n, d), or (n, 0) without moments."""
    total, moment = Z.new_empty(len(Z)), Z.new_empty((len(Z), Z.shape[1] if moments else 0))
    squares = Z.square().sum(dim=1)
    for start in range(0, len(Z), tile):
        out = slice(start, min(start + tile, len(Z)))
        C = torch.exp(_exponents(Z, squares, out) - log_mass) * coefficients
        total[out] = C.sum(dim=1)
        if moments:
            moment[out] = C @ Z
    return total, moment


def _exponents(Z: Tensor, squares: Tensor, out: slice) -> Tensor:
    """-|z_i - z_j|² of some points to all, -inf for a point itself."""
    e = torch.addmm(-squares, Z[out], Z.T, alpha=2.0) - squares[out, None]
    e[torch.arange(out.stop - out.start), torch.arange(out.start, out.stop)] = -torch.inf
    return e


def both(Z: Tensor, coefficients: Tensor) -> Passes:
    """Both passes, with moments."""
    log_mass, centroid = rows(Z)
    return Passes(log_mass, centroid, *columns(Z, log_mass, coefficients))
