"""NeighborhoodComponents: the estimator."""

import os
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.special
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import validate_data

from vicinal.fitting import Outcome
from vicinal.fitting.callbacks import CallbackSupport, ScikitLearnCallbacks, with_callbacks
from vicinal.fitting.loop import warn_user
from vicinal.fitting.support import FitSupport
from vicinal.inputs.checks import check_classes, check_known_classes, check_weights
from vicinal.inputs.points import LabeledPoints
from vicinal.inputs.tensors import answers_in_kind, computes_in_place
from vicinal.inputs.units import check_reach
from vicinal.metric import LinearMapMixin
from vicinal.nca.checks import check_members, check_parameters, check_streaming
from vicinal.nca.criteria import CRITERIA
from vicinal.nca.decision import decide
from vicinal.nca.equations import Objective
from vicinal.nca.fits import ChosenFit, Parts
from vicinal.nca.memory import needs_of_fit, needs_of_stream
from vicinal.nca.prediction import Classifier, nearest_index
from vicinal.nca.preparation import (
    plain_objective,
    start_stream,
    training_set,
)
from vicinal.nca.recipe import BATCH_SIZE, Recipe, choose_recipe
from vicinal.nca.selection import Choice
from vicinal.nca.training_set import TrainingSet
from vicinal.neighborhood import Engine, Workload, choose_engine, engine_of_a_fit, times
from vicinal.neighborhood.arrays import is_chunked, on_host
from vicinal.neighborhood.threads import on_own_threads
from vicinal.representation import RepresentationMixin
from vicinal.rows.cluster import labeled_there, some_there
from vicinal.rows.memory import Need
from vicinal.rows.methods import answers_in_blocks, learns_from_rows, scores_rows
from vicinal.state import SavedStateMixin

__all__ = ["NeighborhoodComponents"]

# Parameters of the fit that are asked for later: by predictions, and by facts about the fit.
ASKED_LATER = ("engine", "tolerance", "precision", "n_neighbors", "objective")


