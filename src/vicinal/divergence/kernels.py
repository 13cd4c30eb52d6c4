"""Compiled loops over pairs of Gaussians: no classes, no validation, one thread, no GIL.

A Gaussian is its mean and the frame of its covariance: orthonormal eigenvectors f_a (rows), their
eigenvalues v_a, and that of every direction that the frame leaves out, ρ. With B_ab = f_ja · f_ib,
all that a divergence needs of two covariances are

    K_ab = B_ab (v_ib - v_ja) / √(v_ib v_ja)        H_ab = ½ B_ab (v_ib + v_ja) / √(v_ib v_ja).

For the generalized eigenvalues λ of (Σ_i, Σ_j) these have the singular values |√λ - 1/√λ| and
½ (√λ + 1/√λ). So nothing is inverted, and Gaussians that are nearly equal lose no digits: each
entry of K is as small as it should be.
"""

import math

import numpy as np

from vicinal.compiling.decorators import kernel
from vicinal.divergence.eigenvalue_kernels import singular_squares
from vicinal.divergence.shared_numbers import (
    BHATTACHARYYA,
    BHATTACHARYYA_RIEMANN,
    JEFFREYS_RIEMANN,
    NEAR,
    NEARLY_INSIDE,
    NOTHING,
)


@kernel(error_model="numpy")
def jeffreys_tile(P, Q, products, upper, out):
    """Jeffreys divergence (eq. 7) of all pairs of a tile, or of those above its diagonal.

    Parameters
    ----------
    P, Q : Frames
    products : ndarray of shape (n_i, q, n_j, q)
        f_ib · f_ja.
    upper : bool
    out : ndarray of shape (n_i, n_j)
    """
    d = P.means.shape[1]
    u, left = np.empty(d), np.empty(d)
    for i in range(len(P.means)):
        for j in range(i + 1 if upper else 0, len(Q.means)):
            for t in range(d):
                u[t] = P.means[i, t] - Q.means[j, t]
            apart = _square(u, P, i, left) + _square(u, Q, j, left)
            out[i, j] = 0.5 * (apart + _trace(P, Q, i, j, products[i, :, j, :], left))


@kernel(error_model="numpy")
def jeffreys_pairs(P, Q, first, second, out):
    """Jeffreys divergence (eq. 7) of given pairs.

    Parameters
    ----------
    P, Q : Frames
    first, second : ndarray of int, shape (n_pairs,)
    out : ndarray of shape (n_pairs,)
    """
    q, d = P.vectors.shape[1], P.vectors.shape[2]
    u, left, products = np.empty(d), np.empty(d), np.empty((q, q))
    for pair in range(len(first)):
        i, j = first[pair], second[pair]
        for t in range(d):
            u[t] = P.means[i, t] - Q.means[j, t]
        for b in range(q):
            for a in range(q):
                total = 0.0
                for t in range(d):
                    total += P.vectors[i, b, t] * Q.vectors[j, a, t]
                products[b, a] = total
        apart = _square(u, P, i, left) + _square(u, Q, j, left)
        out[pair] = 0.5 * (apart + _trace(P, Q, i, j, products, left))


