"""DivergenceEmbedding: the estimator."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from vicinal.divergence.divergences import SQUARED
from vicinal.divergence.energy import best_size, laplacian_energy
from vicinal.divergence.graph import check_connected, connected, rooted, symmetric, without_last
from vicinal.divergence.isomap import isomap
from vicinal.divergence.laplacian import laplacian_eigenmaps
from vicinal.divergence.limits import check_room, in_precision
from vicinal.divergence.lle import embedded, gram_of_coordinates, gram_of_distances, weights_of
from vicinal.divergence.mds import classical_scaling
from vicinal.divergence.neighbors import DivergenceNeighbors
from vicinal.divergence.others import check_tsne, check_umap, most_tsne_neighbors, tsne, umap
from vicinal.fitting.support import FitSupport
from vicinal.inputs.checks import check_choice, check_count, check_nonnegative
from vicinal.inputs.units import check_units
from vicinal.neighborhood.threads import on_own_threads
from vicinal.representation import RepresentationMixin
from vicinal.state import SavedStateMixin

__all__ = ["DivergenceEmbedding"]

METHODS = ("isomap", "laplacian", "lle", "mds", "tsne", "umap")
WITH_TRANSFORM = ("isomap", "laplacian", "lle", "mds")

_READ_BY_TRANSFORM = ("method", "divergence", "lle_weights")

# Neighbors in the graph, where nothing is said.
_GRAPH_NEIGHBORS = 15


def _has_transform(model: "DivergenceEmbedding") -> bool:
    method = model._fitted_or_set("method")
    if method in WITH_TRANSFORM:
        return True
    raise AttributeError(
        f'method="{method}" has no transform for new points: use one of '
        f"{', '.join(WITH_TRANSFORM)}."
    )


class DivergenceEmbedding(
    FitSupport,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    RepresentationMixin,
    SavedStateMixin,
    BaseEstimator,
):
    """Coordinates for points from divergences between the Gaussians around them.

    A manifold learner whose neighborhood graph respects the local shape of the
    data: see `DivergenceNeighbors`, which makes the graph.

    Parameters
    ----------
    n_components : int, default=2
    method : {"isomap", "laplacian", "lle", "mds", "tsne", "umap"}, default="isomap"
        "isomap", "laplacian" (Laplacian eigenmaps) and "lle" embed the graph of
        nearest neighbors, "mds" (classical scaling) all distances. "umap" needs
        umap-learn.
    divergence : str, default="jeffreys"
        As for `DivergenceNeighbors`. Methods that square distances get the square
        roots of "jeffreys" and "bhattacharyya".
    n_neighbors : int or "energy", default=10
        Size of the neighborhoods, m. "energy": of 5, 7, 10, 14, 20, 28 and 40 the
        one whose graph, if connected, has the largest first `n_components` + 1
        eigenvalues of Laplacian eigenmaps, in sum.
    radius : float, optional
        Neighborhoods of all points within this distance, instead.
    covariance : str, default="ridge"
        As for `DivergenceNeighbors`.
    gamma : float, default=1e-4
    n_graph_neighbors : int, optional
        Neighbors of every point in the graph. None: 15, or for "tsne" as many as its
        perplexity needs. Not for "mds".
    n_candidates : int, optional
        Look for these among so many Euclidean neighbors only: for many points.
    disconnected : {"connect", "raise"}, default="connect"
        What "isomap" and "laplacian" do with a graph of several components:
        "connect" adds the shortest edge between every two of them, with a warning.
        "lle" always raises an error.
    scale : float, optional
        σ of the affinities exp(-divergence / σ) of "laplacian". None: the median of
        the graph's divergences that are not 0.
    lle_weights : {"distances", "coordinates"}, default="distances"
        Whether "lle" rebuilds points from their neighbors by the divergences alone,
        or by the points' own coordinates.
    method_params : dict, optional
        Further parameters of scikit-learn's TSNE or of umap.UMAP.
    search : {"exact", "approximate"}, default="exact"
    engine : {"auto", "dense", "low-rank"}, default="auto"
    random_state : int, RandomState instance or None, default=None
    n_jobs : int, optional

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
    neighbors_ : DivergenceNeighbors
        With the training points' Gaussians.
    n_neighbors_ : int
        m, chosen or given.
    energies_ : dict of int to float
        Energy of every size tried, NaN where the graph is not connected. Only with
        ``n_neighbors="energy"``.
    eigenvalues_ : ndarray
        Of "isomap", "laplacian" (the trivial one first) and "mds".
    estimator_ : object
        The fitted TSNE or UMAP; the latter is not saved by `vicinal.save`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only if `X` has feature names that are all strings.

    See Also
    --------
    DivergenceNeighbors : The distances only.

    Notes
    -----
    Memory grows with the number of points, but for "isomap" and "mds", which need
    all distances and take at most 31 000 points.

    `transform` gives new points the Gaussians of the training points around them.
    "isomap" extends by shortest paths, "laplacian" by Nyström's formula, "lle" by
    weights of the nearest training points, "mds" by Gower's formula.

    References
    ----------
    .. [1] K. Abou-Moustafa, D. Schuurmans, F. Ferrie. "Learning a metric space for
       neighbourhood topology estimation: application to manifold learning".
       ACML 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from vicinal import DivergenceEmbedding
    >>> X, _ = load_wine(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = DivergenceEmbedding(method="laplacian", gamma=0.1, random_state=0)
    >>> model.fit_transform(X).shape
    (178, 2)
    """

    _map: Any  # PathMap, LaplacianMap or ScalingMap

    def __init__(
        self,
        n_components: int = 2,
        *,
        method: str = "isomap",
        divergence: str = "jeffreys",
        n_neighbors: int | str = 10,
        radius: float | None = None,
        covariance: str = "ridge",
        gamma: float = 1e-4,
        n_graph_neighbors: int | None = None,
        n_candidates: int | None = None,
        disconnected: str = "connect",
        scale: float | None = None,
        lle_weights: str = "distances",
        method_params: dict[str, Any] | None = None,
        search: str = "exact",
        engine: str = "auto",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.divergence = divergence
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.covariance = covariance
        self.gamma = gamma
        self.n_graph_neighbors = n_graph_neighbors
        self.n_candidates = n_candidates
        self.disconnected = disconnected
        self.scale = scale
        self.lle_weights = lle_weights
        self.method_params = method_params
        self.search = search
        self.engine = engine
        self.random_state = random_state
        self.n_jobs = n_jobs

    @on_own_threads
    def fit(self, X: ArrayLike, y: Any = None) -> "DivergenceEmbedding":
        """Embed the training points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self : DivergenceEmbedding
        """
        points = validate_data(self, X, dtype=(np.float64, np.float32), ensure_min_samples=2)
        check_units(points)
        self._check_parameters(len(points))
        self._forget("embedding_", "energies_", "eigenvalues_", "estimator_", "_map")
        # What `transform` reads: parameters may be set to others before it is called.
        self._fitted_with = self._parameters(*_READ_BY_TRANSFORM)
        rng = self._generator()
        self.n_neighbors_ = self._chosen_size(points, rng)
        self.neighbors_ = self._neighbors(self.n_neighbors_, len(points))
        embed: Callable[[NDArray, np.random.Generator], NDArray] = getattr(self, f"_{self.method}")
        self.embedding_ = in_precision(embed(points, rng), points.dtype, "coordinates")
        self._n_features_out = self.n_components
        return self

    def fit_transform(self, X: ArrayLike, y: Any = None) -> NDArray:
        """Embed the training points and return their coordinates.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        return self.fit(X).embedding_

    @on_own_threads
    def transform(self, X: ArrayLike) -> NDArray:
        """Coordinates of new points. Not for "tsne" and "umap".

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)

        Returns
        -------
        ndarray of shape (n_queries, n_components)
        """
        check_is_fitted(self, "embedding_")
        points = validate_data(self, X, dtype=(np.float64, np.float32), reset=False)
        method = self._fitted_with["method"]
        extend: Callable[[NDArray], NDArray] = getattr(self, f"_extend_{method}")
        return in_precision(extend(points), self.embedding_.dtype, "coordinates")

    # ------------------------------------------------------------------------------ each method

    def _isomap(self, X: NDArray, rng: np.random.Generator) -> NDArray:
        self._map = isomap(self._distances(self._connected_graph(X)), self.n_components, rng)
        self.eigenvalues_ = self._map.scaling.eigenvalues
        return self._map.scaling.coordinates

    def _extend_isomap(self, X: NDArray) -> NDArray:
        return self._map.extended(self._distances(self._new_graph(X)))

    def _laplacian(self, X: NDArray, rng: np.random.Generator) -> NDArray:
        graph = symmetric(self._connected_graph(X))
        self._map = laplacian_eigenmaps(graph, self.n_components, self.scale, rng)
        self.eigenvalues_ = self._map.eigenvalues
        return self._map.coordinates

    def _extend_laplacian(self, X: NDArray) -> NDArray:
        return self._map.extended(self._new_graph(X))

    def _lle(self, X: NDArray, rng: np.random.Generator) -> NDArray:
        graph = self._connected_graph(X)
        near = graph.indices.reshape(len(X), -1)[:, 1:]
        weights = weights_of(self._gram(X, X, near, self._squared(graph)[:, 1:]))
        return embedded(near, weights, self.n_components, rng)

    def _extend_lle(self, X: NDArray) -> NDArray:
        graph = self._new_graph(X)
        near = graph.indices.reshape(len(X), -1)
        gram = self._gram(self.neighbors_._fit_X, X, near, self._squared(graph))
        return np.einsum("nk,nkc->nc", weights_of(gram), self.embedding_[near])

    def _mds(self, X: NDArray, rng: np.random.Generator) -> NDArray:
        squared = self._square(np.asarray(self.neighbors_.fit(X)._divergences()))
        self._map = classical_scaling(squared, self.n_components, rng)
        self.eigenvalues_ = self._map.eigenvalues
        return self._map.coordinates

    def _extend_mds(self, X: NDArray) -> NDArray:
        return self._map.extended(self._square(np.asarray(self.neighbors_._divergences_of(X))))

    def _tsne(self, X: NDArray, rng: np.random.Generator) -> NDArray:
        params = {
            "n_components": self.n_components,
            "init": "random",  # the only one for distances
            "random_state": int(rng.integers(2**31)),
            "n_jobs": self.n_jobs,
            "perplexity": self._perplexity(len(X)),
        }
        self.estimator_ = tsne(
            self._distances(self._graph(X)), **{**params, **(self.method_params or {})}
        )
        return np.asarray(self.estimator_.embedding_)

    def _umap(self, X: NDArray, rng: np.random.Generator) -> NDArray:
        params = {
            "n_components": self.n_components,
            "random_state": int(rng.integers(2**31)),
            "n_jobs": 1,  # with a random state it uses one anyway, and says so
        }
        self.estimator_ = umap(
            self._distances(self._graph(X)), X, **{**params, **(self.method_params or {})}
        )
        return np.asarray(self.estimator_.embedding_)

    # ---------------------------------------------------------------------------------- the graph

    def _neighbors(self, n_neighbors: int, n_samples: int) -> DivergenceNeighbors:
        k = None if self.method == "mds" else self._n_graph_neighbors(n_samples)
        return DivergenceNeighbors(
            n_neighbors,
            radius=self.radius,
            divergence=self.divergence,
            covariance=self.covariance,
            gamma=self.gamma,
            n_graph_neighbors=k,
            n_candidates=self.n_candidates,
            search=self.search,
            engine=self.engine,
            n_jobs=self.n_jobs,
        )

    def _n_graph_neighbors(self, n_samples: int) -> int:
        if self.n_graph_neighbors is not None:
            return self.n_graph_neighbors
        wanted = _GRAPH_NEIGHBORS
        if self.method == "tsne":
            wanted = most_tsne_neighbors(self._perplexity(n_samples), n_samples)
        return min(wanted, n_samples - 1)

    def _perplexity(self, n_samples: int) -> float:
        """Of t-SNE: at most a third of the points."""
        return (self.method_params or {}).get("perplexity", min(30.0, (n_samples - 1) / 3.0))

    def _graph(self, X: NDArray) -> csr_matrix:
        return self.neighbors_.fit(X)._divergences()

    def _new_graph(self, X: NDArray) -> csr_matrix:
        """The k nearest training points of new ones."""
        # There are k + 1, as training points count themselves.
        return without_last(self.neighbors_._divergences_of(X))

    def _connected_graph(self, X: NDArray) -> csr_matrix:
        graph = self._graph(X)
        if self.disconnected == "connect" and self.method != "lle":
            return connected(graph, self.neighbors_._comparison, self.neighbors_.gaussians_)
        check_connected(graph, self.method)
        return graph

    def _chosen_size(self, X: NDArray, rng: np.random.Generator) -> int:
        if not isinstance(self.n_neighbors, str):
            return int(self.n_neighbors)

        def energy(size: int) -> float:
            graph = symmetric(self._neighbors(size, len(X)).fit(X)._divergences())
            return laplacian_energy(graph, self.n_components + 1, self.scale, rng)

        chosen, self.energies_ = best_size(energy, len(X))
        return chosen

    def _distances(self, graph: Any) -> Any:
        """For methods that square them."""
        return rooted(graph) if self._fitted_with["divergence"] in SQUARED else graph

    def _square(self, values: NDArray) -> NDArray:
        return values if self._fitted_with["divergence"] in SQUARED else np.square(values)

    def _squared(self, graph: csr_matrix) -> NDArray:
        """Squared distances of every row's neighbors."""
        return self._square(graph.data.reshape(graph.shape[0], -1))

    def _gram(self, X: NDArray, queries: NDArray, near: NDArray, squared: NDArray) -> NDArray:
        """Gram matrices of neighbors around their points."""
        if self._fitted_with["lle_weights"] == "coordinates":
            return gram_of_coordinates(X, queries, near)
        return gram_of_distances(squared, self._square(self.neighbors_._among(near)))

    def _check_parameters(self, n_samples: int) -> None:
        check_count(
            "n_components", self.n_components, 1, n_samples - 1, " (number of other points)"
        )
        check_choice("method", self.method, METHODS)
        check_choice("disconnected", self.disconnected, ("raise", "connect"))
        check_choice("lle_weights", self.lle_weights, ("distances", "coordinates"))
        if self.scale is not None and check_nonnegative("scale", self.scale) == 0:
            raise ValueError("scale=0 makes every affinity 0: it must be positive.")
        for name in ("n_graph_neighbors", "n_candidates"):
            if self.method == "mds" and getattr(self, name) is not None:
                raise ValueError(
                    f'{name}={getattr(self, name)!r} has no meaning for method="mds", which takes '
                    "all distances."
                )
        if self.method in ("isomap", "mds"):
            check_room(
                f'all distances, for method="{self.method}",',
                (n_samples, n_samples),
                'use method="laplacian", "lle" or "umap", or fewer points',
            )
        self._check_method_params(n_samples)
        self._check_size(n_samples)

    def _check_size(self, n_samples: int) -> None:
        """Of the neighborhoods."""
        if not isinstance(self.n_neighbors, str):
            most = n_samples - 1 if self.radius is None else None
            why = " (number of other points)" if self.radius is None else ""
            check_count("n_neighbors", self.n_neighbors, 1, most, why)
            return
        check_choice("n_neighbors", self.n_neighbors, ("energy",))
        if self.method == "mds":
            raise ValueError('n_neighbors="energy" needs a graph, and method="mds" has none.')
        if self.radius is not None:
            raise ValueError(
                f'n_neighbors="energy" has no meaning with radius={self.radius}, which makes the '
                "neighborhoods."
            )

    def _check_method_params(self, n_samples: int) -> None:
        params = self.method_params or {}
        if not isinstance(params, dict):
            raise TypeError(f"method_params={params!r} must be a dict of parameters, or None.")
        if self.method == "tsne":
            perplexity, n_components = self._perplexity(n_samples), self.n_components
            k = n_samples if self.n_graph_neighbors is None else self.n_graph_neighbors
            check_tsne(params, perplexity, n_components, k, n_samples)
        elif self.method == "umap":
            check_umap(params, self.n_components, n_samples)
        elif params:
            raise ValueError(
                f'method_params has no meaning for method="{self.method}": it is for "tsne" and '
                '"umap".'
            )

    def _not_in_files(self) -> tuple[str, ...]:
        """UMAP's object has compiled functions and all of the data."""
        names = super()._not_in_files()
        return (*names, "estimator_") if self._fitted_or_set("method") == "umap" else names

    def _fitted_or_set(self, name: str) -> Any:
        """A parameter as it was fitted, or, before that, as it is."""
        return getattr(self, "_fitted_with", self.get_params(deep=False))[name]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


# scikit-learn has wrapped the method by now, for `set_output`, and would have hidden this.
DivergenceEmbedding.transform = available_if(_has_transform)(  # type: ignore[method-assign]
    DivergenceEmbedding.transform
)
