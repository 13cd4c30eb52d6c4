"""One fit of a density and its score on test rows."""

import time
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.common.splits import Split

# Log-density of rows; a method learns one from rows, with a seed.
Density = Callable[[np.ndarray], np.ndarray]
Method = Callable[[np.ndarray, int], Density]


class LeftOut(Exception):  # noqa: N818  (the message is what a table says in its place)
    """A method does not take part here."""


class Run(NamedTuple):
    """What a method did on a split, what it chose, or why there is no score."""

    score: float
    seconds: float
    problem: str = ""
    converged: bool = True
    choice: str = ""


def measure(method: Method, part: Split, seed: int) -> Run:
    """Fit and score once, whatever happens."""
    start = time.perf_counter()
    score, problem = np.nan, ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            score = float(method(part.X, seed)(part.X_test).mean())
        except LeftOut as reason:
            problem = str(reason)
        except ImportError as error:
            problem = f"not installed: {error.name}"
        except (ValueError, ArithmeticError) as error:  # LinAlgError is a ValueError
            problem = f"fails: {short(error)}"
    if not problem and not np.isfinite(score):
        problem = f"fails: mean log-density {score:g}"
    converged = not any(issubclass(one.category, ConvergenceWarning) for one in caught)
    choice = "" if problem else getattr(method, "chosen", "")
    return Run(score, time.perf_counter() - start, problem, converged, choice)


def short(error: Exception) -> str:
    """First sentence of a message, fit for a table."""
    words = str(error).split("\n")[0].split(". ")[0].rstrip(".").replace("|", "/")
    words = words or type(error).__name__
    return words if len(words) <= 90 else words[:87] + "..."
