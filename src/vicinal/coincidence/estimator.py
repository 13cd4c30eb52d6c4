"""LatentCoincidence: the estimator."""

import os
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from vicinal.coincidence.equations import LatentMap, exponents, log_likelihood
from vicinal.coincidence.fits import Begun, LabelsFit, Learned, Listen, Settings
from vicinal.coincidence.given import GivenPairs, PairsFit
from vicinal.coincidence.learning import SOLVERS
from vicinal.coincidence.memory import needs_of_fit, needs_of_pairs
from vicinal.coincidence.neighbors import LabeledPoints
from vicinal.coincidence.pair_classifier import PairClassifierMixin, even_distance
from vicinal.coincidence.sample import SamplesRows
from vicinal.coincidence.scales import LocalScales
from vicinal.coincidence.starts import check_init
from vicinal.coincidence.ways import Task
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
from vicinal.inputs.tensors import answers_in_kind
from vicinal.inputs.units import check_units
from vicinal.metric import LinearMapMixin
from vicinal.neighborhood import times
from vicinal.neighborhood.arrays import Array
from vicinal.neighborhood.threads import on_own_threads
from vicinal.representation import RepresentationMixin
from vicinal.rows.memory import Need, check_memory
from vicinal.rows.methods import learns_from_rows
from vicinal.state import SavedStateMixin

__all__ = ["LatentCoincidence"]

ENGINES = ("auto", "dask")


