"""Kinds of pairs that are asked about, and what came of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from benchmarks.coincidence.pairs import Bins, binned
from benchmarks.coincidence.scores import Scores

MEASURES = ("AUC", "AUC, Euclid", "AUC, vicinal NCA", "ECE", "Brier")


class Kind(NamedTuple):
    """Pairs learned from, pairs asked about, and whether of the classes learned from."""

    learned: str
    asked: str
    seen: bool

    @property
    def cells(self) -> tuple[str, str, str]:
        """In words."""
        return self.learned, self.asked, "seen" if self.seen else "not seen"


KINDS = (
    Kind("random", "random", True),
    Kind("random", "random", False),
    Kind("near", "near", True),
    Kind("near", "near", False),
    Kind("near", "random", True),
    Kind("near", "random", False),
)


@dataclass
class Trial:
    """Numbers of one kind of pairs over the seeds, and the probabilities that were said."""

    scores: list[Scores] = field(default_factory=lambda: [Scores() for _ in MEASURES])
    said: list[np.ndarray] = field(default_factory=list)
    same: list[np.ndarray] = field(default_factory=list)

    def add(self, said: np.ndarray, same: np.ndarray, values: Sequence[float]) -> None:
        """One seed more."""
        for score, value in zip(self.scores, values, strict=True):
            score.values.append(value)
        self.said.append(said)
        self.same.append(same)

    def bins(self) -> Bins:
        """Of all seeds together."""
        return binned(np.concatenate(self.said), np.concatenate(self.same))
