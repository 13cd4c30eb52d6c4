"""How a map is learned from labels: the pairs, the scales, the solver, and what they make."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vicinal.coincidence.equations import CoincidenceData
from vicinal.coincidence.learning import CoincidenceProblem
from vicinal.coincidence.neighbors import LabeledPairs, LabeledPoints, Tell, labeled_pairs
from vicinal.coincidence.starts import Frame, latent_start
from vicinal.neighborhood.pair_list import PairList

__all__ = ["PLAIN", "Task", "Way", "pairs_or_all", "problem_of", "start_of", "ways_to_try"]

# What is tried of pairs that do not coincide, in this order: the simpler first.
_KINDS = ("all", "impostors")


class Way(NamedTuple):
    """One way to learn a map, nothing left open."""

    pairs: str
    scale: str
    solver: str


# Where nothing is tried.
PLAIN = Way("all", "shared", "lbfgs")


@dataclass(frozen=True)
class Task:
    """What is asked of every way.

    Attributes
    ----------
    n_components, n_targets : int
    basis : ndarray of shape (r, D), optional
        Of the span of the rows, where points are coordinates along it.
    seed : int
        Of random starts.
    """

    n_components: int
    n_targets: int
    basis: NDArray | None
    seed: int


def ways_to_try(pairs: str, scale: str, solver: str) -> list[Way]:
    """All that settings leave open and is worth trying, the simplest first.

    With impostors many ways fit what is only there in the rows learned from: where all pairs are
    tried, too, one of them is.
    """
    solvers = {"shared": ("lbfgs", "em"), "local": ("lbfgs",)}
    found = [
        Way(kind, each, name)
        for kind in (_KINDS if pairs == "auto" else (pairs,))
        for each in (("shared", "local") if scale == "auto" else (scale,))
        for name in (solvers[each] if solver == "auto" else (solver,))
    ]
    one = next((way for way in found if way.pairs == "impostors"), None)
    return [way for way in found if pairs != "auto" or way.pairs == "all" or way == one]


def problem_of(
    points: LabeledPoints, way: Way, task: Task, found: LabeledPairs
) -> CoincidenceProblem:
    """The likelihood of pairs of points, with one scale or one for every first point."""
    first, second, coincide = found
    anchors, local = np.zeros(len(first), dtype=np.intp), way.scale == "local"
    if local:
        anchors = np.unique(first, return_inverse=True)[1]
    data = CoincidenceData(points.X, PairList(first, second, len(points)), coincide, anchors)
    return CoincidenceProblem(data, task.n_components, local)


def start_of(problem: CoincidenceProblem, frame: Frame, task: Task) -> NDArray:
    """Parameters of the start of a frame; those of "random" are the same each time."""
    rng = np.random.default_rng(task.seed)
    settled = task.n_components, rng, task.basis, frame.unit
    return problem.pack(latent_start(frame.init, problem.data, *settled))


def pairs_or_all(
    points: LabeledPoints, n_targets: int, kind: str, tell: Tell = lambda more: None
) -> tuple[LabeledPairs, str]:
    """Pairs of a kind, or where no point has an impostor all pairs, and which these are."""
    found = labeled_pairs(points, n_targets, kind, tell)
    if kind == "impostors" and not len(found[2]):
        found, kind = labeled_pairs(points, n_targets, "all"), "all"
    if not found[2].any():
        raise ValueError("no class has two members: there are no coincident pairs to learn from.")
    return found, kind
