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
    """Local component analysis: a kernel density, and a metric in which the data are locally round.

    A Parzen (kernel) density whose kernel covariance is learned by maximum leave-one-out
    likelihood, so that there is no bandwidth to choose. The covariance also defines a metric: its
    distances ignore what varies between close neighbors. Directions that look Gaussian can be
    modeled by a Gaussian instead, which keeps the density reliable in high dimension.

    Parameters
    ----------
    covariance : {"full", "diag", "spherical", "low_rank", "local", "auto", "scott", \
            "silverman", "isj"}, float or array-like, default="full"
        Shape of the kernels. "full", "diag" and "spherical": a covariance matrix of that form,
        learned and shared by all kernels; "full" suits densities, "diag" is the cautious choice for
        a metric. "low_rank": a matrix of rank `rank` plus a multiple of the identity. "local": one
        covariance per point (Manifold Parzen windows), close to the covariance of the points around
        it; for clusters that differ in shape. "auto": of "full", "diag", "spherical" and, up to 50
        features, "local", the one with the highest likelihood of held-out rows (see `recipe_`);
        takes several times as long.

        Alternatively, a covariance that is used as it is, so that nothing is learned or chosen (for
        Student kernels, the scale matrix): a number, the variance along every feature; an array of
        shape (n_features,), one variance per feature; or a matrix of shape (n_features,
        n_features). A rule computes it from the rows: "scott" and "silverman" are the rules of
        ``scipy.stats.gaussian_kde``, a share of the covariance of the data; "isj", the improved
        Sheather-Jones rule [4]_, adapts to clusters and is for one feature only.
    kernel : {"gaussian", "student"}, default="gaussian"
        "gaussian": Gaussian kernels. "student": Student's t with `degrees_of_freedom`, a mixture of
        Gaussians of many widths, for data with far outliers: these keep a reasonable likelihood,
        and a few of them do not widen all the other kernels. EM remains exact, with one more weight
        per pair. Cannot be combined with a Gaussian part, nor with ``covariance="local"``.
    degrees_of_freedom : float in [0.1, 1e6], default=3.0
        Degrees of freedom ν of ``kernel="student"``: the smaller, the heavier the tails.
    gaussian : {"em", "search", "auto"}, optional
        Model some directions, not necessarily features, by a Gaussian; helps if only a few of many
        directions have structure. None: no Gaussian part. "em": the directions in which EM finds
        kernels as wide as the data. "search": look for more of them, as long as the likelihood
        increases. "auto": "search" or none, whichever gives held-out rows the higher likelihood.
        Needs ``covariance="full"`` or "auto".
    n_mixture : int in [1, inf) or "auto", default=1
        Number of parts of a mixture. Each part is a density with kernels of its own shape, in which
        each row counts as far as it belongs to the part; Gaussian directions are searched for in
        each part. "auto": the number, from 1 to 25, that gives held-out rows the highest
        likelihood: the best choice for density estimation, and the slowest. Parts with few rows are
        regularized toward the others, and a part may be entirely Gaussian. `transform` uses the
        mean of the covariances of the parts. Above 20 000 rows, the model is fitted to a random
        sample of 20 000 rows and keeps only these. Needs ``covariance="full"`` and Gaussian
        kernels.
    rank : int in [1, n_features], optional
        Rank of ``covariance="low_rank"``. None: half the number of features.
    smoothing : int in [1, inf) or "auto", default="auto"
        Number of nearest neighbors for ``covariance="local"``. The covariance of these neighbors,
        found in the metric of the shared covariance, is where each kernel starts and what it is
        regularized toward. "auto": the best from 10 to 320 on the folds of `regularization`.
    regularization : float in [0, inf), tuple (ν_G, ν_L) or "auto", default="auto"
        Strength ν of the penalty (ν/2) tr Σ⁻¹ on the mean negative log-likelihood, which adds a
        variance to the kernels in every direction. 0.0: no penalty, as in the paper. With a
        Gaussian part, a tuple sets one penalty for the global covariance and one for the local
        covariance; with ``covariance="local"``, the penalty is that of the shared covariance.
        "auto": a share of the variance of each column, so that units do not matter.
        Cross-validation with up to five folds (on 5000 rows, if there are more) chooses the share
        with the highest likelihood, or kernels that consist of this variance alone if learning
        lowers the likelihood. "auto" takes about ten times as long as a fixed value, three to four
        times with thousands of rows, and can fit any rows (see Notes). If the covariance is given
        or computed by a rule, nothing is added or chosen.
    contamination : float in (0, 0.5] or "auto", default="auto"
        Which rows `predict` calls outliers. A number: this share of the training rows. These are
        more likely than new rows of the same kind, because each of them has a kernel. "auto": rows
        whose density is below the 5 % quantile of the training rows, each evaluated without its own
        kernel.
    batch_size : int in [2, inf), optional
        Number of points whose neighborhoods each update uses (stochastic EM). None: all points.
    n_neighbors : int in [2, inf), optional
        Number of points, drawn anew for each update, among which their neighbors are sought
        (stochastic EM). None: all points.
    discount : float in [0, 1), default=0.6
        Weight that remains of an old covariance after one pass through the data, in stochastic EM
        and `partial_fit`.
    accelerate : bool, default=True
        Extrapolate from pairs of EM steps (SQUAREM); the likelihood never decreases. Not used with
        a Gaussian part, where it could change the result, nor for mixtures, local covariances,
        early stopping, and stochastic EM.
    max_iter : int in [1, inf), optional
        Maximum number of updates. None: 500, or in stochastic EM as many as make 20 passes through
        the data. With ``covariance="local"``, the limit applies to the local covariances; the
        shared covariance, fitted first, may take 500.
    tol : float in [0, inf), default=1e-8
        The fit has converged when an update improves the mean log-likelihood (in units in which the
        data as a whole are white) by at most this share of it, or of 1 if that is more; or when it
        changes the covariance by at most this share of its norm. Stochastic EM makes all its
        updates.
    early_stopping : bool, default=False
        Hold out a validation set, and keep the update with the highest likelihood on it; in high
        dimension this may be an early one. The final density has kernels at the held-out rows, too
        (not with ``covariance="local"``).
    validation_fraction : float in (0, 1), default=0.1
        Share of the rows held out by `early_stopping`, at most 5000 rows.
    warm_start : bool, default=False
        Start from the covariance of the previous fit, and keep the penalty chosen there (and the
        Gaussian directions, without another search). Not for mixtures, nor with
        ``covariance="local"`` or "auto".
    reservoir_size : int in [2, inf), default=10000
        Number of points that `partial_fit` keeps as centers of kernels.
    engine : {"auto", "blocked", "fused", "tree", "adaptive", "cuda", "dask"}, default="auto"
        How sums over pairs of points are computed. "tree" evaluates only few pairs if the kernels
        are narrow compared to the data, in up to about five dimensions; "adaptive" checks in every
        update whether that pays off, and otherwise uses "fused". "cuda" computes on a GPU (extra
        ``vicinal[gpu]``); "auto" chooses it for large problems if there is a GPU. If "cuda" is set
        by name, EM is exact up to 200 000 rows instead of 20 000. "dask" computes on the workers of
        a Dask cluster (extra ``vicinal[dask]``) with an open client; "auto" chooses it for Dask
        arrays there (``docs/scale.md``).
    tolerance : float in [0, 1), default=0.0
        Relative error that "tree" may make in each density; the larger, the faster. 0: rounding
        error only. All other engines are exact.
    precision : {"auto", "float64", "float32", "tf32"}, default="auto"
        Precision of the sums over pairs with ``engine="cuda"``. "auto": single precision for NumPy
        arrays; for tensors, their own. "tf32": faster, with products of 11 bits. All other engines
        compute in double precision, whatever the precision of X, and raise an error for any other;
        with ``engine="auto"``, asking for another precision selects the GPU.
    checkpoint : path-like, optional
        File to which `fit` saves its progress every few seconds. If a fit is killed or interrupted,
        calling it again with the same data and parameters resumes it, and the result is the same
        model, bit for bit; after the fit has finished, calling it again returns at once. The
        checkpoint of a different fit raises an error. See ``docs/checkpoints.md``. `partial_fit`
        saves none: save the model between calls.
    memory_limit : int, float or str, optional
        Memory that `fit` and `partial_fit` may use in addition to `X` itself: in bytes, or as a
        string such as "2GB". A call that needs more raises an error before any work is done, and
        says what to change. `fit` holds all rows in memory as kernel centers, except for a mixture
        (`n_mixture`), which keeps a sample; `partial_fit` can learn from rows that do not fit into
        memory (``docs/scale.md``). Results do not depend on the limit. None: no limit.
    random_state : int, RandomState instance or None, default=None
        Seed or generator for `sample`, held-out rows, stochastic EM, and streams.
    n_jobs : int, optional
        Number of threads. None: all cores. Results do not depend on it.
    verbose : int, default=0
        1: show a progress line.

    Attributes
    ----------
    covariance_ : ndarray of shape (n_features, n_features)
        Covariance Σ of the kernels; in Gaussian directions, the covariance of the data. With
        ``covariance="local"``, the shared covariance; with ``kernel="student"``, the scale matrix
        of the kernels. With "diag", "spherical", "low_rank" or given variances, this matrix and
        `components_` are computed on each access: no method but `modes` needs a matrix of
        n_features × n_features ("low_rank" does if there are more rows than features, and in
        `partial_fit`).
    components_ : ndarray of shape (n_local, n_features)
        Map to coordinates in which the kernels are round. Without a Gaussian part, each coordinate
        is as close as possible to its feature, whatever the units (ZCA-cor [3]_; with "low_rank",
        which assumes one unit for all features, ZCA). With a Gaussian part, the map Bᵀ_L of the
        local directions, the narrowest first.
    gaussian_components_ : ndarray of shape (n_gaussian_, n_features)
        Map Bᵀ_G to coordinates in which the data are a standard Gaussian.
    n_gaussian_ : int
        Number of Gaussian directions.
    mean_ : ndarray of shape (n_features,)
        Mean of the data, and of the Gaussian part.
    n_mixture_ : int
        Number of parts.
    mixture_weights_ : ndarray of shape (n_mixture_,)
        Share of each part in the density.
    mixture_means_ : ndarray of shape (n_mixture_, n_features)
        Means of the parts, and of their Gaussian directions.
    mixture_covariances_ : ndarray of shape (n_mixture_, n_features, n_features)
        Covariance of the kernels of each part; in its Gaussian directions, the covariance of the
        part. `covariance_` is the mean of these.
    mixture_n_gaussian_ : ndarray of shape (n_mixture_,)
        Number of Gaussian directions of each part. If there are several parts, `n_gaussian_` is 0:
        it counts directions that are Gaussian in the metric of `transform`.
    local_covariances_ : ndarray of shape (n_samples, n_features, n_features)
        Covariance of the kernel at each point. Only with ``covariance="local"``.
    smoothing_ : int
        Number of neighbors used for the local covariances. Only with ``covariance="local"``.
    regularization_ : tuple of float
        The penalties (ν_G, ν_L); with ``regularization="auto"``, as shares of the variance of a
        column. For a mixture, means over the features, which may have penalties in units of their
        own.
    recipe_ : dict
        The "covariance" ("given" if it was), "gaussian" and "regularization" (ν_L) that were
        fitted. Not for mixtures.
    path_ : dict of str to ndarray
        Cross-validation results: "regularization", the candidates for ν_L, as shares; "score", the
        mean log-likelihood of the held-out rows. Only if something was chosen.
    loo_log_likelihood_ : float
        Mean leave-one-out log-likelihood of the training points. After stochastic EM, of 2000 of
        them; with more than 20 000 rows, among 20 000; after `partial_fit`, of 100 of the points
        kept. With ``regularization="auto"``, or if nothing is learned, a row is left out together
        with all of its copies.
    validation_score_ : float
        Mean log-likelihood of the validation set. Only with `early_stopping`.
    offset_ : float
        Log-density below which a row is an outlier.
    n_iter_ : int
        Number of updates made; 1 if none was needed.
    history_ : dict of str to ndarray
        "objective" (penalized mean log-likelihood), "step" (change of the covariance, in units in
        which the data as a whole are white) and "time" (seconds), starting with the initial
        covariance.
    converged_ : bool
        Whether the fit has converged.
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
    ModeClustering : Clusters that are modes of the density.
    vicinal.local_components.log_density : A Parzen density with a given covariance.
    sklearn.neighbors.KernelDensity : One bandwidth for all directions, chosen by the user.

    Notes
    -----
    Without a penalty, the likelihood has no upper bound if n ≤ 2d - 2 for n points in d dimensions,
    or if in some direction every point has a twin (a binary feature, repeated rows): with
    ``regularization=0.0``, such a fit stops with an error. Student kernels tolerate some points
    without a twin: the likelihood remains unbounded with up to a share 1 / (ν + d) of them, as in
    rounded data.

    With ``regularization="auto"``, any rows have a density, and a warning says what was done. Equal
    rows are held out and left out together. In a column in which nearly all values repeat and
    distinct values are δ apart or more, the kernels have a variance of at least δ²/12 (or a tenth
    of the variance of the column, if that is less). In a constant column, they have a standard
    deviation of 0.1. With linearly dependent columns, or n ≤ 2d - 2, their standard deviation is at
    least 0.01 times that of each column, unless the kernels are diagonal. With only one or two
    distinct rows, the kernels are as wide as the columns. Rules treat constant and dependent
    columns in the same way.

    Above 20 000 rows, unless `batch_size` or `n_neighbors` is set, EM learns from a random sample
    of 20 000 rows (10 000 with more than 20 features). Stochastic EM among 100 000 rows then
    refines the result, if that improves it. All rows are centers of kernels.

    One step of EM is the method of Manifold Parzen windows.

    At least one direction is local, even if all look Gaussian.

    Torch tensors (under ``sklearn.set_config(array_api_dispatch=True)``) give results that are
    tensors on the same device. Fitted attributes are NumPy arrays.

    `sample_weight` counts copies: weight k is the same as k rows. Only the rules for the covariance
    count rows as SciPy does, by their effective number (Σw)² / Σw².

    Equations of [1]_: EM (3) and (4), in batches (7); Gaussian directions by proposition 1. Which
    function computes which, and what the text has wrong: ``docs/equations/local-components.md``.

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

    With one direction modeled by a Gaussian, the flowers have a higher likelihood:

    >>> model = LocalComponents(gaussian="search").fit(X)
    >>> print(f"{model.loo_log_likelihood_:.4f}", model.n_gaussian_)
    -1.5696 1

    A grid search over widths, rules and shapes uses `score`, the log-likelihood of held-out rows:

    >>> from sklearn.model_selection import GridSearchCV, KFold
    >>> choices = {"covariance": [0.01, 0.1, 1.0, "scott", "diag"]}
    >>> folds = KFold(3, shuffle=True, random_state=0)
    >>> GridSearchCV(LocalComponents(), choices, cv=folds).fit(X).best_params_
    {'covariance': 'diag'}

    Spectral clustering in the learned metric takes two lines, with the kernels as affinities:

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
            Training set.
        y : Ignored
            Not used; present for API consistency.
        sample_weight : array-like of shape (n_samples,), optional
            Sample weights: weight k counts as k copies of the row. None: all 1.

        Returns
        -------
        self : LocalComponents
            The fitted estimator.
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
        """Update the density with the next rows of a stream.

        Each batch of new points (of `batch_size`, or 100) is compared with itself and with a
        uniform random sample of `reservoir_size` points seen before. The covariance found is
        averaged with the old one, weighted by `discount`. The kernels of the density are centered
        at that sample. The first call starts from the covariance of its rows; after `fit`, from the
        fitted covariance. With ``regularization="auto"``, each time the number of rows has doubled,
        the penalty is chosen and the covariance fitted anew, on at most 5000 of the points kept.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The next rows.
        y : Ignored
            Not used; present for API consistency.
        sample_weight : array-like of shape (n_samples,), optional
            Sample weights: weight k counts as k copies of the row. None: all 1.

        Returns
        -------
        self : LocalComponents
            The updated estimator.
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
        """Log-density of each point; the lower, the more of an outlier it is.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points to evaluate.

        Returns
        -------
        ndarray of shape (n_samples,)
            Log-densities.
        """
        queries = self._queries(X)
        return self._density.log_density(queries, self._engine_for(queries))

    @answers_in_blocks
    @answers_in_kind
    @on_own_threads
    def part_probabilities(self, X: ArrayLike) -> NDArray:
        """Probability that each point belongs to each part of the mixture.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points to evaluate.

        Returns
        -------
        ndarray of shape (n_samples, n_mixture_)
            Probabilities; each row sums to one.
        """
        queries = self._queries(X)
        return part_probabilities(self._density, queries, self._engine_for(queries))

    def score(self, X: ArrayLike, y: Any = None) -> float:
        """Mean log-density of points; higher is better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points to evaluate.
        y : Ignored
            Not used; present for API consistency.

        Returns
        -------
        float
            The mean of `score_samples`.
        """
        return float(self.score_samples(X).mean())

    @on_own_threads
    def sample(
        self, n_samples: int = 1, random_state: int | np.random.RandomState | None = None
    ) -> NDArray:
        """Draw random samples from the density.

        Parameters
        ----------
        n_samples : int, default=1
            Number of samples.
        random_state : int, RandomState instance or None, default=None
            Seed or generator. None: the `random_state` of the estimator.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            The samples.
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
