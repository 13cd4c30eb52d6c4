"""DivergenceNeighbors: the estimator."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from vicinal.divergence.comparison import ENGINES, Comparison
from vicinal.divergence.divergences import divergence_named
from vicinal.divergence.graph import with_lengths
from vicinal.divergence.limits import in_precision
from vicinal.divergence.local import LocalModel, all_of
from vicinal.divergence.many import graph_neighbors, settled
from vicinal.divergence.space import Divergences, DivergenceSpace, check_all_pairs
from vicinal.fitting.support import as_it_was
from vicinal.inputs.checks import check_choice, check_count, check_flag
from vicinal.inputs.units import check_units
from vicinal.neighborhood.threads import on_own_threads
from vicinal.representation import RepresentationMixin

__all__ = ["DivergenceNeighbors", "space_of"]


class DivergenceNeighbors(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, RepresentationMixin, BaseEstimator
):
    """Distances between points that are divergences between the Gaussians around them.

    Every point gets a Gaussian: itself the mean, and the covariance of its
    neighborhood. Two points are near where these are alike in place and in shape,
    so that the data's local shape decides what near means. The result goes to
    whatever takes ``metric="precomputed"``: Isomap, t-SNE, DBSCAN, nearest
    neighbors.

    Parameters
    ----------
    n_neighbors : int, default=10
        Size of the neighborhoods, m. Of equally near points those of lower
        position.
    radius : float, optional
        Neighborhoods of all points within this distance, instead.
    divergence : {"jeffreys", "bhattacharyya", "hellinger", "jeffreys-riemann", \
"bhattacharyya-riemann", "riemann"}, default="jeffreys"
        "jeffreys" and "bhattacharyya" are like squared distances. "hellinger" is
        near 1 for most pairs. "riemann" compares shapes only, not places. Of all
        six, "hellinger" and "riemann" obey the triangle inequality.
    covariance : {"ridge", "shrunk", "shrunk-diagonal", "ledoit-wolf", "oas", "trace", \
"frank-wolfe"}, default="ridge"
        With C the scatter of a neighborhood about its point: "ridge" is C + γI;
        "shrunk" moves C towards a multiple of the identity, "shrunk-diagonal"
        towards its diagonal, by the share γ; "ledoit-wolf" and "oas" by a share
        estimated there, and add γI; "trace" is the likeliest whose inverse has trace
        1, which leaves little of the local shape, and "frank-wolfe" finds it step by
        step.
    gamma : float, default=1e-4
        γ. In the data's squared units, or a share between 0 and 1 ("shrunk",
        "shrunk-diagonal").
    n_graph_neighbors : "auto", int or None, default="auto"
        Sparse output: each point itself and so many of the nearest by divergence.
        None: a dense array of all, of 8 GB at most (31 000 points). "auto": dense up
        to 20 000 points; the 15 nearest of more, with a warning.
    n_candidates : int, optional
        Look for these among so many Euclidean neighbors only (of 10 nearest, 100
        have 0.90 to 1.0). None: among all up to 20 000 points; of more among 100, or
        five times `n_graph_neighbors` where that is more, with a warning. Neighbors
        by "riemann" may be anywhere: it is to be set there.
    square_root : bool, default=False
        Roots of "jeffreys" and "bhattacharyya", for methods that square distances.
    search : {"auto", "exact", "approximate"}, default="auto"
        Of Euclidean neighbors. "approximate" looks through the cells of near points
        only, a few hundredths of all, and finds 0.9 and more of the nearest where
        data have a shape; of noise in many dimensions it finds few. "auto": exact up
        to 50 000 points (or as many pairs of new and training points).
    engine : {"auto", "dense", "low-rank"}, default="auto"
        Whether pairs are compared in all dimensions, or in those that their
        neighborhoods span, whichever costs less. The numbers are the same.
    n_jobs : int, optional
        Number of threads. None: all cores.
    verbose : int, default=0
        1: tell how far stages are that take longer than a second.

    Attributes
    ----------
    gaussians_ : LocalGaussians or MadeGaussians
        Those of the training points: `means`, orthonormal `vectors` with their
        eigenvalues `values`, and the eigenvalue `rest` of all other directions. Those
        of very many points are made when they are asked for: take
        ``gaussians_[rows]``.
    n_graph_neighbors_ : int or None
        As given, or settled for "auto". None: a dense array.
    n_candidates_ : int or None
        As given, or settled. None: all points.
    n_samples_fit_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only if `X` has feature names that are all strings.

    See Also
    --------
    DivergenceEmbedding : Coordinates from these distances.

    References
    ----------
    .. [1] K. Abou-Moustafa, D. Schuurmans, F. Ferrie. "Learning a metric space for
       neighbourhood topology estimation: application to manifold learning".
       ACML 2013.

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
        n_neighbors: int = 10,
        *,
        radius: float | None = None,
        divergence: str = "jeffreys",
        covariance: str = "ridge",
        gamma: float = 1e-4,
        n_graph_neighbors: int | str | None = "auto",
        n_candidates: int | None = None,
        square_root: bool = False,
        search: str = "auto",
        engine: str = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.divergence = divergence
        self.covariance = covariance
        self.gamma = gamma
        self.n_graph_neighbors = n_graph_neighbors
        self.n_candidates = n_candidates
        self.square_root = square_root
        self.search = search
        self.engine = engine
        self.n_jobs = n_jobs
        self.verbose = verbose

    @on_own_threads
    def fit(self, X: ArrayLike, y: Any = None) -> "DivergenceNeighbors":
        """Give every point its Gaussian.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self : DivergenceNeighbors
        """
        with as_it_was(self):
            points = self._checked(X)
            return self._fit(points, self._settled(len(points)))

    @on_own_threads
    def fit_transform(self, X: ArrayLike, y: Any = None) -> NDArray | csr_matrix:
        """Divergences between all points, or the graph of the nearest.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        ndarray or sparse matrix, of shape (n_samples, n_samples)
            Sparse where `n_graph_neighbors` is given, or there are many points: as many
            entries in every row and one more, the point itself first.
        """
        with as_it_was(self):
            among = self._fit_with_candidates(self._checked(X))
            return self._as_output(space_of(self).divergences(among))

    @on_own_threads
    def transform(self, X: ArrayLike) -> NDArray | csr_matrix:
        """Divergences of points from the training points.

        Each gets the Gaussian of the training points around it. One that coincides
        with a training point is taken to be that.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)

        Returns
        -------
        ndarray or sparse matrix, of shape (n_queries, n_samples)
        """
        check_is_fitted(self, "gaussians_")
        points = validate_data(self, X, dtype=(np.float64, np.float32), reset=False)
        return self._as_output(space_of(self).divergences_of(points))

    def _checked(self, X: ArrayLike) -> NDArray:
        """Points to learn from, all in order, parameters too."""
        points = validate_data(self, X, dtype=(np.float64, np.float32), ensure_min_samples=2)
        check_units(points)
        self._check_parameters(len(points))
        return points

    def _settled(self, n_samples: int) -> dict[str, Any]:
        """All parameters, with numbers for those that depend on how many points there are."""
        return settled(self.get_params(deep=False), n_samples)

    def _fit_with_candidates(self, points: NDArray) -> NDArray | None:
        """Learn from points; Euclidean neighbors that were found for the graph, too."""
        params, among = self._settled(len(points)), None
        if params["n_graph_neighbors"] is None:
            check_all_pairs(len(points), len(points))
        if params["n_candidates"] is not None:  # those of the neighborhoods are among them
            size = max(params["n_candidates"], 0 if self.radius is not None else self.n_neighbors)
            among = _local_model(params, self).candidates(points, None, size)
        self._fit(points, params, among)
        return None if among is None else among[:, : params["n_candidates"]]

    def _fit(
        self, points: NDArray, params: dict[str, Any], near: NDArray | None = None
    ) -> "DivergenceNeighbors":
        """Learn from points; `near` has at least the neighbors of each, if they are known."""
        local, points = _local_model(params, self), points.copy()
        if near is None or self.radius is not None:
            neighborhoods = local.neighborhoods(points)
        else:
            neighborhoods = all_of(near[:, : self.n_neighbors].copy())  # the rest may go
        sparse = params["n_candidates"] is not None
        self.gaussians_ = local.gaussians(points, neighborhoods, sparse)
        # What `transform` reads: parameters may be set to others before it is called.
        self._fitted_with = params
        # The same numbers, where they are, are then held, and saved, once.
        is_double = points.dtype == np.float64 and self.gaussians_.is_stored
        self._fit_X = self.gaussians_.means if is_double else points
        self.n_graph_neighbors_ = params["n_graph_neighbors"]
        self.n_candidates_ = params["n_candidates"]
        self.n_samples_fit_ = self._n_features_out = len(points)
        return self

    def _as_output(self, divergences: Divergences) -> Divergences:
        dtype = self._fit_X.dtype
        if self._fitted_with["square_root"]:
            divergences = space_of(self).distances(divergences)
        if isinstance(divergences, np.ndarray):
            return in_precision(divergences, dtype, "divergences")
        lengths = in_precision(divergences.data, dtype, "divergences")
        return with_lengths(divergences, lengths)

    def _check_parameters(self, n_samples: int) -> None:
        _local_model(self.get_params(deep=False), self).check(n_samples)
        divergence_named(self.divergence)
        check_choice("engine", self.engine, ENGINES)
        check_flag("square_root", self.square_root)
        others = " (number of other points)"
        k, c = self.n_graph_neighbors, self.n_candidates
        if isinstance(k, str):
            check_choice("n_graph_neighbors", k, ("auto",))
            k = graph_neighbors(k, n_samples)
        if k is not None:
            check_count("n_graph_neighbors", k, 1, n_samples - 1, others)
        if c is not None:
            if k is None:
                raise ValueError(
                    f"n_candidates={c} is for a sparse graph: set n_graph_neighbors, too."
                )
            check_count("n_candidates", c, k, n_samples - 1, others)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def space_of(model: DivergenceNeighbors) -> DivergenceSpace:
    """What a fitted model can be asked about divergences, on as many threads as it has now."""
    params = model._fitted_with
    return DivergenceSpace(
        model._fit_X,
        model.gaussians_,
        _local_model(params, model),
        Comparison(
            divergence_named(params["divergence"]), params["engine"], model.n_jobs, model.verbose
        ),
        params["n_graph_neighbors"],
        params["n_candidates"],
    )


def _local_model(params: dict[str, Any], model: DivergenceNeighbors) -> LocalModel:
    names = ("n_neighbors", "radius", "covariance", "gamma", "search")
    given = {name: params[name] for name in names}
    return LocalModel(**given, n_jobs=model.n_jobs, verbose=model.verbose)
