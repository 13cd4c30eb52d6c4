"""The fit to labeled pairs."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vicinal.coincidence.equations import CoincidenceData, exponents, log_likelihoods
from vicinal.coincidence.fits import NAME, Begun, Learned, Listen, Settings, final_run
from vicinal.coincidence.learning import CoincidenceProblem
from vicinal.coincidence.scales import LocalScales
from vicinal.coincidence.starts import Frame, frame_of
from vicinal.coincidence.ways import Task, start_of
from vicinal.fitting import Outcome, Reason, Validation, run
from vicinal.neighborhood import times
from vicinal.neighborhood.pair_list import PairList

__all__ = ["GivenPairs", "PairsFit"]

# Checks without a better score after which a trial stops.
_PATIENCE = 20

# A fit to many pairs begins where one to so many of them ends, by that tolerance.
_SOME_PAIRS, _SOME_TOL = 200_000, 1e-6


@dataclass(frozen=True)
class GivenPairs:
    """Labeled pairs as they were given.

    Attributes
    ----------
    X : ndarray of shape (n, D)
    positions : ndarray of int, shape (n_pairs, 2)
    coincide : ndarray of bool, shape (n_pairs,)
    owners : ndarray of int, shape (n_pairs,)
        Pairs of equal owners share a scale, where it is local.
    """

    X: NDArray
    positions: NDArray
    coincide: NDArray
    owners: NDArray

    def __len__(self) -> int:
        return len(self.coincide)

    def some(self, rows: NDArray) -> "GivenPairs":
        """Some of the pairs."""
        return replace(
            self,
            positions=self.positions[rows],
            coincide=self.coincide[rows],
            owners=self.owners[rows],
        )


@dataclass
class PairsFit:
    """A fit to labeled pairs.

    Parameters
    ----------
    given : GivenPairs
        Of points around 0.
    task : Task
    settings : Settings
    rng : Generator
    """

    given: GivenPairs
    task: Task
    settings: Settings
    rng: np.random.Generator

    def learn(self, listen: Listen) -> tuple[Learned, dict[str, Any]]:
        """The map, and how it was learned."""
        given = replace(self.given, X=self._frame.points(self.given.X))
        if self.settings.early_stopping is True:
            return self._stopped(given, listen)
        begun = Begun(self._problem(given), self._frame, stops_early=False)
        start = self._start(begun.problem)
        if len(given) > 2 * _SOME_PAIRS and self._solver == "lbfgs":
            some = self._of_some(given)
            outcome = self._run(some, self._start(some), tol=max(_SOME_TOL, self.settings.tol))
            if outcome.ending.reason is Reason.INTERRUPTED:
                learned = Learned(replace(begun, problem=some), outcome, self._solver)
                return learned, self._recipe(outcome.n_iter)
            start = outcome.parameters
        outcome = final_run(begun, self._solver, start, self.settings, None, listen)
        return Learned(begun, outcome, self._solver), self._recipe(outcome.n_iter)

    @cached_property
    def _frame(self) -> Frame:
        return frame_of(self._init, self.given.X, basis=self.task.basis)

    @property
    def _init(self) -> Any:
        init = self.settings.init
        return "scaled" if isinstance(init, str) and init == "auto" else init

    @property
    def _solver(self) -> str:
        return "lbfgs" if self.settings.solver == "auto" else self.settings.solver

    def _problem(self, given: GivenPairs) -> CoincidenceProblem:
        local = self.settings.scale == "local"
        anchors = np.zeros(len(given), dtype=np.intp)
        if local:
            anchors = np.unique(given.owners, return_inverse=True)[1]
        pairs = PairList(given.positions[:, 0], given.positions[:, 1], len(given.X))
        data = CoincidenceData(given.X, pairs, given.coincide, anchors)
        return CoincidenceProblem(data, self.task.n_components, local)

    def _start(self, problem: CoincidenceProblem) -> NDArray:
        return start_of(problem, self._frame, self.task)

    def _of_some(self, given: GivenPairs) -> CoincidenceProblem:
        rows = np.sort(self.rng.choice(len(given), _SOME_PAIRS, replace=False))
        return self._problem(given.some(rows))

    def _run(
        self, problem: CoincidenceProblem, start: NDArray, tol: float, **options: Any
    ) -> Outcome:
        """A run before the one whose map is kept."""
        return run(
            problem.solver(self._solver),
            start,
            max_iter=self.settings.max_iter,
            tol=tol,
            name=f"{NAME}, some of the pairs",
            verbose=self.settings.verbose,
            **options,
        )

    def _stopped(self, given: GivenPairs, listen: Listen) -> tuple[Learned, dict[str, Any]]:
        """As many updates with all pairs as were best for those held back."""
        kept, held = self._held_back(given)
        problem = self._problem(kept)
        validation = Validation(_score(problem, held), patience=_PATIENCE)
        start = self._start(problem)
        trial = self._run(problem, start, tol=self.settings.tol, validation=validation)
        if trial.ending.reason is Reason.INTERRUPTED:
            learned = Learned(
                Begun(problem, self._frame, True), trial, self._solver, trial.validation
            )
            return learned, self._recipe(trial.n_iter)
        n_updates = trial.best.iteration
        begun = Begun(self._problem(given), self._frame, stops_early=True)
        start = self._start(begun.problem)
        outcome = final_run(begun, self._solver, start, self.settings, n_updates, listen)
        seen = trial.history["validation"][: outcome.n_iter + 1]
        outcome = replace(outcome, history={**outcome.history, "validation": seen})
        learned = Learned(begun, outcome, self._solver, trial.validation)
        return learned, self._recipe(outcome.n_iter)

    def _held_back(self, given: GivenPairs) -> tuple[GivenPairs, GivenPairs]:
        """Pairs to learn from, one of each kind at least, and pairs for validation."""
        order = self.rng.permutation(len(given))
        kinds = [order[given.coincide[order] == kind] for kind in (False, True)]
        n_held = [int(self.settings.validation_fraction * len(rows)) for rows in kinds]
        if not any(n_held):
            raise ValueError(
                f"validation_fraction={self.settings.validation_fraction} of {len(given)} pairs "
                "leaves none to validate on: raise it, or set early_stopping=False."
            )
        held = np.concatenate([rows[:n] for rows, n in zip(kinds, n_held, strict=True)])
        kept = np.concatenate([rows[n:] for rows, n in zip(kinds, n_held, strict=True)])
        return given.some(np.sort(kept)), given.some(np.sort(held))

    def _recipe(self, n_updates: int) -> dict[str, Any]:
        init, held = self._init, self.settings.early_stopping is True
        return {
            "init": init if isinstance(init, str) else "given",
            "pairs": "given",
            "scale": "local" if self.settings.scale == "local" else "shared",
            "solver": self._solver,
            "n_updates": n_updates,
            "reason": "best for pairs held back" if held else "until convergence",
        }


def _score(problem: CoincidenceProblem, held: GivenPairs) -> Any:
    """Mean log-likelihood of pairs held back, of parameters."""
    pairs = PairList(held.positions[:, 0], held.positions[:, 1], len(held.X))

    def score(parameters: NDArray) -> float:
        latent = problem.unpack(parameters)
        Z = times(held.X, latent.W.T)
        kappa2 = np.ones(1)
        if problem.local:
            scales = LocalScales(Z[problem.first_of_anchors], latent.kappa2)
            kappa2 = scales.at(Z[held.positions[:, 0]])
        q = exponents(pairs.squared_distances(Z), len(latent.W), latent.sigma2, kappa2)
        return float(log_likelihoods(q, held.coincide).mean())

    return score
