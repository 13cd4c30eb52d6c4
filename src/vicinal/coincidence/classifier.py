"""CoincidenceClassifier: one model of coincidence around the mean of each class (section 3.1)."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from vicinal.coincidence.equations import (
    CoincidenceData,
    LatentMap,
    exponents,
    log_likelihood,
)
from vicinal.coincidence.learning import SOLVERS, CoincidenceProblem
from vicinal.coincidence.memory import needs_of_fit
from vicinal.coincidence.sample import SamplesRows
from vicinal.coincidence.starts import STARTS, frame_of, latent_start
from vicinal.fitting import Reason, run
from vicinal.fitting.checkpoints import cut_short
from vicinal.fitting.loop import warn_user
from vicinal.fitting.support import FitSupport
from vicinal.inputs.checks import check_choice, check_classes, check_count, check_nonnegative
from vicinal.inputs.features import Features, moments
from vicinal.inputs.pairs import split_pairs
from vicinal.inputs.span import check_components, check_width, span_of
from vicinal.inputs.tensors import answers_in_kind
from vicinal.inputs.units import check_projection
from vicinal.neighborhood import log_shares, times
from vicinal.neighborhood.arrays import Array, is_chunked
from vicinal.neighborhood.cluster.rows import summed_over
from vicinal.neighborhood.pair_list import PairList
from vicinal.neighborhood.threads import on_own_threads
from vicinal.representation import RepresentationMixin
from vicinal.rows.memory import Need
from vicinal.rows.methods import answers_in_blocks, learns_from_rows, scores_rows
from vicinal.state import SavedStateMixin

__all__ = ["CoincidenceClassifier"]

# Rows that settle the size and the noise of a start after Ctrl-C, when nobody wants to wait.
_ROWS_OF_A_START = 5000


class CoincidenceClassifier(
    SamplesRows,
    FitSupport,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClassifierMixin,
    RepresentationMixin,
    SavedStateMixin,
    BaseEstimator,
):
    """Classifier by the probability that a point coincides with the mean of a class.

    For each class, a map W_c and a noise variance σ_c² are learned from pairs of the class mean and
    a point. A pair coincides if the point belongs to the class.

    Parameters
    ----------
    n_components : int in [1, n_features], optional
        Dimension of the maps. None: the number of features or, from 1000 features on, the number of
        directions in which the rows differ, if that is smaller.
    solver : {"lbfgs", "em", "em-endpoints"}, default="lbfgs"
        "lbfgs": L-BFGS. "em" and "em-endpoints" (as in the paper) need many more updates.
    init : {"auto", "rca", "lda", "scaled", "pca", "identity", "random"}, default="auto"
        Map to start from, for every class, as in `LatentCoincidence`. "auto" is "rca". The
        coordinates of "rca", "lda" and "scaled" do not depend on the units of columns; with the
        other starts, columns with large values count for more.
    max_iter : int in [1, inf), default=1000
        Maximum number of updates for each class.
    tol : float in [0, inf), default=1e-6
        The fit of a class has converged when an update improves its mean log-likelihood by at most
        this much.
    checkpoint : path-like, optional
        File to which `fit` saves its progress every few seconds. If a fit is killed or interrupted,
        calling it again with the same data and parameters resumes it, and the result is the same
        model, bit for bit; after the fit has finished, calling it again returns at once. The
        checkpoint of a different fit raises an error. See ``docs/checkpoints.md``.
    memory_limit : int, float or str, optional
        Memory that `fit` may use in addition to `X` itself: in bytes, or as a string such as "2GB".
        A call that needs more raises an error before any work is done, and says what to change
        (``docs/scale.md``). Results do not depend on the limit. None: no limit.
    random_state : int, RandomState instance or None, default=None
        Seed or generator for ``init="random"``.
    verbose : int, default=0
        1: show a progress line.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    means_ : ndarray of shape (n_classes, n_features)
        Mean μ_c of each class.
    components_ : ndarray of shape (n_classes, n_components, n_features)
        Map W_c of each class.
    sigma2_ : ndarray of shape (n_classes,)
        Noise variance σ_c² of each class.
    log_likelihood_ : ndarray of shape (n_classes,)
        Log-likelihood of the pairs of each class.
    n_iter_ : int
        Largest number of updates made for a class.
    recipe_ : dict
        The "init" and "solver" used, and "n_rows", the number of rows learned from: with more than
        100 000 rows, a sample, while the means are those of all rows.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen during `fit`. Only if `X` has feature names that are all strings.

    See Also
    --------
    LatentCoincidence : One metric for all classes.

    Notes
    -----
    Each class has its own metric, which measures from the mean of the class. `transform` therefore
    gives a distance to each mean, like scikit-learn's ``KMeans``, and `pair_probability` the
    probability that two points belong to the same class. There is no single distance between two
    points, and hence no ``pair_distance``, ``pair_score``, ``get_metric`` or
    ``get_mahalanobis_matrix``, nor a threshold on it: for these, use `LatentCoincidence`.

    It is section 3.1 of [1]_; which function computes what:
    ``docs/equations/latent-coincidence.md``.

    References
    ----------
    .. [1] M. Der, L. Saul. "Latent coincidence analysis: a hidden variable model
       for distance metric learning". NIPS 2012.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import CoincidenceClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(CoincidenceClassifier().fit(X, y).score(X, y) > 0.95)
    True
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        solver: str = "lbfgs",
        init: str = "auto",
        max_iter: int = 1000,
        tol: float = 1e-6,
        checkpoint: str | os.PathLike[str] | None = None,
        memory_limit: float | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.solver = solver
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.checkpoint = checkpoint
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.verbose = verbose

    @learns_from_rows
    @answers_in_kind
    @on_own_threads
    def fit(self, X: ArrayLike, y: ArrayLike) -> "CoincidenceClassifier":
        """Learn a map and a noise variance for each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training set.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self : CoincidenceClassifier
            The fitted estimator.
        """
        points, targets = self._labeled(X, y)
        self._check_parameters(points.shape[1])
        self.classes_, labels = check_classes(targets)
        with self._checkpointed("fit", X=points, y=targets):
            return self._learn(points, targets, labels, self._generator())

    def _learn(
        self, points: Array, targets: NDArray, labels: NDArray, rng: np.random.Generator
    ) -> "CoincidenceClassifier":
        """All of a fit that takes long."""
        center = _center(points)
        means = _means(points, center, labels, len(self.classes_))
        known, labels = self._known(points, labels, rng)
        centered = known - center
        basis = span_of(centered)
        if basis is not None:
            centered, means = times(centered, basis.T), means @ basis.T
            check_components(self.n_components, *centered.shape)
        check_width(centered.shape[1], "CoincidenceClassifier needs")
        init = "rca" if self.init == "auto" else self.init
        frame = frame_of(init, centered, labels, basis)
        # Means follow the points, so that a pair is two positions.
        everything = frame.points(np.vstack([centered, means]))
        self._say_what_is_left_out(len(labels), len(targets))
        fits = self._fit_classes(everything, labels, init, rng)
        maps = [frame.outward(fit.latent.W) for fit in fits]
        self.means_ = (means if basis is None else means @ basis) + center
        self.components_ = np.array([W if basis is None else W @ basis for W in maps])
        self.sigma2_ = np.array([fit.latent.sigma2 for fit in fits])
        self.log_likelihood_ = np.array([fit.log_likelihood for fit in fits])
        self.n_iter_ = max(fit.n_iter for fit in fits)
        self.recipe_ = {"init": init, "solver": self.solver, "n_rows": len(labels)}
        return self

    def _fit_classes(
        self, everything: NDArray, labels: NDArray, init: str, rng: np.random.Generator
    ) -> list["_ClassFit"]:
        """One fit after the other; after Ctrl-C the classes left keep their start."""
        fits: list[_ClassFit] = []
        try:
            for c in range(len(self.classes_)):
                fits.append(self._fit_class(everything, labels, c, init, rng))
                if fits[-1].interrupted:
                    break
        except KeyboardInterrupt:  # between two of them
            if not fits:
                raise
            cut_short()
        left = range(len(fits), len(self.classes_))
        if left:
            names = ", ".join(str(self.classes_[c]) for c in left)
            warn_user(
                f"CoincidenceClassifier was interrupted: the maps of the classes {names} are "
                "those that their fits start from.",
                ConvergenceWarning,
            )
        return fits + [self._start_of(everything, labels, c, init, rng) for c in left]

    def _problem(self, everything: NDArray, labels: NDArray, c: int) -> CoincidenceProblem:
        """Pairs of every point and the mean of a class."""
        n = len(labels)
        pairs = PairList(np.arange(n), np.full(n, n + c), len(everything))
        data = CoincidenceData(everything, pairs, labels == c, np.zeros(n, dtype=int))
        return CoincidenceProblem(data, self.n_components or everything.shape[1])

    def _fit_class(
        self, everything: NDArray, labels: NDArray, c: int, init: str, rng: np.random.Generator
    ) -> "_ClassFit":
        problem = self._problem(everything, labels, c)
        outcome = run(
            problem.solver(self.solver),
            problem.pack(latent_start(init, problem.data, problem.n_components, rng)),
            max_iter=self.max_iter,
            tol=self.tol,
            name=f"CoincidenceClassifier, class {self.classes_[c]}",
            verbose=self.verbose,
        )
        latent = problem.without_null_space(problem.unpack(outcome.parameters))
        interrupted = outcome.ending.reason is Reason.INTERRUPTED
        value = outcome.objective * len(labels)
        return _ClassFit(latent, value, max(1, outcome.n_iter), interrupted)

    def _start_of(
        self, everything: NDArray, labels: NDArray, c: int, init: str, rng: np.random.Generator
    ) -> "_ClassFit":
        n, some = len(labels), slice(None, None, -(-len(labels) // _ROWS_OF_A_START))
        few = np.vstack([everything[:n][some], everything[n:]])
        problem = self._problem(few, labels[some], c)
        start = latent_start(init, problem.data, problem.n_components, rng)
        latent = problem.calibrated(problem.without_null_space(start))
        value = log_likelihood(problem.data, latent) * n / len(problem.data)
        return _ClassFit(latent, value, 1, True)

    def _memory_needs(self, method: str, shape: tuple[int, int], dtype: np.dtype) -> list[Need]:
        """What a method needs in memory for rows of a shape."""
        return needs_of_fit(*shape)

    def _check_parameters(self, n_features: int) -> None:
        if self.n_components is not None:
            check_count("n_components", self.n_components, 1, n_features, " (number of features)")
        check_choice("solver", self.solver, SOLVERS)
        check_choice("init", self.init, STARTS)
        check_count("max_iter", self.max_iter, 1)
        check_nonnegative("tol", self.tol)

    score = scores_rows(ClassifierMixin.score)

    @answers_in_blocks
    @answers_in_kind
    @on_own_threads
    def transform(self, X: ArrayLike) -> NDArray:
        """Distance of each point to the mean of each class, in the metric of that class.

        The distance is |W_c (x - μ_c)| / √(1 + 2σ_c²). Half of its square, plus a constant of the
        class, is the negative logarithm of the probability that the point coincides with the mean.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points to transform.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Distances.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from vicinal import CoincidenceClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> distances = CoincidenceClassifier().fit(X, y).transform(X)
        >>> distances.shape
        (150, 3)
        >>> bool(distances[y == 0, 0].mean() < distances[y == 1, 0].mean())
        True
        """
        return np.sqrt(self._squared(self._checked(X)) / (1.0 + 2.0 * self.sigma2_))

    @answers_in_kind
    @on_own_threads
    def pair_probability(self, pairs: Any, X: ArrayLike | None = None) -> NDArray:
        """Probability that the two points of each pair belong to the same class.

        The probability is Σ_c P(c | x) P(c | x'), with the class probabilities of `predict_proba`,
        for points drawn independently.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features), or of int, shape (n_pairs, 2)
            Two points per pair, or the row numbers of two rows of `X`.
        X : array-like of shape (n_samples, n_features), optional
            The points, if `pairs` holds row numbers.

        Returns
        -------
        ndarray of shape (n_pairs,)
            Probabilities.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from vicinal import CoincidenceClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = CoincidenceClassifier().fit(X, y)
        >>> same, different = model.pair_probability([[0, 1], [0, 100]], X)
        >>> bool(same > 0.9 and different < 0.1)
        True
        """
        check_is_fitted(self)
        points, positions = split_pairs(pairs, X, self.n_features_in_)
        shares = np.exp(log_shares(self._log_coincidence(points), axis=1))
        first, second = shares[positions[:, 0]], shares[positions[:, 1]]
        return np.minimum(np.einsum("nc,nc->n", first, second), 1.0)

    def _checked(self, X: ArrayLike) -> NDArray:
        check_is_fitted(self)
        return validate_data(self, X, dtype=(np.float64, np.float32), reset=False)

    @on_own_threads
    def _squared(self, points: NDArray) -> NDArray:
        """|W_c (x - μ_c)|², shape (n, n_classes)."""
        for W in self.components_:
            check_projection(points, W, squares=True)
        return np.column_stack(
            [
                np.square(times(points - mean, W.T)).sum(axis=1)
                for mean, W in zip(self.means_, self.components_, strict=True)
            ]
        )

    def _log_coincidence(self, points: NDArray) -> NDArray:
        """log P(y_c = 1 | x), shape (n, n_classes)."""
        squared, p = self._squared(points), self.components_.shape[1]
        return -exponents(squared, p, self.sigma2_, np.ones(1))

    @property
    def _n_features_out(self) -> int:
        """Number of output features, for get_feature_names_out."""
        return len(self.classes_)

    @answers_in_blocks
    @answers_in_kind
    def predict_log_proba(self, X: ArrayLike) -> NDArray:
        """Logarithm of `predict_proba`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points to classify.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Log-probabilities, with columns in the order of `classes_`.
        """
        return log_shares(self._log_coincidence(self._checked(X)), axis=1)

    @answers_in_blocks
    @answers_in_kind
    def predict_proba(self, X: ArrayLike) -> NDArray:
        """Class probabilities: of coinciding with each class mean, divided by their sum.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points to classify.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, with columns in the order of `classes_`.
        """
        return np.exp(self.predict_log_proba(X))

    @answers_in_blocks
    @answers_in_kind
    def predict(self, X: ArrayLike) -> NDArray:
        """Predict the class whose mean each point most probably coincides with.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points to classify.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted class labels.
        """
        most = self._log_coincidence(self._checked(X)).argmax(axis=1)
        return self.classes_[most]


@dataclass(frozen=True)
class _ClassFit:
    """What was learned about a class."""

    latent: LatentMap
    log_likelihood: float
    n_iter: int
    interrupted: bool


def _center(points: Array) -> NDArray:
    """The mean of all rows."""
    if not is_chunked(points):
        return np.asarray(points.mean(axis=0, dtype=np.float64))
    return summed_over(_total, points) / len(points)


def _total(block: NDArray) -> NDArray:
    return np.asarray(block.sum(axis=0, dtype=np.float64))


def _means(points: Array, center: NDArray, labels: NDArray, n_classes: int) -> NDArray:
    """Means of the classes, less that of all, a block of rows at a time."""
    return moments(Features(points, center, 1.0), labels, n_classes).means
