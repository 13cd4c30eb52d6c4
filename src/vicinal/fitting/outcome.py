"""What a fit leaves: the best parameters, why it ended, and from where it could go on."""

import math
from dataclasses import dataclass, replace

from numpy.typing import NDArray

from vicinal.fitting.draws import DrawState
from vicinal.fitting.ending import Ending
from vicinal.fitting.solver import State
from vicinal.fitting.update import Update

__all__ = ["FitState", "Outcome"]


@dataclass(frozen=True)
class FitState:
    """Where a fit stands: all it needs to go on as if it had not been stopped.

    Attributes
    ----------
    solver : State
        After the last update.
    draws : DrawState or None
        Of what the solver draws for its updates.
    updates : tuple of Update
        The start first; with parameters the last one only.
    best : Update
        Whose parameters are kept.
    checks_without_gain : int
        Validation scores in a row that were not better than the best.
    """

    solver: State
    draws: DrawState | None
    updates: tuple[Update, ...]
    best: Update
    checks_without_gain: int

    def concluded(self) -> "FitState":
        """Of a run that is over: without what only the next update would need."""
        return replace(self, solver=self.solver.concluded())


@dataclass(frozen=True)
class Outcome:
    """Result of a fit.

    Attributes
    ----------
    best : Update
        With the parameters to keep: the best by the score on points held back where there are
        any, else by the objective; the last ones where that is too noisy to tell.
    ending : Ending
        Why there are no more updates.
    history : dict of str to ndarray
        "objective", "step", "time" after each update, the start first, and
        "validation" (NaN where it was not checked) where points are held back.
    state : FitState
        From where another run can go on.
    """

    best: Update
    ending: Ending
    history: dict[str, NDArray]
    state: FitState

    @property
    def parameters(self) -> NDArray:
        """The best parameters."""
        return self.best.parameters

    @property
    def objective(self) -> float:
        """What is maximized, at the best parameters."""
        return self.best.objective

    @property
    def validation(self) -> float:
        """Score of the best parameters on points held back, or NaN."""
        return self.best.validation

    @property
    def score(self) -> float:
        """What runs from several starts are compared by: the validation, or else the objective."""
        return self.objective if math.isnan(self.validation) else self.validation

    @property
    def n_iter(self) -> int:
        """Updates made."""
        return self.state.updates[-1].iteration

    @property
    def converged(self) -> bool:
        """Whether nothing is left to be done."""
        return self.ending.reason.is_convergence
