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

    Each point picks another point as its neighbor, with a probability that falls with their
    distance under the map. The map is learned so that points pick neighbors of their own class. The
    fitted model is a supervised projection, a metric for nearest neighbors, and a classifier that
    predicts probabilities.

    Parameters
    ----------
    n_components : int in [1, n_features], "auto" or None, default=None
        Dimension d of the projected space: 2 for plots, a few more for retrieval. "auto": tries 1,
        2, 3, 5, 8, 13, ... by cross-validation, and takes the smallest whose accuracy is within one
        standard error of the best; λ is chosen anew for each of them. None: the number of rows of a
        map given as `init`; otherwise the number of features, but at most 100 and, from 1000
        features on, at most the number of directions in which the rows differ.
    init : {"auto", "rca", "lda", "pca", "identity", "random"} or array-like of shape \
            (n_components, n_features), default="auto"
        Map to start from. "rca": the leading directions of the total covariance relative to the
        within-class covariance, white within classes. "auto": like "rca", but the within-class
        covariance is shrunk if there are fewer than 10 points per feature. "lda": the leading
        directions of the covariance of the class means relative to the within-class covariance, at
        most ``n_classes - 1`` components. With fewer points than features, "rca" and "lda" shrink
        the within-class covariance, too. "pca": whitened principal components of the columns in
        their own units. "identity": the first features, unchanged. "random": Gaussian entries
        scaled to the data.
    n_init : int in [1, inf), default=1
        Number of fits. The first starts from `init`, the others from random maps of the same norm.
        The fit with the highest objective is kept, or with early stopping the one with the best
        validation score. `partial_fit` has one start.
    objective : {"accuracy", "log"}, default="accuracy"
        What is maximized, as a mean over the training points: "accuracy", the probability p_i that
        a point picks a neighbor of its own class (the expected leave-one-out accuracy); or "log",
        log p_i. "accuracy" tolerates points that cannot pick their own class; "log" does not.
    kernel : {"gaussian", "compact", "student"}, default="gaussian"
        Weight of a neighbor at distance r under the map. "gaussian": exp(-r²). "compact": (1 - r²)²
        within distance 1 and 0 beyond. "student": (1 + r²/ν)^(-(ν + d)/2), whose heavy tails let
        far points still count. With "compact", the starting map is scaled so that 95 % of the
        points have 10 others in reach (a map given as `init` is not scaled), a training point with
        no other in reach counts 0, and a new point with none in reach gets the class of its nearest
        neighbor.
    degrees_of_freedom : float in [0.1, 1e6], default=3.0
        Degrees of freedom ν of ``kernel="student"``: the smaller, the heavier the tails.
    background : bool or float in (0, 1), default=False
        Add to ``kernel="compact"`` a Gaussian for each class, so that no point is out of reach. A
        number sets the share β of this background in the density of the class. True learns β,
        starting where the background weighs as much as one point. If a class is too small or too
        flat for a Gaussian of its own, a ridge is added to its covariance.
    prior : {"empirical", "uniform"} or array-like of shape (n_classes,), default="empirical"
        Prior probabilities of the classes, in the order of `classes_`. p_i and `predict_proba` are
        posterior probabilities under class-conditional densities with these priors. "empirical":
        the class frequencies, which is classic NCA: large classes attract more. "uniform": the same
        for all classes. Cross-validation weights its held-out rows by these priors, too.
    solver : {"auto", "lbfgs", "cg", "bold-driver", "sgd", "adam"}, default="auto"
        "lbfgs": L-BFGS. "cg": nonlinear conjugate gradients. "bold-driver": gradient ascent whose
        learning rate grows as long as the objective does. "sgd": stochastic gradient ascent with
        learning rates η₀ / (t + t₀) (`eta0`, `t0`). "adam": Adam with learning rates that fall
        along half a cosine. "auto": L-BFGS for full batches, otherwise Adam.
    batching : {"auto", "full", "subsample", "random", "farthest", "projection", \
            "stochastic"}, default="auto"
        Which points an update uses. "full": all points. "subsample": one random subset, the same in
        all updates. "random", "farthest", "projection": batches drawn anew in each epoch, at
        random, by farthest-point clustering, or by recursive projection clustering in the projected
        space; each point is compared with the points of its batch. "stochastic": random rows, each
        compared with all points. "auto": full up to 5000 points and random beyond; if `solver` is
        set, whatever that solver needs.
    batch_size : int in [2, inf), optional
        Number of points in a batch. None: 2000; 3000 for "subsample"; 500 for "stochastic".
    annealing : bool or {"variance", "projected", "row"}, default=False
        Find the starting map by fading dimensions out of a map of full rank, one after the other
        (if there are many, a tenth of the remaining ones at a time). The next dimension to go is
        the one along which the data have the least variance ("variance"), the one with the least
        variance after the map ("projected" or True), or the one with the smallest row ("row"). The
        fit goes on from the result.
    regularization : float in [0, inf) or "auto", default="auto"
        Strength λ of the penalty λ Σ_ij A_ij² s_j², which is subtracted from the mean objective.
        s_j is the standard deviation of feature j within classes, so that the units of features do
        not matter. "auto": cross-validation on the training set (for batched fits: on 5000 of its
        points, and then on the validation points) chooses λ, whether to keep the starting map as it
        is, and how soft the neighborhoods are in predictions. The most accurate candidate wins;
        among those about equally accurate, the one with the highest likelihood. This also
        calibrates `predict_proba` without changing the order of the classes. `path_` holds what was
        tried. "auto" takes 1.5 to 9 times as long as one fit, more for tables of 200 rows or fewer
        (0.3 s). A number skips all of this. 0: classic NCA, which overfits when run to convergence;
        "auto" means 0 if `solver` names an exact solver. In `partial_fit`, "auto" is a fixed share
        of the variances.
    max_iter : int in [1, inf), optional
        Maximum number of updates of the map, whatever the batch size. None: 200 for exact solvers;
        for "sgd" and "adam" 150 epochs, but at least 1000 updates and at most 4000.
    tol : float in [0, inf), default=1e-5
        An exact fit has converged when an update improves the objective by at most this much, when
        it moves the map by at most this share of its norm, or when the gradient promises no further
        improvement. Batched objectives are too noisy for this test: batched fits end with their
        schedule or by early stopping.
    early_stopping : bool or "auto", default="auto"
        Hold out a validation set, and keep the map with the best mean objective on it (see
        `validation_metric`). "auto": for batched fits only.
    validation_fraction : float in (0, 1), default=0.1
        Share of the training points held out for early stopping, at most 5000 points.
    n_iter_no_change : int in [1, inf), optional
        Stop after this many validation checks in a row without an improvement. None: 25, except
        that Adam always completes its schedule.
    validation_every : int in [1, inf), optional
        Number of updates between two validation checks. None: 1; for a batched fit, a fortieth of
        its updates.
    validation_metric : {"objective", "accuracy"}, default="objective"
        Score on the validation set: "objective", its mean objective, or "accuracy", the accuracy of
        `predict`.
    eta0 : float in (0, inf), optional
        Initial learning rate η₀ of ``solver="sgd"``, in the solver's coordinates, where the
        starting map has norm 10. None: the first step has 10 / t₀ times that norm.
    t0 : float in (0, inf), optional
        Offset t₀ of the learning rates of ``solver="sgd"``. None: the best value from 0.1 to 1000
        in short trials on the validation set (or on one batch), then refined.
    reservoir_size : int in [2, inf), default=10000
        Number of points that `partial_fit` keeps: a uniform random sample of all points seen so
        far.
    n_neighbors : int in [1, inf), optional
        Number of nearest training points that `predict` and `predict_proba` use, found by
        approximate search (needs the extra ``vicinal[neighbors]``), for faster predictions with
        many training points. None: all training points, exactly.
    engine : {"auto", "blocked", "fused", "tree", "radius", "adaptive", "cuda", "dask"}, \
            default="auto"
        How sums over pairs of points are computed; `engine_` and `engine_reason_` tell what "auto"
        chose. "tree" evaluates only few pairs if neighborhoods are small compared to the data, in
        up to about five dimensions; "radius" does so for ``kernel="compact"``; "adaptive" checks in
        every update whether "tree" pays off, and otherwise uses "fused". "cuda" computes on a GPU
        (extra ``vicinal[gpu]``); "auto" chooses it for large problems if there is a GPU. "dask"
        computes on the workers of a Dask cluster (extra ``vicinal[dask]``) with an open client;
        "auto" chooses it for Dask arrays there, whose rows stay on the workers (``docs/scale.md``).
    tolerance : float in [0, 1), default=0.0
        Relative error that "tree" may make in p_i and in the sums over a point's neighbors in its
        own class and in the other classes; the larger, the faster. 0: rounding error only. All
        other engines are exact.
    precision : {"auto", "float64", "float32", "tf32"}, default="auto"
        Precision of the sums over pairs with ``engine="cuda"``. "auto": single precision for NumPy
        arrays; for tensors, their own. "tf32": faster, with products of 11 bits. All other engines
        compute in the precision of X (`partial_fit`: in double precision) and raise an error for
        any other; with ``engine="auto"``, asking for another precision selects the GPU.
    memory_limit : int, float or str, optional
        Memory that `fit` and `partial_fit` may use in addition to `X` itself, so that `X` may be
        larger than memory (``docs/scale.md``): in bytes, or as a string such as "2GB". A call that
        needs more raises an error before any work is done, and says what to change. Results do not
        depend on the limit. None: no limit.
    warm_start : bool, default=False
        Start from the map of the previous fit, without annealing again. λ is not chosen again,
        either, unless ``n_components="auto"``.
    checkpoint : path-like, optional
        File to which `fit` saves its progress every few seconds. If a fit is killed or interrupted,
        calling it again with the same data and parameters resumes it, and the result is the same
        model, bit for bit; after the fit has finished, calling it again returns at once. The
        checkpoint of a different fit raises an error. See ``docs/checkpoints.md``. `partial_fit`
        saves none: save the model between calls.
    random_state : int, RandomState instance or None, default=None
        Seed or generator for ``init="random"``, the batches, and the validation set.
    n_jobs : int, optional
        Number of threads. None: all cores. Results do not depend on it.
    verbose : int, default=0
        1: show a progress line.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The learned map A.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    objective_ : float
        Mean of the objective over the training points, minus the penalty; for a batched fit, over
        one batch.
    objective_in_words_ : str
        Which mean `objective_` is, in words.
    validation_score_ : float
        Score on the validation set. Only with early stopping.
    background_ : float
        Share β of the background. Only with a background.
    n_iter_ : int
        Number of updates made; 1 if none was needed.
    history_ : dict of str to ndarray
        "objective", "step" and "time" (seconds) of the starting map and after each update; only the
        start if nothing was learned. With early stopping also "validation", NaN for updates that
        were not checked. "step" is the norm of the change in the solver's coordinates, in which the
        starting map has norm 10. After `partial_fit`: only "objective", of each update.
    converged_ : bool
        Whether the fit has converged.
    recipe_ : dict
        How the model was fitted: "solver", "batching", "batch_size", the "reason" for these,
        "regularization" (λ, or None if the starting map was kept as it is), "init" ("init": the
        start that the parameter sets; "features": the features in units of their within-class
        standard deviation; "discriminants": linear discriminants, other rows 0), "early_stopping",
        "max_iter", and the values given for "eta0", "t0", "validation_every" and
        "validation_metric".
    path_ : dict of str to ndarray
        Cross-validation results of ``regularization="auto"``: "init" and "regularization" of the K
        candidate maps (NaN: the start as it is); "scale", the S factors by which each map was made
        larger or smaller; and in arrays of shape (K, S) "accuracy", its standard error
        "accuracy_error" and the calibrated "log_likelihood" per held-out row. "chosen": row and
        column of the choice.
    dimensions_ : dict of str to ndarray
        Cross-validation results of ``n_components="auto"``: "n_components", "accuracy" and
        "accuracy_error". Only with that setting.
    engine_ : str
        Name of the engine used.
    engine_reason_ : str
        Why this engine was used.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen during `fit`. Only if `X` has feature names that are all strings.

    See Also
    --------
    vicinal.nca.objective : The objective and its gradient as a function.
    sklearn.neighbors.NeighborhoodComponentsAnalysis : The transformer alone, with arrays of n × n.
    vicinal.report.RegularizationDisplay : Cross-validation results for each penalty.

    Notes
    -----
    The objective is that of Goldberger et al. [1]_; starting maps and practical advice follow
    Oneață [2]_. Memory grows with the number of points, not with its square. Results do not depend
    on the scales of the features, unless the start does ("pca", "identity" or a given map).

    `sample_weight` counts copies: in exact fits, weight k gives exactly the same result as k copies
    of the row. A weight below 1 makes a row count less; there is then no copy of it to pick.

    Points held out for early stopping do take part in predictions. The cross-validation folds are
    the same in every fit; equal rows share a fold.

    Torch tensors (under ``sklearn.set_config(array_api_dispatch=True)``) give results that are
    tensors on the same device. Fitted attributes are NumPy arrays.

    The only member of a class cannot pick a neighbor of its own class: under
    ``objective="accuracy"`` it counts 0; ``objective="log"`` raises an error.

    Equations of [2]_: weights (3.1), objectives (3.3), gradient (3.5), predictions (3.25), compact
    kernels (4.15), background (4.22). Which function computes which, and what the text has wrong:
    ``docs/equations/nca.md``.

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
            Training set.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Sample weights: weight k counts as k copies of the row. None: all 1.

        Returns
        -------
        self : NeighborhoodComponents
            The fitted estimator.
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
        """Update the map with the next rows of a stream.

        Each batch of new points (of `batch_size`) makes one update of Adam, in which its points are
        compared with each other and with a uniform random sample of `reservoir_size` points seen
        before. Predictions use that sample, too. The first call computes the starting map; until
        there are ten rows for each feature and each class, every further call starts again from all
        rows so far. After `fit`, the stream starts from the fitted map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The next rows.
        y : array-like of shape (n_samples,)
            Class labels.
        classes : array-like of shape (n_classes,), optional
            All classes that will occur, for the first call. None: the classes in `y`.
        sample_weight : array-like of shape (n_samples,), optional
            Sample weights: weight k counts as k copies of the row. None: all 1.

        Returns
        -------
        self : NeighborhoodComponents
            The updated estimator.
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
        """Which mean `objective_` is, before the penalty, in words."""
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
        """Class probabilities: the share of each class in the soft neighborhood, times its prior.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points to classify.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, with columns in the order of `classes_`.
        """
        return np.exp(self._log_probabilities(X))

    @answers_in_blocks
    @computes_in_place
    def predict(self, X: ArrayLike) -> NDArray:
        """Predict the most probable class of each point (the NCA rule).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points to classify.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted class labels.
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
