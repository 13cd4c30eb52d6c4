"""Numbers of the splits, and why some are missing."""

from collections.abc import Callable
from dataclasses import dataclass, field

from benchmarks.common.means import Mean


class Failure(Exception):  # noqa: N818  (the message is what a table says in its place)
    """A number that could not be computed.

    `lasting`: the next split would not do better.
    """

    def __init__(self, why: str, lasting: bool = False) -> None:
        super().__init__(why)
        self.lasting = lasting


@dataclass
class Scores:
    """Numbers of the splits, and why some are missing."""

    values: list[float] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    @property
    def mean(self) -> Mean:
        """Over the splits that have a number."""
        return Mean.of(self.values)

    @property
    def is_hopeless(self) -> bool:
        """Whether further splits need not be tried."""
        return any(failure.lasting for failure in self.failures)

    def add(self, work: Callable[[], float]) -> None:
        """Compute one more, or keep why not."""
        if self.is_hopeless:
            return
        try:
            self.values.append(work())
        except Failure as failure:
            self.failures.append(failure)

    def words(self, digits: int = 1) -> str:
        """Mean ± error, or why there is none."""
        if not self.values:
            return str(self.failures[0]) if self.failures else "–"
        n = len(self.values)
        mark = f" ({n} split{'s' * (n > 1)}; missing: {self.failures[0]})" if self.failures else ""
        return self.mean.words(digits) + mark
