"""Fits to some of the rows, and how nearest neighbors under their maps label the others."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from vicinal.coincidence.learning import CoincidenceProblem
from vicinal.coincidence.neighbors import LabeledPairs, LabeledPoints
from vicinal.coincidence.starts import Frame, frame_of
from vicinal.coincidence.ways import PLAIN, Task, Way, pairs_or_all, problem_of, start_of
from vicinal.fitting import State
from vicinal.fitting.checkpoints import remembered
from vicinal.inputs.nearest import nearest
from vicinal.inputs.splits import in_turn
from vicinal.neighborhood import times

__all__ = ["LONGEST", "Check", "Turn", "turns_of"]

# Updates after which rows held back are labeled: a score costs more than an update, and late ones
# change little.
_CHECKS = {
    "lbfgs": (1, 2, 3, 5, 8, 12, 20, 35, 60),
    "em": (5, 10, 20, 40, 80),
    "em-endpoints": (5, 10, 20, 40, 80),
}
LONGEST = {solver: checks[-1] for solver, checks in _CHECKS.items()}

# Checks in a row that are worse than an earlier one, after which a trial ends.
_PATIENCE = 3

# Nearest neighbors that label a row.
_VOTERS = 5

# Rows of all trials, how many of them are to be labeled at least, and in how many turns at most.
_MOST_ROWS, _LEAST_LABELED, _MOST_TURNS = 5000, 1000, 5


@dataclass(frozen=True)
class Check:
    """What rows held back say about a map.

    Attributes
    ----------
    n_updates : int
    scores : ndarray of shape (2, n_held)
        Of each row whether most of its neighbors have its class, and the share of those that do.
    problem : CoincidenceProblem
    parameters : ndarray
    frame : Frame
    """

    n_updates: int
    scores: NDArray
    problem: CoincidenceProblem
    parameters: NDArray
    frame: Frame


@dataclass(frozen=True)
class Turn:
    """Some rows to learn from, and others held back.

    Attributes
    ----------
    points : LabeledPoints
    held, answers : ndarray of shape (n_held, D) and (n_held,)
        Rows held back and their classes.
    task : Task
    """

    points: LabeledPoints
    held: NDArray
    answers: NDArray
    task: Task
    _frames: dict[str, tuple[Frame, LabeledPoints]] = field(default_factory=dict)
    _pairs: dict[tuple[str, str], tuple[LabeledPairs, str]] = field(default_factory=dict)

    def start(self, init: object) -> Check:
        """The start itself."""
        problem, parameters = self._begin(init, PLAIN)
        return self._check(init, 0, problem, parameters)

    def curve(
        self, init: object, way: Way, max_iter: int, tell: Callable[[float], None]
    ) -> list[Check]:
        """Checks along a fit, until scores have declined for long.

        The last one stands for those it did not come to.
        """
        problem, parameters = self._begin(init, way)
        frame = self._in_frame(init)[0]

        def followed() -> list[tuple[int, NDArray, NDArray]]:
            found = self._followed(init, way, max_iter, tell, problem, parameters)
            return [(check.n_updates, check.scores, check.parameters) for check in found]

        return [Check(n, scores, problem, at, frame) for n, scores, at in remembered(followed)]

    def _followed(
        self,
        init: object,
        way: Way,
        max_iter: int,
        tell: Callable[[float], None],
        problem: CoincidenceProblem,
        parameters: NDArray,
    ) -> list[Check]:
        solver, checks = problem.solver(way.solver), _checks(way.solver, max_iter)
        reached, n_updates, found = solver.start(parameters), 0, []

        def told(state: State) -> bool:
            nonlocal reached, n_updates
            reached, n_updates = state, n_updates + 1
            if n_updates in checks:
                found.append(self._check(init, n_updates, problem, state.parameters))
            tell(1)
            return n_updates >= checks[-1] or _declines(found)

        solver.follow(reached, told)
        if len(found) < len(checks):
            last = self._check(init, n_updates, problem, reached.parameters)
            found += [last] * (len(checks) - len(found))
            tell(checks[-1] - n_updates)
        return found

    def kind(self, init: object, way: Way) -> str:
        """Which pairs there are: all, where there are no impostors."""
        return self._found(init, way.pairs)[1]

    def _begin(self, init: object, way: Way) -> tuple[CoincidenceProblem, NDArray]:
        frame, points = self._in_frame(init)
        problem = problem_of(points, way, self.task, self._found(init, way.pairs)[0])
        return problem, start_of(problem, frame, self.task)

    def _in_frame(self, init: object) -> tuple[Frame, LabeledPoints]:
        name = init if isinstance(init, str) else ""
        if name not in self._frames:
            frame = frame_of(init, self.points.X, self.points.labels, self.task.basis)
            points = LabeledPoints(frame.points(self.points.X), self.points.labels)
            self._frames[name] = frame, points
        return self._frames[name]

    def _found(self, init: object, kind: str) -> tuple[LabeledPairs, str]:
        name = init if isinstance(init, str) else ""
        if (name, kind) not in self._pairs:
            points = self._in_frame(init)[1]
            self._pairs[name, kind] = pairs_or_all(points, self.task.n_targets, kind)
        return self._pairs[name, kind]

    def _check(
        self, init: object, n_updates: int, problem: CoincidenceProblem, parameters: NDArray
    ) -> Check:
        W = problem.directions(parameters)
        frame = self._in_frame(init)[0]
        keys, queries = problem.data.X, frame.points(self.held)
        scores = _scores(times(keys, W.T), self.points.labels, times(queries, W.T), self.answers)
        return Check(n_updates, scores, problem, parameters, frame)


def turns_of(
    points: LabeledPoints, fraction: float, task: Task, rng: np.random.Generator
) -> list[Turn]:
    """Rows held back in turn, until enough are; none where no row can be."""
    rows = np.arange(len(points))
    if len(rows) > _MOST_ROWS:
        rows = np.sort(rng.choice(rows, _MOST_ROWS, replace=False))
    X, labels = points.X[rows], points.labels[rows]
    most = min(_MOST_TURNS, -(-_LEAST_LABELED // max(1, int(fraction * len(rows)))))
    return [
        Turn(LabeledPoints(X[learned], labels[learned]), X[held], labels[held], task)
        for learned, held in in_turn(labels, fraction, most, rng)
        if _make_pairs(labels[learned])
    ]


def _make_pairs(labels: NDArray) -> bool:
    """Whether there are pairs of both kinds."""
    counts = np.bincount(labels)
    return bool(counts.max() > 1 and np.count_nonzero(counts) > 1)


def _declines(found: list[Check]) -> bool:
    """Whether the last checks are all worse than one before."""
    scores = [float(check.scores.mean()) for check in found]
    return len(scores) > _PATIENCE and max(scores[-_PATIENCE:]) < max(scores[:-_PATIENCE])


def _checks(solver: str, max_iter: int) -> tuple[int, ...]:
    """Numbers of updates after which rows are labeled."""
    early = tuple(n for n in _CHECKS[solver] if n <= max_iter)
    return early if early else (max_iter,)


def _scores(keys: NDArray, known: NDArray, queries: NDArray, answers: NDArray) -> NDArray:
    """Whether the nearest keys name the right class, and the share that does."""
    voters = known[nearest(keys, queries, _VOTERS)[0]]
    rows = np.arange(len(queries))
    counts = np.zeros((len(queries), int(max(known.max(), answers.max())) + 1))
    np.add.at(counts, (rows[:, None], voters), 1.0)
    right = counts.argmax(axis=1) == answers
    return np.stack([right, counts[rows, answers] / voters.shape[1]])