class LatentCoincidence(
    SamplesRows,
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
    n_components : int in [1, n_features], optional
        Dimension of the map. None: the number of features, or from 1000 features on
        that of directions in which the rows differ, where fewer.
    pairs : {"auto", "impostors", "all"}, default="auto"
        What labels make of points. Coincident pairs: a point and its
        `n_targets` nearest of the same class. Others: a point and those of other
        classes nearer than the last of these, where a point without any is left
        out; or ("all") a point and the `n_targets` nearest of other classes. Where
        no point has an impostor all pairs are learned from, with a warning.
        Nearest is meant in the coordinates of `init`. "auto": whichever labels rows
        held back better, "all" without such rows.
    n_targets : int in [1, inf), default=3
        Nearest points of its class that a point is to coincide with.
    scale : {"auto", "shared", "local"}, default="auto"
        Whether all pairs are measured by one length, or those of every point by
        its own: where some regions are denser than others. "auto": whichever labels
        rows held back better, "shared" without such rows and for pairs.
    init : {"auto", "rca", "lda", "scaled", "pca", "identity", "random"}, array or tuple, \
            default="auto"
        Map to start from, and with it the coordinates that are learned in. "rca":
        white within classes (their covariance shrunk where there are few rows for
        the features), directions in which the means of classes differ most first;
        "lda": these directions alone; "scaled": columns of standard deviation 1,
        and their principal components where there are fewer components; "pca" and
        "identity": the columns as they are; "random": a Gaussian map of these. Or a map of shape
        (n_components, n_features), or a map and σ². "auto": "identity" (or "pca"),
        "scaled", "rca" or "lda", whichever labels rows held back best, with
        or without further learning; without such rows "rca"; for pairs "scaled".
    solver : {"auto", "lbfgs", "em", "em-endpoints"}, default="auto"
        "em" and "em-endpoints" (as in the paper) need many more updates, and
        their small steps can be better to stop early at. "auto": "lbfgs"; with
        rows held back and a shared scale also "em", whichever labels them better.
    max_iter : int in [1, inf), default=1000
        Largest number of updates.
    tol : float in [0, inf), default=1e-8
        The fit has converged when an update gains at most this much mean
        log-likelihood, or moves the parameters by at most this share of their
        norm.
    early_stopping : bool or "auto", default="auto"
        Hold rows back, see which start, which way to learn from it and how many
        updates let 5 nearest neighbors label them best, and do the same with all
        rows: the likeliest map is seldom the best for that. Where no update
        helps, the start itself is kept. For pairs: hold pairs back, see after how many
        updates they are likeliest, and make as many with all pairs. "auto": where
        labels are given, not for pairs.
    validation_fraction : float in (0, 1), default=0.2
        Share of the rows, or pairs, held back. Rows are held back in turn, up to five
        times, until there are 1000; of more than 5000 rows some are tried only.
    engine : {"auto", "dask"}, default="auto"
        Who looks for neighbors, which make the pairs of labels. "auto": this machine; for an
        array of Dask, of which no more than the rows that are learned from come here, the
        workers of the cluster whose client is open. "dask" (extra `dask`): they look in any
        case, where that takes seconds. Updates are made here; pairs do not depend on it.
    checkpoint : path-like, optional
        File in which `fit` writes down, every few seconds, what it has found so far. A fit
        that is killed, or interrupted, and called again with the same data and parameters goes
        on from there and learns the same model, to the bit; called after its end it
        returns at once. The checkpoint of another fit is refused. See
        ``docs/checkpoints.md``.
    memory_limit : int, float or str, optional
        Bytes, or words as "2GB", that `fit` and `fit_pairs` may take beside `X` itself:
        what would need more is refused before any work, with what to change
        (``docs/scale.md``). How many pairs a rare class makes is not known before, and
        not counted. Results do not depend on it.
        None: no limit.
    random_state : int, RandomState instance or None, default=None
        For rows held back, samples of large tables and ``init="random"``.
    n_jobs : int, optional
        Number of threads.
    verbose : int, default=0
        1: show a progress line.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The map W.
    sigma2_ : float
        σ², variance of the noise in the coordinates of W; κ is 1, or the geometric
        mean of local scales is. After early stopping, and with local scales, σ² and
        the size of W are the likeliest for the directions found.
    scales_ : ndarray of shape (n_anchors,)
        κ of every point that is the first of a pair. Only with local scales.
    anchors_ : ndarray of shape (n_anchors, n_components)
        Where these points are under the map. Only with local scales.
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
        Share of the rows held back that were labeled right, or mean log-likelihood of
        pairs held back. Only with early stopping.
    classes_ : ndarray
        Only where labels were given.
    n_iter_ : int
    history_ : dict of str to ndarray
        Of the fit to all rows or pairs: "objective" (mean log-likelihood of a pair),
        "step", "time", the start first, and with early stopping "validation", what
        the score was in trials after as many updates (NaN where it was not looked at).
    converged_ : bool
    solver_ : str
        What "auto" came to.
    recipe_ : dict
        How the map was learned: "init", "pairs", "scale", "solver", "n_updates" (0:
        the start is kept), "reason"; of labeled points also "n_rows" and
        "n_anchors", how many were learned from and how many of these have pairs, and
        "tried", all that was tried with its accuracy on rows held back and the score
        that decided, the mean of the accuracy and of the share of right votes.
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

    With local scales the probability of a new pair is that of κ², the median of those of
    the 10 anchors nearest to its first point; σ² and the size of W are then the likeliest
    where every anchor has the scale that the others around it give.

    One unit for all columns changes nothing: a power of two not a bit, another factor
    what rounding and the way of a solver do. The maps of "rca", "lda" and "scaled", and all
    that is learned from them, do not depend on the unit of a single column either, unless
    there are 1000 of these or more, and fewer rows; those of other starts do. By default
    such units matter as far as "pca" or "identity" wins on rows held back.

    More than 100 000 rows are sampled, and of more than 20 000 so many have pairs, with at
    most 30 impostors each: targets and impostors are then the nearest in the sample.

    For classes not seen in training the map can be worse than none: it has learned to
    ignore what did not matter for those it knew.

    Sections of [1]_: the model and its probabilities 2.1, EM 2.2, pairs from labels and
    local scales 3.2. Which function computes what, and what the text has wrong:
    ``docs/equations/latent-coincidence.md``.

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
    >>> model = LatentCoincidence(random_state=0).fit(X, y)
    >>> same, different = model.pair_probability([[X[0], X[1]], [X[0], X[100]]])
    >>> bool(same > different)
    True
    """

    components_: NDArray

    def __init__(
        self,
        n_components: int | None = None,
        *,
        pairs: str = "auto",
        n_targets: int = 3,
        scale: str = "auto",
        init: Any = "auto",
        solver: str = "auto",
        max_iter: int = 1000,
        tol: float = 1e-8,
        early_stopping: bool | str = "auto",
        validation_fraction: float = 0.2,
        engine: str = "auto",
        checkpoint: str | os.PathLike[str] | None = None,
        memory_limit: float | str | None = None,
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
        self.engine = engine
        self.checkpoint = checkpoint
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    @learns_from_rows
    @answers_in_kind
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
        points, targets = self._labeled(X, y)
        self._check_parameters(points.shape[1])
        self._forget("validation_score_", "classes_", "scales_", "anchors_")
        classes, labels = check_classes(targets)
        with self._checkpointed("fit", X=points, y=targets):
            self._learn_labels(points, targets, labels)
        self.classes_ = classes
        return self

    def _learn_labels(self, points: Array, targets: NDArray, labels: NDArray) -> None:
        """All of `fit` that takes long."""
        rng = self._generator()
        known, labels = self._known(points, labels, rng)
        table = self._table(known)
        fit = LabelsFit(LabeledPoints(table.X, labels), self._task(table, rng), *self._rest(rng))
        self._say_what_is_left_out(len(known), len(points))
        learned, self.recipe_ = fit.learn(self._listeners(points, targets, table))
        self._take(learned, table)

    @with_callbacks
    @answers_in_kind
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
        # Names of columns are those of X itself.
        points = validate_data(self, points if X is None else X, dtype=(np.float64, np.float32))
        needs = needs_of_pairs(len(points), points.shape[1], len(positions))
        check_memory("LatentCoincidence.fit_pairs", self.memory_limit, needs)
        check_units(points, name="pairs" if X is None else "X")
        self._check_parameters(points.shape[1])
        self._forget("validation_score_", "classes_", "scales_", "anchors_")
        coincide = check_pair_labels(y, len(positions))
        owners = positions[:, 0]
        if X is None and self.scale == "local":  # the same point may come many times
            owners = np.unique(points[owners], axis=0, return_inverse=True)[1].ravel()
        table = self._table(points)
        given = GivenPairs(table.X, positions, coincide, owners)
        with self._checkpointed("fit_pairs", X=points, pairs=positions, y=coincide):
            rng = self._generator()
            fit = PairsFit(given, self._task(table, rng), *self._rest(rng))
            learned, self.recipe_ = fit.learn(self._listeners(points, None, table))
            self._take(learned, table)
        return self

    def _rest(self, rng: np.random.Generator) -> tuple[Settings, np.random.Generator]:
        names = [field.name for field in fields(Settings)]
        return Settings(**self._parameters(*names)), rng

    def _table(self, points: NDArray) -> "_Table":
        """Points less their mean, in the span of the rows where these are few."""
        center = points.mean(axis=0, dtype=np.float64)
        centered = points - center  # in double precision: differences of large numbers lose digits
        basis = span_of(centered)
        if basis is not None:
            centered = times(centered, basis.T)
            check_components(self.n_components, *centered.shape)
        check_width(centered.shape[1], "LatentCoincidence needs")
        return _Table(centered, center, basis, points.dtype)

    def _task(self, table: "_Table", rng: np.random.Generator) -> Task:
        n_components = self.n_components or table.X.shape[1]
        return Task(n_components, self.n_targets, table.basis, int(rng.integers(2**31)))

    def _listeners(self, X: Array, y: NDArray | None, table: "_Table") -> Listen:
        """From a fit that is about to begin to scikit-learn's callbacks."""

        def listen(begun: Begun) -> ScikitLearnCallbacks:
            def fitted(parameters: NDArray) -> dict[str, Any]:
                return table.attributes(begun, begun.finished(parameters))

            return ScikitLearnCallbacks(self, self.max_iter, X, y, fitted)

        return listen

    def _take(self, learned: Learned, table: "_Table") -> None:
        """Keep what a fit found."""
        begun, outcome = learned.begun, learned.outcome
        problem, data = begun.problem, begun.problem.data
        latent = begun.finished(outcome.parameters)
        for name, attribute in table.attributes(begun, latent).items():
            setattr(self, name, attribute)
        if learned.validation_score is not None:
            self.validation_score_ = learned.validation_score
        self.solver_, self.n_iter_ = learned.solver, max(1, outcome.n_iter)
        self.history_, self.converged_ = outcome.history, outcome.converged
        self.base_rate_, self.n_pairs_ = float(data.coincide.mean()), len(data)
        self.log_likelihood_, self.is_global_optimum_ = outcome.objective * len(data), None
        if not problem.local:
            self.log_likelihood_ = log_likelihood(data, latent)
            self.is_global_optimum_ = problem.is_global_optimum(latent)

    @answers_in_kind
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
        kappa2 = self._kappa2(pairs, X)
        q = exponents(squared, len(self.components_), self.sigma2_, kappa2)
        if base_rate is None:
            return np.exp(-q)
        rate = check_share("base_rate", base_rate)
        # Odds times the change of the prior odds: log odds = -q - log(1 - exp(-q)).
        log_odds = -q - np.log(np.maximum(-np.expm1(-q), np.finfo(float).tiny))
        return expit(log_odds + logit(rate) - logit(self.base_rate_))

    def _kappa2(self, pairs: Any, X: ArrayLike | None) -> NDArray:
        """κ² of each pair, by the anchors around its first point; 1 where all share it."""
        if not hasattr(self, "scales_"):
            return np.ones(1)
        points, positions = split_pairs(pairs, X, self.components_.shape[1])
        Z = times(points[positions[:, 0]], self.components_.T)
        return LocalScales(self.anchors_, np.square(self.scales_)).at(Z)

    def _memory_needs(self, method: str, shape: tuple[int, int], dtype: np.dtype) -> list[Need]:
        """What a method needs in memory for rows of a shape."""
        return needs_of_fit(*shape, self.n_targets)

    def _check_parameters(self, n_features: int) -> None:
        if self.n_components is not None:
            check_count("n_components", self.n_components, 1, n_features, " (number of features)")
        check_choice("pairs", self.pairs, ("auto", "impostors", "all"))
        check_count("n_targets", self.n_targets, 1)
        check_choice("scale", self.scale, ("auto", "shared", "local"))
        check_init(self.init)
        check_choice("solver", self.solver, ("auto", *SOLVERS))
        check_choice("engine", self.engine, ENGINES)
        check_count("max_iter", self.max_iter, 1)
        check_nonnegative("tol", self.tol)
        check_flag("early_stopping", self.early_stopping, ("auto",))
        check_share("validation_fraction", self.validation_fraction)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


@dataclass(frozen=True)
class _Table:
    """Points to learn from.

    Attributes
    ----------
    X : ndarray of float64, shape (n, r)
        Around 0.
    center : ndarray of shape (n_features,)
        Their mean as they were given.
    basis : ndarray of shape (r, n_features), optional
        What they are coordinates along; None: the columns.
    dtype : dtype
        As they were given.
    """

    X: NDArray
    center: NDArray
    basis: NDArray | None
    dtype: np.dtype

    def attributes(self, begun: Begun, latent: LatentMap) -> dict[str, Any]:
        """All that transform and the pair methods need."""
        W = begun.frame.outward(latent.W)
        W = W if self.basis is None else W @ self.basis
        found = {
            "components_": W.astype(self.dtype),
            "sigma2_": latent.sigma2,
            "threshold_": even_distance(len(W), latent.sigma2),
            "n_features_in_": len(self.center),
        }
        if begun.problem.local:
            anchors = begun.problem.data.X[begun.problem.first_of_anchors]
            found["anchors_"] = times(anchors, latent.W.T) + self.center @ W.T
            found["scales_"] = np.sqrt(latent.kappa2)
        return found
