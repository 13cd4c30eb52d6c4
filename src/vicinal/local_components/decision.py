"""What a fit learns from, and what it settles by rows held back before it begins."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vicinal.fitting.checkpoints import remembered
from vicinal.fitting.progress import stage
from vicinal.inputs.copies import distinct_points
from vicinal.inputs.points import WeightedPoints
from vicinal.inputs.splits import hold_back_any
from vicinal.local_components.columns import Columns
from vicinal.local_components.equations import Form
from vicinal.local_components.learning import Penalty
from vicinal.local_components.oddities import warn_of_oddities
from vicinal.local_components.plan import Plan, plain_penalty
from vicinal.local_components.selection import (
    MOST_POINTS,
    PenaltyChoice,
    choose_penalty,
    smoothing_scores,
)
from vicinal.local_components.settings import LocalSettings
from vicinal.local_components.trials import N_FOLDS, Trials, row_folds
from vicinal.neighborhood import Engine, Workload

__all__ = ["Decision", "Material", "decide", "divided"]

# Rows above which the exact EM of a fit learns from a sample; its size, and that of wide tables,
# of more columns than that, of which an update takes seconds.
MOST_EXACT, _WIDE_SAMPLE, _WIDE = 20_000, 10_000, 20
# The same where a GPU was asked for by name, not found: a fit must not depend on the machine.
_MOST_EXACT_ON_GPU = 200_000

# Turns of rows held back where every trial searches for Gaussian directions.
_SEARCHED_FOLDS = 3

# Penalties that are tried for a shape, about.
N_TRIALS = 18

# What is tried for covariance="auto" and gaussian="auto".
_COVARIANCES: tuple[str, ...] = ("full", "diag", "spherical", "local")
_GAUSSIANS: tuple[str | None, ...] = (None, "search")

# Columns above which kernels of a covariance each are not tried.
_MOST_LOCAL_COLUMNS = 50


@dataclass(frozen=True)
class Material:
    """The rows EM learns from.

    Attributes
    ----------
    points : WeightedPoints
    copies_count : bool
        Whether copies of a row help to explain it, as in the paper.
    which : ndarray of int, shape (n,), or None
        Where each row of the user is among the points, if these are its rows, every one once.
    is_sample : bool
        Whether there are more rows.
    """

    points: WeightedPoints
    copies_count: bool
    which: NDArray | None
    is_sample: bool

    @classmethod
    def of(
        cls, settings: LocalSettings, points: WeightedPoints, rng: np.random.Generator
    ) -> "Material":
        """All rows, or a sample of many; with a penalty by folds every row once."""
        exact = settings.batch_size is None and settings.n_neighbors is None
        is_on_gpu = settings.engine == "cuda"
        is_sample = exact and len(points) > (_MOST_EXACT_ON_GPU if is_on_gpu else MOST_EXACT)
        size = MOST_EXACT if points.X.shape[1] <= _WIDE else _WIDE_SAMPLE
        sample = points.some(size, rng) if is_sample else points
        if not isinstance(settings.regularization, str):
            return cls(sample, True, None, is_sample)
        distinct, which = distinct_points(sample)
        if len(distinct) == 1:  # which nothing but a copy of its own can explain
            return cls(WeightedPoints(distinct.X, np.array([2.0])), True, which, is_sample)
        return cls(distinct, False, which, is_sample)


def divided(
    settings: LocalSettings, points: WeightedPoints, rng: np.random.Generator
) -> tuple[WeightedPoints, WeightedPoints | None]:
    """Points to learn from, and points held back where a fit should stop early."""
    if not settings.early_stopping:
        return points, None
    positions, held = hold_back_any(len(points), settings.validation_fraction, rng)
    return points[positions], points[held]


@dataclass(frozen=True)
class Decision:
    """What was settled.

    Attributes
    ----------
    covariance : str
    gaussian : str or None
    plan : Plan
    penalty : Penalty
    smoothing : int or None
        Neighbors of local covariances, where these were tried.
    score : float
        Mean log-likelihood of rows held back; NaN where none were.
    path : dict of str to ndarray
        Every ν_L that was tried, and how it scored.
    """

    covariance: str
    gaussian: str | None
    plan: Plan
    penalty: Penalty
    smoothing: int | None = None
    score: float = np.nan
    path: dict[str, NDArray] | None = None

    @property
    def recipe(self) -> dict[str, Any]:
        """For `recipe_`."""
        names = {"covariance": self.covariance, "gaussian": self.gaussian}
        return {**names, "regularization": self.penalty.local}


def decide(
    settings: LocalSettings,
    material: Material,
    engine_for: Callable[[Workload], Engine],
    rng: np.random.Generator,
) -> Decision:
    """Settle shape and penalty: as the user has them, or by folds.

    Parameters
    ----------
    settings : LocalSettings
    material : Material
    engine_for : callable
        From a workload to the engine that will do it.
    rng : numpy.random.Generator
        For a sample of many rows.
    """
    by_folds = isinstance(settings.regularization, str)
    candidates = list(_candidates(settings, material.points))
    if not by_folds and len(candidates) == 1:
        plan = Plan.of(settings, material.points, *candidates[0])
        return Decision(*candidates[0], plan, plain_penalty(settings.regularization))
    distinct = material.points
    if material.copies_count and len(distinct) > 1:
        distinct, _ = distinct_points(distinct)
    if by_folds:
        structure = Form(settings.covariance)
        looked_at = Columns.of(distinct, structure if structure.is_diagonal else Form())
        warn_of_oddities(settings, distinct, looked_at)
    choosing = _Choosing(settings, material.points, distinct.some(MOST_POINTS, rng), engine_for)
    with stage("LocalComponents, choosing", N_TRIALS * len(candidates), settings.verbose) as tell:
        tried = [choosing.decision(*candidate, tell) for candidate in candidates]
    return max(tried, key=lambda decision: decision.score) if len(tried) > 1 else tried[0]


def _candidates(
    settings: LocalSettings, points: WeightedPoints
) -> Iterator[tuple[str, str | None]]:
    """Covariance and Gaussian part of every shape to try, the simplest first."""
    covariances = _COVARIANCES if settings.covariance == "auto" else (settings.covariance,)
    gaussians = _GAUSSIANS if settings.gaussian == "auto" else (settings.gaussian,)
    if len(points) < 3:  # none can be held back, and none has neighbors to speak of
        covariances = tuple("full" if name == "local" else name for name in covariances[:1])
        gaussians = gaussians[:1]
    n_features = points.X.shape[1]
    for covariance in covariances:
        for gaussian in gaussians:
            if gaussian is not None and covariance != "full":
                continue
            if covariance == "local" != settings.covariance and n_features > _MOST_LOCAL_COLUMNS:
                continue
            yield covariance, gaussian


@dataclass
class _Choosing:
    """Shapes, each with the penalty that is best for it on the same rows held back."""

    settings: LocalSettings
    points: WeightedPoints
    distinct: WeightedPoints
    engine_for: Callable[[Workload], Engine]

    def decision(
        self, covariance: str, gaussian: str | None, tell: Callable[[float], None]
    ) -> Decision:
        """The penalty of one shape, and how likely it makes rows held back."""
        plan = Plan.of(self.settings, self.points, covariance, gaussian)
        searched = self.settings.gaussian in ("search", "auto")
        folds = row_folds(self.distinct, _SEARCHED_FOLDS if searched else N_FOLDS)
        engine = self.engine_for(plan.work)
        trials = Trials(folds, plan.form, plan.accelerate, plan.searches, engine, tell)
        choice, trials.reached = remembered(
            lambda: (self._choice(trials), trials.reached), (PenaltyChoice, Penalty)
        )
        smoothing, score = None, choice.score
        if covariance == "local" != self.settings.covariance:
            smoothing, score = self._local(trials, choice.penalty)
        path = _path(choice.tried)
        return Decision(covariance, gaussian, plan, choice.penalty, smoothing, score, path)

    def _choice(self, trials: Trials) -> PenaltyChoice:
        if isinstance(self.settings.regularization, str):
            return choose_penalty(Columns.of(self.distinct, trials.form), trials)
        penalty = plain_penalty(self.settings.regularization)
        return PenaltyChoice(penalty, trials.score(penalty), {})

    def _local(self, trials: Trials, penalty: Penalty) -> tuple[int, float]:
        """The best size of neighborhoods, and how likely local covariances make rows held back."""
        n, d = self.distinct.X.shape
        engine = self.engine_for(Workload(n, n, d * (d + 3) // 2, 1))
        scores = smoothing_scores(trials.folds, trials.shapes(penalty), engine)
        size = max(scores, key=scores.__getitem__)
        return size, scores[size]


def _path(tried: dict[float, float]) -> dict[str, NDArray]:
    """For `path_`, from wide kernels to narrow ones."""
    shares = np.array(sorted(tried, reverse=True))
    return {"regularization": shares, "score": np.array([tried[share] for share in shares])}