@kernel(error_model="numpy")
def joint_tile(P, Q, products, upper, which, out):
    """Other divergences of all pairs of a tile, or of those above its diagonal.

    Both covariances are written in the space that the two frames span (all of it, where frames
    have all directions); outside of it each is a multiple of the identity.

    Parameters
    ----------
    P, Q : Frames
    products : ndarray of shape (n_i, q, n_j, q)
        f_ib · f_ja.
    upper : bool
    which : int
        BHATTACHARYYA (eq. 8), JEFFREYS_RIEMANN (eq. 9), BHATTACHARYYA_RIEMANN (eq. 10) or RIEMANN.
    out : ndarray of shape (n_i, n_j)
    """
    q, d = P.vectors.shape[1], P.vectors.shape[2]
    k = q if q == d else 2 * q
    u, left, residual = np.empty(d), np.empty(d), np.empty((q, d))
    B, K, H, S = np.empty((k, k)), np.empty((k, k)), np.empty((k, k)), np.empty((k, k))
    v_i, v_j, s_i, s_j = np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    u_i, u_j, squares, off = np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    for i in range(len(P.means)):
        for j in range(i + 1 if upper else 0, len(Q.means)):
            for t in range(d):
                u[t] = P.means[i, t] - Q.means[j, t]
            apart = 0.0
            if which == JEFFREYS_RIEMANN:
                apart = 0.5 * (_square(u, P, i, left) + _square(u, Q, j, left))
            for a in range(q):
                v_i[a], v_j[a] = P.values[i, a], Q.values[j, a]
                s_i[a], s_j[a] = P.scales[i, a], Q.scales[j, a]
                for b in range(q):
                    B[a, b] = products[i, b, j, a]
            outside, unlike = 0.0, 0.0
            if q == d:
                _project(u, Q, j, u_j)
            else:
                rest_i, rest_j = P.rest[i], Q.rest[j]
                v_i[q:], v_j[q:] = rest_i, rest_j
                s_i[q:], s_j[q:] = 1.0 / math.sqrt(rest_i), 1.0 / math.sqrt(rest_j)
                outside = 2.0 * _join(P, Q, i, j, u, B, residual, u_j) / (rest_i + rest_j)
                unlike = _unlike(rest_i, rest_j)
            _turn(B, u_j, u_i)
            size = _compare(B, v_i, v_j, s_i, s_j, K, H) + (d - k) * unlike
            if which == BHATTACHARYYA:  # eq. 8
                square, log_determinant = _eliminate(H, u_i * s_i, u_j * s_j)
                if size < 2.0 * NEAR:
                    log_determinant = _log_determinant_near(K)
                log_determinant += 0.5 * (d - k) * math.log1p(0.25 * unlike)
                value = 0.125 * max(square + outside, 0.0) + 0.5 * max(log_determinant, 0.0)
            else:  # eq. 9 and 10
                if which == BHATTACHARYYA_RIEMANN:
                    apart = max(_eliminate(H, u_i * s_i, u_j * s_j)[0] + outside, 0.0)
                singular_squares(K, S, squares, off)
                value = math.sqrt(apart) + _riemann(squares, unlike, d - k)
            out[i, j] = value


# --------------------------------------------------------------------------- one Gaussian's frame


@kernel(error_model="numpy")
def _project(u, Q, j, coordinates):
    """Coordinates of u in frame j."""
    for a in range(Q.vectors.shape[1]):
        total = 0.0
        for t in range(len(u)):
            total += Q.vectors[j, a, t] * u[t]
        coordinates[a] = total


@kernel(error_model="numpy")
def _square(u, Q, j, left):
    """uᵀ Σ_j⁻¹ u."""
    q, d = Q.vectors.shape[1], Q.vectors.shape[2]
    for t in range(d):
        left[t] = u[t]
    total = 0.0
    for a in range(q):
        along = 0.0
        for t in range(d):
            along += Q.vectors[j, a, t] * u[t]
        total += (along * Q.scales[j, a]) ** 2
        if q < d:
            for t in range(d):
                left[t] -= along * Q.vectors[j, a, t]
    if q < d:
        outside = 0.0
        for t in range(d):
            outside += left[t] * left[t]
        total += outside / Q.rest[j]
    return total


# ------------------------------------------------------------------------------- two covariances


