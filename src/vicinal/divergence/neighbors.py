"""DivergenceNeighbors: the estimator."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix, issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from vicinal.divergence.comparison import Comparison
from vicinal.divergence.covariance import Relative
from vicinal.divergence.divergences import divergence_named
from vicinal.divergence.engines import check_engine, engine_here
from vicinal.divergence.graph import with_lengths
from vicinal.divergence.growth import growing_size, reach
from vicinal.divergence.labels import neighborhoods_in_classes
from vicinal.divergence.limits import in_precision
from vicinal.divergence.local import LocalModel, all_of
from vicinal.divergence.made import Gaussians
from vicinal.divergence.many import graph_neighbors, settled
from vicinal.divergence.memory import needs_of_neighbors
from vicinal.divergence.precomputed import GivenSpace, check_distances, check_new_distances
from vicinal.divergence.space import (
    Divergences,
    DivergenceSpace,
    Space,
    check_all_pairs,
    without_shapes,
)
from vicinal.fitting.support import as_it_was
from vicinal.inputs.checks import check_choice, check_count, check_flag
from vicinal.inputs.nearest import nearest
from vicinal.inputs.tensors import answers_in_kind
from vicinal.inputs.units import check_units
from vicinal.neighborhood.threads import on_own_threads
from vicinal.representation import RepresentationMixin
from vicinal.rows.kinds import is_lazy, source_of
from vicinal.rows.memory import Need
from vicinal.rows.methods import answers_in_blocks, learns_from_rows
from vicinal.state import SavedStateMixin

__all__ = ["METRICS", "DivergenceNeighbors", "checked_queries", "space_of"]

METRICS = ("euclidean", "precomputed")

# What a fit finds, some of it by some settings only.
_FOUND = (
    "n_samples_fit_",
    "gaussians_",
    "n_neighbors_",
    "share_",
    "variance_",
    "n_graph_neighbors_",
    "n_candidates_",
)


class DivergenceNeighbors(
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    RepresentationMixin,
    SavedStateMixin,
    BaseEstimator,
):
    """Distances between points as divergences between the Gaussians around them.

    Each point gets a Gaussian, with the point as its mean and the covariance of the point's
    neighborhood. Two points are near if their Gaussians are alike in location and shape, so that
    the local shape of the data decides what near means. The result can be passed to any estimator
    that takes ``metric="precomputed"``: Isomap, t-SNE, DBSCAN, nearest neighbors.

    Parameters
    ----------
    n_neighbors : int in [1, inf) or "growth", default=10
        Number of neighbors m in the neighborhood of each point; if there are fewer other points,
        all of them, with a warning. Ties go to the point with the lower row number. "growth": the
        number from 3 to 25 at which balls grow fastest with the number of points they hold: the
        scale at which the data look linear [2]_.
    radius : float in (0, inf), optional
        Use all points within this distance as the neighborhood, instead of `n_neighbors`.
    divergence : {"jeffreys", "bhattacharyya", "hellinger", "jeffreys-riemann", \
"bhattacharyya-riemann", "riemann", "euclidean"}, default="jeffreys"
        Divergence between Gaussians. "jeffreys" is by far the fastest; "jeffreys" and
        "bhattacharyya" behave like squared distances. "hellinger" is near 1 for most pairs.
        "riemann" compares only shapes, not locations. Of the first six options, "hellinger" and
        "riemann" satisfy the triangle inequality. "euclidean": the Euclidean distances of the
        points, for comparison; there are no Gaussians, and `n_neighbors`, `radius`, `covariance`
        and `gamma` have no effect.
    metric : {"euclidean", "precomputed"}, default="euclidean"
        "euclidean": the rows of X are points. "precomputed": X holds distances, which are used
        instead of divergences: of all pairs of points, or a sparse graph of neighbors. `transform`
        then takes the distances of new points from the training points.
    covariance : {"ridge", "shrunk", "shrunk-diagonal", "ledoit-wolf", "oas", "trace", \
"frank-wolfe"}, default="ridge"
        Estimator of the covariance of a neighborhood, with C its scatter about the point. "ridge":
        C + γI. "shrunk": shrinks C toward a multiple of the identity by the share γ;
        "shrunk-diagonal": toward its diagonal. "ledoit-wolf", "oas": shrinkage by an estimated
        share, plus γI. "trace": the most likely covariance whose inverse has trace 1, which retains
        little of the local shape; "frank-wolfe" computes it iteratively.
    gamma : "auto" or float in [0, inf), default="auto"
        Regularization γ of `covariance`. A number is in squared units of the data, or a share
        between 0 and 1 ("shrunk", "shrunk-diagonal"). "auto": relative to the data, without using
        labels. "ridge" is then (1 - w) C + w √(s_i s) I, where s_i = tr(C)/d is the variance of the
        neighborhood, s the median of s_i over all points, and w the shrinkage of Chen et al. [3]_
        for the mean neighborhood, which is near 1 if m points cannot distinguish a shape from a
        ball. "shrunk" and "shrunk-diagonal" use the share w, all others γ = s/1000. The paper uses
        1e-4.
    n_graph_neighbors : "auto", int in [1, n_samples) or None, default="auto"
        Return a sparse graph: for each point, the point itself and this many nearest neighbors by
        divergence. None: a dense array of all pairs, at most 8 GB (31 000 points); for a
        precomputed graph, all its edges. "auto": None up to 20 000 points; for more, 15, with a
        warning.
    n_candidates : int in [1, n_samples), optional
        Search for graph neighbors only among this many Euclidean neighbors (100 candidates contain
        90 % to 100 % of the 10 nearest). None: among all points up to 20 000; for more, among 100
        or five times `n_graph_neighbors`, whichever is larger, with a warning. The nearest
        neighbors by "riemann" may be anywhere: then set this explicitly.
    use_labels : bool, default=False
        Whether `fit` restricts the neighborhood of each training point to its own class, given by
        y. The neighborhoods of new points use all training points.
    square_root : bool, default=False
        Return square roots of "jeffreys" and "bhattacharyya", for methods that square distances.
    search : {"auto", "exact", "approximate"}, default="auto"
        How Euclidean neighbors are searched for. "approximate" searches only cells of near points,
        a few hundredths of all points, and finds 0.9 or more of the nearest if the data have
        structure, but few in high-dimensional noise. "auto": exact up to 50 000 points (or as many
        pairs of new and training points).
    engine : {"auto", "dense", "low-rank", "cuda", "dask"}, default="auto"
        Where and how Gaussians are compared. "dense", "low-rank": on the CPU, in all dimensions or
        only in those that the two neighborhoods span. "cuda": on a GPU (extra `gpu`), in batches;
        neighborhoods and their Gaussians are still computed on the CPU. "dask" (extra `dask`): the
        workers of the Dask cluster with an open client compare more than a million pairs, and run
        long neighbor searches; the points are copied to this machine and to each worker. "auto":
        the faster of "dense" and "low-rank"; "cuda" for tensors on a GPU, or if there is a GPU and
        at least four million pairs are compared; "dask" for Dask arrays. Each worker chooses as
        "auto" does. All engines use double precision and agree up to rounding.
    memory_limit : int, float or str, optional
        Memory that `fit` and `fit_transform` may use in addition to `X` itself: in bytes, or as a
        string such as "2GB". A call that needs more raises an error before any work is done, and
        says what to change (``docs/scale.md``). Sparse distances are not counted. Results do not
        depend on the limit. None: no limit.
    n_jobs : int, optional
        Number of threads. None: all cores.
    verbose : int, default=0
        1: show the progress of stages that take longer than a second.

    Attributes
    ----------
    gaussians_ : LocalGaussians or MadeGaussians
        Gaussians of the training points: `means`; orthonormal `vectors` with their eigenvalues
        `values`; and `rest`, the eigenvalue of all other directions. With very many points,
        Gaussians are computed on access: use ``gaussians_[rows]``. Not with
        ``metric="precomputed"``; with ``divergence="euclidean"``, balls of variance 1.
    n_neighbors_ : int
        Number of neighbors m, given or chosen.
    share_, variance_ : float
        The w and s of ``gamma="auto"``.
    n_graph_neighbors_ : int or None
        Number of neighbors in the graph, given or chosen. None: a dense array.
    n_candidates_ : int or None
        Number of candidates, given or chosen. None: all points.
    n_samples_fit_ : int
        Number of training points.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen during `fit`. Only if `X` has feature names that are all strings.

    See Also
    --------
    DivergenceEmbedding : Coordinates from these distances.

    Notes
    -----
    Divergences help if regions differ in density or shape: for example, one class is dense or flat
    and another is spread around it, as in ionosphere (5-NN accuracy 85 % with Euclidean distances,
    92 % with the defaults), sonar (77 %, 80 %) and new-thyroid (94 %, 96 %). They also help if
    outliers disturb a clustering, as outliers are then less far away (average linkage on ten data
    sets: mean adjusted Rand index 0.11 with Euclidean distances, 0.37 with divergences). They do
    not help if classes are compact clouds of similar density, which Euclidean distances already
    separate (iris, wine, pima, landsat: the same within chance; wdbc and segment: one point worse),
    nor if m is far too small for the dimension, where they are close to Euclidean distances.
    "riemann" alone is for comparing shapes, not for finding classes. See
    ``benchmarks/results/divergence_accuracy.md``.

    Equations of [1]_: Jeffreys (7), Bhattacharyya (8), with Riemann's (9) and (10). Which function
    computes which, and what the text has wrong: ``docs/equations/divergence.md``.

    References
    ----------
    .. [1] K. Abou-Moustafa, D. Schuurmans, F. Ferrie. "Learning a metric space for
       neighbourhood topology estimation: application to manifold learning".
       ACML 2013.
    .. [2] M. Brand. "Charting a manifold". NIPS 2003.
    .. [3] Y. Chen, A. Wiesel, Y. Eldar, A. Hero. "Shrinkage algorithms for MMSE
       covariance estimation". IEEE Transactions on Signal Processing, 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.manifold import Isomap
    >>> from sklearn.pipeline import make_pipeline
    >>> from vicinal import DivergenceNeighbors
    >>> X, y = load_iris(return_X_y=True)
    >>> DivergenceNeighbors().fit_transform(X).shape
    (150, 150)
    >>> graph = DivergenceNeighbors(n_graph_neighbors=50, square_root=True)
    >>> pipeline = make_pipeline(graph, Isomap(n_neighbors=50, metric="precomputed"))
    >>> pipeline.fit_transform(X).shape
    (150, 2)
    """

    def __init__(
        self,
        n_neighbors: int | str = 10,
        *,
        radius: float | None = None,
        divergence: str = "jeffreys",
        metric: str = "euclidean",
        covariance: str = "ridge",
        gamma: float | str = "auto",
        n_graph_neighbors: int | str | None = "auto",
        n_candidates: int | None = None,
        use_labels: bool = False,
        square_root: bool = False,
        search: str = "auto",
        engine: str = "auto",
        memory_limit: float | str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.divergence = divergence
        self.metric = metric
        self.covariance = covariance
        self.gamma = gamma
        self.n_graph_neighbors = n_graph_neighbors
        self.n_candidates = n_candidates
        self.use_labels = use_labels
        self.square_root = square_root
        self.search = search
        self.engine = engine
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.verbose = verbose

    @learns_from_rows
    @answers_in_kind
    @on_own_threads
    def fit(self, X: ArrayLike, y: Any = None) -> "DivergenceNeighbors":
        """Compute the Gaussian around each training point.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training set, or distances of shape (n_samples, n_samples).
        y : array-like of shape (n_samples,), optional
            Class labels; ignored unless ``use_labels=True``.

        Returns
        -------
        self : DivergenceNeighbors
            The fitted estimator.
        """
        with as_it_was(self):
            points, y = self._checked(X, y)
            return self._fit(points, y, self._settled(points))

    @learns_from_rows
    @answers_in_kind
    @on_own_threads
    def fit_transform(self, X: ArrayLike, y: Any = None) -> NDArray | csr_matrix:
        """Compute the divergences between all training points, or the graph of nearest neighbors.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training set, or distances of shape (n_samples, n_samples).
        y : array-like of shape (n_samples,), optional
            Class labels; ignored unless ``use_labels=True``.

        Returns
        -------
        ndarray or sparse matrix, of shape (n_samples, n_samples)
            Divergences. Sparse if `n_graph_neighbors` is set, X is sparse, or there are many
            points: each row then has one entry per neighbor, after an entry for the point itself.
        """
        with as_it_was(self):
            points, y = self._checked(X, y)
            params = self._settled(points)
            if params["n_graph_neighbors"] is None and not issparse(points):
                check_all_pairs(points.shape[0], points.shape[0])
            among = self._candidates(points, params)
            self._fit(points, y, params, among)
            if among is not None:
                among = among[:, : params["n_candidates"]]
            return self._as_output(space_of(self, points).divergences(among))

    def transform(self, X: ArrayLike) -> NDArray | csr_matrix:
        """Compute the divergences of points from the training points.

        The Gaussian of a point uses the training points around it. A point that coincides with a
        training point is treated as that training point.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            New points, or distances of shape (n_queries, n_samples).

        Returns
        -------
        ndarray or sparse matrix, of shape (n_queries, n_samples)
            Divergences. For a Dask array, a Dask array of such blocks.
        """
        check_is_fitted(self, "n_samples_fit_")
        source = None if is_lazy(X) else source_of(X)
        if source is not None and self.n_graph_neighbors_ is None:
            check_all_pairs(len(source), self.n_samples_fit_)
        return self._compared(X if source is None else source)

    @answers_in_blocks
    @answers_in_kind
    @on_own_threads
    def _compared(self, X: ArrayLike) -> NDArray | csr_matrix:
        return self._as_output(space_of(self).divergences_of(checked_queries(self, self, X)))

    def _checked(self, X: ArrayLike, y: Any) -> tuple[Divergences, NDArray | None]:
        """Points to learn from, or their distances, all in order, parameters and labels too."""
        check_choice("metric", self.metric, METRICS)
        is_given = self.metric == "precomputed"
        points = validate_data(
            self,
            X,
            dtype=(np.float64, np.float32),
            ensure_min_samples=2,
            accept_sparse="csr" if is_given else False,
        )
        if is_given:
            check_distances(points)
        else:
            check_units(points)
        self._check_parameters(points.shape[0])
        return points, self._labels(y, points.shape[0])

    def _labels(self, y: Any, n_samples: int) -> NDArray | None:
        """The labels that shape neighborhoods; None: none do."""
        check_flag("use_labels", self.use_labels)
        if not self.use_labels:
            return None
        if y is None:
            raise ValueError("use_labels=True needs labels: call fit(X, y).")
        if self.metric == "precomputed":
            raise ValueError('use_labels=True has no meaning with metric="precomputed".')
        y = column_or_1d(y)
        if len(y) != n_samples:
            raise ValueError(f"y has {len(y)} labels for {n_samples} rows of X.")
        return y

    def _settled(self, points: Divergences) -> dict[str, Any]:
        """All parameters, with numbers for those that depend on the points."""
        params, n = self.get_params(deep=False), points.shape[0]
        if self.metric == "precomputed":
            k = params["n_graph_neighbors"]
            return params | {"n_graph_neighbors": None if isinstance(k, str) else k}
        shapes = divergence_named(self.divergence).shapes
        size = self._size(points) if shapes else 1
        return settled(params, n) | {"n_neighbors": size}

    def _candidates(self, points: Divergences, params: dict[str, Any]) -> NDArray | None:
        """Euclidean neighbors to choose a graph's from, and those of the neighborhoods."""
        if params["n_candidates"] is None:
            return None
        size = 0 if self.radius is not None else params["n_neighbors"]
        return _local_model(params, self).candidates(
            points, None, max(params["n_candidates"], size)
        )

    def _fit(
        self,
        points: Divergences,
        y: NDArray | None,
        params: dict[str, Any],
        near: NDArray | None = None,
    ) -> "DivergenceNeighbors":
        """Learn from points; `near` has at least the neighbors of each, if they are known."""
        for name in _FOUND:  # a failed fit is no fit
            if hasattr(self, name):
                delattr(self, name)
        if self.metric == "precomputed":
            # Of a graph nothing is needed for new points.
            self._fit_X = np.empty((points.shape[0], 0)) if issparse(points) else points.copy()
        elif divergence_named(self.divergence).shapes:
            self._fit_shapes(params, points.copy(), y, near)
        else:
            self._keep_points(without_shapes(points), points.copy())
        # What `transform` reads: parameters may be set to others before it is called.
        self._fitted_with = params
        self._dtype = np.dtype(points.dtype).name
        self.n_graph_neighbors_ = params["n_graph_neighbors"]
        self.n_candidates_ = params["n_candidates"]
        self.n_samples_fit_ = self._n_features_out = points.shape[0]
        return self

    def _fit_shapes(
        self, params: dict[str, Any], points: NDArray, y: NDArray | None, near: NDArray | None
    ) -> None:
        self.n_neighbors_ = params["n_neighbors"]
        local = _local_model(params, self)
        if y is not None:
            around = neighborhoods_in_classes(local, points, y)
        elif near is None or self.radius is not None:
            around = local.neighborhoods(points)
        else:
            around = all_of(near[:, : self.n_neighbors_].copy())  # the rest may go
        local = local.settled(points, around)
        if isinstance(local.gamma, Relative):
            self.share_, self.variance_ = local.gamma.share, local.gamma.variance
        sparse = params["n_candidates"] is not None
        self._keep_points(local.gaussians(points, around, sparse), points)

    def _keep_points(self, gaussians: Gaussians, points: NDArray) -> None:
        self.gaussians_ = gaussians
        # The same numbers, where they are, are then held, and saved, once.
        is_double = points.dtype == np.float64 and gaussians.is_stored
        self._fit_X = gaussians.means if is_double else points

    def _size(self, points: NDArray) -> int:
        """m: as given, chosen, or as many as there are others."""
        n = len(points)
        if isinstance(self.n_neighbors, str):
            return growing_size(nearest(points, points, reach(n), np.arange(n), self.n_jobs)[1])
        if self.radius is None and self.n_neighbors > n - 1:
            warnings.warn(
                f"n_neighbors={self.n_neighbors} is more than the {n - 1} other points: all of "
                "these were taken.",
                stacklevel=2,
            )
            return n - 1
        return int(self.n_neighbors)

    def _as_output(self, divergences: Divergences) -> Divergences:
        dtype = np.dtype(self._dtype)
        if self._fitted_with["square_root"]:
            divergences = space_of(self).distances(divergences)
        if isinstance(divergences, np.ndarray):
            return in_precision(divergences, dtype, "divergences")
        lengths = in_precision(divergences.data, dtype, "divergences")
        return with_lengths(divergences, lengths)

    def _memory_needs(self, method: str, shape: tuple[int, int], dtype: np.dtype) -> list[Need]:
        """What a method needs in memory for rows of a shape."""
        return needs_of_neighbors(self, method, *shape)

    def _check_parameters(self, n_samples: int) -> None:
        divergence_named(self.divergence)
        self._check_size()
        _local_model(self.get_params(deep=False) | {"n_neighbors": 1}, self).check(n_samples)
        check_engine(self.engine)
        check_flag("square_root", self.square_root)
        others = " (number of other points)"
        k, c = self.n_graph_neighbors, self.n_candidates
        if isinstance(k, str):
            check_choice("n_graph_neighbors", k, ("auto",))
            k = graph_neighbors(k, n_samples)
        if k is not None:
            check_count("n_graph_neighbors", k, 1, n_samples - 1, others)
        if c is not None:
            if k is None or self.metric == "precomputed":
                raise ValueError(
                    f"n_candidates={c} is for a sparse graph of points: set n_graph_neighbors, "
                    'too, and not metric="precomputed".'
                )
            check_count("n_candidates", c, k, n_samples - 1, others)

    def _check_size(self) -> None:
        if not isinstance(self.n_neighbors, str):
            check_count("n_neighbors", self.n_neighbors, 1)
            return
        check_choice("n_neighbors", self.n_neighbors, ("growth",))
        if self.radius is not None:
            raise ValueError(
                f"n_neighbors={self.n_neighbors!r} has no meaning with radius={self.radius}, which "
                "makes the neighborhoods."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        is_given = self.metric == "precomputed"
        tags.input_tags.pairwise = tags.input_tags.sparse = is_given
        tags.input_tags.positive_only = is_given
        return tags


def checked_queries(estimator: BaseEstimator, model: DivergenceNeighbors, X: ArrayLike) -> Any:
    """New points for an estimator that holds a fitted model, or their distances, all in order."""
    is_given = model._fitted_with["metric"] == "precomputed"
    points = validate_data(
        estimator,
        X,
        dtype=(np.float64, np.float32),
        accept_sparse="csr" if is_given else False,
        reset=False,
    )
    return check_new_distances(points) if is_given else points


def space_of(model: DivergenceNeighbors, given: Divergences | None = None) -> Space:
    """What a fitted model can be asked about divergences, on as many threads as it has now.

    Of a sparse graph of distances the model keeps nothing: it is to be `given` where it is needed.
    """
    params = model._fitted_with
    if params["metric"] == "precomputed":
        distances = model._fit_X if given is None else given
        return GivenSpace(distances.astype(np.float64, copy=False), params["n_graph_neighbors"])
    local = _local_model(params, model)
    if params["gamma"] == "auto" and hasattr(model, "share_"):
        local = replace(local, gamma=Relative(model.share_, model.variance_))
    return DivergenceSpace(
        model._fit_X,
        model.gaussians_,
        local,
        Comparison(
            divergence_named(params["divergence"]),
            engine_here(params["engine"]),
            model.n_jobs,
            model.verbose,
        ),
        params["n_graph_neighbors"],
        params["n_candidates"],
    )


def _local_model(params: dict[str, Any], model: DivergenceNeighbors) -> LocalModel:
    names = ("n_neighbors", "radius", "covariance", "gamma", "search")
    given = {name: params[name] for name in names}
    return LocalModel(**given, n_jobs=model.n_jobs, verbose=model.verbose)
