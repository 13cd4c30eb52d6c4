"""Divergences of many pairs at once, in arrays of any library: what a GPU computes.

The same equations as those of the compiled loops (`kernels.py` says what K and H are), which are
tested against these. Shapes begin with those of a batch: (n_P, n_Q) where all P are compared with
all Q, (n,) where pairs are given.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from vicinal.divergence.gaussians import LocalGaussians
from vicinal.divergence.shared_numbers import NEAR, NEARLY_INSIDE
from vicinal.divergence.small_matrices import (
    complement,
    eigenvalues,
    gram_schmidt,
    log_determinants,
    solutions,
)
from vicinal.neighborhood import namespace
from vicinal.neighborhood.arrays import Array, new_zeros

__all__ = [
    "Batch",
    "Equation",
    "bhattacharyya",
    "bhattacharyya_riemann",
    "euclidean",
    "jeffreys",
    "jeffreys_riemann",
    "numbers_of_a_pair",
    "riemann",
]


@dataclass(frozen=True)
class Batch:
    """Pairs of Gaussians of the same rank, whose covariances have no `diagonal` of their own.

    Attributes
    ----------
    P, Q : LocalGaussians
    is_tile : bool
        Whether every P is paired with every Q, or each with the one at the same position.
    """

    P: LocalGaussians
    Q: LocalGaussians
    is_tile: bool

    @property
    def is_low_rank(self) -> bool:
        """Whether frames leave directions out."""
        return self.P.rank < self.P.n_features

    @property
    def apart(self) -> Array:
        """u = x_i - x_j, shape (..., d)."""
        return self.of_first(self.P.means) - self.of_second(self.Q.means)

    def of_first(self, array: Array) -> Array:
        """What belongs to each P, in the shape of the batch."""
        return array[:, None] if self.is_tile else array

    def of_second(self, array: Array) -> Array:
        """What belongs to each Q, in the shape of the batch."""
        return array[None] if self.is_tile else array

    def einsum(self, form: str, *arrays: Array) -> Array:
        """Einstein's sum, where P, Q and * stand for the indices of a P, of a Q and of a pair."""
        names = ("i", "j", "ij") if self.is_tile else ("i", "i", "i")
        for letter, name in zip("PQ*", names, strict=True):
            form = form.replace(letter, name)
        return namespace(*arrays).einsum(form, *arrays)


# From a batch to the values of its pairs, not negative.
Equation = Callable[[Batch], Array]


def jeffreys(batch: Batch) -> Array:
    """Jeffreys divergence (eq. 7)."""
    return _mahalanobis(batch) + 0.5 * _trace(batch)


def bhattacharyya(batch: Batch) -> Array:
    """Bhattacharyya divergence (eq. 8)."""
    both = _joint(batch)
    xp = namespace(both.K)
    log_determinant = log_determinants(both.H)
    near = both.size < 2.0 * NEAR
    if near.any():
        # ½ log det(I + ¼ K Kᵀ): eigenvalues of a small matrix have digits of their own.
        small = eigenvalues(_squared(both.K[near]))
        log_determinant[near] = 0.5 * xp.log1p(0.25 * small).sum(axis=-1)
    log_determinant = log_determinant + 0.5 * both.n_outside * xp.log1p(0.25 * both.unlike)
    return 0.125 * _joint_square(both) + 0.5 * _positive(log_determinant)


def riemann(batch: Batch) -> Array:
    """(Σ log² λ)^½: of the covariances alone."""
    return _riemann(_joint(batch))


def jeffreys_riemann(batch: Batch) -> Array:
    """The root of Jeffreys' distance of the means, and Riemann's of the covariances (eq. 9)."""
    apart = _mahalanobis(batch)
    return namespace(apart).sqrt(apart) + riemann(batch)


def bhattacharyya_riemann(batch: Batch) -> Array:
    """The root of Bhattacharyya's distance of the means, and Riemann's (eq. 10)."""
    both = _joint(batch)
    return namespace(both.K).sqrt(_joint_square(both)) + _riemann(both)


def euclidean(batch: Batch) -> Array:
    """Distances of the means."""
    u = batch.apart
    xp = namespace(u)
    return xp.sqrt(xp.square(u).sum(axis=-1))


