"""Eigenvalues of one small symmetric matrix, compiled.

LAPACK's would be called from every thread for every pair, and its library lets only one of them in
at a time: sixteen threads were slower than one.
"""

import math

import numpy as np

from vicinal.compiling.decorators import kernel

# Steps after which an eigenvalue is taken as it is; two or three are usual.
_MOST_STEPS = 60

_ROUNDING = np.finfo(np.float64).eps


@kernel(error_model="numpy")
def singular_squares(K, S, squares, off):
    """Squared singular values of K: the eigenvalues of K Kᵀ, in no order.

    Parameters
    ----------
    K : ndarray of shape (k, k)
    S : ndarray of shape (k, k)
        Scratch.
    squares : ndarray of shape (k,)
        The result. Rounding errors may be below 0.
    off : ndarray of shape (k,)
        Scratch.
    """
    k = len(K)
    for r in range(k):
        for c in range(r + 1):
            total = 0.0
            for t in range(k):
                total += K[r, t] * K[c, t]
            S[r, c] = S[c, r] = total
    _to_tridiagonal(S, squares, off)
    _of_tridiagonal(squares, off)


@kernel(error_model="numpy")
def _to_tridiagonal(S, diagonal, off):
    """Householder's reflections, from the last row up; S is overwritten.

    off[r] stands between r - 1 and r.
    """
    for r in range(len(S) - 1, -1, -1):
        diagonal[r] = S[r, r]
        off[r] = _reflect_away(S, r, off)


@kernel(error_model="numpy")
def _reflect_away(S, r, p):
    """Turn the first r rows and columns so that row r is 0 but for its last entry, returned.

    With v = row ± |row| e, h = ½|v|² and p = S v / h, the turned matrix is S - v wᵀ - w vᵀ for
    w = p - (v·p / 2h) v. `p` is scratch for w.
    """
    norm = 0.0
    for t in range(r):
        norm += S[r, t] * S[r, t]
    if r < 2 or norm == 0.0:
        return S[r, r - 1] if r else 0.0
    norm = math.sqrt(norm)
    last = S[r, r - 1]
    turned = -norm if last > 0.0 else norm
    S[r, r - 1] = last - turned
    h = norm * (norm + abs(last))
    along = 0.0
    for a in range(r):
        total = 0.0
        for t in range(r):
            total += S[a, t] * S[r, t]
        p[a] = total / h
        along += S[r, a] * p[a]
    share = 0.5 * along / h
    for a in range(r):
        p[a] -= share * S[r, a]
    for a in range(r):
        for t in range(r):
            S[a, t] -= S[r, a] * p[t] + p[a] * S[r, t]
    return turned


@kernel(error_model="numpy")
def _of_tridiagonal(diagonal, off):
    """Implicit QL steps with Wilkinson's shift; the diagonal becomes the eigenvalues."""
    k = len(diagonal)
    for r in range(1, k):
        off[r - 1] = off[r]
    off[k - 1] = 0.0
    for r in range(k):
        for _ in range(_MOST_STEPS):
            stop = r
            while stop < k - 1:
                if abs(off[stop]) <= _ROUNDING * (abs(diagonal[stop]) + abs(diagonal[stop + 1])):
                    break
                stop += 1
            if stop == r:
                break
            _one_step(diagonal, off, r, stop)


@kernel(error_model="numpy")
def _one_step(diagonal, off, first, stop):
    """Chase one bulge from `stop` up to `first`: no entry beside the diagonal is 0 between them."""
    half = (diagonal[first + 1] - diagonal[first]) / (2.0 * off[first])
    root = math.sqrt(half * half + 1.0)
    shift = diagonal[stop] - diagonal[first]
    shift += off[first] / (half + (root if half >= 0.0 else -root))
    sine, cosine, taken = 1.0, 1.0, 0.0
    for a in range(stop - 1, first - 1, -1):
        bulge, beside = sine * off[a], cosine * off[a]
        radius = math.sqrt(bulge * bulge + shift * shift)
        off[a + 1] = radius
        if radius == 0.0:
            diagonal[a + 1] -= taken
            off[stop] = 0.0
            return
        sine, cosine = bulge / radius, shift / radius
        shift = diagonal[a + 1] - taken
        radius = (diagonal[a] - shift) * sine + 2.0 * cosine * beside
        taken = sine * radius
        diagonal[a + 1] = shift + taken
        shift = cosine * radius - beside
    diagonal[first] -= taken
    off[first], off[stop] = shift, 0.0