@kernel(error_model="numpy")
def _trace(P, Q, i, j, products, left):
    """tr(Σ_i⁻¹ Σ_j + Σ_j⁻¹ Σ_i) - 2d, the squared norm of K, as a sum without negative terms.

    `products` are f_ib · f_ja, shape (q, q).
    """
    q, d = P.vectors.shape[1], P.vectors.shape[2]
    total, inside, columns = 0.0, 0.0, np.zeros(q)
    for b in range(q):
        row, v, scale = 0.0, P.values[i, b], P.scales[i, b]
        for a in range(q):
            weight = products[b, a] ** 2
            row += weight
            columns[a] += weight
            share = (v - Q.values[j, a]) * scale * Q.scales[j, a]
            total += weight * share * share
        inside += row
        if q < d:
            weight = 1.0 - row
            if weight < NEARLY_INSIDE:
                weight = _outside(P.vectors[i, b], products[b], Q.vectors[j], left)
            total += weight * _unlike(v, Q.rest[j])
    if q == d:
        return total
    for a in range(q):
        weight = 1.0 - columns[a]
        if weight < NEARLY_INSIDE:
            weight = _outside(Q.vectors[j, a], products[:, a].copy(), P.vectors[i], left)
        total += weight * _unlike(Q.values[j, a], P.rest[i])
    # Directions outside of both frames.
    return total + max(d - 2 * q + inside, 0.0) * _unlike(P.rest[i], Q.rest[j])


@kernel(error_model="numpy")
def _unlike(v, w):
    """(√(v/w) - √(w/v))²."""
    return (v - w) / v * ((v - w) / w)


@kernel(error_model="numpy")
def _outside(vector, coordinates, frame, left):
    """Squared norm of what a vector has outside of a frame."""
    for t in range(len(vector)):
        left[t] = vector[t]
    for a in range(len(frame)):
        for t in range(len(vector)):
            left[t] -= coordinates[a] * frame[a, t]
    total = 0.0
    for t in range(len(vector)):
        total += left[t] * left[t]
    return total


@kernel(error_model="numpy")
def _join(P, Q, i, j, u, B, residual, u_j):
    """Frames of the space that both span, and |u|² outside of it.

    Frame j is followed by an orthonormal basis of what frame i has besides (modified Gram-Schmidt;
    u goes along as a last column, which keeps its coordinates right where that basis is not quite
    orthonormal). B becomes orthogonal, its first columns frame i in these coordinates.
    """
    q, d = P.vectors.shape[1], P.vectors.shape[2]
    B[q:, :q] = 0.0
    for b in range(q):
        for t in range(d):
            residual[b, t] = P.vectors[i, b, t]
        for a in range(q):
            along = B[a, b]
            for t in range(d):
                residual[b, t] -= along * Q.vectors[j, a, t]
    _project(u, Q, j, u_j)
    for a in range(q):
        for t in range(d):
            u[t] -= u_j[a] * Q.vectors[j, a, t]
    for a in range(q):
        norm = 0.0
        for t in range(d):
            norm += residual[a, t] * residual[a, t]
        norm = math.sqrt(norm)
        # A direction that is not there may stand for any other one outside of both frames.
        scale = 1.0 / norm if norm > NOTHING else 0.0
        B[q + a, a] = norm if norm > NOTHING else 0.0
        along = 0.0
        for t in range(d):
            residual[a, t] *= scale
            along += residual[a, t] * u[t]
        u_j[q + a] = along
        for t in range(d):
            u[t] -= along * residual[a, t]
        for b in range(a + 1, q):
            along = 0.0
            for t in range(d):
                along += residual[a, t] * residual[b, t]
            B[q + a, b] = along
            for t in range(d):
                residual[b, t] -= along * residual[a, t]
    _complete(B)
    outside = 0.0
    for t in range(d):
        outside += u[t] * u[t]
    return outside


@kernel(error_model="numpy")
def _complete(B):
    """Give a matrix whose first half of columns is orthonormal the other half (Householder)."""
    k = len(B)
    q = k // 2
    reflectors, rest = np.empty((q, k)), np.zeros((q, k))  # columns as rows
    for c in range(q):
        for r in range(k):
            reflectors[c, r] = B[r, c]
        for b in range(c):
            _reflect(reflectors, b, reflectors, c)
        norm = 0.0
        for r in range(c, k):
            norm += reflectors[c, r] ** 2
        norm = math.sqrt(norm)
        head = reflectors[c, c]
        reflectors[c, c] = head + norm if head > 0.0 else head - norm
        scale = 1.0 / math.sqrt(norm * (norm + abs(head)))
        for r in range(c, k):
            reflectors[c, r] *= scale
    for b in range(q):
        rest[b, q + b] = 1.0
        for c in range(q - 1, -1, -1):
            _reflect(reflectors, c, rest, b)
        for r in range(k):
            B[r, q + b] = rest[b, r]


