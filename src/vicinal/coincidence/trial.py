"""A fit to some of the rows, to see after how many updates it labels the others best."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier

from vicinal.coincidence.learning import CoincidenceProblem
from vicinal.fitting import Validation
from vicinal.inputs.splits import MOST_VALIDATION_KEYS
from vicinal.neighborhood import times

__all__ = ["Trial", "nearest_neighbor_score"]

# Updates between two scores on rows held back: those of EM are small, and a score costs more than
# many. So many scores without a better one, and the fit stops.
_CHECK_EVERY = {"lbfgs": 1, "em": 5, "em-endpoints": 5}
_PATIENCE = 20


@dataclass(frozen=True)
class Trial:
    """A problem of some of the rows, and what the others say about its parameters.

    Attributes
    ----------
    problem : CoincidenceProblem
    score : callable
        Of parameters; larger is better.
    """

    problem: CoincidenceProblem
    score: Callable[[NDArray], float]

    def validation(self, solver: str) -> Validation:
        """The score, as often as the updates of a solver are worth it."""
        return Validation(self.score, _CHECK_EVERY[solver], _PATIENCE)


def nearest_neighbor_score(
    problem: CoincidenceProblem,
    labels: NDArray,
    held: tuple[NDArray, NDArray],
    n_neighbors: int,
    n_jobs: int | None,
    rng: np.random.Generator,
) -> Callable[[NDArray], float]:
    """Share of rows held back that their nearest neighbors label right, of parameters.

    `labels` are those of the rows of the problem, `held` are the other rows and their labels.
    """
    keep = np.arange(len(labels))
    if len(keep) > MOST_VALIDATION_KEYS:
        keep = np.sort(rng.choice(keep, MOST_VALIDATION_KEYS, replace=False))
    keys, known = problem.data.X[keep], labels[keep]
    queries, answers = held

    def score(parameters: NDArray) -> float:
        W = problem.unpack(parameters).W
        rule = KNeighborsClassifier(min(n_neighbors, len(keep)), n_jobs=n_jobs)
        return float(rule.fit(times(keys, W.T), known).score(times(queries, W.T), answers))

    return score
