"""What "auto" comes to: starts and ways to learn from them, judged on rows held back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vicinal.coincidence.starts import spreads
from vicinal.coincidence.trial import LONGEST, Check, Turn
from vicinal.coincidence.ways import Task, Way
from vicinal.fitting.checkpoints import cut_short

__all__ = ["Choice", "choose", "starts_to_try"]

# What is less simple must be better by so many standard errors of the difference.
_MARGIN = 0.5

# A start, with the search for its pairs, takes as long as so many updates.
_START_COSTS = 20

# A start whose map has fewer directions than it may have.
_FEW_DIRECTIONS = "lda"

# Columns whose standard deviations differ by less than this share need no scaling.
_ALIKE = 1e-3


@dataclass(frozen=True)
class Choice:
    """A start, a way to learn from it, and for how many updates.

    Attributes
    ----------
    init : str, array or tuple
    way : Way
    n_updates : int or None
        0: the start is kept; None: until convergence.
    reason : str
    accuracies : dict of int to float
        After these numbers of updates.
    checks : list of Check
        What rows held back say about it, in every turn; none where none were.
    tried : list of dict
        All that was tried, with its score.
    interrupted : bool
    """

    init: Any
    way: Way
    n_updates: int | None
    reason: str
    accuracies: dict[int, float] = field(default_factory=dict)
    checks: Sequence[Check] = ()
    tried: Sequence[dict[str, Any]] = ()
    interrupted: bool = False

    @property
    def accuracy(self) -> float:
        """Share of the rows held back that were labeled right."""
        return _accuracy(self.checks)


def starts_to_try(init: Any, task: Task, X: NDArray, n_classes: int) -> list[Any]:
    """Names that settings leave open, the simplest first, or the one that was given."""
    if not isinstance(init, str) or init != "auto":
        return [init]
    plain = "identity" if task.n_components == X.shape[1] else "pca"
    spread = spreads(X)
    alike = task.basis is not None or np.ptp(spread) <= _ALIKE * spread.max()
    fewer = n_classes - 1 < task.n_components
    return [plain, *([] if alike else ["scaled"]), "rca", *(["lda"] if fewer else [])]


def choose(
    turns: Sequence[Turn],
    starts: Sequence[Any],
    ways: Sequence[Way],
    max_iter: int,
    tell: Callable[[float], None],
) -> Choice:
    """The best on rows held back, where what is simpler wins unless it is clearly worse.

    First the best start; then ways to learn from it, each for the number of updates after which
    rows are labeled best. A start of few directions is not learned from, as its map would never
    have more, unless it was asked for by name. Ctrl-C ends it with the best so far.
    """
    run = _Run(turns, ways, max_iter, tell, way=ways[0])
    try:
        for init in starts:
            run.try_start(init, is_learned_from=len(starts) == 1 or init != _FEW_DIRECTIONS)
        for way in ways:
            run.try_way(way)
    except KeyboardInterrupt:
        if run.best is None:
            raise
        cut_short()
        return run.choice(interrupted=True)
    return run.choice()


def n_steps(turns: Sequence[Turn], n_starts: int, ways: Sequence[Way], max_iter: int) -> int:
    """Updates that a choice will make at most, and what takes as long."""
    n_updates = sum(min(LONGEST[way.solver], max_iter) for way in ways)
    return len(turns) * (n_updates + n_starts * _START_COSTS)


@dataclass
class _Run:
    """The best so far."""

    turns: Sequence[Turn]
    ways: Sequence[Way]
    max_iter: int
    tell: Callable[[float], None]
    way: Way
    init: Any = None
    base: Any = None  # the start that is learned from
    accuracy_of_base: float = np.nan
    best: Sequence[Check] | None = None
    accuracies: dict[int, float] = field(default_factory=dict)
    tried: list[dict[str, Any]] = field(default_factory=list)

    def try_start(self, init: Any, *, is_learned_from: bool) -> None:
        checks = []
        for turn in self.turns:
            checks.append(turn.start(init))
            self.tell(_START_COSTS)
        if self._note(init, None, checks):
            self.init, self.best = init, checks
            self.accuracies = {0: _accuracy(checks)}
            if is_learned_from:
                self.base, self.accuracy_of_base = init, self.accuracies[0]

    def try_way(self, way: Way) -> None:
        if self._is_another(way):
            return
        curves = [turn.curve(self.base, way, self.max_iter, self.tell) for turn in self.turns]
        along = list(zip(*curves, strict=True))
        checks = max(along, key=lambda checks: _score(checks).mean())
        if self._note(self.base, way, checks):
            self.init, self.way, self.best = self.base, way, checks
            until = [some for some in along if some[0].n_updates <= checks[0].n_updates]
            start = {0: self.accuracy_of_base}
            self.accuracies = start | {some[0].n_updates: _accuracy(some) for some in until}

    def _is_another(self, way: Way) -> bool:
        """Whether there are no such pairs in some turn, and what there is is tried anyway."""
        kinds = {turn.kind(self.base, way) for turn in self.turns} - {way.pairs}
        return bool(kinds & {other.pairs for other in self.ways})

    def _note(self, init: Any, way: Way | None, checks: Sequence[Check]) -> bool:
        """Write down what was tried; whether it is the best so far."""
        self.tried.append(
            {
                "init": init if isinstance(init, str) else "given",
                **(way._asdict() if way else {}),
                "n_updates": checks[0].n_updates,
                "score": float(_score(checks).mean()),
                "accuracy": _accuracy(checks),
            }
        )
        return self.best is None or _is_better(_score(checks), _score(self.best))

    def choice(self, *, interrupted: bool = False) -> Choice:
        if self.best is None:
            raise RuntimeError("nothing was tried")
        n_updates, n_held = self.best[0].n_updates, len(_score(self.best))
        reason = f"best of {len(self.tried)} tried on {n_held} rows held back"
        if n_updates == 0:
            reason = f"the start: {reason}"
        return Choice(
            *(self.init, self.way, n_updates, reason),
            *(self.accuracies, self.best, self.tried, interrupted),
        )


def _joined(checks: Sequence[Check]) -> NDArray:
    return np.concatenate([check.scores for check in checks], axis=1)


def _accuracy(checks: Sequence[Check]) -> float:
    return float(_joined(checks)[0].mean())


def _score(checks: Sequence[Check]) -> NDArray:
    """Of every row held back: the mean of being labeled right and of the votes for it."""
    return _joined(checks).mean(axis=0)


def _is_better(new: NDArray, old: NDArray) -> bool:
    difference = new - old
    error = difference.std() / np.sqrt(len(difference))
    return bool(difference.mean() > _MARGIN * error)