@kernel(error_model="numpy")
def _reflect(reflectors, c, vectors, b):
    """Subtract v (v · x), |v|² = 2, for reflector c, zero before its entry c."""
    along = 0.0
    for r in range(c, reflectors.shape[1]):
        along += reflectors[c, r] * vectors[b, r]
    for r in range(c, reflectors.shape[1]):
        vectors[b, r] -= along * reflectors[c, r]


@kernel(error_model="numpy")
def _turn(B, u_j, u_i):
    """Coordinates in frame i from those in frame j."""
    u_i[:] = 0.0
    for a in range(len(u_j)):
        for b in range(len(u_i)):
            u_i[b] += B[a, b] * u_j[a]


@kernel(error_model="numpy")
def _compare(B, v_i, v_j, s_i, s_j, K, H):
    """K, H and the squared norm of K."""
    total = 0.0
    for a in range(len(v_j)):
        for b in range(len(v_i)):
            scaled = B[a, b] * s_i[b] * s_j[a]
            K[a, b] = scaled * (v_i[b] - v_j[a])
            H[a, b] = 0.5 * scaled * (v_i[b] + v_j[a])
            total += K[a, b] * K[a, b]
    return total


@kernel(error_model="numpy")
def _eliminate(H, left, right):
    """left · H⁻¹ right and log |det H|; H and `right` are overwritten.

    As (Σ_i + Σ_j)/2 = L_j H L_iᵀ with L = Fᵀ diag(√v), the first is uᵀ ((Σ_i + Σ_j)/2)⁻¹ u for
    left = L_i⁻¹ u and right = L_j⁻¹ u.
    """
    k = len(H)
    log_determinant = 0.0
    for c in range(k):
        pivot = c
        for r in range(c + 1, k):
            if abs(H[r, c]) > abs(H[pivot, c]):
                pivot = r
        if pivot != c:
            for t in range(c, k):
                H[c, t], H[pivot, t] = H[pivot, t], H[c, t]
            right[c], right[pivot] = right[pivot], right[c]
        log_determinant += math.log(abs(H[c, c]))
        for r in range(c + 1, k):
            share = H[r, c] / H[c, c]
            for t in range(c + 1, k):
                H[r, t] -= share * H[c, t]
            right[r] -= share * right[c]
    total = 0.0
    for c in range(k - 1, -1, -1):
        for t in range(c + 1, k):
            right[c] -= H[c, t] * right[t]
        right[c] /= H[c, c]
        total += right[c] * left[c]
    return total, log_determinant


@kernel(error_model="numpy")
def _log_determinant_near(K):
    """½ log det(I + ¼ K Kᵀ) = log |det H|, without losing the digits of a small K.

    Every pivot of I + Y is 1 plus a number that is known without rounding the 1 away.
    """
    Y = 0.25 * (K @ K.T)
    k, total = len(Y), 0.0
    for c in range(k):
        excess = Y[c, c]
        total += math.log1p(excess)
        for r in range(c + 1, k):
            share = Y[r, c] / (1.0 + excess)
            for t in range(c + 1, r + 1):
                Y[r, t] -= share * Y[t, c]
    return 0.5 * total


@kernel(error_model="numpy")
def _riemann(squares, unlike, n_outside):
    """(Σ log² λ)^½: |log λ| = 2 asinh(½ |√λ - 1/√λ|), the latter squared given."""
    total = n_outside * math.asinh(0.5 * math.sqrt(unlike)) ** 2
    for square in squares:
        total += math.asinh(0.5 * math.sqrt(max(square, 0.0))) ** 2
    return 2.0 * math.sqrt(total)
