"""LocalComponents: the estimator."""

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from vicinal.fitting import Outcome
from vicinal.fitting.callbacks import CallbackSupport, with_callbacks
from vicinal.fitting.support import FitSupport
from vicinal.inputs.checks import check_count, check_seed, check_weights
from vicinal.inputs.points import WeightedPoints
from vicinal.inputs.span import MOST_COLUMNS, check_width
from vicinal.inputs.tensors import answers_in_kind
from vicinal.inputs.units import check_projection, check_units
from vicinal.local_components.attributes import (
    MATRICES,
    DensityMapMixin,
    attributes_of,
    part_probabilities,
)
from vicinal.local_components.checks import (
    check_columns,
    check_parameters,
    check_penalty,
    check_streaming,
    check_total,
)
from vicinal.local_components.decision import Decision
from vicinal.local_components.density import Density, ParzenDensity
from vicinal.local_components.fit import fit_shared
from vicinal.local_components.given import is_given, matrix_width
from vicinal.local_components.given_fit import fit_given
from vicinal.local_components.learning import Penalty
from vicinal.local_components.memory import needs_of_fit, needs_of_stream
from vicinal.local_components.mixture.fit import fit_mixture
from vicinal.local_components.modes import ModesMixin
from vicinal.local_components.outliers import DensityOutlierMixin, offset_of
from vicinal.local_components.per_point import PerPointDensity
from vicinal.local_components.plan import Plan, mean_leave_one_out, plain_penalty
from vicinal.local_components.stream import Stream
from vicinal.neighborhood import Engine, Workload, choose_engine, engine_of_a_fit
from vicinal.neighborhood.arrays import is_chunked
from vicinal.neighborhood.threads import on_own_threads
from vicinal.representation import RepresentationMixin
from vicinal.rows.cluster import ends_of, rows_there, some_there
from vicinal.rows.memory import Need
from vicinal.rows.methods import answers_in_blocks, learns_from_rows
from vicinal.state import SavedStateMixin

__all__ = ["LocalComponents"]

# Rows per update of partial_fit unless told otherwise, and points whose leave-one-out likelihood
# is looked at after each call.
STREAM_BATCH, STREAM_LEFT_OUT = 100, 100


