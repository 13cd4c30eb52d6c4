"""The mixture by its definition, term by term, and small mixtures to try it on."""

import numpy as np
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.mixture.equations import Parts, Prior
from vicinal.local_components.mixture.learning import MixtureProblem
from vicinal.neighborhood.blocked import BlockedEngine


def kernel(shape, mean, center, x):
    """f_jk(x): Gaussian around the center in local directions, around the mean in the others."""
    B = np.linalg.inv(shape.factor)
    goal = np.where(np.arange(len(x)) < shape.n_local, B @ center, B @ mean)
    return (
        np.exp(-0.5 * np.square(B @ x - goal).sum())
        * abs(np.linalg.det(B))
        / (2 * np.pi) ** (len(x) / 2)
    )


def densities(parts, X, queries, leave_out=False):
    """q_jk f_jk(x_i) / n, shape (n, n_keys, K); of other points only, if they are left out."""
    out = np.zeros((len(queries), len(X), len(parts.means)))
    for i, x in enumerate(queries):
        for j, center in enumerate(X):
            for k, shape in enumerate(parts.shapes):
                if not (leave_out and i == j):
                    out[i, j, k] = parts.memberships[j, k] * kernel(
                        shape, parts.means[k], center, x
                    )
    return out / (len(X) - leave_out)


def random_covariance(rng, d):
    A = rng.normal(size=(d, d))
    return A @ A.T / d + 0.3 * np.eye(d)


def random_parts(rng, n, d, K):
    """Parts with any number of Gaussian directions, from none to all."""
    memberships = rng.dirichlet(np.ones(K), size=n)
    wide = np.stack([random_covariance(rng, d) for _ in range(K)])
    near = np.stack([M * rng.choice([0.3, 1.0, 2.5]) for M in wide])
    near = np.stack([C + 0.3 * random_covariance(rng, d) for C in near])
    return Parts(memberships, rng.normal(size=(K, d)), wide, near)


@st.composite
def problems(draw, weighted=False):
    """A problem of EM, and parameters to begin with."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d, K = draw(st.integers(4, 12)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    X = rng.normal(size=(n, d))
    weights = rng.integers(1, 4, n).astype(float) if weighted else None
    floor = np.stack([0.2 * n / K * random_covariance(rng, d) for _ in range(K)])
    prior = Prior(draw(st.sampled_from([0.0, 2.0])), floor, 0.5 * floor)
    problem = MixtureProblem(WeightedPoints(X, weights), prior, BlockedEngine(1))
    return problem, random_parts(rng, n, d, K)


def gaussian_density(weights, means, covariances, X):
    """Of a mixture of Gaussians."""
    each = zip(weights, means, covariances, strict=True)
    return sum(w * multivariate_normal(m, C).pdf(X) for w, m, C in each)
