"""The one loop behind every iterative fit, and the methods that run in it."""

from vicinal.fitting.ascent import bold_driver
from vicinal.fitting.descent import ValueAndGradient, conjugate_gradients, lbfgs
from vicinal.fitting.em import CollapseError, Step, accelerated_em, em
from vicinal.fitting.loop import Method, Outcome, Validation, few_updates, run
from vicinal.fitting.stochastic import Adam, adam, cosine, gradient_ascent, search_offset
from vicinal.fitting.update import Update

__all__ = [
    "Adam",
    "CollapseError",
    "Method",
    "Outcome",
    "Step",
    "Update",
    "Validation",
    "ValueAndGradient",
    "accelerated_em",
    "adam",
    "bold_driver",
    "conjugate_gradients",
    "cosine",
    "em",
    "few_updates",
    "gradient_ascent",
    "lbfgs",
    "run",
    "search_offset",
]
