"""The one loop behind every iterative fit, and the methods that run in it."""

from vicinal.fitting.ascent import bold_driver
from vicinal.fitting.descent import ValueAndGradient, conjugate_gradients, lbfgs
from vicinal.fitting.em import CollapseError, accelerated_em, em
from vicinal.fitting.loop import Method, Outcome, Validation, run
from vicinal.fitting.stochastic import Adam, adam, cosine, gradient_ascent, search_offset
from vicinal.fitting.update import Update

__all__ = [
    "Adam",
    "CollapseError",
    "Method",
    "Outcome",
    "Update",
    "Validation",
    "ValueAndGradient",
    "accelerated_em",
    "adam",
    "bold_driver",
    "conjugate_gradients",
    "cosine",
    "em",
    "gradient_ascent",
    "lbfgs",
    "run",
    "search_offset",
]
