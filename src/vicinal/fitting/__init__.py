"""The one loop behind every iterative fit, and the solvers that run in it."""

from vicinal.fitting.ascent import BoldDriver
from vicinal.fitting.descent import conjugate_gradients, lbfgs
from vicinal.fitting.draws import Draws, split
from vicinal.fitting.em import EM, SQUAREM, CollapseError, Step
from vicinal.fitting.ending import Ending, Reason
from vicinal.fitting.loop import Validation, few_updates, run
from vicinal.fitting.outcome import FitState, Outcome
from vicinal.fitting.solver import Solver, State, StepwiseSolver, ValueAndGradient
from vicinal.fitting.stochastic import (
    Adam,
    AdamMoments,
    GradientAscent,
    cosine,
    search_offset,
)
from vicinal.fitting.update import Update

__all__ = [
    "EM",
    "SQUAREM",
    "Adam",
    "AdamMoments",
    "BoldDriver",
    "CollapseError",
    "Draws",
    "Ending",
    "FitState",
    "GradientAscent",
    "Outcome",
    "Reason",
    "Solver",
    "State",
    "Step",
    "StepwiseSolver",
    "Update",
    "Validation",
    "ValueAndGradient",
    "conjugate_gradients",
    "cosine",
    "few_updates",
    "lbfgs",
    "run",
    "search_offset",
    "split",
]
