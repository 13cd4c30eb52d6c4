"""L-BFGS and conjugate gradients: scipy's.

What these keep between two updates is scipy's own. But they are deterministic: told the same values
and gradients they take the same steps. So their state is what they were told, where that is
recorded, and a solver goes on from it by being told all of it again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, minimize

from vicinal.fitting.draws import Draws
from vicinal.fitting.ending import Ending, Reason
from vicinal.fitting.solver import ExactState, Tell, ValueAndGradient
from vicinal.neighborhood.arrays import on_host

__all__ = [
    "Evaluation",
    "RecordedEvaluations",
    "ScipySolver",
    "ScipyState",
    "conjugate_gradients",
    "lbfgs",
]

# The loop decides on convergence by the objective; scipy only by a vanished gradient.
_GRADIENT_TOLERANCE = 1e-10

# Relative to the largest parameter, and 1.
_ROUNDING = 1e-9

_NO_LIMIT = np.iinfo(np.int32).max


class Evaluation(NamedTuple):
    """The objective and its gradient at some parameters."""

    parameters: NDArray
    value: float
    gradient: NDArray


def _are_close(asked: NDArray, known: NDArray) -> bool:
    """Whether they differ by no more than a step of scipy does from one CPU to another.

    On the machine that has made a record they are equal, to the bit.
    """
    if asked.shape != known.shape:
        return False
    return bool(
        np.abs(asked - known).max(initial=0.0) <= _ROUNDING * np.abs(known).max(initial=1.0)
    )


class RecordedEvaluations:
    """An objective that plays back what is known of it before it is asked anew.

    Parameters
    ----------
    value_and_gradient : ValueAndGradient
    known : sequence of Evaluation
        In the order in which they will be asked for.
    keeps : bool
        Whether to keep all evaluations; otherwise the last one only, as scipy asks twice.
    """

    def __init__(
        self, value_and_gradient: ValueAndGradient, known: Sequence[Evaluation], keeps: bool
    ) -> None:
        self._value_and_gradient = value_and_gradient
        self._left: Iterator[Evaluation] = iter(known)
        self._keeps = keeps
        self._seen: list[Evaluation] = []

    def __call__(self, parameters: NDArray) -> Evaluation:
        """The objective and its gradient at the parameters."""
        if self._seen and np.array_equal(parameters, self._seen[-1].parameters):
            return self._seen[-1]
        found = next(self._left, None)
        if found is None:
            value, gradient = self._value_and_gradient(parameters)
            # Scipy computes on the host: from a device a gradient comes back for every evaluation.
            gradient = np.asarray(on_host(gradient), dtype=np.float64)
            found = Evaluation(parameters.copy(), float(value), gradient)
        elif not _are_close(parameters, found.parameters):
            raise ValueError(
                "the evaluations of this state are those of another solver, or of another version "
                "of scipy: begin anew."
            )
        else:  # what will be asked for again is what was asked for now
            found = found._replace(parameters=parameters.copy())
        if not self._keeps:
            self._seen.clear()
        self._seen.append(found)
        return found

    @property
    def seen(self) -> tuple[Evaluation, ...]:
        """All evaluations, in order, where they are kept."""
        return tuple(self._seen) if self._keeps else ()


@dataclass(frozen=True)
class ScipyState(ExactState):
    """Where one of scipy's solvers stands.

    Attributes
    ----------
    parameters : ndarray
    objective : float
    gradient : ndarray
    n_updates : int
    evaluations : tuple of Evaluation
        All so far, where they are recorded.
    """

    n_updates: int
    evaluations: tuple[Evaluation, ...]

    def concluded(self) -> "ScipyState":
        """Without its evaluations."""
        return replace(self, evaluations=())


@dataclass(frozen=True)
class ScipySolver:
    """One of the methods of `scipy.optimize.minimize`.

    Parameters
    ----------
    value_and_gradient : ValueAndGradient
    name : str
        Of the method.
    options : dict
        Of the method.
    records : bool, default=False
        Whether states have all evaluations, so that one can go on from them: two arrays of the size
        of the parameters for each.
    """

    value_and_gradient: ValueAndGradient
    name: str
    options: dict[str, Any] = field(default_factory=dict)
    records: bool = False
    draws: ClassVar[Draws | None] = None  # every evaluation is of the same points

    def recording(self) -> "ScipySolver":
        """One whose states have all evaluations."""
        return replace(self, records=True)

    def start(self, parameters: NDArray) -> ScipyState:
        """The parameters, before the first update."""
        objective = RecordedEvaluations(self.value_and_gradient, (), self.records)
        _, value, gradient = objective(parameters)
        return ScipyState(parameters, value, gradient, 0, objective.seen)

    def follow(self, state: ScipyState, tell: Tell) -> Ending | None:
        """Let scipy run from its start; updates that the state has behind it are not told again."""
        known = self._known(state)
        objective = RecordedEvaluations(self.value_and_gradient, known, self.records)
        talk = _Talk(objective, known[0].parameters.shape, state.n_updates, tell)
        result = minimize(
            talk.loss,
            known[0].parameters.ravel(),
            jac=True,
            method=self.name,
            callback=talk.after_update,
            options={**self.options, "maxiter": _NO_LIMIT},  # the loop counts and stops them
        )
        if talk.stopped:
            return None
        reason = Reason.SOLVER_DONE if result.success else Reason.SOLVER_FAILED
        return Ending(reason, str(result.message).rstrip("."))

    def _known(self, state: ScipyState) -> tuple[Evaluation, ...]:
        """Evaluations that need not be made again, the start first."""
        if state.evaluations:
            return state.evaluations
        if state.n_updates:
            raise ValueError(
                f"{self.name} can go on from its start, or where its evaluations were recorded: "
                "begin anew, with records=True."
            )
        return (Evaluation(state.parameters, state.objective, state.gradient),)


@dataclass
class _Talk:
    """What scipy asks and tells in one run; its parameters are flat, and it minimizes."""

    objective: RecordedEvaluations
    shape: tuple[int, ...]
    n_behind: int
    tell: Tell
    n_updates: int = 0
    stopped: bool = False

    def loss(self, flat: NDArray) -> tuple[float, NDArray]:
        _, value, gradient = self.objective(flat.reshape(self.shape))
        return -value, -gradient.ravel()

    def after_update(self, intermediate_result: OptimizeResult) -> None:
        # Kept from the line search, as a rule.
        found = self.objective(intermediate_result.x.reshape(self.shape))
        self.n_updates += 1
        if self.n_updates <= self.n_behind:
            return
        self.stopped = self.tell(ScipyState(*found, self.n_updates, self.objective.seen))
        if self.stopped:
            raise StopIteration


def lbfgs(value_and_gradient: ValueAndGradient, records: bool = False) -> ScipySolver:
    """Limited-memory BFGS."""
    options = {"ftol": 0.0, "gtol": _GRADIENT_TOLERANCE, "maxls": 50, "maxfun": _NO_LIMIT}
    return ScipySolver(value_and_gradient, "L-BFGS-B", options, records)


def conjugate_gradients(value_and_gradient: ValueAndGradient, records: bool = False) -> ScipySolver:
    """Nonlinear conjugate gradients (Polak and Ribière)."""
    return ScipySolver(value_and_gradient, "CG", {"gtol": _GRADIENT_TOLERANCE}, records)