def numbers_of_a_pair(rank: int, n_features: int, n_frames: int) -> int:
    """About how many numbers are held at a time for every pair of a batch."""
    q, d = rank, n_features
    k = min(n_frames * q, d)
    return 4 * d + 4 * q * d + 8 * k * k


# --------------------------------------------------------------------------- one Gaussian's frame


def _mahalanobis(batch: Batch) -> Array:
    """½ uᵀ (Σ_i⁻¹ + Σ_j⁻¹) u."""
    u = batch.apart
    square = _square(batch, u, batch.P, "P", batch.of_first)
    return 0.5 * (square + _square(batch, u, batch.Q, "Q", batch.of_second))


def _square(
    batch: Batch, u: Array, frames: LocalGaussians, name: str, of: Callable[[Array], Array]
) -> Array:
    """uᵀ Σ⁻¹ u for the covariances of P or of Q."""
    xp = namespace(u)
    along = batch.einsum(f"*t,{name}at->*a", u, frames.vectors)
    total = (xp.square(along) / of(frames.values)).sum(axis=-1)
    if batch.is_low_rank:
        left = u - batch.einsum(f"*a,{name}at->*t", along, frames.vectors)
        total = total + xp.square(left).sum(axis=-1) / of(frames.rest)
    return total


# ------------------------------------------------------------------------------- two covariances


def _trace(batch: Batch) -> Array:
    """tr(Σ_i⁻¹ Σ_j + Σ_j⁻¹ Σ_i) - 2d, the squared norm of K, as a sum without negative terms."""
    P, Q = batch.P, batch.Q
    v_i, v_j = batch.of_first(P.values), batch.of_second(Q.values)
    B = _products(batch)
    xp = namespace(B)
    weights = xp.square(B)
    total = (weights * _unlike(v_i[..., None, :], v_j[..., :, None])).sum(axis=(-2, -1))
    if not batch.is_low_rank:
        return total
    rest_i, rest_j = batch.of_first(P.rest), batch.of_second(Q.rest)
    outside_i = _outside(weights.sum(axis=-2), lambda: _residual_of_first(batch, B))
    outside_j = _outside(weights.sum(axis=-1), lambda: _residual_of_second(batch, B))
    total = total + (outside_i * _unlike(v_i, rest_j[..., None])).sum(axis=-1)
    total = total + (outside_j * _unlike(v_j, rest_i[..., None])).sum(axis=-1)
    # Directions outside of both frames.
    n_outside = P.n_features - 2 * P.rank + weights.sum(axis=(-2, -1))
    return total + _positive(n_outside) * _unlike(rest_i, rest_j)


def _outside(inside: Array, residual: Callable[[], Array]) -> Array:
    """Shares of directions outside of the other frame, from those inside, shape (..., q)."""
    outside = 1.0 - inside
    nearly_inside = outside < NEARLY_INSIDE
    if not nearly_inside.any():
        return outside
    xp = namespace(inside)
    return xp.where(nearly_inside, xp.square(residual()).sum(axis=-1), outside)


def _products(batch: Batch) -> Array:
    """B_ab = f_ja · f_ib, shape (..., q, q)."""
    return batch.einsum("Qat,Pbt->*ab", batch.Q.vectors, batch.P.vectors)


def _residual_of_first(batch: Batch, B: Array) -> Array:
    """What frame i has outside of frame j, shape (..., q, d)."""
    return batch.of_first(batch.P.vectors) - batch.einsum("*ab,Qat->*bt", B, batch.Q.vectors)


def _residual_of_second(batch: Batch, B: Array) -> Array:
    """What frame j has outside of frame i, shape (..., q, d)."""
    return batch.of_second(batch.Q.vectors) - batch.einsum("*ab,Pbt->*at", B, batch.P.vectors)


class _Joint(NamedTuple):
    """Two covariances, and u, in the space of k dimensions that two frames span.

    Attributes
    ----------
    K, H : array of shape (..., k, k)
    size : array of shape (...)
        Squared norm of K, and of what would be K outside of that space.
    left, right : array of shape (..., k)
        L_i⁻¹ u and L_j⁻¹ u for Σ = L Lᵀ.
    outside : array of shape (...)
        uᵀ Γ⁻¹ u outside of it.
    unlike : array of shape (...)
        (√λ - 1/√λ)² for the λ of every other direction.
    n_outside : int
        How many there are.
    """

    K: Array
    H: Array
    size: Array
    left: Array
    right: Array
    outside: Array
    unlike: Array
    n_outside: int


