"""NeighborhoodComponents: the estimator."""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.special
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from vicinal.fitting import run
from vicinal.fitting.callbacks import CallbackSupport, ScikitLearnCallbacks, with_callbacks
from vicinal.inputs.checks import (
    check_choice,
    check_classes,
    check_count,
    check_flag,
    check_known_classes,
    check_nonnegative,
    check_prior,
    check_share,
    check_weights,
)
from vicinal.inputs.features import Moments, class_covariances, moments, standard_units
from vicinal.inputs.starts import reach_neighbors, solver_coordinates, starting_map
from vicinal.metric import MahalanobisMixin
from vicinal.nca.annealing import CRITERIA, anneal
from vicinal.nca.background import ClassGaussians
from vicinal.nca.equations import OBJECTIVES, Model, Sample, check_combination, evaluate
from vicinal.nca.learning import Coordinates, Problem, TrainingSet, hold_back
from vicinal.nca.prediction import Classifier, nearest_index
from vicinal.nca.recipe import BATCH_SIZE, BATCHED_PENALTY, Recipe, choose_recipe
from vicinal.nca.stream import Stream
from vicinal.neighborhood import LAWS, Workload, choose_engine

__all__ = ["NeighborhoodComponents"]

# Annealing evaluates maps of many rows many times: on this many points at most.
_ANNEALING_SAMPLE = 2000


