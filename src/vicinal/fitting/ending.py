"""Why a fit ended."""

from dataclasses import dataclass
from enum import Enum, auto

__all__ = ["Ending", "Reason"]


class Reason(Enum):
    """Kinds of endings."""

    OBJECTIVE_STILL = auto()
    PARAMETERS_STILL = auto()
    GRADIENT_GONE = auto()
    PATIENCE_LOST = auto()
    SCHEDULE_DONE = auto()
    SOLVER_DONE = auto()
    SOLVER_FAILED = auto()
    MAX_ITER = auto()
    CALLBACK = auto()
    INTERRUPTED = auto()
    DEVICE_LOST = auto()

    @property
    def is_convergence(self) -> bool:
        """Whether nothing is left to be done."""
        return self not in _BEFORE_CONVERGENCE

    @property
    def is_a_surprise(self) -> bool:
        """Whether users should hear of it in a warning: neither convergence nor their own wish."""
        return not self.is_convergence and self is not Reason.CALLBACK

    @property
    def is_cut_short(self) -> bool:
        """Whether something from outside ended it, so that nothing else should be begun."""
        return self in (Reason.INTERRUPTED, Reason.DEVICE_LOST)

    @property
    def is_from_outside(self) -> bool:
        """Whether the fit itself would have gone on."""
        return self.is_cut_short or self is Reason.CALLBACK


_BEFORE_CONVERGENCE = (
    Reason.SOLVER_FAILED,
    Reason.MAX_ITER,
    Reason.CALLBACK,
    Reason.INTERRUPTED,
    Reason.DEVICE_LOST,
)


@dataclass(frozen=True)
class Ending:
    """Why a fit ended, for programs and for people.

    Attributes
    ----------
    reason : Reason
    message : str
        In words, with the numbers that decided.
    """

    reason: Reason
    message: str
