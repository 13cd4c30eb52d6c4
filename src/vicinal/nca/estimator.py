"""NeighborhoodComponents: the estimator."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted, validate_data

from vicinal.fitting import bold_driver, conjugate_gradients, lbfgs, run
from vicinal.fitting.callbacks import CallbackSupport, ScikitLearnCallbacks, with_callbacks
from vicinal.fitting.loop import Method
from vicinal.inputs.checks import (
    check_choice,
    check_classes,
    check_count,
    check_nonnegative,
    check_prior,
)
from vicinal.inputs.starts import (
    reach_neighbors,
    solver_coordinates,
    standard_units,
    starting_map,
)
from vicinal.metric import MahalanobisMixin
from vicinal.nca.equations import (
    OBJECTIVES,
    class_log_probabilities,
    class_log_weights,
    class_priors,
    penalized,
    value_and_gradient,
)
from vicinal.neighborhood import LAWS, Engine, Workload, choose_engine

__all__ = ["NeighborhoodComponents"]

SOLVERS = {
    "auto": lbfgs,
    "lbfgs": lbfgs,
    "cg": conjugate_gradients,
    "bold-driver": bold_driver,
}


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
    prior : {"empirical", "uniform"} or array-like of shape (n_classes,), default="empirical"
        Prior probabilities of the classes, in the order of `classes_`, when
        p_i and `predict_proba` are read as posteriors of class-conditional
        densities. "empirical" is classic NCA, where large classes attract more.
    solver : {"auto", "lbfgs", "cg", "bold-driver"}, default="auto"
        L-BFGS (which "auto" picks), nonlinear conjugate gradients, or gradient
        ascent whose rate grows while the objective does.
    regularization : float or "auto", default="auto"
        λ of the penalty λ Σ A_ij² on the mean over points. "auto" is 0.
    max_iter : int, default=200
        Largest number of updates of the map.
    tol : float, default=1e-5
        The fit has converged when an update gains at most this much.
    engine : {"auto", "blocked", "fused"}, default="auto"
        How sums over pairs of points are computed; `engine_` and
        `engine_reason_` tell what "auto" chose.
    warm_start : bool, default=False
        Start from the map of the previous fit.
    random_state : int, RandomState instance or None, default=None
        For ``init="random"``.
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
        Mean over the training points of the chosen objective, less the penalty.
    n_iter_ : int
        Number of updates made; 1 where the start was already optimal.
    history_ : dict of str to ndarray
        "objective", "step" and "time" (seconds) after each update, the start
        first. The step is the norm of the change in the solver's coordinates,
        in which the start has norm 10.
    converged_ : bool
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
        prior: Any = "empirical",
        solver: str = "auto",
        regularization: float | str = "auto",
        max_iter: int = 200,
        tol: float = 1e-5,
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
        self.prior = prior
        self.solver = solver
        self.regularization = regularization
        self.max_iter = max_iter
        self.tol = tol
        self.engine = engine
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike) -> "NeighborhoodComponents":
        """Learn the map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self : NeighborhoodComponents
        """
        points, targets = validate_data(
            self, X, y, dtype=(np.float64, np.float32), ensure_min_samples=2
        )
        self.classes_, labels = check_classes(targets)
        self._check_parameters(points, labels)
        features, unit = standard_units(points)
        start, coordinates = solver_coordinates(
            self._start(features, labels, unit), features, labels
        )
        work = Workload(len(points), len(points), len(start), self.max_iter)
        engine, self.engine_reason_ = choose_engine(self.engine, work, self.n_jobs)
        self.engine_ = engine.name

        def fitted(parameters: NDArray) -> dict[str, Any]:
            return self._fitted_attributes(parameters @ coordinates / unit, points, labels)

        listeners = ScikitLearnCallbacks(self, self.max_iter, points, targets, fitted)
        outcome = run(
            self._method(features, labels, unit, coordinates, engine),
            start,
            max_iter=self.max_iter,
            tol=self.tol,
            callbacks=[listeners],
            name="NeighborhoodComponents",
            verbose=self.verbose,
        )
        self.objective_, self.n_iter_ = outcome.objective, max(1, outcome.n_iter)
        self.history_, self.converged_ = outcome.history, outcome.converged
        for name, value in fitted(outcome.parameters).items():
            setattr(self, name, value)
        listeners.close(outcome.parameters)
        return self

    def _check_parameters(self, X: NDArray, labels: NDArray) -> None:
        check_choice("objective", self.objective, OBJECTIVES)
        check_choice("kernel", self.kernel, LAWS)
        if self.objective == "log" and self.kernel == "compact":
            raise ValueError(
                "objective='log' with kernel='compact' has no finite value: a point with none of "
                "its class in reach has log p = -inf. Use objective='accuracy' or "
                "kernel='gaussian'."
            )
        check_choice("solver", self.solver, SOLVERS)
        check_prior(self.prior, len(self.classes_))
        check_count("max_iter", self.max_iter, 1)
        check_nonnegative("tol", self.tol)
        if self.regularization != "auto":
            check_nonnegative("regularization", self.regularization)
        if self.n_components is not None:
            why = f", the number of features, for X of shape {X.shape}"
            check_count("n_components", self.n_components, 1, X.shape[1], why)
        counts = np.bincount(labels)
        if self.objective == "log" and counts.min() == 1:
            raise ValueError(
                f"class {self.classes_[counts.argmin()]!r} has one member, whose log p is -inf "
                "under objective='log': drop it, merge it, or use objective='accuracy'."
            )

    def _start(self, features: NDArray, labels: NDArray, unit: float) -> NDArray:
        shape = self.n_components or features.shape[1], features.shape[1]
        init = self.init
        if self.warm_start and hasattr(self, "components_"):
            init = self.components_
            if init.shape != shape:
                raise ValueError(
                    f"warm_start=True goes on from a map of shape {init.shape}, but this fit needs "
                    f"{shape}: set warm_start=False, or keep n_components and the features."
                )
        start = starting_map(init, features, labels, shape[0], self.random_state, unit)
        if self.kernel == "compact" and isinstance(init, str):
            start = reach_neighbors(start, features)
        return start

    def _method(
        self, features: NDArray, labels: NDArray, unit: float, coordinates: NDArray, engine: Engine
    ) -> Method:
        """The solver, on the mean over points as a function of B, where the map is B P."""
        priors = class_priors(check_prior(self.prior, len(self.classes_)), labels)
        penalty = 0.0 if self.regularization == "auto" else float(self.regularization) / unit**2

        def mean_objective(B: NDArray) -> tuple[float, NDArray]:
            A = B @ coordinates
            value, gradient = value_and_gradient(
                A,
                features,
                labels,
                engine=engine,
                law=LAWS[self.kernel],
                objective=self.objective,
                priors=priors,
            )
            value, gradient = penalized(value / len(labels), gradient / len(labels), A, penalty)
            return value, gradient @ coordinates

        return SOLVERS[self.solver](mean_objective)

    def _fitted_attributes(self, A: NDArray, X: NDArray, labels: NDArray) -> dict[str, Any]:
        """All that transform and predict need."""
        components = A.astype(X.dtype)
        prior = check_prior(self.prior, len(self.classes_))
        return {
            "components_": components,
            "classes_": self.classes_,
            "n_features_in_": X.shape[1],
            "_keys": X @ components.T,
            "_key_labels": labels,
            "_class_log_weights": class_log_weights(prior, np.bincount(labels)),
        }

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
        work = Workload(len(queries), *self._keys.shape)
        engine, _ = choose_engine(self.engine, work, self.n_jobs)
        return class_log_probabilities(
            queries,
            self._keys,
            self._key_labels,
            self._class_log_weights,
            engine=engine,
            law=LAWS[self.kernel],
        )

    @property
    def _n_features_out(self) -> int:
        """Number of output features, for get_feature_names_out."""
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
