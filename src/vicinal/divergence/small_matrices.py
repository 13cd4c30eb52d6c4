"""Linear algebra of very many small matrices, in arrays of any library.

Orthonormal directions beside given ones are made in loops over the directions of a frame, each
step for all frames: a device's library would take one frame after the other.
"""

from collections.abc import Callable

import numpy as np

from vicinal.divergence.shared_numbers import NOTHING
from vicinal.neighborhood import namespace
from vicinal.neighborhood.arrays import Array, is_numpy, new_zeros

__all__ = [
    "by_reflections",
    "complement",
    "eigenvalues",
    "eigenvectors",
    "gram_schmidt",
    "log_determinants",
    "solutions",
]

# Small matrices whose eigenvalues a GPU's library is asked for at a time. cuSOLVER refuses more
# than about 32 000, and takes 0.7 MB of memory for each (of 20 rows).
_MOST_MATRICES = 1024


def complement(columns: Array, n_more: int) -> Array:
    """Orthonormal columns that are orthogonal to given ones.

    Parameters
    ----------
    columns : array of shape (..., k, q)
        Orthonormal.
    n_more : int
        At most k - q.

    Returns
    -------
    array of shape (..., k, n_more)
    """
    if not is_numpy(columns):  # LAPACK's on a device would take one frame after the other
        return by_reflections(columns, n_more)
    # Columns of zeros get directions orthogonal to all others, and no more than are asked for.
    more = new_zeros(columns, (*columns.shape[:-1], n_more))
    whole, _ = np.linalg.qr(np.concatenate([columns, more], axis=-1))
    return whole[..., columns.shape[-1] :]


def by_reflections(columns: Array, n_more: int) -> Array:
    """Orthonormal columns that are orthogonal to given ones, by Householder's reflections."""
    *batch, k, q = columns.shape
    reflectors = _reflectors(columns)
    rest = new_zeros(columns, (*batch, k, n_more))
    for b in range(n_more):
        rest[..., q + b, b] = 1.0
    for c in range(q - 1, -1, -1):
        _reflect(reflectors[c], rest[..., c:, :])
    return rest


def _reflectors(columns: Array) -> list[Array]:
    """v with |v|² = 2, of which I - v vᵀ one after the other make unit columns of these.

    That of column c has the entries from c on; those before are 0.
    """
    xp = namespace(columns)
    left, found = columns + 0.0, []  # a copy
    for c in range(columns.shape[-1]):
        v = left[..., c:, c] + 0.0
        norm, head = xp.sqrt(xp.square(v).sum(axis=-1)), v[..., 0]
        scale = 1.0 / xp.sqrt(norm * (norm + xp.abs(head)))
        v[..., 0] = xp.where(head > 0.0, head + norm, head - norm)
        v = v * scale[..., None]
        _reflect(v, left[..., c:, c + 1 :])
        found.append(v)
    return found


def _reflect(v: Array, matrices: Array) -> None:
    """Subtract v (v · x) from every column x, in place."""
    along = namespace(v).einsum("...r,...rb->...b", v, matrices)
    matrices -= v[..., :, None] * along[..., None, :]


def eigenvalues(matrices: Array) -> Array:
    """Of symmetric matrices of shape (..., k, k), shape (..., k)."""
    return _in_parts(lambda xp, S: (xp.linalg.eigvalsh(S),), matrices)[0]


def eigenvectors(matrices: Array) -> tuple[Array, Array]:
    """Eigenvalues of symmetric matrices of shape (..., k, k), and eigenvectors in columns."""
    values, vectors = _in_parts(lambda xp, S: xp.linalg.eigh(S), matrices)
    return values, vectors


def log_determinants(matrices: Array) -> Array:
    """log |det H| of matrices of shape (..., k, k)."""
    return namespace(matrices).linalg.slogdet(matrices)[1]


def solutions(matrices: Array, right: Array) -> Array:
    """H⁻¹ r for matrices of shape (..., k, k) and r of shape (..., k)."""
    return namespace(matrices).linalg.solve(matrices, right[..., None])[..., 0]


def _in_parts(work: Callable[..., tuple[Array, ...]], matrices: Array) -> tuple[Array, ...]:
    """What a library makes of matrices, as many at a time as it takes."""
    xp, batch = namespace(matrices), matrices.shape[:-2]
    flat = matrices.reshape((-1, *matrices.shape[-2:]))
    found = [
        work(xp, flat[start : start + _MOST_MATRICES])
        for start in range(0, max(1, len(flat)), _MOST_MATRICES)
    ]
    whole = (xp.concatenate(list(each)) for each in zip(*found, strict=True))
    return tuple(each.reshape((*batch, *each.shape[1:])) for each in whole)


def gram_schmidt(vectors: Array, u: Array) -> tuple[Array, Array, Array]:
    """Triangular R and e with vectors_b = Σ_a R_ab e_a, u along the e_a, and what is left of u.

    Modified Gram-Schmidt; u goes along as a last vector, which keeps its coordinates right where
    the e_a are not quite orthonormal. The vectors are overwritten.

    Parameters
    ----------
    vectors : array of shape (..., q, d)
    u : array of shape (..., d)

    Returns
    -------
    R : array of shape (..., q, q)
    along : array of shape (..., q)
    left : array of shape (..., d)
    """
    xp, (*batch, q, _) = namespace(vectors), vectors.shape
    R, along = new_zeros(vectors, (*batch, q, q)), new_zeros(vectors, (*batch, q))
    for a in range(q):
        norm = xp.sqrt(xp.square(vectors[..., a, :]).sum(axis=-1))
        # A direction that is not there may stand for any other one outside of both frames.
        there = norm > NOTHING
        scale = xp.where(there, 1.0 / xp.where(there, norm, 1.0), 0.0)
        e = vectors[..., a, :] * scale[..., None]
        R[..., a, a] = xp.where(there, norm, 0.0)
        along[..., a] = (e * u).sum(axis=-1)
        u = u - along[..., a, None] * e
        others = vectors[..., a + 1 :, :]
        shares = xp.einsum("...bt,...t->...b", others, e)
        R[..., a, a + 1 :] = shares
        others -= shares[..., None] * e[..., None, :]
    return R, along, u
