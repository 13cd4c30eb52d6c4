"""LatentCoincidence: the estimator."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from vicinal.coincidence.equations import CoincidenceData, LatentMap, exponents, log_likelihood
from vicinal.coincidence.learning import SOLVERS, CoincidenceProblem
from vicinal.coincidence.neighbors import labeled_pairs
from vicinal.coincidence.pair_classifier import PairClassifierMixin, even_distance
from vicinal.coincidence.starts import latent_start
from vicinal.coincidence.trial import Trial, nearest_neighbor_score
from vicinal.fitting import Outcome, few_updates, run
from vicinal.fitting.callbacks import CallbackSupport, ScikitLearnCallbacks, with_callbacks
from vicinal.fitting.support import FitSupport
from vicinal.inputs.checks import (
    check_choice,
    check_classes,
    check_count,
    check_flag,
    check_nonnegative,
    check_share,
)
from vicinal.inputs.pairs import check_pair_labels, split_pairs
from vicinal.inputs.span import check_components, check_width, span_of
from vicinal.inputs.splits import hold_back
from vicinal.inputs.units import check_units
from vicinal.metric import LinearMapMixin
from vicinal.neighborhood import times
from vicinal.neighborhood.pair_list import PairList
from vicinal.neighborhood.threads import on_own_threads
from vicinal.representation import RepresentationMixin
from vicinal.state import SavedStateMixin

__all__ = ["LatentCoincidence"]

# Scores are many, so that fewer rows than elsewhere may be held back.
MOST_HELD_BACK = 2000


class LatentCoincidence(
    CallbackSupport,
    FitSupport,
    PairClassifierMixin,
    LinearMapMixin,
    RepresentationMixin,
    SavedStateMixin,
    BaseEstimator,
):
    """Latent coincidence analysis: a metric, and the probability that two points belong together.

    Two points are seen through a linear map with noise, and coincide with a
    probability that falls with their distance there. The map is learned from
    labeled points or from labeled pairs.

    Parameters
    ----------
    n_components : int, optional
        Dimension of the map. None: the number of features, or from 1000 features on
        that of directions in which the rows differ, where fewer.
    pairs : {"impostors", "all"}, default="impostors"
        What labels make of points. Coincident pairs: a point and its
        `n_targets` nearest of the same class. Others: a point and those of other
        classes nearer than the last of these, where a point without any is left
        out; or ("all") a point and the `n_targets` nearest of other classes.
    n_targets : int, default=3
    scale : {"shared", "local"}, default="shared"
        Whether all pairs are measured by one length, or those of every point by
        its own: where some regions are denser than others.
    init : {"auto", "pca", "identity", "random"}, array or tuple, default="auto"
        Map to start from: "auto" is "identity", or "pca" where there are fewer
        components than features; or a map of shape (n_components, n_features),
        or a map and σ².
    solver : {"auto", "lbfgs", "em", "em-endpoints"}, default="auto"
        "em" and "em-endpoints" (as in the paper) need many more updates, and
        their small steps can be better to stop early at. "auto": "lbfgs"; with
        early stopping "lbfgs" or "em", whichever labels the rows held back better.
    max_iter : int, default=1000
        Largest number of updates.
    tol : float, default=1e-8
        The fit has converged when an update gains at most this much mean
        log-likelihood, or moves the parameters by at most this share of their
        norm.
    early_stopping : bool or "auto", default="auto"
        Hold rows back, see after how many updates `n_targets` nearest neighbors
        label them best, and make as many with all rows: the likeliest map is
        seldom the best for that. "auto": where labels are given, not for pairs.
    validation_fraction : float, default=0.1
        Share of the rows held back; at most 2000.
    random_state : int, RandomState instance or None, default=None
        For rows held back and ``init="random"``.
    n_jobs : int, optional
        Number of threads of the neighbor search in validation.
    verbose : int, default=0
        1: show a progress line.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        W.
    sigma2_ : float
        σ², variance of the noise in the coordinates of W; κ is 1. After early
        stopping, and with local scales, σ² and the size of W are the likeliest for
        the directions found.
    log_likelihood_ : float
        Of all pairs.
    is_global_optimum_ : bool or None
        Whether no map of any rank is likelier, by the conditions of a concave
        problem; None with local scales, where it is not one.
    base_rate_ : float
        Share of coincident pairs among those learned from.
    n_pairs_ : int
    threshold_ : float
        Distance up to which `predict_pairs` puts pairs together: where
        `pair_probability` is ½ for a pair of scale 1, negative where it is less for
        all of these, until `calibrate_threshold` sets another.
    validation_score_ : float
        Share of the rows held back that were labeled right. Only with early
        stopping.
    classes_ : ndarray
        Only where labels were given.
    n_iter_ : int
    history_ : dict of str to ndarray
        "objective" (mean log-likelihood of a pair), "step", "time", the start
        first, and "validation" with early stopping.
    converged_ : bool
    solver_ : str
        What "auto" came to.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only if `X` has feature names that are all strings.

    See Also
    --------
    CoincidenceClassifier : One such model around the mean of each class.
    sample_pairs : Pairs drawn from labels.

    Notes
    -----
    Probabilities are calibrated for the kind of pairs learned from. `fit` learns from
    near pairs, the hard ones, and finds random pairs of the same class too far apart to
    believe in: for these learn from random pairs with `fit_pairs`, as `sample_pairs` draws
    them. A `base_rate` for `pair_probability` corrects the share of coincident pairs, not
    their kind.

    For classes not seen in training the map can be worse than none: it has learned to
    ignore what did not matter for those it knew.

    References
    ----------
    .. [1] M. Der, L. Saul. "Latent coincidence analysis: a hidden variable model
       for distance metric learning". NIPS 2012.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from vicinal import LatentCoincidence
    >>> X, y = load_wine(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = LatentCoincidence(pairs="all", random_state=0).fit(X, y)
    >>> same, different = model.pair_probability([[X[0], X[1]], [X[0], X[100]]])
    >>> bool(same > different)
    True
    """

    components_: NDArray

    def __init__(
        self,
        n_components: int | None = None,
        *,
        pairs: str = "impostors",
        n_targets: int = 3,
        scale: str = "shared",
        init: Any = "auto",
        solver: str = "auto",
        max_iter: int = 1000,
        tol: float = 1e-8,
        early_stopping: bool | str = "auto",
        validation_fraction: float = 0.1,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.pairs = pairs
        self.n_targets = n_targets
        self.scale = scale
        self.init = init
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    @on_own_threads
    def fit(self, X: ArrayLike, y: ArrayLike) -> "LatentCoincidence":
        """Learn the map from labeled points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self : LatentCoincidence
        """
        points, targets = validate_data(
            self, X, y, dtype=(np.float64, np.float32), ensure_min_samples=2
        )
        check_units(points)
        self._check_parameters(points.shape[1])
        classes, labels = check_classes(targets)
        rng, (centered, basis) = self._generator(), self._inward(points)
        problem, trial = self._from_labels(centered, labels), None
        if self.early_stopping in (True, "auto"):
            trial = self._trial(centered, labels, rng)
        self._learn(problem, basis, rng, points, targets, trial)
        self.classes_ = classes
        return self

    @with_callbacks
    @on_own_threads
    def fit_pairs(
        self, pairs: Any, y: ArrayLike, X: ArrayLike | None = None
    ) -> "LatentCoincidence":
        """Learn the map from labeled pairs.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features), or of int, shape (n_pairs, 2)
            Two points each, or the positions of two rows of `X`. With local
            scales the first point of a pair is the one that has it.
        y : array-like of shape (n_pairs,)
            1 or True for pairs that coincide; 0, False or -1 for others.
        X : array-like of shape (n_samples, n_features), optional

        Returns
        -------
        self : LatentCoincidence
        """
        points, positions = split_pairs(pairs, X)
        points = validate_data(self, points, dtype=(np.float64, np.float32))
        check_units(points, name="pairs" if X is None else "X")
        self._check_parameters(points.shape[1])
        if self.early_stopping is True:
            raise ValueError(
                "early_stopping=True holds labeled points back, and pairs have no such labels: "
                'use fit, or early_stopping="auto" or False.'
            )
        coincide = check_pair_labels(y, len(positions))
        owners = positions[:, 0]
        if X is None and self.scale == "local":  # the same point may come many times
            owners = np.unique(points[owners], axis=0, return_inverse=True)[1].ravel()
        centered, basis = self._inward(points)
        problem = self._problem(centered, positions[:, 0], positions[:, 1], coincide, owners)
        self._learn(problem, basis, self._generator(), points)
        return self

    def _learn(
        self,
        problem: CoincidenceProblem,
        basis: NDArray | None,
        rng: np.random.Generator,
        points: NDArray,
        targets: NDArray | None = None,
        trial: Trial | None = None,
    ) -> None:
        """Fit; with a trial on some of the rows, for as many updates as were best there."""

        def fitted(parameters: NDArray) -> dict[str, Any]:
            return self._fitted_attributes(problem, basis, parameters, points, trial is not None)

        tried = problem if trial is None else trial.problem
        start = tried.pack(latent_start(self.init, tried.data, tried.n_components, rng, basis))
        names = self._solver_names(trial)
        listeners = ScikitLearnCallbacks(self, self.max_iter * len(names), points, targets, fitted)
        outcomes = {name: self._run(name, problem, trial, start, listeners) for name in names}
        self.solver_ = max(names, key=lambda name: outcomes[name].validation)
        outcome = outcomes[self.solver_]
        parameters, value = outcome.parameters, outcome.objective
        if trial is not None:
            n_best = int(np.nanargmax(outcome.history["validation"]))
            parameters, value = few_updates(problem.solver(self.solver_), start, n_best)
        self._take(outcome, fitted(parameters), trial is not None)
        self._judge(problem, basis, value)
        listeners.close(parameters)

    def _solver_names(self, trial: Trial | None) -> list[str]:
        """What is to be tried, the best of it to be kept."""
        if self.solver != "auto":
            return [self.solver]
        return ["lbfgs"] if trial is None else ["lbfgs", "em"]

    def _run(
        self,
        solver: str,
        problem: CoincidenceProblem,
        trial: Trial | None,
        start: NDArray,
        listeners: ScikitLearnCallbacks,
    ) -> Outcome:
        """A run of a solver over the trial, or over the problem itself where there is none."""
        return run(
            (problem if trial is None else trial.problem).solver(solver),
            start,
            max_iter=self.max_iter,
            tol=self.tol,
            validation=None if trial is None else trial.validation(solver),
            callbacks=[listeners],
            name="LatentCoincidence",
            verbose=self.verbose,
        )

    def _take(self, outcome: Outcome, attributes: dict[str, Any], is_trial: bool) -> None:
        """Keep what a run found."""
        self._forget("validation_score_", "classes_")
        if is_trial:
            self.validation_score_ = outcome.validation
        self.n_iter_, self.history_ = max(1, outcome.n_iter), outcome.history
        self.converged_ = outcome.converged
        for name, attribute in attributes.items():
            setattr(self, name, attribute)

    def _judge(self, problem: CoincidenceProblem, basis: NDArray | None, value: float) -> None:
        """Say how likely the pairs are, and whether they could be likelier."""
        data = problem.data
        self.log_likelihood_, self.is_global_optimum_ = value * len(data), None
        if self.scale == "shared":
            W = self.components_ if basis is None else self.components_ @ basis.T
            latent = LatentMap(W, self.sigma2_, np.ones(1))
            self.log_likelihood_ = log_likelihood(data, latent)
            self.is_global_optimum_ = problem.is_global_optimum(latent)
        self.base_rate_, self.n_pairs_ = float(data.coincide.mean()), len(data)

    def _inward(self, points: NDArray) -> tuple[NDArray, NDArray | None]:
        """Points less their mean, in the span of the rows where these are few, and its basis."""
        centered = _centered(points)
        basis = span_of(centered)
        if basis is not None:
            centered = times(centered, basis.T)
            check_components(self.n_components, *centered.shape)
        check_width(centered.shape[1], "LatentCoincidence needs")
        return centered, basis

    def _from_labels(self, X: NDArray, labels: NDArray) -> CoincidenceProblem:
        found = labeled_pairs(X, labels, self.n_targets, self.pairs)
        _check_kinds(found[2], self.pairs)
        return self._problem(X, *found)

    def _problem(
        self,
        X: NDArray,
        first: NDArray,
        second: NDArray,
        coincide: NDArray,
        owners: NDArray | None = None,
    ) -> CoincidenceProblem:
        """Pairs of equal owners (None: of the same first row) share a scale, where it is local."""
        anchors = np.zeros(len(first), dtype=int)
        if self.scale == "local":
            anchors = np.unique(first if owners is None else owners, return_inverse=True)[1]
        data = CoincidenceData(X, PairList(first, second, len(X)), coincide, anchors)
        return CoincidenceProblem(data, self.n_components or X.shape[1], self.scale == "local")

    def _trial(self, X: NDArray, labels: NDArray, rng: np.random.Generator) -> Trial:
        """A fit to some of the rows, judged by how nearest neighbors label the others."""
        positions, held = hold_back(labels, self.validation_fraction, rng)
        held = held[:: -(-len(held) // MOST_HELD_BACK)]
        problem = self._from_labels(X[positions], labels[positions])
        others = X[held], labels[held]
        score = nearest_neighbor_score(
            problem, labels[positions], others, self.n_targets, self.n_jobs, rng
        )
        return Trial(problem, score)

    def _fitted_attributes(
        self,
        problem: CoincidenceProblem,
        basis: NDArray | None,
        parameters: NDArray,
        points: NDArray,
        stopped: bool,
    ) -> dict[str, Any]:
        """All that transform and the pair methods need."""
        latent = problem.without_null_space(problem.unpack(parameters))
        if stopped or self.scale == "local":
            latent = problem.calibrated(latent)
        W = latent.W if basis is None else latent.W @ basis
        return {
            "components_": W.astype(points.dtype),
            "sigma2_": latent.sigma2,
            "threshold_": even_distance(len(W), latent.sigma2),
            "n_features_in_": points.shape[1],
        }

    @on_own_threads
    def pair_probability(
        self, pairs: Any, X: ArrayLike | None = None, *, base_rate: float | None = None
    ) -> NDArray:
        """Probability that the two points of each pair coincide.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features), or of int, shape (n_pairs, 2)
            Two points each, or the positions of two rows of `X`.
        X : array-like of shape (n_samples, n_features), optional
        base_rate : float, optional
            Share of coincident pairs to expect, between 0 and 1. None: that of the
            pairs learned from, `base_rate_`.

        Returns
        -------
        ndarray of shape (n_pairs,)
        """
        with np.errstate(over="ignore"):  # infinitely far apart is as good as too far to square
            squared = np.square(self.pair_distance(pairs, X).astype(np.float64))
        q = exponents(squared, len(self.components_), self.sigma2_, np.ones(1))
        if base_rate is None:
            return np.exp(-q)
        rate = check_share("base_rate", base_rate)
        # Odds times the change of the prior odds: log odds = -q - log(1 - exp(-q)).
        log_odds = -q - np.log(np.maximum(-np.expm1(-q), np.finfo(float).tiny))
        return expit(log_odds + logit(rate) - logit(self.base_rate_))

    def _check_parameters(self, n_features: int) -> None:
        if self.n_components is not None:
            check_count("n_components", self.n_components, 1, n_features, " (number of features)")
        check_choice("pairs", self.pairs, ("impostors", "all"))
        check_count("n_targets", self.n_targets, 1)
        check_choice("scale", self.scale, ("shared", "local"))
        check_choice("solver", self.solver, ("auto", *SOLVERS))
        check_count("max_iter", self.max_iter, 1)
        check_nonnegative("tol", self.tol)
        check_flag("early_stopping", self.early_stopping, ("auto",))
        check_share("validation_fraction", self.validation_fraction)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _centered(points: NDArray) -> NDArray:
    """Less the mean, in double precision: differences of large numbers lose digits."""
    return points - points.mean(axis=0, dtype=np.float64)


def _check_kinds(coincide: NDArray, kind: str) -> None:
    """Both kinds of pairs must have been found."""
    if not coincide.any() and len(coincide):
        raise ValueError("no class has two members: there are no coincident pairs to learn from.")
    if coincide.all():
        advice = "; use pairs='all'" if kind == "impostors" else ""
        raise ValueError(
            "no point has an impostor, one of another class nearer than its targets: there is "
            f"nothing to push apart{advice}."
        )
