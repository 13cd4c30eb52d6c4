"""Divergences of one pair as the paper defines them: from dense covariances, and in 40 digits.

Deliberately naive: inverses, determinants and generalized eigenvalues of d × d matrices.
"""

import mpmath
import numpy as np
from scipy.linalg import eigh

from vicinal.divergence.gaussians import LocalGaussians

NAMES = (
    "jeffreys",
    "bhattacharyya",
    "hellinger",
    "jeffreys-riemann",
    "bhattacharyya-riemann",
    "riemann",
    "euclidean",
)


def naive(name, mean, covariance, other_mean, other_covariance):
    """One divergence in double precision."""
    u, middle = mean - other_mean, (covariance + other_covariance) / 2
    precision, other = np.linalg.inv(covariance), np.linalg.inv(other_covariance)
    apart = u @ (precision + other) @ u / 2
    joint = u @ np.linalg.inv(middle) @ u
    riemann = np.sqrt(np.square(np.log(eigh(covariance, other_covariance)[0])).sum())
    traces = np.trace(precision @ other_covariance + other @ covariance)
    logarithms = [np.linalg.slogdet(S)[1] for S in (middle, covariance, other_covariance)]
    bhattacharyya = joint / 8 + (logarithms[0] - (logarithms[1] + logarithms[2]) / 2) / 2
    return {
        "jeffreys": apart + traces / 2 - len(u),
        "bhattacharyya": bhattacharyya,
        "hellinger": np.sqrt(max(1 - np.exp(-bhattacharyya), 0.0)),
        "jeffreys-riemann": np.sqrt(apart) + riemann,
        "bhattacharyya-riemann": np.sqrt(joint) + riemann,
        "riemann": riemann,
        "euclidean": np.linalg.norm(u),
    }[name]


def naive_matrix(name, P, Q=None):
    """All pairs."""
    Q = P if Q is None else Q
    covariances, others = P.covariances(), Q.covariances()
    return np.array(
        [
            [naive(name, P.means[i], covariances[i], Q.means[j], others[j]) for j in range(len(Q))]
            for i in range(len(P))
        ]
    )


def exact(P: LocalGaussians, i: int, j: int, digits: int = 40) -> dict[str, float]:
    """All divergences of two Gaussians, from the very numbers that are stored of them."""
    with mpmath.workdps(digits):
        S, T = _covariance(P, i), _covariance(P, j)
        u = _column(P.means[i]) - _column(P.means[j])
        d, middle = len(u), (S + T) / 2
        apart = ((u.T * mpmath.lu_solve(S, u))[0] + (u.T * mpmath.lu_solve(T, u))[0]) / 2
        joint = (u.T * mpmath.lu_solve(middle, u))[0]
        eigenvalues = _generalized_eigenvalues(S, T)
        riemann = mpmath.sqrt(sum(mpmath.log(value) ** 2 for value in eigenvalues))
        traces = sum(value + 1 / value for value in eigenvalues) - 2 * d
        # |Γ| / √(|Σ_i| |Σ_j|) is the product of ½ (√λ + 1/√λ).
        logarithm = sum(mpmath.log((value + 1) ** 2 / (4 * value)) for value in eigenvalues) / 2
        bhattacharyya = joint / 8 + logarithm / 2
        found = {
            "jeffreys": apart + traces / 2,
            "bhattacharyya": bhattacharyya,
            "hellinger": mpmath.sqrt(-mpmath.expm1(-bhattacharyya)),
            "jeffreys-riemann": mpmath.sqrt(apart) + riemann,
            "bhattacharyya-riemann": mpmath.sqrt(joint) + riemann,
            "riemann": riemann,
        }
        return {name: float(value) for name, value in found.items()}


def _covariance(P, i):
    V = mpmath.matrix(P.vectors[i].tolist())
    rest = mpmath.mpf(float(P.rest[i]))
    values = mpmath.diag([mpmath.mpf(float(value)) - rest for value in P.values[i]])
    return V.T * values * V + rest * mpmath.eye(P.n_features)


def _generalized_eigenvalues(S, T):
    inverse = mpmath.inverse(mpmath.cholesky(T))
    whitened = inverse * S * inverse.T
    return list(mpmath.eigsy((whitened + whitened.T) / 2, eigvals_only=True))


def _column(values):
    return mpmath.matrix([float(value) for value in values])