class LocalComponents(
    CallbackSupport,
    ModesMixin,
    FitSupport,
    DensityOutlierMixin,
    DensityMapMixin,
    RepresentationMixin,
    SavedStateMixin,
    BaseEstimator,
):
    """Local component analysis: the metric in which data are locally round, and a density.

    A Parzen density whose kernel covariance is learned by maximum leave-one-out
    likelihood: no bandwidth to choose, and distances in its metric ignore what
    varies between close neighbors. Directions that look Gaussian can be modeled
    by a Gaussian instead, which keeps the density sound in high dimension.

    Parameters
    ----------
    covariance : {"full", "diag", "spherical", "low_rank", "local", "auto", "scott", \
            "silverman", "isj"}, float or array-like, default="full"
        Shape of the kernels. "low_rank": of rank `rank` plus a multiple of the
        identity. "local": one for every point (Manifold Parzen windows), like that
        of the points around it; where clusters differ in shape. "auto": the one of
        "full", "diag", "spherical" and, up to 50 features, "local" under which rows
        held back are likeliest (`recipe_`); several times as long.

        Or their covariance (of Student's kernels, the scale matrix), which is kept as it
        is, so that nothing is learned or chosen: a number, the variance along every
        feature; an array of shape (n_features,), one variance for each; or one of
        shape (n_features, n_features). A rule makes it of the rows: "scott" and "silverman"
        are those of ``scipy.stats.gaussian_kde``, a share of the covariance of the data; "isj",
        the improved rule of Sheather and Jones [4]_, sees clusters, and is for one feature.
    kernel : {"gaussian", "student"}, default="gaussian"
        "student": kernels are Student's t of `degrees_of_freedom`, mixtures of
        Gaussians of many widths: far points stay likely, and a few of them do not
        widen the others' kernels. EM is exact, one more weight per pair. Not with a
        Gaussian part, nor with ``covariance="local"``.
    degrees_of_freedom : float in [0.1, 1e6], default=3.0
        ν of ``kernel="student"``: the smaller, the heavier its tails.
    gaussian : {"em", "search", "auto"}, optional
        Model some directions, which need not be features, by a Gaussian. "em":
        those in which EM finds kernels as wide as the data. "search": also look
        for more of them, as long as the likelihood gains. "auto": "search" or none,
        whichever makes rows held back likelier. Needs ``covariance="full"`` or "auto".
    n_mixture : int in [1, inf) or "auto", default=1
        Number of parts, each a density of its own shape: its points are the rows,
        each as far as it belongs to the part, and directions that look Gaussian are
        searched for. "auto": the number under which rows held back are likeliest,
        from 1 to 25. Parts of few rows lean on the others, and a part may be all
        Gaussian. Best for densities; `transform` then has the covariance that parts
        have in the mean. Above 20 000 rows, a sample of so many is fitted and kept.
        Needs ``covariance="full"`` and Gaussian kernels.
    rank : int in [1, n_features], optional
        For ``covariance="low_rank"``. None: half the number of features.
    smoothing : int in [1, inf) or "auto", default="auto"
        For ``covariance="local"``: number of nearest neighbors, in the metric of
        the shared covariance, whose covariance a kernel begins with and is held
        to. "auto": the best of 10 to 320 for the folds of `regularization`.
    regularization : float in [0, inf), tuple (ν_G, ν_L) or "auto", default="auto"
        ν of the penalty (ν/2) tr Σ⁻¹ on the mean negative log-likelihood: a
        variance that is added to the kernels in every direction. 0.0: the paper's
        model. With a Gaussian part there may be two, for the global and the local
        covariance; with ``covariance="local"`` it is that of the shared one. "auto":
        a share of the variance of each column, so that units do not matter, under
        which rows of up to five folds (of 5000 rows, if there are more) are likeliest;
        or nothing but that variance, if learning makes them less likely. With a
        covariance that is given or by a rule, nothing is added or chosen. About ten
        times as long as without a choice, three to four times with thousands of rows.
        It takes any rows (see Notes).
    contamination : float in (0, 0.5] or "auto", default="auto"
        What `predict` calls an outlier. A number from 0 to 0.5: that share of the
        training rows, which are likelier than new ones of their kind because
        each has a kernel. "auto": rows less likely than one in twenty of the
        training rows is under all others.
    batch_size : int in [2, inf), optional
        Number of points whose neighborhoods an update looks at: stochastic EM.
        None: all.
    n_neighbors : int in [2, inf), optional
        Number of points, drawn anew for every update, among which their
        neighbors are. None: all.
    discount : float in [0, 1), default=0.6
        For stochastic EM and `partial_fit`: what is left of an old covariance
        after a pass through the data.
    accelerate : bool, default=True
        Extrapolate pairs of EM steps (SQUAREM); the likelihood never falls. Not
        done beside a Gaussian part, where it could change what is found, nor
        for mixtures, local covariances, early stopping and stochastic EM.
    max_iter : int in [1, inf), optional
        Largest number of updates. None: 500, or as many as make 20 passes over
        the data in stochastic EM. With ``covariance="local"`` that of the local
        ones; the shared one before them may take 500.
    tol : float in [0, inf), default=1e-8
        The fit has converged when an update gains at most this share of the mean
        log-likelihood (where the data as a whole are white, or of 1 if that is more),
        or moves the covariance by at most this share of its norm. Stochastic EM makes
        all its updates.
    early_stopping : bool, default=False
        Hold rows back and keep the update under which they are likeliest; in
        high dimension that may be an early one. They are centers of kernels in
        the end (not with ``covariance="local"``).
    validation_fraction : float in (0, 1), default=0.1
        Share of the rows held back by `early_stopping`; at most 5000.
    warm_start : bool, default=False
        Start from the covariance of the previous fit, and keep the penalty that was chosen
        there (and the Gaussian directions, without another search). Not for mixtures,
        nor with ``covariance="local"`` or "auto".
    reservoir_size : int in [2, inf), default=10000
        Points that `partial_fit` keeps as centers of kernels.
    engine : {"auto", "blocked", "fused", "tree", "adaptive", "cuda", "dask"}, default="auto"
        How sums over pairs of points are computed. "tree" looks at few pairs where
        kernels are narrow beside the data, in up to about five dimensions;
        "adaptive" finds out in every update whether that pays, else it is "fused".
        "cuda" computes on a GPU (extra ``vicinal[gpu]``), and is what "auto" chooses for much
        work where there is one; asked for by name, EM is exact up to 200 000 rows instead of
        20 000. "dask" computes on the workers of a cluster (extra ``vicinal[dask]``) whose client
        is open, and is what "auto" chooses for an array of Dask there (``docs/scale.md``).
    tolerance : float in [0, 1), default=0.0
        Relative error that "tree" may make in every density. 0: no more than
        rounding. Other engines are exact.
    precision : {"auto", "float64", "float32", "tf32"}, default="auto"
        Of sums over pairs by ``engine="cuda"``: "auto" is single precision for NumPy's arrays and
        that of tensors; "tf32" is faster, with products of 11 bits. Other engines compute in double
        precision, whatever X is in, and refuse any other; ``engine="auto"`` takes a GPU for it.
    checkpoint : path-like, optional
        File in which `fit` writes down, every few seconds, what it has found so far. A fit
        that is killed, or interrupted, and called again with the same data and parameters goes
        on from there and learns the same model, to the bit; called after its end it
        returns at once. The checkpoint of another fit is refused. See
        ``docs/checkpoints.md``. `partial_fit` writes none: save the model between calls.
    memory_limit : int, float or str, optional
        Bytes, or words as "2GB", that `fit` and `partial_fit` may take beside `X` itself: what
        would need more is refused before any work, with what to change. `fit` puts a kernel at
        every row and holds them all, unless there is a mixture (`n_mixture`), which keeps a sample;
        `partial_fit` learns from rows that are larger than memory (``docs/scale.md``). Results
        do not depend on it. None: no limit.
    random_state : int, RandomState instance or None, default=None
        For `sample`, rows held back, stochastic EM and streams.
    n_jobs : int, optional
        Number of threads. None: all cores. Results do not depend on it.
    verbose : int, default=0
        1: show a progress line.

    Attributes
    ----------
    covariance_ : ndarray of shape (n_features, n_features)
        Σ, of the kernels; in Gaussian directions, of the data. With
        ``covariance="local"`` the shared one, with ``kernel="student"`` their scale
        matrix. With "diag", "spherical", "low_rank" or variances that are given it is made
        whenever it is asked for, as is `components_`: nothing else needs a matrix of all pairs
        of features (but for "low_rank" where there are more rows than features, and in
        `partial_fit`, and for `modes`).
    components_ : ndarray of shape (n_local, n_features)
        Map to coordinates in which the kernels are round. Without a Gaussian
        part each coordinate is as close as can be to the feature it comes from,
        whatever its units (ZCA-cor [3]_; with "low_rank", where all have one unit, ZCA);
        else Bᵀ_L of the local directions, the narrowest first.
    gaussian_components_ : ndarray of shape (n_gaussian_, n_features)
        Bᵀ_G: map to coordinates in which the data are a standard Gaussian.
    n_gaussian_ : int
    mean_ : ndarray of shape (n_features,)
        Of the data, and of the Gaussian part.
    n_mixture_ : int
        Number of parts.
    mixture_weights_ : ndarray of shape (n_mixture_,)
        Share of each part in the density.
    mixture_means_ : ndarray of shape (n_mixture_, n_features)
        Of the parts, and of their Gaussian directions.
    mixture_covariances_ : ndarray of shape (n_mixture_, n_features, n_features)
        Of the kernels of each part; in its Gaussian directions, of the part.
        `covariance_` is their mean.
    mixture_n_gaussian_ : ndarray of shape (n_mixture_,)
        Number of Gaussian directions of each part. `n_gaussian_`, of directions that
        are Gaussian in the metric of `transform`, is 0 where there are several.
    local_covariances_ : ndarray of shape (n_samples, n_features, n_features)
        Only with ``covariance="local"``.
    smoothing_ : int
        Neighbors that local covariances are held to. Only with ``covariance="local"``.
    regularization_ : tuple of float
        (ν_G, ν_L); with ``regularization="auto"`` as shares of the variance of a column.
        Of a mixture, means over the features, which may have them in units of their
        own.
    recipe_ : dict
        "covariance" ("given" if it was), "gaussian" and "regularization" (ν_L) that were
        fitted. Not of a mixture.
    path_ : dict of str to ndarray
        "regularization": what was tried for ν_L, as a share; "score": mean
        log-likelihood of the rows held back. Only where something was chosen.
    loo_log_likelihood_ : float
        Mean leave-one-out log-likelihood of the training points; of 2000 of them
        after stochastic EM, and among 20 000 where there are more; of 100 that are kept
        after `partial_fit`. With ``regularization="auto"``, or where nothing is learned, a
        row is left out with all of its copies.
    validation_score_ : float
        Mean log-likelihood of the rows held back. Only with `early_stopping`.
    offset_ : float
        Log-density below which a row is an outlier.
    n_iter_ : int
    history_ : dict of str to ndarray
        "objective" (penalized mean log-likelihood), "step" (of the covariance
        where the data as a whole are white) and "time", the start first.
    converged_ : bool
    engine_ : str
    engine_reason_ : str
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only if `X` has feature names that are all strings.

    See Also
    --------
    ModeClustering : Clusters are modes of the density.
    vicinal.local_components.log_density : A Parzen density for a given covariance.
    sklearn.neighbors.KernelDensity : One bandwidth for all directions, chosen by the user.

    Notes
    -----
    Without a penalty the likelihood has no upper bound for n ≤ 2d - 2 points in d
    dimensions, and where in some direction every point has a twin (a binary feature,
    repeated rows): with ``regularization=0.0`` such a fit stops with an error.
    Student's kernels forgive points without a twin: a share 1 / (ν + d) of them leaves
    the likelihood without a bound still, as in data that were rounded.

    With ``regularization="auto"`` any rows have a density, and a warning says what was
    done. Rows that are equal are held back and left out together. Where nearly all
    values of a column repeat, δ apart or more, kernels have a variance there of δ²/12
    at least (or of a tenth of the column's, if that is less). In a constant column they
    have a standard deviation of 0.1. Where columns are linearly dependent, or n ≤ 2d - 2,
    they have one of at least 0.01 times that of each column, unless they are diagonal.
    One or two different rows have kernels as wide as their columns. Rules do the same
    for constant and for dependent columns.

    Above 20 000 rows, unless `batch_size` or `n_neighbors` is set, EM learns from a sample
    of 20 000 (of 10 000 if there are more than 20 features); then stochastic EM goes on
    among 100 000 rows, if that gains. All rows are centers of kernels.

    One step of EM is the method of Manifold Parzen windows.

    At least one direction is local, even where all look Gaussian.

    Tensors (of torch, under ``sklearn.set_config(array_api_dispatch=True)``) are answered
    with tensors on their device. Fitted attributes are NumPy's arrays.

    `sample_weight` counts copies: weight k is the same as k rows. Only rules for the
    covariance count rows as SciPy does, by their effective number (Σw)² / Σw².

    Equations of [1]_: EM (3) and (4), in batches (7); Gaussian directions by
    proposition 1. Which function computes which, and what the text has wrong:
    ``docs/equations/local-components.md``.

    References
    ----------
    .. [1] N. Le Roux, F. Bach. "Local component analysis". ICLR 2013.
    .. [2] P. Vincent, Y. Bengio. "Manifold Parzen windows". NIPS 2002.
    .. [3] A. Kessy, A. Lewin, K. Strimmer. "Optimal whitening and decorrelation".
       The American Statistician 2018.
    .. [4] Z. Botev, J. Grotowski, D. Kroese. "Kernel density estimation via diffusion".
       Annals of Statistics 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import LocalComponents
    >>> X, _ = load_iris(return_X_y=True)
    >>> model = LocalComponents().fit(X)
    >>> print(f"{model.loo_log_likelihood_:.4f}")
    -1.6799
    >>> model.score_samples(X[:2]).shape
    (2,)

    With one direction Gaussian the flowers are likelier:

    >>> model = LocalComponents(gaussian="search").fit(X)
    >>> print(f"{model.loo_log_likelihood_:.4f}", model.n_gaussian_)
    -1.5696 1

    Among widths, rules and shapes a grid search finds the one that makes rows held back
    likeliest, by `score`:

    >>> from sklearn.model_selection import GridSearchCV, KFold
    >>> choices = {"covariance": [0.01, 0.1, 1.0, "scott", "diag"]}
    >>> folds = KFold(3, shuffle=True, random_state=0)
    >>> GridSearchCV(LocalComponents(), choices, cv=folds).fit(X).best_params_
    {'covariance': 'diag'}

    Spectral clustering in the learned metric takes two lines; its affinities are the kernels:

    >>> from sklearn.cluster import SpectralClustering
    >>> Z = LocalComponents(gaussian="search").fit_transform(X)
    >>> labels = SpectralClustering(3, gamma=0.5, random_state=0).fit_predict(Z)
    """

    # With rows of a Dask array workers compute; as centers of kernels they are held here.
    # Rows of a Dask array stay on the workers in a stream; a fit needs all of them.
    _learns_where_rows_are = ("partial_fit",)

    _density: Density
    _penalty: Penalty
    _scatter: NDArray

    def __init__(
        self,
        *,
        covariance: Any = "full",
        kernel: str = "gaussian",
        degrees_of_freedom: float = 3.0,
        gaussian: str | None = None,
        n_mixture: int | str = 1,
        rank: int | None = None,
        smoothing: int | str = "auto",
        regularization: Any = "auto",
        contamination: float | str = "auto",
        batch_size: int | None = None,
        n_neighbors: int | None = None,
        discount: float = 0.6,
        accelerate: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-8,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        warm_start: bool = False,
        reservoir_size: int = 10_000,
        engine: str = "auto",
        tolerance: float = 0.0,
        precision: str = "auto",
        checkpoint: str | os.PathLike[str] | None = None,
        memory_limit: float | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.covariance = covariance
        self.kernel = kernel
        self.degrees_of_freedom = degrees_of_freedom
        self.gaussian = gaussian
        self.n_mixture = n_mixture
        self.rank = rank
        self.smoothing = smoothing
        self.regularization = regularization
        self.contamination = contamination
        self.batch_size = batch_size
        self.n_neighbors = n_neighbors
        self.discount = discount
        self.accelerate = accelerate
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.warm_start = warm_start
        self.reservoir_size = reservoir_size
        self.engine = engine
        self.tolerance = tolerance
        self.precision = precision
        self.checkpoint = checkpoint
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    @learns_from_rows
    @answers_in_kind
    @on_own_threads
    def fit(
        self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> "LocalComponents":
        """Learn the kernel covariance.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : Ignored
            Not used; there for pipelines.
        sample_weight : array-like of shape (n_samples,), optional
            Weight k counts as k copies of the row.

        Returns
        -------
        self : LocalComponents
        """
        is_mixture = self.n_mixture != 1
        is_auto = isinstance(self.regularization, str) and not is_mixture
        may_be_one = is_auto or is_given(self.covariance)
        points = self._checked(X, sample_weight, at_least=1 if may_be_one else 2, reset=True)
        if not may_be_one:
            check_total(points.total)
        fit = fit_mixture if is_mixture else fit_shared
        if not is_mixture and is_given(self.covariance):
            fit = fit_given
        with self._checkpointed("fit", X=points.X, sample_weight=points.weights):
            return fit(self, points, self._generator())

    @available_if(check_streaming)
    @learns_from_rows
    @answers_in_kind
    @on_own_threads
    def partial_fit(
        self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> "LocalComponents":
        """Learn from the next rows of a stream.

        Each batch of new points (of `batch_size`, 100 unless set) is compared
        with itself and with a uniform sample of `reservoir_size` points seen
        before; its covariance is averaged with the old one by `discount`. That
        sample is also where the kernels of the density are. The first call
        begins with the covariance of its rows; after `fit`, with the fitted one. With
        ``regularization="auto"`` the penalty is chosen, and the covariance fitted, anew
        on (at most 5000 of) the points kept whenever the rows seen have doubled.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : Ignored
            Not used.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self : LocalComponents
        """
        is_fitted = hasattr(self, "_density")
        points = self._checked(
            X, sample_weight, at_least=1 if is_fitted else 2, reset=not is_fitted
        )
        if not hasattr(self, "_stream"):
            self._stream = self._new_stream(points, is_fitted=is_fitted)
        stream, size = self._stream, self.batch_size or STREAM_BATCH
        d = points.X.shape[1]
        work = Workload(size, size + self.reservoir_size, d, 1000, stream.form.law)
        engine = self._choose_engine(work)
        stream.learn(points, engine, size)
        density = ParzenDensity(stream.points, stream.mean, stream.shape)
        stale = ("local_covariances_", "smoothing_", "converged_", "path_", "recipe_")
        self._forget("validation_score_", *stale)
        self._adopt(self._fitted_attributes(density))
        self._scatter, self._penalty = stream.learned, stream.penalty
        self.regularization_ = (stream.penalty.global_, stream.penalty.local)
        self.n_iter_ = len(stream.objectives)
        self.history_ = {"objective": np.array(stream.objectives)}
        self.loo_log_likelihood_ = mean_leave_one_out(density, engine, stream.rng, STREAM_LEFT_OUT)
        self._set_offset(stream.rng)
        return self

    def _new_stream(self, points: WeightedPoints, *, is_fitted: bool) -> Stream:
        """What goes on from the fitted model, where there is one."""
        form = Plan.of(self, points, self.covariance, self.gaussian).form
        penalty = None
        if not isinstance(self.regularization, str):
            penalty = plain_penalty(self.regularization)
            check_penalty(self, penalty, points)
            if not is_fitted:
                check_total(points.total)
                check_columns(self, points, penalty)
        stream = Stream(form, penalty, self.discount, self.reservoir_size, self._generator())
        if is_fitted:
            stream.remember(self._density.points, self._scatter, penalty or self._penalty)
        return stream

    @answers_in_blocks
    @answers_in_kind
    @on_own_threads
    def score_samples(self, X: ArrayLike) -> NDArray:
        """Log-density of points; the lower, the more of an outlier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        queries = self._queries(X)
        return self._density.log_density(queries, self._engine_for(queries))

    @answers_in_blocks
    @answers_in_kind
    @on_own_threads
    def part_probabilities(self, X: ArrayLike) -> NDArray:
        """How likely points come from each part of the mixture.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_mixture_)
            Rows sum to one.
        """
        queries = self._queries(X)
        return part_probabilities(self._density, queries, self._engine_for(queries))

    def score(self, X: ArrayLike, y: Any = None) -> float:
        """Mean log-density of points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : Ignored
            Not used.

        Returns
        -------
        float
        """
        return float(self.score_samples(X).mean())

    @on_own_threads
    def sample(
        self, n_samples: int = 1, random_state: int | np.random.RandomState | None = None
    ) -> NDArray:
        """Draw from the density.

        Parameters
        ----------
        n_samples : int, default=1
        random_state : int, RandomState instance or None, default=None
            None: that of the estimator.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        check_count("n_samples", n_samples, 1)
        seed = self.random_state if random_state is None else random_state
        draws = self._density.sample(n_samples, check_seed(seed))
        return draws.astype(self._density.points.X.dtype)

    def _queries(self, X: ArrayLike) -> NDArray:
        """Rows whose density is asked for."""
        check_is_fitted(self)
        queries = validate_data(self, X, dtype=np.float64, reset=False)
        check_projection(queries, self._density.shape.stretches, squares=True)
        return queries

    def _checked(
        self, X: ArrayLike, sample_weight: ArrayLike | None, at_least: int, reset: bool
    ) -> WeightedPoints:
        """Points and weights; rows of weight 0 are as good as absent."""
        if is_chunked(X):
            rows = rows_there(self, X, at_least, reset)
        else:
            dtypes = np.float64, np.float32
            rows = validate_data(self, X, dtype=dtypes, ensure_min_samples=at_least, reset=reset)
        check_parameters(self, rows.shape[1])
        if matrix_width(self, *rows.shape) > MOST_COLUMNS:
            check_width(rows.shape[1], "LocalComponents learns", ", or set covariance='diag'")
        check_units(ends_of(rows))
        weights = check_weights(sample_weight, rows)
        if weights is not None and not weights.all():
            positive = np.flatnonzero(weights)
            rows, weights = some_there(rows, positive), weights[positive]
        return WeightedPoints(rows, weights)

    def _memory_needs(self, method: str, shape: tuple[int, int], dtype: np.dtype) -> list[Need]:
        """What a method needs in memory for rows of a shape."""
        needs = needs_of_fit if method == "fit" else needs_of_stream
        return needs(self, *shape)  # in double precision, whatever the rows are

    def _not_in_files(self) -> tuple[str, ...]:
        """The density has covariances of single kernels, too, in other coordinates."""
        return (*super()._not_in_files(), "local_covariances_")

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        density = state.get("_density")
        if isinstance(density, PerPointDensity) and "local_covariances_" not in state:
            self.local_covariances_ = density.local_covariances

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

    def _engine_for(self, queries: NDArray) -> Engine:
        return self._engine_of(self._density, queries, self._fitted_with)

    def _engine_of(self, density: Density, queries: NDArray, asked: dict[str, Any]) -> Engine:
        n_keys, d = density.points.X.shape
        work = Workload(len(queries), n_keys, d, law=density.shape.law)
        return engine_of_a_fit(asked, work, self.n_jobs)

    def _set_offset(self, rng: np.random.Generator) -> None:
        """The log-density of outliers."""
        self.offset_ = self._offset(self._density, rng)

    def _offset(self, density: Density, rng: np.random.Generator) -> float:
        asked = self._parameters("engine", "tolerance", "precision")
        engine = self._engine_of(density, density.points.X, asked)
        return offset_of(density, self.contamination, engine, rng)

    def _take_decision(self, decision: Decision) -> None:
        """Keep what was settled before the fit."""
        self.regularization_ = (decision.penalty.global_, decision.penalty.local)
        self.recipe_, self._penalty = decision.recipe, decision.penalty
        if decision.path is not None:
            self.path_ = decision.path

    def _take(self, outcome: Outcome, attributes: dict[str, Any]) -> None:
        """Keep what a run found."""
        self.n_iter_, self.history_ = max(1, outcome.n_iter), outcome.history
        self.converged_ = outcome.converged
        self._forget("validation_score_")
        if self.early_stopping:
            self.validation_score_ = outcome.validation
        self._adopt(attributes)

    def _adopt(self, attributes: dict[str, Any]) -> None:
        """Take attributes, and forget matrices of an earlier fit."""
        self._forget(*MATRICES)
        for name, value in attributes.items():
            setattr(self, name, value)

    def _with_offset(self, density: Density, rng: np.random.Generator) -> dict[str, Any]:
        """All that transform, the density and `predict` need."""
        return {**self._fitted_attributes(density), "offset_": self._offset(density, rng)}

    def _fitted_attributes(self, density: Density) -> dict[str, Any]:
        """All that transform and the density need."""
        return {
            **attributes_of(density),
            "_fitted_with": self._parameters("engine", "tolerance", "precision"),
        }
