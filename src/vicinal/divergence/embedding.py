"""DivergenceEmbedding: the estimator."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from vicinal.divergence.divergences import check_symmetric
from vicinal.divergence.energy import best_size, laplacian_energy
from vicinal.divergence.graph import check_connected, symmetric, without_last
from vicinal.divergence.learners import (
    Embedded,
    Graph,
    Learner,
    learner_named,
    learners_that,
    one_of,
)
from vicinal.divergence.limits import check_room, in_precision
from vicinal.divergence.neighbors import DivergenceNeighbors, space_of
from vicinal.divergence.space import Divergences, DivergenceSpace
from vicinal.fitting.support import FitSupport
from vicinal.inputs.checks import check_choice, check_count, check_nonnegative
from vicinal.inputs.units import check_units
from vicinal.neighborhood.threads import on_own_threads
from vicinal.representation import RepresentationMixin
from vicinal.state import SavedStateMixin

__all__ = ["DivergenceEmbedding"]


def _has_transform(model: "DivergenceEmbedding") -> bool:
    method = model._fitted_or_set("method")
    with_transform = learners_that(lambda learner: learner.extend is not None)
    if method in with_transform:
        return True
    raise AttributeError(
        f'method="{method}" has no transform for new points: use one of '
        f"{', '.join(with_transform)}."
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
    search : {"auto", "exact", "approximate"}, default="auto"
    engine : {"auto", "dense", "low-rank"}, default="auto"
    random_state : int, RandomState instance or None, default=None
    n_jobs : int, optional
    verbose : int, default=0
        These as for `DivergenceNeighbors`.

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
    all distances and take at most 31 000 points: embed a sample of more, and
    `transform` the others. Of "tsne", "umap" and "lle" a warning says at once where
    they will take longer than minutes.

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

    _map: Any  # what the learner needs for new points

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
        search: str = "auto",
        engine: str = "auto",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
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
        self.verbose = verbose

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
        self._fitted_with = self._parameters("method")
        rng = self._generator()
        self.n_neighbors_ = self._chosen_size(points, rng)
        self.neighbors_ = self._neighbors(self.n_neighbors_, len(points)).fit(points)
        learner, space = learner_named(self.method), space_of(self.neighbors_)
        found = learner.embed(space, self._divergences(learner, space), self, rng)
        self.embedding_ = in_precision(found.coordinates, points.dtype, "coordinates")
        self._keep(_map=found.map, eigenvalues_=found.eigenvalues, estimator_=found.estimator)
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
        learner, space = learner_named(self._fitted_with["method"]), space_of(self.neighbors_)
        divergences = space.divergences_of(points)
        if learner.graph is not None:  # the k nearest: training points count themselves, too
            divergences = without_last(divergences)
        found = Embedded(self.embedding_, getattr(self, "_map", None))
        assert learner.extend is not None  # otherwise there is no transform
        extended = learner.extend(space, divergences, points, found)
        return in_precision(extended, self.embedding_.dtype, "coordinates")

    def _keep(self, **found: Any) -> None:
        """Set attributes to what was found, and leave out what was not."""
        for name, value in found.items():
            if value is not None:
                setattr(self, name, value)

    # ---------------------------------------------------------------------------------- the graph

    def _neighbors(self, n_neighbors: int, n_samples: int) -> DivergenceNeighbors:
        return DivergenceNeighbors(
            n_neighbors,
            radius=self.radius,
            divergence=self.divergence,
            covariance=self.covariance,
            gamma=self.gamma,
            n_graph_neighbors=self._n_graph_neighbors(n_samples),
            n_candidates=self.n_candidates,
            search=self.search,
            engine=self.engine,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )

    def _n_graph_neighbors(self, n_samples: int) -> int | None:
        """How many neighbors the graph has; None where there is none."""
        learner = learner_named(self.method)
        if learner.graph is None or self.n_graph_neighbors is not None:
            return self.n_graph_neighbors
        return min(learner.graph_neighbors(self, n_samples), n_samples - 1)

    def _divergences(self, learner: Learner, space: DivergenceSpace) -> Divergences:
        """The divergences of the training points that the learner needs."""
        found = space.divergences()
        if learner.graph is Graph.JOINED and self.disconnected == "connect":
            return space.joined(found)
        if learner.graph in (Graph.JOINED, Graph.WHOLE):
            joined = one_of(lambda other: other.graph is Graph.JOINED)
            others = one_of(lambda other: other.graph in (None, Graph.ANY))
            check_connected(
                found,
                f'method="{learner.name}" needs one. Raise n_graph_neighbors; or use '
                f'method={joined} with disconnected="connect", or {others}',
            )
        return found

    def _chosen_size(self, X: NDArray, rng: np.random.Generator) -> int:
        if not isinstance(self.n_neighbors, str):
            return int(self.n_neighbors)

        def energy(size: int) -> float:
            model = self._neighbors(size, len(X)).fit(X)
            graph = symmetric(space_of(model).divergences())
            return laplacian_energy(graph, self.n_components + 1, self.scale, rng)

        chosen, self.energies_ = best_size(energy, len(X))
        return chosen

    # ----------------------------------------------------------------------------- the parameters

    def _check_parameters(self, n_samples: int) -> None:
        check_count(
            "n_components", self.n_components, 1, n_samples - 1, " (number of other points)"
        )
        learner = learner_named(self.method)
        check_choice("disconnected", self.disconnected, ("raise", "connect"))
        check_choice("lle_weights", self.lle_weights, ("distances", "coordinates"))
        if self.scale is not None and check_nonnegative("scale", self.scale) == 0:
            raise ValueError("scale=0 makes every affinity 0: it must be positive.")
        check_symmetric(self.divergence, "DivergenceEmbedding")
        if learner.graph is None:
            self._check_no_graph()
        if learner.all_pairs:
            others = one_of(lambda other: not other.all_pairs)
            check_room(
                f'all distances, for method="{self.method}",',
                (n_samples, n_samples),
                f"embed fewer points, and transform the others; or use method={others}",
            )
        self._check_method_params(learner, n_samples)
        self._check_size(n_samples)
        learner.warn_of_time(n_samples)

    def _check_no_graph(self) -> None:
        """Refuse parameters of a graph where there is none."""
        for name in ("n_graph_neighbors", "n_candidates"):
            if getattr(self, name) is not None:
                raise ValueError(
                    f'{name}={getattr(self, name)!r} has no meaning for method="{self.method}", '
                    "which takes all distances."
                )

    def _check_size(self, n_samples: int) -> None:
        """Refuse sizes of neighborhoods that make no sense."""
        if not isinstance(self.n_neighbors, str):
            most = n_samples - 1 if self.radius is None else None
            why = " (number of other points)" if self.radius is None else ""
            check_count("n_neighbors", self.n_neighbors, 1, most, why)
            return
        check_choice("n_neighbors", self.n_neighbors, ("energy",))
        if learner_named(self.method).graph is None:
            raise ValueError(
                f'n_neighbors="energy" needs a graph, and method="{self.method}" has none.'
            )
        if self.radius is not None:
            raise ValueError(
                f'n_neighbors="energy" has no meaning with radius={self.radius}, which makes the '
                "neighborhoods."
            )

    def _check_method_params(self, learner: Learner, n_samples: int) -> None:
        params = self.method_params or {}
        if not isinstance(params, dict):
            raise TypeError(f"method_params={params!r} must be a dict of parameters, or None.")
        if learner.check_params is not None:
            learner.check_params(self, n_samples)
        elif params:
            others = one_of(lambda other: other.check_params is not None)
            raise ValueError(
                f'method_params has no meaning for method="{self.method}": it is for {others}.'
            )

    def _not_in_files(self) -> tuple[str, ...]:
        """What is left out of files: also an estimator that the learner does not save."""
        unsaved = learners_that(lambda learner: not learner.saves_estimator)
        more = ("estimator_",) if self._fitted_or_set("method") in unsaved else ()
        return (*super()._not_in_files(), *more)

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
