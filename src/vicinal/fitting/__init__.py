"""The one loop behind every iterative fit, and the methods that run in it."""

from vicinal.fitting.ascent import bold_driver
from vicinal.fitting.descent import conjugate_gradients, lbfgs
from vicinal.fitting.loop import Method, Outcome, run
from vicinal.fitting.update import Update

__all__ = ["Method", "Outcome", "Update", "bold_driver", "conjugate_gradients", "lbfgs", "run"]