def _joint(batch: Batch) -> _Joint:
    """Both covariances in the space that the frames span: all of it, where these are whole."""
    if batch.is_low_rank:
        return _joint_of_low_rank(batch)
    u_j = batch.einsum("*t,Qat->*a", batch.apart, batch.Q.vectors)
    nothing = new_zeros(u_j, u_j.shape[:-1])
    v_i, v_j = batch.of_first(batch.P.values), batch.of_second(batch.Q.values)
    return _compared(_products(batch), v_i, v_j, u_j, nothing, nothing, 0)


def _joint_of_low_rank(batch: Batch) -> _Joint:
    """Frame j is followed by an orthonormal basis of what frame i has besides."""
    P, Q, B = batch.P, batch.Q, _products(batch)
    xp, q, d = namespace(B), P.rank, P.n_features
    u = batch.apart
    inside = batch.einsum("*t,Qat->*a", u, Q.vectors)
    left = u - batch.einsum("*a,Qat->*t", inside, Q.vectors)
    R, beside, left = gram_schmidt(_residual_of_first(batch, B), left)
    columns = xp.concatenate([B, R], axis=-2)
    whole = xp.concatenate([columns, complement(columns, q)], axis=-1)
    rest_i, rest_j = batch.of_first(P.rest), batch.of_second(Q.rest)
    outside = 2.0 * xp.square(left).sum(axis=-1) / (rest_i + rest_j)
    v_i = batch.of_first(_with_rest(P.values, P.rest))
    v_j = batch.of_second(_with_rest(Q.values, Q.rest))
    u_j = xp.concatenate([inside, beside], axis=-1)
    return _compared(whole, v_i, v_j, u_j, outside, _unlike(rest_i, rest_j), d - 2 * q)


def _with_rest(values: Array, rest: Array) -> Array:
    """Eigenvalues of a frame, and as many times that of other directions, shape (n, 2q)."""
    xp = namespace(values)
    return xp.concatenate([values, xp.broadcast_to(rest[:, None], values.shape)], axis=-1)


def _compared(
    B: Array, v_i: Array, v_j: Array, u_j: Array, outside: Array, unlike: Array, n_outside: int
) -> _Joint:
    """K and H, from the products of two frames that span the same space."""
    xp = namespace(B)
    u_i = xp.einsum("...ab,...a->...b", B, u_j)
    s_i, s_j = 1.0 / xp.sqrt(v_i), 1.0 / xp.sqrt(v_j)
    scaled = B * s_i[..., None, :] * s_j[..., :, None]
    K = scaled * (v_i[..., None, :] - v_j[..., :, None])
    H = 0.5 * scaled * (v_i[..., None, :] + v_j[..., :, None])
    size = xp.square(K).sum(axis=(-2, -1)) + n_outside * unlike
    return _Joint(K, H, size, u_i * s_i, u_j * s_j, outside, unlike, n_outside)


def _joint_square(both: _Joint) -> Array:
    """uᵀ Γ⁻¹ u, as Γ = (Σ_i + Σ_j)/2 = L_j H L_iᵀ."""
    return _positive((both.left * solutions(both.H, both.right)).sum(axis=-1) + both.outside)


def _riemann(both: _Joint) -> Array:
    """(Σ log² λ)^½: |log λ| = 2 asinh(½ |√λ - 1/√λ|)."""
    xp = namespace(both.K)
    squares = _positive(eigenvalues(_squared(both.K)))
    total = xp.square(xp.arcsinh(0.5 * xp.sqrt(squares))).sum(axis=-1)
    total = total + both.n_outside * xp.square(xp.arcsinh(0.5 * xp.sqrt(both.unlike)))
    return 2.0 * xp.sqrt(total)


def _squared(K: Array) -> Array:
    """K Kᵀ."""
    return K @ K.swapaxes(-2, -1)


def _unlike(v: Array, w: Array) -> Array:
    """(√(v/w) - √(w/v))²."""
    return (v - w) / v * ((v - w) / w)


def _positive(values: Array) -> Array:
    """Rounding errors below 0 are 0."""
    return namespace(values).where(values > 0.0, values, 0.0)