class NeighborhoodComponents(
    CallbackSupport,
    FitSupport,
    LinearMapMixin,
    ClassifierMixin,
    RepresentationMixin,
    SavedStateMixin,
    BaseEstimator,
):
    """Neighborhood component analysis: a linear map under which neighbors share a class.

    Each point picks another one with a probability that falls with their
    distance after the map. The map is learned so that points pick their own
    class, which makes it a supervised projection, a metric for nearest
    neighbors, and a classifier with probabilities.

    Parameters
    ----------
    n_components : int in [1, n_features], "auto" or None, default=None
        Dimension d of the projected space. "auto": the smallest whose accuracy on
        folds is within one standard error of the best, of 1, 2, 3, 5, 8, 13, ...;
        each of them costs a choice of λ. None: that of a map given as `init`, or the
        number of features, but at most 100, and from 1000 features on at most the
        number of directions in which the rows differ.
    init : {"auto", "rca", "lda", "pca", "identity", "random"} or array-like of shape \
            (n_components, n_features), default="auto"
        Map to start from. "rca": the leading directions of the total against the
        within-class covariance, white within classes. "auto": the same, with that
        covariance shrunk where there are fewer than 10 points per feature.
        "lda": the same for the covariance of class means, at most
        ``n_classes - 1`` components. Where there are fewer points than features,
        "rca" and "lda" shrink it, too. "pca": whitened principal components of the
        columns in their own units. "identity": the first features as they are.
        "random": Gaussian entries scaled to the data.
    n_init : int in [1, inf), default=1
        Number of fits, the first from `init` and the others from random maps of
        its size; the one with the highest objective (with early stopping: the
        best validation score) is kept. `partial_fit` has one start.
    objective : {"accuracy", "log"}, default="accuracy"
        What is maximized: the mean over points of p_i, the expected
        leave-one-out accuracy of picking a neighbor, or of log p_i.
    kernel : {"gaussian", "compact", "student"}, default="gaussian"
        Weight of a neighbor at distance r after the map: exp(-r²); (1 - r²)²
        within distance 1 and 0 beyond; or Student's (1 + r²/ν)^(-(ν + d)/2),
        whose heavy tails leave far points a say. With compact support the start is
        scaled so that 95 % of the points have 10 others in reach (a map given
        as `init` is taken as it is), a training point with nobody in reach
        counts 0, and a new one gets the class of its nearest neighbor.
    degrees_of_freedom : float in [0.1, 1e6], default=3.0
        ν of ``kernel="student"``: the smaller, the heavier its tails.
    background : bool or float in (0, 1), default=False
        A Gaussian per class behind the kernels of ``kernel="compact"``, so that
        nobody is out of reach. A number between 0 and 1 is its share β of the
        class's density; True learns it, starting where the background weighs as
        much as one point. A class too small or too flat for a Gaussian of its
        own gets a ridge.
    prior : {"empirical", "uniform"} or array-like of shape (n_classes,), default="empirical"
        Prior probabilities of the classes, in the order of `classes_`, when
        p_i and `predict_proba` are read as posteriors of class-conditional
        densities. "empirical" is classic NCA, where large classes attract more.
        Where folds choose, they judge by the same mix of classes.
    solver : {"auto", "lbfgs", "cg", "bold-driver", "sgd", "adam"}, default="auto"
        L-BFGS, nonlinear conjugate gradients, gradient ascent whose rate grows
        while the objective does, stochastic gradient ascent with rates
        η₀ / (t + t₀) (`eta0`, `t0`), or Adam with rates that fall along half a
        cosine. "auto": L-BFGS for full batches, else Adam.
    batching : {"auto", "full", "subsample", "random", "farthest", "projection", \
            "stochastic"}, default="auto"
        What an update looks at. "full": all points. "subsample": the same random
        subset. "random", "farthest", "projection": batches drawn at random, by
        farthest point or by recursive projection clustering in the projected
        space, anew in each epoch; each point is compared with those of its
        batch. "stochastic": random rows, each compared with all points.
        "auto": full up to 5000 points, random beyond; what a named `solver`
        asks for otherwise.
    batch_size : int in [2, inf), optional
        Points in a batch. None: 2000, 3000 for "subsample", 500 for "stochastic".
    annealing : bool or {"variance", "projected", "row"}, default=False
        Find the start by fading dimensions out of a map of full rank, one after
        the other (a tenth of those left at a time where there are many): the one
        with the least variance of the data along it, the least variance after
        the map (also True), or the smallest row. The fit then goes on from there.
    regularization : float in [0, inf) or "auto", default="auto"
        λ of the penalty λ Σ_ij A_ij² s_j² on the mean over points, s_j the standard
        deviation of feature j within classes, so that no units matter. "auto": λ,
        whether a start is better left as it is, and how soft neighborhoods are in
        predictions are chosen by folds of the training points (for batches: of
        5000 of them, then by the points held back). Accuracy decides, and among
        the equally accurate the likelihood, which also calibrates `predict_proba`
        in a way that keeps the order of classes. `path_` has what was tried. It
        takes 1.5 to 9 times as long as one fit, more for tables of 200 rows or fewer
        (0.3 s). 0: classic NCA, which is also what "auto" means where an exact
        `solver` is named. In `partial_fit`, "auto" is a fixed share of the variances.
    max_iter : int in [1, inf), optional
        Largest number of updates of the map, whatever the batch. None: 200 for
        exact solvers; for "sgd" and "adam" 150 epochs, but at least 1000 updates
        and at most 4000.
    tol : float in [0, inf), default=1e-5
        An exact fit has converged when an update gains at most this much, moves
        the map by at most this share of its norm, or when the gradient promises
        no more. Batched objectives are too noisy for that: they end with their
        schedule or by early stopping.
    early_stopping : bool or "auto", default="auto"
        Hold points back, and keep the map under which their mean objective was
        best. "auto": for batched fits.
    validation_fraction : float in (0, 1), default=0.1
        Share of the points held back for early stopping, at most 5000.
    n_iter_no_change : int in [1, inf), optional
        Stop after this many checks in a row without a better validation score.
        None: 25, but Adam's schedule runs to its end.
    validation_every : int in [1, inf), optional
        Updates between two checks. None: 1, or a fortieth of a batched fit.
    validation_metric : {"objective", "accuracy"}, default="objective"
        Score of the points held back: their mean objective, or the share that the
        rule labels right.
    eta0 : float in (0, inf), optional
        η₀ of ``solver="sgd"``, for a map in the solver's coordinates, where the start
        has norm 10. None: a first step of 10 / t₀ of that norm.
    t0 : float in (0, inf), optional
        t₀ of ``solver="sgd"``. None: the best in short trials on the points held back
        (or on one batch), on a scale from 0.1 to 1000, then refined.
    reservoir_size : int in [2, inf), default=10000
        Points that `partial_fit` keeps: a uniform sample of all it has seen.
    n_neighbors : int in [1, inf), optional
        `predict` and `predict_proba` look at this many nearest training points
        only, found approximately (needs the extra ``vicinal[neighbors]``). None:
        at all of them, exactly.
    engine : {"auto", "blocked", "fused", "tree", "radius", "adaptive", "cuda", "dask"}, \
            default="auto"
        How sums over pairs of points are computed; `engine_` and
        `engine_reason_` tell what "auto" chose. "tree" looks at few pairs where
        neighborhoods are small beside the data, in up to about five dimensions;
        "radius" does so for ``kernel="compact"``; "adaptive" finds out in every
        update whether that pays, else it is "fused".
        "cuda" computes on a GPU (extra ``vicinal[gpu]``), and is what "auto" chooses for much
        work where there is one. "dask" computes on the workers of a cluster (extra
        ``vicinal[dask]``) whose client is open, and is what "auto" chooses for an array of Dask
        there: its rows stay on the workers (``docs/scale.md``).
    tolerance : float in [0, 1), default=0.0
        Relative error that "tree" may make in the sum over a point's neighbors
        of its own and of the other classes, and in p_i. 0: no more than rounding.
        Other engines are exact.
    precision : {"auto", "float64", "float32", "tf32"}, default="auto"
        Of sums over pairs by ``engine="cuda"``: "auto" is single precision for NumPy's arrays and
        that of tensors; "tf32" is faster, with products of 11 bits. Other engines compute in the
        precision of X, of `partial_fit` in double, and refuse any other; ``engine="auto"`` takes a
        GPU for it.
    memory_limit : int, float or str, optional
        Bytes, or words as "2GB", that `fit` and `partial_fit` may take beside `X` itself, so that
        `X` may be larger than memory (``docs/scale.md``): what would need more is refused
        before any work, with what to change. Results do not depend on it. None: no limit.
    warm_start : bool, default=False
        Start from the map of the previous fit (without annealing again).
    checkpoint : path-like, optional
        File in which `fit` writes down, every few seconds, what it has found so far. A fit
        that is killed, or interrupted, and called again with the same data and parameters goes
        on from there and learns the same model, to the bit; called after its end it
        returns at once. The checkpoint of another fit is refused. See
        ``docs/checkpoints.md``. `partial_fit` writes none: save the model between calls.
    random_state : int, RandomState instance or None, default=None
        For ``init="random"``, batches and the points held back.
    n_jobs : int, optional
        Number of threads. None: all cores. Results do not depend on it.
    verbose : int, default=0
        1: show a progress line.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The map A.
    classes_ : ndarray of shape (n_classes,)
    objective_ : float
        Mean over the training points of the chosen objective, less the penalty;
        of a batched fit, over one batch.
    objective_in_words_ : str
        What that is the mean of.
    validation_score_ : float
        Score of the points held back; only with early stopping.
    background_ : float
        β; only with a background.
    n_iter_ : int
        Number of updates made; 1 where there was none to make.
    history_ : dict of str to ndarray
        "objective", "step" and "time" (seconds) after each update, the start
        first, which stays alone where nothing was learned; with early stopping also
        "validation", NaN where it was not checked. The step is the norm of the
        change in the solver's coordinates, in which the start has norm 10. After
        `partial_fit`: "objective" of each update.
    converged_ : bool
    recipe_ : dict
        What was done: "solver", "batching", "batch_size", "regularization" (λ, or
        None where the start was left as it is), "init" ("init": the parameter's;
        "features": features in units of their deviation within classes;
        "discriminants": linear discriminants, other rows 0),
        "early_stopping", "max_iter", the "reason" for it, and what was given of
        "eta0", "t0", "validation_every" and "validation_metric".
    path_ : dict of str to ndarray
        What was tried by folds, with ``regularization="auto"``: "init" and
        "regularization" of K maps (NaN: a start as it is), the S factors "scale"
        by which each was made larger or smaller, and of shape (K, S) "accuracy",
        its standard error "accuracy_error" and the calibrated "log_likelihood"
        per point held back; "chosen": row and column.
    dimensions_ : dict of str to ndarray
        "n_components", "accuracy" and "accuracy_error" by folds, only with
        ``n_components="auto"``.
    engine_ : str
    engine_reason_ : str
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only if `X` has feature names that are all strings.

    See Also
    --------
    vicinal.nca.objective : The objective and its gradient as a function.
    sklearn.neighbors.NeighborhoodComponentsAnalysis : The transformer alone,
        with arrays of n × n.
    vicinal.report.RegularizationDisplay : What folds said about each penalty.

    Notes
    -----
    The objective is that of Goldberger et al. [1]_; starts and practice follow
    Oneață [2]_. Memory grows with the number of points, not with its square.
    Nothing depends on the scales of features, unless a start is chosen that does
    ("pca", "identity" or a map).

    `sample_weight` counts copies: weight k is the same as k rows, exactly so in
    exact fits. A weight below 1 counts less and is no copy of itself.

    Points held back for early stopping take part in predictions. Folds are the
    same in every fit; rows that are equal share one.

    Tensors (of torch, under ``sklearn.set_config(array_api_dispatch=True)``) are answered
    with tensors on their device. Fitted attributes are NumPy's arrays.

    A class with a single member can never be picked by its own: such a point
    counts 0 under ``objective="accuracy"``; ``objective="log"`` refuses it.

    Equations of [2]_: weights (3.1), objectives (3.3), gradient (3.5), predictions
    (3.25), compact kernels (4.15), background (4.22). Which function computes which,
    and what the text has wrong: ``docs/equations/nca.md``.

    References
    ----------
    .. [1] J. Goldberger, G. Hinton, S. Roweis, R. Salakhutdinov. "Neighbourhood
       Components Analysis". NIPS 2004.
    .. [2] D.-T. Oneață. "Fast low-rank metric learning". MSc thesis, University
       of Edinburgh, 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import train_test_split
    >>> from vicinal import NeighborhoodComponents
    >>> X, y = load_wine(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = NeighborhoodComponents(n_components=2).fit(X_train, y_train)
    >>> model.score(X_test, y_test) > 0.95
    True
    >>> model.transform(X_test).shape
    (45, 2)
    """

    components_: NDArray

    # Rows of a Dask array stay on the workers.
    _learns_where_rows_are = ("fit", "partial_fit")

    def __init__(
        self,
        n_components: int | str | None = None,
        *,
        init: Any = "auto",
        n_init: int = 1,
        objective: str = "accuracy",
        kernel: str = "gaussian",
        degrees_of_freedom: float = 3.0,
        background: bool | float = False,
        prior: Any = "empirical",
        solver: str = "auto",
        batching: str = "auto",
        batch_size: int | None = None,
        annealing: bool | str = False,
        regularization: float | str = "auto",
        max_iter: int | None = None,
        tol: float = 1e-5,
        early_stopping: bool | str = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = None,
        validation_every: int | None = None,
        validation_metric: str = "objective",
        eta0: float | None = None,
        t0: float | None = None,
        reservoir_size: int = 10_000,
        n_neighbors: int | None = None,
        engine: str = "auto",
        tolerance: float = 0.0,
        precision: str = "auto",
        memory_limit: float | str | None = None,
        warm_start: bool = False,
        checkpoint: str | os.PathLike[str] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.n_init = n_init
        self.objective = objective
        self.kernel = kernel
        self.degrees_of_freedom = degrees_of_freedom
        self.background = background
        self.prior = prior
        self.solver = solver
        self.batching = batching
        self.batch_size = batch_size
        self.annealing = annealing
        self.regularization = regularization
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.validation_every = validation_every
        self.validation_metric = validation_metric
        self.eta0 = eta0
        self.t0 = t0
        self.reservoir_size = reservoir_size
        self.n_neighbors = n_neighbors
        self.engine = engine
        self.tolerance = tolerance
        self.precision = precision
        self.memory_limit = memory_limit
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    @learns_from_rows
    @answers_in_kind
    @on_own_threads
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> "NeighborhoodComponents":
        """Learn the map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weight k counts as k copies of the row.

        Returns
        -------
        self : NeighborhoodComponents
        """
        points, targets, weights = self._checked(X, y, sample_weight)
        self.classes_, labels = check_classes(targets)
        check_parameters(self, points)
        check_members(self, labels, weights)
        recipe = choose_recipe(self, len(points))
        with self._checkpointed("fit", X=points, y=targets, sample_weight=weights):
            return self._learn(points, targets, labels, weights, recipe)

    def _learn(
        self,
        points: NDArray,
        targets: NDArray,
        labels: NDArray,
        weights: NDArray | None,
        recipe: Recipe,
    ) -> "NeighborhoodComponents":
        """All of a fit that takes long."""
        rng = self._generator()
        data, held_back = training_set(self, points, labels, weights, recipe, rng)
        decision = decide(self, data, recipe, rng)

        def listen(max_iter: int) -> ScikitLearnCallbacks:
            return ScikitLearnCallbacks(self, max_iter, points, targets)

        parts = Parts(self._choose_engine, self._fitted_attributes, listen)
        found = ChosenFit(self, data, held_back, recipe, decision, rng, parts).found()
        self._take(found.outcome, found.attributes)
        if found.is_dead and np.ptp(points, axis=0).any():
            self._warn_of_a_dead_map(found.reach)
        choice, recipe = found.choice, found.recipe
        chosen = choice.regularization if choice.learns else None
        self.recipe_ = recipe.report(regularization=chosen, init=choice.init)
        for name, value in decision.attributes.items():
            setattr(self, name, value)
        if recipe.early_stopping:
            self.validation_score_ = found.outcome.validation
        return self

    def _take(self, outcome: Outcome, attributes: dict[str, Any]) -> None:
        """Keep what a run found, and nothing of an earlier fit."""
        self._forget(
            "_stream", "validation_score_", "background_", "_index", "path_", "dimensions_"
        )
        self.objective_, self.n_iter_ = outcome.objective, max(1, outcome.n_iter)
        self.history_, self.converged_ = outcome.history, outcome.converged
        for name, value in attributes.items():
            setattr(self, name, value)

    def _warn_of_a_dead_map(self, reach: float) -> None:
        """A map so small that all probabilities are equal is an optimum, but no metric."""
        warn_user(
            f"NeighborhoodComponents has learned a map that brings all points within {reach:.1g} "
            "of each other: all points look alike to it. Use a smaller regularization (it is "
            f"{self.regularization!r}), or another init.",
            ConvergenceWarning,
        )

    def _choose_engine(self, work: Workload) -> Engine:
        engine, self.engine_reason_ = choose_engine(
            self.engine,
            work,
            tolerance=self.tolerance,
            n_jobs=self.n_jobs,
            precision=self.precision,
        )
        self.engine_ = engine.name
        return engine

    @available_if(check_streaming)
    @learns_from_rows
    @answers_in_kind
    @on_own_threads
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> "NeighborhoodComponents":
        """Learn from the next rows of a stream.

        Each batch of new points (of `batch_size`) makes one update of Adam, in
        which they are compared with each other and with a uniform sample of
        `reservoir_size` points seen before. That sample is also what
        predictions look at. The first call finds the start, and later ones begin
        anew with all rows until there are ten per feature and class; after `fit` the
        start is the fitted map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), optional
            All classes there will be, in the first call. None: those in `y`.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self : NeighborhoodComponents
        """
        points, targets, weights = self._checked(
            X, y, sample_weight, at_least=1, reset=not hasattr(self, "components_")
        )
        before = self.classes_ if hasattr(self, "components_") else None
        self.classes_, labels = check_known_classes(targets, classes, before)
        check_parameters(self, points)
        objective = plain_objective(self)
        new = self._stream_on(LabeledPoints(points, weights, labels=labels))
        stream, size = self._stream, self.batch_size or BATCH_SIZE
        d = len(stream.parameters)
        work = Workload(size, size + self.reservoir_size, d, 1000, objective.law)
        engine = self._choose_engine(work)
        stream.learn(new, objective, engine, size)
        self.components_ = stream.map.astype(points.dtype)
        keys = stream.keys
        projected = keys.at(times(keys.X, self.components_.T))
        self._classifier = Classifier.of(projected, objective, **self._sureness())
        self._fitted_with = self._parameters(*ASKED_LATER)
        stale = ("validation_score_", "background_", "recipe_", "path_", "dimensions_")
        self._forget("_index", "converged_", *stale)
        self.n_iter_, self.objective_ = len(stream.objectives), stream.objectives[-1]
        self.history_ = {"objective": np.array(stream.objectives)}
        return self

    def _stream_on(self, new: LabeledPoints) -> LabeledPoints:
        """Begin a stream, or a young one anew; the points that are left to learn from."""
        if not hasattr(self, "_stream"):
            self._stream = start_stream(self, new, self._generator())
        elif self._stream.is_young:
            new = self._stream.keys.followed_by(new)
            self._stream = start_stream(self, new, self._generator(), self._stream)
        return new

    def _memory_needs(self, method: str, shape: tuple[int, int], dtype: np.dtype) -> list[Need]:
        """What a method needs in memory for rows of a shape."""
        needs = needs_of_fit if method == "fit" else needs_of_stream
        return needs(self, *shape, dtype.itemsize)

    def _sureness(self) -> dict[str, Any]:
        """How soft neighborhoods are and how sure predictions, where a fit has found out."""
        known = getattr(self, "_classifier", None)
        return {} if known is None else {"scale": known.scale, "calibration": known.calibration}

    @property
    def objective_in_words_(self) -> str:
        """What `objective_` measures, before the penalty."""
        return CRITERIA[self._fitted_with["objective"]].mean

    def _checked(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        at_least: int = 2,
        reset: bool = True,
    ) -> tuple[NDArray, NDArray, NDArray | None]:
        """Points, targets and weights; rows of weight 0 are as good as absent."""
        if is_chunked(X):
            points, targets = labeled_there(self, X, y, at_least, reset)
        else:
            dtypes = np.float64, np.float32
            points, targets = validate_data(
                self, X, y, dtype=dtypes, ensure_min_samples=at_least, reset=reset
            )
        weights = check_weights(sample_weight, points)
        if weights is not None and not weights.all():
            targets, positive = targets[weights > 0], np.flatnonzero(weights)
            points, weights = some_there(points, positive), weights[positive]
        return points, targets, weights

    def _fitted_attributes(
        self, A: NDArray, logit: float, data: TrainingSet, objective: Objective, choice: Choice
    ) -> dict[str, Any]:
        """All that transform and predict need."""
        features = data.features
        components = features.outward(A).astype(features.dtype)
        attributes = {
            "components_": components,
            "classes_": self.classes_,
            "n_features_in_": features.X.shape[1],
            "_fitted_with": self._parameters(*ASKED_LATER),
        }
        keys = on_host(times(features.X, components.T))
        projected = LabeledPoints(keys, data.weights, labels=data.labels)
        if objective.background is not None:
            attributes["background_"] = float(scipy.special.expit(logit))
            # Queries are projected as they are, without taking the mean off first.
            shift = components.astype(np.float64) @ features.center
            objective = replace(objective, background=objective.background.under(A, shift))
        rule = Classifier.of(projected, objective, logit, choice.scale, choice.calibration)
        return {**attributes, "_classifier": rule}

    score = scores_rows(ClassifierMixin.score)

    @answers_in_blocks
    @computes_in_place
    def predict_proba(self, X: ArrayLike) -> NDArray:
        """Probability of each class: its share in the soft neighborhood, weighted by the prior.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        return np.exp(self._log_probabilities(X))

    @answers_in_blocks
    @computes_in_place
    def predict(self, X: ArrayLike) -> NDArray:
        """Most probable class of each point (the NCA rule).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        log_probabilities = self._log_probabilities(X)
        return self.classes_[log_probabilities.argmax(axis=1)]

    @on_own_threads
    def _log_probabilities(self, X: ArrayLike) -> NDArray:
        queries = on_host(self.transform(X))  # set_output may have made a data frame of it
        check_reach(queries, name="the projection of X")
        classifier, asked = self._classifier, self._fitted_with
        (n_keys, d), dtype = classifier.keys.shape, classifier.keys.dtype.name
        work = Workload(len(queries), n_keys, d, law=classifier.law, dtype=dtype)
        engine = engine_of_a_fit(asked, work, self.n_jobs)
        index, k = None, asked["n_neighbors"]
        if k is not None:
            if not hasattr(self, "_index"):
                self._index = nearest_index(classifier.keys, k, self.n_jobs)
            index = self._index
        return classifier.log_probabilities(queries, engine, index, k)

    def __getstate__(self) -> dict[str, Any]:
        """What is saved: all but the search index, which is built again when asked for."""
        state = super().__getstate__()
        state.pop("_index", None)
        return state
