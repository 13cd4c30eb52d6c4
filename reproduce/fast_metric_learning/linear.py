"""Table 5.3: the linear maps that the thesis starts from, by themselves."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eig, eigh
from sklearn.neighbors import NearestNeighbors

from reproduce.experiment import Unit
from reproduce.fast_metric_learning.accuracy import case_of
from reproduce.fast_metric_learning.methods import share_right
from reproduce.fast_metric_learning.sets import part_of

# Of the mean variance: without it LDA and RCA divide by the variance of pixels that never change.
RIDGE = 1e-6


class Covariances(NamedTuple):
    """Of all rows (3.15), of class means (3.16) and around them (3.17)."""

    total: NDArray
    between: NDArray
    within: NDArray

    @classmethod
    def of(cls, X: NDArray, y: NDArray) -> "Covariances":
        """As the thesis has them: means are not centered."""
        classes, labels = np.unique(y, return_inverse=True)
        means = np.array([X[labels == c].mean(axis=0) for c in range(len(classes))])
        within = np.cov((X - means[labels]).T, bias=True)
        within.flat[:: len(within) + 1] += RIDGE * np.trace(within) / len(within)
        return cls(np.cov(X.T, bias=True), means.T @ means / len(means), within)


def measure(unit: Unit) -> dict[str, float]:
    """Test accuracy of the nearest neighbor under each map, in percent."""
    name, d = case_of(unit)
    part = part_of(name, unit["seed"], unit["rows"])
    known = Covariances.of(np.asarray(part.X, dtype=np.float64), part.y)
    found = {}
    for map_name, make in MAPS.items():
        A = make(known, d)
        nearest = NearestNeighbors(n_neighbors=1).fit(part.X @ A.T)
        who = nearest.kneighbors(part.X_test @ A.T, return_distance=False)[:, 0]
        found[map_name] = share_right(part.y[who], part.y_test)
    return found


def principal(known: Covariances, d: int) -> NDArray:
    """Leading rows of S^(-1/2)."""
    variances, directions = eigh(known.total)
    return (directions[:, -d:] / np.sqrt(variances[-d:])).T[::-1]


def discriminants(known: Covariances, d: int) -> NDArray:
    """Eigenvectors of S_W⁻¹ S_B, of length 1.

    Beyond the number of classes they belong to the eigenvalue 0 and are any: that is how the
    thesis has five of two classes.
    """
    values, vectors = eig(np.linalg.solve(known.within, known.between))
    return vectors.real.T[np.argsort(-values.real, kind="stable")[:d]]


def relevant(known: Covariances, d: int) -> NDArray:
    """Leading directions of S_T with respect to S_W, white within classes."""
    return eigh(known.total, known.within)[1][:, -d:].T[::-1]


MAPS = {"pca": principal, "lda": discriminants, "rca": relevant}