class NeighborhoodComponents(
    CallbackSupport,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClassifierMixin,
    MahalanobisMixin,
    BaseEstimator,
):
    """Neighborhood component analysis: a linear map under which neighbors share a class.

    Each point picks another one with a probability that falls with their
    distance after the map. The map is learned so that points pick their own
    class, which makes it a supervised projection, a metric for nearest
    neighbors, and a classifier with probabilities.

    Parameters
    ----------
    n_components : int, optional
        Dimension d of the projected space. None: the number of features.
    init : {"auto", "rca", "lda", "pca", "identity", "random"} or array-like of shape \
            (n_components, n_features), default="auto"
        Map to start from. "rca" (which "auto" picks): the leading directions
        of the total against the within-class covariance, white within classes.
        "lda": the same for the covariance of class means, at most
        ``n_classes - 1`` components. "pca": whitened principal components.
        "identity": the first features as they are. "random": Gaussian entries
        scaled to the data.
    objective : {"accuracy", "log"}, default="accuracy"
        What is maximized: the mean over points of p_i, the expected
        leave-one-out accuracy of picking a neighbor, or of log p_i.
    kernel : {"gaussian", "compact"}, default="gaussian"
        Weight of a neighbor at distance r after the map: exp(-r²), or (1 - r²)²
        within distance 1 and 0 beyond. With compact support the start is
        scaled so that 95 % of the points have 10 others in reach (a map given
        as `init` is taken as it is), a training point with nobody in reach
        counts 0, and a new one gets the class of its nearest neighbor.
    background : bool or float, default=False
        A Gaussian per class behind the kernels of ``kernel="compact"``, so that
        nobody is out of reach. A number between 0 and 1 is its share β of the
        class's density; True learns it, from 0.5 on. A class too small or too
        flat for a Gaussian of its own gets a ridge.
    prior : {"empirical", "uniform"} or array-like of shape (n_classes,), default="empirical"
        Prior probabilities of the classes, in the order of `classes_`, when
        p_i and `predict_proba` are read as posteriors of class-conditional
        densities. "empirical" is classic NCA, where large classes attract more.
    solver : {"auto", "lbfgs", "cg", "bold-driver", "sgd", "adam"}, default="auto"
        L-BFGS, nonlinear conjugate gradients, gradient ascent whose rate grows
        while the objective does, stochastic gradient ascent with rates
        η₀ / (t + t₀), t₀ found by short trials, or Adam with rates that fall
        along half a cosine. "auto": L-BFGS for full batches, else Adam.
    batching : {"auto", "full", "subsample", "random", "farthest", "projection", \
            "stochastic"}, default="auto"
        What an update looks at. "full": all points. "subsample": the same random
        subset. "random", "farthest", "projection": batches drawn at random, by
        farthest point or by recursive projection clustering in the projected
        space, anew in each epoch; each point is compared with those of its
        batch. "stochastic": random rows, each compared with all points.
        "auto": full up to 5000 points, random beyond; what a named `solver`
        asks for otherwise.
    batch_size : int, optional
        Points in a batch. None: 2000, 3000 for "subsample", 500 for "stochastic".
    annealing : bool or {"variance", "projected", "row"}, default=False
        Find the start by fading dimensions out of a map of full rank, one after
        the other (a tenth of those left at a time where there are many): the one
        with the least variance of the data along it, the least variance after
        the map (also True), or the smallest row. The fit then goes on from there.
    regularization : float or "auto", default="auto"
        λ of the penalty λ Σ A_ij² on the mean over points. "auto": the total
        variance of the features over the number of points, times 0.25 for batches
        and 0.03 for exact fits, but 0 where an exact `solver` is named (classic NCA).
    max_iter : int, optional
        Largest number of updates of the map, whatever the batch. None: 200 for
        exact solvers, 4000 for "sgd" and "adam".
    tol : float, default=1e-5
        An exact fit has converged when an update gains at most this much, moves
        the map by at most this share of its norm, or when the gradient promises
        no more. Batched objectives are too noisy for that: they end with their
        schedule or by early stopping.
    early_stopping : bool or "auto", default="auto"
        Hold points back, and keep the map under which their mean objective was
        best. "auto": for batched fits.
    validation_fraction : float, default=0.1
        Share of the points held back for early stopping, at most 5000.
    n_iter_no_change : int, optional
        Stop after this many checks in a row without a better validation score;
        there is one check per update, 40 over a batched fit. None: 25, but
        Adam's schedule runs to its end.
    reservoir_size : int, default=10000
        Points that `partial_fit` keeps: a uniform sample of all it has seen.
    n_neighbors : int, optional
        `predict` and `predict_proba` look at this many nearest training points
        only, found approximately (needs the extra ``vicinal[neighbors]``). None:
        at all of them, exactly.
    engine : {"auto", "blocked", "fused"}, default="auto"
        How sums over pairs of points are computed; `engine_` and
        `engine_reason_` tell what "auto" chose.
    warm_start : bool, default=False
        Start from the map of the previous fit (without annealing again).
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
    validation_score_ : float
        Mean objective of the points held back; only with early stopping.
    background_ : float
        β; only with a background.
    n_iter_ : int
        Number of updates made; 1 where the start was already optimal.
    history_ : dict of str to ndarray
        "objective", "step" and "time" (seconds) after each update, the start
        first; with early stopping also "validation", NaN where it was not
        checked. The step is the norm of the change in the solver's coordinates,
        in which the start has norm 10. After `partial_fit`: "objective" of each
        update.
    converged_ : bool
    recipe_ : dict
        What was done: "solver", "batching", "batch_size", "regularization",
        "early_stopping", "max_iter", and the "reason" for it.
    engine_ : str
    engine_reason_ : str
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only if `X` has feature names that are all strings.

    See Also
    --------
    vicinal.nca.objective : The objective and its gradient as a function.
    sklearn.neighbors.NeighborhoodComponentsAnalysis : The transformer alone,
        with an n × n × d array.

    Notes
    -----
    The objective is that of Goldberger et al. [1]_; starts and practice follow
    Oneață [2]_. Memory grows with the number of points, not with its square.
    Features should have comparable scales, as for any method that starts from
    distances: put a ``StandardScaler`` in front where they have not.

    `sample_weight` counts copies: weight k is the same as k rows, exactly so in
    exact fits. A weight below 1 counts less and is no copy of itself.

    Points held back for early stopping take part in predictions.

    A class with a single member can never be picked by its own: such a point
    counts 0 under ``objective="accuracy"``; ``objective="log"`` refuses it.

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
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from vicinal import NeighborhoodComponents
    >>> X, y = load_wine(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = make_pipeline(StandardScaler(), NeighborhoodComponents(n_components=2))
    >>> model.fit(X_train, y_train).score(X_test, y_test)
    1.0
    >>> model.transform(X_test).shape
    (45, 2)
    """

    components_: NDArray

    def __init__(
        self,
        n_components: int | None = None,
        *,
        init: Any = "auto",
        objective: str = "accuracy",
        kernel: str = "gaussian",
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
        reservoir_size: int = 10_000,
        n_neighbors: int | None = None,
        engine: str = "auto",
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.objective = objective
        self.kernel = kernel
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
        self.reservoir_size = reservoir_size
        self.n_neighbors = n_neighbors
        self.engine = engine
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
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
        self._check_parameters(points, labels, weights)
        recipe = choose_recipe(self, len(points))
        rng = self._generator()
        data, held_back = self._divide(points, labels, weights, recipe, rng)
        known = moments(data.features, labels, len(self.classes_), data.learning_weights)
        model, logit = self._model(data, known)
        A = self._start(data, known, model, logit, rng)
        start, coordinates = self._coordinates(A, known, logit)
        penalty = self._penalty(recipe, known, data.features.unit)
        if recipe.batching == "subsample":
            data = data.subset(recipe.batch_size or len(data), rng)
        engine, self.engine_reason_ = self._engine(recipe, len(data), len(A))
        self.engine_ = engine.name
        problem = Problem(data, model, engine, coordinates, penalty)

        def fitted(parameters: NDArray) -> dict[str, Any]:
            A, logit = coordinates.unpack(parameters)
            return self._fitted_attributes(A, logit, data, model)

        validation = None
        if recipe.early_stopping:
            validation = problem.validation(held_back, recipe, self.n_iter_no_change, rng)
        listeners = ScikitLearnCallbacks(self, recipe.max_iter, points, targets, fitted)
        outcome = run(
            problem.method(recipe, start, rng),
            start,
            max_iter=recipe.max_iter,
            tol=None if recipe.is_batched or recipe.solver == "adam" else self.tol,
            validation=validation,
            scheduled=recipe.solver == "adam",
            callbacks=[listeners],
            name="NeighborhoodComponents",
            verbose=self.verbose,
        )
        self._forget("_stream", "validation_score_", "background_", "_index")
        self.objective_, self.n_iter_ = outcome.objective, max(1, outcome.n_iter)
        self.history_, self.converged_ = outcome.history, outcome.converged
        self.recipe_ = recipe.report(penalty * data.features.unit**2)
        if recipe.early_stopping:
            self.validation_score_ = outcome.validation
        for name, value in fitted(outcome.parameters).items():
            setattr(self, name, value)
        listeners.close(outcome.parameters)
        return self

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
        predictions look at. The first call finds the start; after `fit` it is
        the fitted map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), optional
            All classes there will be; needed in the first call.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self : NeighborhoodComponents
        """
        first = not hasattr(self, "_stream")
        points, targets, weights = self._checked(
            X, y, sample_weight, at_least=1, reset=not hasattr(self, "components_")
        )
        known_classes = getattr(self, "classes_", None)
        self.classes_, labels = check_known_classes(targets, classes, known_classes)
        self._check_parameters(points, labels, weights)
        self._check_streaming()
        model = Model(LAWS[self.kernel], self.objective, self._prior(), len(self.classes_))
        if first:
            self._stream = self._new_stream(points, labels, weights)
        stream, size = self._stream, self.batch_size or BATCH_SIZE
        work = Workload(size, size + self.reservoir_size, len(stream.parameters), 1000)
        engine, self.engine_reason_ = choose_engine(self.engine, work, self.n_jobs)
        self.engine_ = engine.name
        stream.learn(Sample(points, labels, weights), model, engine, size)
        self.components_ = stream.map.astype(points.dtype)
        keys = stream.keys
        projected = Sample(keys.features @ self.components_.T, keys.labels, keys.weights)
        self._classifier = Classifier.of(projected, model)
        self._forget("_index", "validation_score_", "background_", "recipe_", "converged_")
        self.n_iter_, self.objective_ = len(stream.objectives), stream.objectives[-1]
        self.history_ = {"objective": np.array(stream.objectives)}
        return self

    def _checked(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        at_least: int = 2,
        reset: bool = True,
    ) -> tuple[NDArray, NDArray, NDArray | None]:
        """Points, targets and weights; rows of weight 0 are as good as absent."""
        points, targets = validate_data(
            self, X, y, dtype=(np.float64, np.float32), ensure_min_samples=at_least, reset=reset
        )
        weights = check_weights(sample_weight, points)
        if weights is not None and not weights.all():
            points, targets, weights = (a[weights > 0] for a in (points, targets, weights))
        return points, targets, weights

    def _check_parameters(self, X: NDArray, labels: NDArray, weights: NDArray | None) -> None:
        check_choice("objective", self.objective, OBJECTIVES)
        check_choice("kernel", self.kernel, LAWS)
        if not isinstance(self.background, bool | np.bool_):
            check_share("background", self.background)
        check_combination(self.objective, self.kernel, self.background)
        self._prior()
        if self.max_iter is not None:
            check_count("max_iter", self.max_iter, 1)
        check_nonnegative("tol", self.tol)
        if self.regularization != "auto":
            check_nonnegative("regularization", self.regularization)
        check_flag("early_stopping", self.early_stopping, ("auto",))
        check_share("validation_fraction", self.validation_fraction)
        check_count("reservoir_size", self.reservoir_size, 2)
        for name in ("n_iter_no_change", "n_neighbors"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name), 1)
        if self.n_components is not None:
            why = f", the number of features, for X of shape {X.shape}"
            check_count("n_components", self.n_components, 1, X.shape[1], why)
        self._check_annealing(X.shape[1])
        alone = np.bincount(labels, weights, minlength=len(self.classes_)) == 1
        if self.objective == "log" and alone.any() and not self.background:
            raise ValueError(
                f"class {self.classes_[alone.argmax()]!r} has one member, whose log p is -inf "
                "under objective='log': drop it, merge it, or use objective='accuracy'."
            )

    def _check_annealing(self, n_features: int) -> None:
        check_flag("annealing", self.annealing, tuple(CRITERIA))
        if self.annealing and (self.n_components or n_features) >= n_features:
            raise ValueError(
                f"annealing={self.annealing!r} fades dimensions out until n_components are left, "
                f"but n_components={self.n_components} keeps all {n_features}: set n_components "
                "below the number of features, or annealing=False."
            )

    def _check_streaming(self) -> None:
        """Refuse in `partial_fit` what only a whole data set can give."""
        if self.solver not in ("auto", "adam"):
            raise ValueError(
                f"partial_fit learns by Adam: solver={self.solver!r} needs all points at once."
            )
        if self.batching not in ("auto", "random", "stochastic"):
            raise ValueError(
                f"partial_fit takes batches as they come: batching={self.batching!r} needs all "
                "points at once."
            )
        for name in ("background", "annealing"):
            if getattr(self, name):
                raise ValueError(
                    f"{name}={getattr(self, name)!r} needs all points at once: use fit, or "
                    f"{name}=False."
                )
        if self.early_stopping is True:
            raise ValueError("early_stopping=True has no meaning in partial_fit: use fit.")

    def _prior(self) -> str | NDArray:
        return check_prior(self.prior, len(self.classes_))

    def _generator(self) -> np.random.Generator:
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))

    def _divide(
        self,
        points: NDArray,
        labels: NDArray,
        weights: NDArray | None,
        recipe: Recipe,
        rng: np.random.Generator,
    ) -> tuple[TrainingSet, NDArray]:
        """Rows to learn from, and positions of those held back."""
        features = standard_units(points, weights)
        if not recipe.early_stopping:
            return TrainingSet(features, labels, weights), np.empty(0, dtype=int)
        rows, held_back = hold_back(labels, self.validation_fraction, rng)
        return TrainingSet(features, labels, weights, rows), held_back

    def _model(self, data: TrainingSet, known: Moments) -> tuple[Model, float]:
        """What is maximized, and the logit of β at the start."""
        model = Model(LAWS[self.kernel], self.objective, self._prior(), len(self.classes_))
        if self.background is False:
            return model, 0.0
        beta = 0.5 if self.background is True else float(self.background)
        covariances = class_covariances(data.features, data.labels, known, data.learning_weights)
        gaussians = ClassGaussians.with_ridge(known.means, covariances, known.counts)
        return replace(model, background=gaussians), float(scipy.special.logit(beta))

    def _start(
        self,
        data: TrainingSet,
        known: Moments,
        model: Model,
        logit: float,
        rng: np.random.Generator,
    ) -> NDArray:
        D = data.features.shape[1]
        d, unit = self.n_components or D, data.features.unit
        if self.warm_start and hasattr(self, "components_"):
            if self.components_.shape != (d, D):
                raise ValueError(
                    f"warm_start=True goes on from a map of shape {self.components_.shape}, but "
                    f"this fit needs {(d, D)}: set warm_start=False, or keep n_components and the "
                    "features."
                )
            return starting_map(self.components_, known, d, unit=unit)
        rows = D if self.annealing else d
        start = starting_map(self.init, known, rows, self.random_state, unit)
        if self.kernel == "compact" and isinstance(self.init, str):
            start = reach_neighbors(start, data.features.project(start), data.weights)
        if not self.annealing:
            return start
        return self._annealed(start, data, known, model, logit, rng)

    def _annealed(
        self,
        start: NDArray,
        data: TrainingSet,
        known: Moments,
        model: Model,
        logit: float,
        rng: np.random.Generator,
    ) -> NDArray:
        sample = data.subset(_ANNEALING_SAMPLE, rng).sample(slice(None))
        work = Workload(len(sample), len(sample), len(start), 100)
        engine, _ = choose_engine(self.engine, work, self.n_jobs)

        def objective(A: NDArray) -> tuple[float, NDArray]:
            found = evaluate(A, model, engine, sample, logit=logit)
            return found.value / sample.total, found.gradient / sample.total

        _, P = solver_coordinates(start, known)
        criterion = "projected" if self.annealing is True else str(self.annealing)
        return anneal(objective, start, P, self.n_components or 1, known.total, criterion)

    def _coordinates(self, A: NDArray, known: Moments, logit: float) -> tuple[NDArray, Coordinates]:
        B, P = solver_coordinates(A, known)
        # A step of Adam then moves the logit by as much as it moves the map, relatively.
        unit = float(np.sqrt(np.mean(np.square(B)))) or 1.0 if self.background is True else 0.0
        coordinates = Coordinates(P, A.shape, logit, unit)
        return coordinates.pack(B), coordinates

    def _penalty(self, recipe: Recipe, known: Moments, unit: float) -> float:
        """λ for features in standard units; the user's λ speaks of the features as they are."""
        if recipe.penalty_share is not None:
            if known.counts.max() <= 1:
                return 0.0  # nobody has a neighbor of its class: a penalty would be all there is
            return recipe.penalty_share * float(np.trace(known.total)) / float(known.counts.sum())
        return float(self.regularization) / unit**2

    def _engine(self, recipe: Recipe, n: int, d: int) -> Any:
        n_queries = recipe.batch_size if recipe.is_batched and recipe.batch_size else n
        n_keys = n if recipe.batching in ("full", "subsample", "stochastic") else n_queries
        work = Workload(n_queries, n_keys, d, recipe.max_iter)
        return choose_engine(self.engine, work, self.n_jobs)

    def _new_stream(self, points: NDArray, labels: NDArray, weights: NDArray | None) -> Stream:
        features = standard_units(points, weights)
        known = moments(features, labels, len(self.classes_), weights)
        d, D = self.n_components or points.shape[1], points.shape[1]
        init = self.components_ if hasattr(self, "components_") else self.init
        A = starting_map(init, known, d, self.random_state, features.unit)
        if self.kernel == "compact" and isinstance(init, str):
            A = reach_neighbors(A, features.project(A), weights)
        B, P = solver_coordinates(A, known)
        share, penalty = None, 0.0
        if self.regularization == "auto":
            share = BATCHED_PENALTY * float(np.trace(known.total))
        else:
            penalty = float(self.regularization) / features.unit**2
        coordinates = Coordinates(P, (d, D))
        size = self.reservoir_size
        return Stream(B, coordinates, features, share, penalty, size, self._generator())

    def _fitted_attributes(
        self, A: NDArray, logit: float, data: TrainingSet, model: Model
    ) -> dict[str, Any]:
        """All that transform and predict need."""
        features = data.features
        components = (A / features.unit).astype(features.dtype)
        attributes = {
            "components_": components,
            "classes_": self.classes_,
            "n_features_in_": features.shape[1],
        }
        projected = Sample(features.X @ components.T, data.labels, data.weights)
        if model.background is not None:
            attributes["background_"] = float(scipy.special.expit(logit))
            # Queries are projected as they are, without taking the mean off first.
            shift = components.astype(np.float64) @ features.center
            covariances = A @ model.background.covariances @ A.T
            gaussians = ClassGaussians(model.background.means @ A.T + shift, covariances)
            model = replace(model, background=gaussians)
        return {**attributes, "_classifier": Classifier.of(projected, model, logit)}

    def _forget(self, *names: str) -> None:
        for name in names:
            self.__dict__.pop(name, None)

    def transform(self, X: ArrayLike) -> NDArray:
        """Project points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        points = validate_data(self, X, dtype=(np.float64, np.float32), reset=False)
        return points @ self.components_.T

    def predict_proba(self, X: ArrayLike) -> NDArray:
        """Probability of each class: its share in the soft neighborhood, weighed by the prior.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        return np.exp(self._log_probabilities(X))

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

    def _log_probabilities(self, X: ArrayLike) -> NDArray:
        queries = np.asarray(self.transform(X))  # set_output may have made a data frame of it
        classifier = self._classifier
        work = Workload(len(queries), *classifier.keys.shape)
        engine, _ = choose_engine(self.engine, work, self.n_jobs)
        index, law = None, LAWS[self.kernel]
        if self.n_neighbors is not None:
            k = check_count("n_neighbors", self.n_neighbors, 1)
            if not hasattr(self, "_index"):
                self._index = nearest_index(classifier.keys, k, self.n_jobs)
            index = self._index
        return classifier.log_probabilities(queries, law, engine, index, self.n_neighbors)

    def __getstate__(self) -> dict[str, Any]:
        """What is saved: all but the search index, which is built again when asked for."""
        state = dict(super().__getstate__())
        state.pop("_index", None)
        return state

    @property
    def _n_features_out(self) -> int:
        """Number of output features, for get_feature_names_out."""
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
