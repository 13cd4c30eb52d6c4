"""LocalComponents: the estimator."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from vicinal.fitting import accelerated_em, em, run
from vicinal.fitting.callbacks import CallbackSupport, ScikitLearnCallbacks, with_callbacks
from vicinal.inputs.checks import (
    check_choice,
    check_count,
    check_flag,
    check_nonnegative,
    check_weights,
)
from vicinal.local_components.equations import STRUCTURES, Points, log_density
from vicinal.local_components.learning import GlobalFrame, LocalProblem
from vicinal.metric import LinearMapMixin
from vicinal.neighborhood import Workload, choose_engine

__all__ = ["LocalComponents"]


class LocalComponents(
    CallbackSupport,
    LinearMapMixin,
    BaseEstimator,
):
    """Local component analysis: the metric in which data are locally round, and a density.

    A Parzen density whose kernel covariance, the same at every point, is
    learned by maximum leave-one-out likelihood: no bandwidth to choose, and
    distances in its metric ignore what varies between close neighbors.

    Parameters
    ----------
    covariance : {"full", "diag", "spherical"}, default="full"
        Shape of the kernels.
    regularization : float, default=0.0
        ν of the penalty (ν/2) tr Σ⁻¹ on the mean negative log-likelihood: a
        variance that is added to the kernels in every direction.
    accelerate : bool, default=True
        Extrapolate pairs of EM steps (SQUAREM); the likelihood never falls.
    max_iter : int, default=500
        Largest number of updates.
    tol : float, default=1e-8
        The fit has converged when an update gains at most this much mean
        log-likelihood, or moves log Σ by at most this share of its norm.
    engine : {"auto", "blocked", "fused"}, default="auto"
        How sums over pairs of points are computed.
    random_state : int, RandomState instance or None, default=None
        For `sample`.
    n_jobs : int, optional
        Number of threads. None: all cores. Results do not depend on it.
    verbose : int, default=0
        1: show a progress line.

    Attributes
    ----------
    covariance_ : ndarray of shape (n_features, n_features)
        Σ, of the kernels.
    components_ : ndarray of shape (n_features, n_features)
        Σ^(-1/2): map to coordinates in which the kernels are round, each as
        close as can be to the feature it comes from.
    loo_log_likelihood_ : float
        Mean leave-one-out log-likelihood of the training points.
    n_iter_ : int
    history_ : dict of str to ndarray
        "objective" (penalized mean log-likelihood), "step" (of log Σ where the
        data as a whole are white) and "time", the start first.
    converged_ : bool
    engine_ : str
    engine_reason_ : str
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only if `X` has feature names that are all strings.

    See Also
    --------
    vicinal.local_components.log_density : A Parzen density for a given covariance.
    sklearn.neighbors.KernelDensity : One bandwidth for all directions, chosen by the user.

    Notes
    -----
    The likelihood has no upper bound for n ≤ 2d - 2 points in d dimensions, and
    where in some direction every point has a twin (a binary feature, repeated
    rows): the fit then stops with an error; a positive `regularization` cures it.
    One step of EM is the method of Manifold Parzen windows.

    `sample_weight` counts copies: weight k is the same as k rows.

    References
    ----------
    .. [1] N. Le Roux, F. Bach. "Local component analysis". ICLR 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import LocalComponents
    >>> X, _ = load_iris(return_X_y=True)
    >>> model = LocalComponents().fit(X)
    >>> print(f"{model.loo_log_likelihood_:.4f}")
    -1.6632
    >>> model.score_samples(X[:2]).shape
    (2,)
    """

    components_: NDArray

    def __init__(
        self,
        *,
        covariance: str = "full",
        regularization: float = 0.0,
        accelerate: bool = True,
        max_iter: int = 500,
        tol: float = 1e-8,
        engine: str = "auto",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.covariance = covariance
        self.regularization = regularization
        self.accelerate = accelerate
        self.max_iter = max_iter
        self.tol = tol
        self.engine = engine
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    def fit(
        self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> "LocalComponents":
        """Learn the kernel covariance.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : None
            Ignored; there for pipelines.
        sample_weight : array-like of shape (n_samples,), optional
            Weight k counts as k copies of the row.

        Returns
        -------
        self : LocalComponents
        """
        self._check_parameters()
        rows = validate_data(self, X, dtype=(np.float64, np.float32), ensure_min_samples=2)
        weights = check_weights(sample_weight, rows)
        if weights is not None:
            rows, weights = rows[weights > 0], weights[weights > 0]
        points = Points(rows, weights)
        if points.total <= 1:
            raise ValueError(f"the weights sum to {points.total:g}: no point has another one.")
        frame = GlobalFrame.of(points, self.covariance, float(self.regularization))
        work = Workload(len(rows), len(rows), rows.shape[1], self.max_iter)
        engine, self.engine_reason_ = choose_engine(self.engine, work, self.n_jobs)
        self.engine_ = engine.name
        white = Points(frame.inward(rows), weights)
        problem = LocalProblem(white, frame, self.covariance, float(self.regularization), engine)

        def fitted(parameters: NDArray) -> dict[str, Any]:
            return self._fitted_attributes(problem, parameters, points)

        listeners = ScikitLearnCallbacks(self, self.max_iter, rows, None, fitted)
        outcome = run(
            (accelerated_em if self.accelerate else em)(problem.step),
            np.zeros((rows.shape[1], rows.shape[1])),
            max_iter=self.max_iter,
            tol=self.tol,
            callbacks=[listeners],
            name="LocalComponents",
            verbose=self.verbose,
        )
        self.n_iter_, self.history_ = max(1, outcome.n_iter), outcome.history
        self.converged_ = outcome.converged
        for name, value in fitted(outcome.parameters).items():
            setattr(self, name, value)
        trace = float(np.trace(np.linalg.inv(self.covariance_)))
        self.loo_log_likelihood_ = outcome.objective + 0.5 * float(self.regularization) * trace
        listeners.close(outcome.parameters)
        return self

    def _check_parameters(self) -> None:
        check_choice("covariance", self.covariance, STRUCTURES)
        check_nonnegative("regularization", self.regularization)
        check_flag("accelerate", self.accelerate)
        check_count("max_iter", self.max_iter, 1)
        check_nonnegative("tol", self.tol)

    def _fitted_attributes(
        self, problem: LocalProblem, parameters: NDArray, points: Points
    ) -> dict[str, Any]:
        """All that transform and the density need."""
        covariance = problem.covariance(parameters)
        # The symmetric root of Σ⁻¹: the only one that does not depend on the order of directions.
        variances, directions = eigh(covariance)
        components = (directions / np.sqrt(variances)) @ directions.T
        return {
            "covariance_": covariance,
            "components_": components.astype(points.X.dtype),
            "n_features_in_": len(covariance),
            "_points": points,
        }

    def score_samples(self, X: ArrayLike) -> NDArray:
        """Log-density of points; the lower, the more of an outlier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        queries = validate_data(self, X, dtype=np.float64, reset=False)
        X_fit = self._points.X
        mean = X_fit.mean(axis=0, dtype=np.float64)
        work = Workload(len(queries), *X_fit.shape)
        engine, _ = choose_engine(self.engine, work, self.n_jobs)
        points = Points(X_fit - mean, self._points.weights)
        return log_density(queries - mean, points, self.covariance_, engine)

    def score(self, X: ArrayLike, y: Any = None) -> float:
        """Mean log-density of points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : None
            Ignored.

        Returns
        -------
        float
        """
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1) -> NDArray:
        """Draw from the density: a training point, moved by a draw from its kernel.

        Parameters
        ----------
        n_samples : int, default=1

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        check_count("n_samples", n_samples, 1)
        rng = check_random_state(self.random_state)
        X, weights = self._points.X, self._points.weights
        p = None if weights is None else weights / weights.sum()
        centers = X[rng.choice(len(X), n_samples, p=p)]
        noise = rng.standard_normal((n_samples, X.shape[1]))
        moved = centers + noise @ np.linalg.cholesky(self.covariance_).T
        return moved.astype(X.dtype)
