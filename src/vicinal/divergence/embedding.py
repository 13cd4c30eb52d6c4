"""DivergenceEmbedding: the estimator."""

import os
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix, issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from vicinal.divergence.energy import best_size, laplacian_energy
from vicinal.divergence.graph import (
    check_connected,
    parts_of,
    pieces_of,
    symmetric,
    tell_of_pieces,
)
from vicinal.divergence.learners import (
    Embedded,
    Graph,
    Learner,
    learner_named,
    learners_that,
    one_of,
)
from vicinal.divergence.learners.laplacian import scale_of
from vicinal.divergence.learners.pieces import Pieces, embed_pieces, extend_pieces
from vicinal.divergence.limits import in_precision
from vicinal.divergence.memory import needs_of_embedding
from vicinal.divergence.neighbors import DivergenceNeighbors, checked_queries, space_of
from vicinal.divergence.settings import check_settings
from vicinal.divergence.space import Divergences, Space
from vicinal.fitting.checkpoints import remembered
from vicinal.fitting.support import FitSupport
from vicinal.inputs.tensors import answers_in_kind
from vicinal.neighborhood.threads import on_own_threads
from vicinal.representation import RepresentationMixin
from vicinal.rows.memory import Need
from vicinal.rows.methods import answers_in_blocks, learns_from_rows
from vicinal.state import SavedStateMixin

__all__ = ["DivergenceEmbedding"]

# What a fit may find, by the learner.
_FOUND = (
    "embedding_",
    "energies_",
    "eigenvalues_",
    "estimator_",
    "reconstruction_error_",
    "_map",
)


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
    """Manifold learning with divergences between the Gaussians around points.

    Embeds points by a neighborhood graph that respects the local shape of the data. The graph comes
    from `DivergenceNeighbors`.

    Parameters
    ----------
    n_components : int in [1, n_samples), default=2
        Number of coordinates.
    method : {"isomap", "laplacian", "lle", "mds", "tsne", "umap"}, default="isomap"
        "isomap", "laplacian" (Laplacian eigenmaps) and "lle" (locally linear embedding) embed the
        graph of nearest neighbors, "mds" (classical scaling) the distances of all pairs. "tsne":
        t-SNE. "umap": UMAP, needs umap-learn.
    divergence : str, default="jeffreys"
        Divergence between Gaussians, as in `DivergenceNeighbors`. Methods that square distances use
        the square roots of "jeffreys" and "bhattacharyya".
    metric : {"euclidean", "precomputed"}, default="euclidean"
        "euclidean": the rows of X are points. "precomputed": X holds distances, which are used
        instead of divergences: of all pairs of points, or a sparse graph of neighbors.
    n_neighbors : int in [1, inf), "energy" or "growth", default=10
        Number of neighbors m in the neighborhood of each point. "energy": the number from 3 to 25
        whose graph has the largest sum of the first `n_components` + 1 eigenvalues of Laplacian
        eigenmaps; the smallest in case of ties. The sum is largest possible for a graph with as
        many components as eigenvalues, the ideal of the paper. "growth": as in
        `DivergenceNeighbors`.
    radius : float in (0, inf), optional
        Use all points within this distance as the neighborhood, instead of `n_neighbors`.
    covariance : str, default="ridge"
        Estimator of the covariance of a neighborhood, as in `DivergenceNeighbors`.
    gamma : "auto" or float in [0, inf), default="auto"
        Regularization of `covariance`, as in `DivergenceNeighbors`.
    n_graph_neighbors : int in [1, n_samples), optional
        Number of neighbors of each point in the graph. None: 15; for "tsne", as many as its
        perplexity needs; for a precomputed graph, all its edges. Not used by "mds".
    n_candidates : int in [1, n_samples), optional
        Search for graph neighbors only among this many Euclidean neighbors; for large data sets.
    use_labels : bool, default=False
        Whether `fit` restricts the neighborhood of each training point to its own class, given by
        y.
    disconnected : {"connect", "separate", "raise"}, default="connect"
        What "isomap", "laplacian" and "lle" do, with a warning, if the graph has several
        components. "connect": add the shortest edge between every two of them. "separate": embed
        each component on its own, and place them side by side along the first coordinate. "raise":
        raise an error. A precomputed graph holds no distances between its components, so "connect"
        acts as "separate".
    scale : float in (0, inf), optional
        Scale σ of the affinities exp(-divergence / σ) of "laplacian". None: the quantile
        `scale_quantile` of the nonzero divergences in the graph.
    scale_quantile : float in (0, 1), default=0.5
        Quantile that sets σ, between 0 and 1.
    lle_weights : {"distances", "coordinates"}, default="distances"
        Whether "lle" computes the weights that reconstruct a point from its neighbors from the
        divergences alone ("distances") or from the coordinates of the points ("coordinates").
    method_params : dict, optional
        Additional parameters of scikit-learn's TSNE or of umap.UMAP.
    search : {"auto", "exact", "approximate"}, default="auto"
        How Euclidean neighbors are searched for, as in `DivergenceNeighbors`.
    engine : {"auto", "dense", "low-rank", "cuda", "dask"}, default="auto"
        Where and how Gaussians are compared, as in `DivergenceNeighbors`.
    checkpoint : path-like, optional
        File to which `fit` saves its progress every few seconds: neighborhood sizes tried, the
        neighbors in the graph, eigenvectors, the coordinates of t-SNE. If a fit is killed or
        interrupted, calling it again with the same data and parameters resumes it, and the result
        is the same embedding, bit for bit; t-SNE and UMAP start again if they were interrupted. The
        checkpoint of a different fit raises an error. See ``docs/checkpoints.md``.
    memory_limit : int, float or str, optional
        Memory that `fit` may use in addition to `X` itself: in bytes, or as a string such as "2GB".
        A call that needs more raises an error before any work is done, and says what to change
        (``docs/scale.md``). Sparse distances, and what t-SNE and UMAP use themselves, are not
        counted. Results do not depend on the limit. None: no limit.
    random_state : int, RandomState instance or None, default=None
        Seed or generator for the start of iterative eigenvalue solvers, t-SNE, and UMAP.
    n_jobs : int, optional
        Number of threads. None: all cores.
    verbose : int, default=0
        1: show the progress of stages that take longer than a second.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training points.
    neighbors_ : DivergenceNeighbors
        The fitted estimator that holds the Gaussians of the training points.
    n_neighbors_ : int
        Number of neighbors m, given or chosen.
    energies_ : dict of int to float
        Energy of each number of neighbors tried. Only with ``n_neighbors="energy"``.
    eigenvalues_ : ndarray
        Eigenvalues of "isomap", "laplacian" (the trivial one first) and "mds". Not with components
        side by side.
    reconstruction_error_ : float
        Error of "isomap", "mds" and "lle", as defined by scikit-learn: for "isomap" and "mds", how
        far the inner products of the coordinates are from those that the distances require; for
        "lle", how far the coordinates are from their reconstruction by the neighbors. Not with
        components side by side.
    dist_matrix_ : ndarray of shape (n_samples, n_samples)
        Lengths of the shortest paths, of "isomap"; inf between components side by side.
    affinity_matrix_ : sparse matrix of shape (n_samples, n_samples)
        Affinities of "laplacian".
    estimator_ : object
        The fitted TSNE or UMAP. UMAP is not saved by `vicinal.save`.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen during `fit`. Only if `X` has feature names that are all strings.

    See Also
    --------
    DivergenceNeighbors : The distances only.

    Notes
    -----
    Memory grows with the number of points, except for "isomap" and "mds", which need all distances
    and take at most 31 000 points: for more, embed a sample and `transform` the other points. For
    "tsne", "umap" and "lle", a warning at the start tells if they will take longer than minutes.

    `transform` computes the Gaussian of a new point from the training points around it. "isomap"
    extends by shortest paths, "laplacian" by Nyström's formula, "lle" by the weights of the nearest
    training points, "mds" by Gower's formula.

    Equations of the divergences, and of graphs and maps: ``docs/equations/divergence.md``.

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
    >>> model = DivergenceEmbedding(method="laplacian", random_state=0)
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
        metric: str = "euclidean",
        n_neighbors: int | str = 10,
        radius: float | None = None,
        covariance: str = "ridge",
        gamma: float | str = "auto",
        n_graph_neighbors: int | None = None,
        n_candidates: int | None = None,
        use_labels: bool = False,
        disconnected: str = "connect",
        scale: float | None = None,
        scale_quantile: float = 0.5,
        lle_weights: str = "distances",
        method_params: dict[str, Any] | None = None,
        search: str = "auto",
        engine: str = "auto",
        checkpoint: str | os.PathLike[str] | None = None,
        memory_limit: float | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.divergence = divergence
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.covariance = covariance
        self.gamma = gamma
        self.n_graph_neighbors = n_graph_neighbors
        self.n_candidates = n_candidates
        self.use_labels = use_labels
        self.disconnected = disconnected
        self.scale = scale
        self.scale_quantile = scale_quantile
        self.lle_weights = lle_weights
        self.method_params = method_params
        self.search = search
        self.engine = engine
        self.checkpoint = checkpoint
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @learns_from_rows
    @answers_in_kind
    @on_own_threads
    def fit(self, X: ArrayLike, y: Any = None) -> "DivergenceEmbedding":
        """Embed the training points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training set, or distances of shape (n_samples, n_samples).
        y : array-like of shape (n_samples,), optional
            Class labels; ignored unless ``use_labels=True``.

        Returns
        -------
        self : DivergenceEmbedding
            The fitted estimator.
        """
        points = self._checked(X)
        self._forget(*_FOUND)
        # What `transform` reads: parameters may be set to others before it is called.
        self._fitted_with = self._parameters("method")
        labels = np.asarray(y) if self.use_labels else None
        with self._checkpointed("fit", X=points, y=labels):
            self._learn(points, y, self._generator())
        self._n_features_out = self.n_components
        return self

    def _learn(self, points: Divergences, y: Any, rng: np.random.Generator) -> None:
        """Find neighborhoods, the graph, and coordinates."""
        size = self._chosen_size(points, y, rng)
        self.neighbors_ = self._neighbors(size, points).fit(points, y)
        self.n_neighbors_ = getattr(self.neighbors_, "n_neighbors_", size)
        learner, space = learner_named(self.method), space_of(self.neighbors_, points)
        found = self._embedded(learner, space, rng)
        self.embedding_ = in_precision(found.coordinates, points.dtype, "coordinates")
        self._keep(
            _map=found.map,
            eigenvalues_=found.eigenvalues,
            estimator_=found.estimator,
            reconstruction_error_=found.reconstruction_error,
        )

    @learns_from_rows
    @answers_in_kind
    def fit_transform(self, X: ArrayLike, y: Any = None) -> NDArray:
        """Embed the training points and return their coordinates.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training set, or distances of shape (n_samples, n_samples).
        y : array-like of shape (n_samples,), optional
            Class labels; ignored unless ``use_labels=True``.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Coordinates of the training points.
        """
        return self.fit(X, y).embedding_

    @answers_in_blocks
    @answers_in_kind
    @on_own_threads
    def transform(self, X: ArrayLike) -> NDArray:
        """Compute the coordinates of new points. Not available for "tsne" and "umap".

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            New points, or distances of shape (n_queries, n_samples).

        Returns
        -------
        ndarray of shape (n_queries, n_components)
            Coordinates of the new points.
        """
        check_is_fitted(self, "embedding_")
        points = checked_queries(self, self.neighbors_, X)
        learner, space = learner_named(self._fitted_with["method"]), space_of(self.neighbors_)
        divergences = space.neighbors_of(points)
        found = Embedded(self.embedding_, getattr(self, "_map", None))
        assert learner.extend is not None  # otherwise there is no transform
        if isinstance(found.map, Pieces):
            extended = extend_pieces(learner, space, divergences, points, found)
        else:
            extended = learner.extend(space, divergences, points, found)
        return in_precision(extended, self.embedding_.dtype, "coordinates")

    @property
    def dist_matrix_(self) -> NDArray:
        """Lengths of the shortest paths, for a fitted "isomap"."""
        check_is_fitted(self, "embedding_")
        lengths = np.full((len(self.embedding_),) * 2, np.inf)
        for rows, part in self._maps("isomap", "dist_matrix_"):
            lengths[np.ix_(rows, rows)] = 0.0 if part is None else part.lengths
        return lengths

    @property
    def affinity_matrix_(self) -> csr_matrix:
        """Affinities exp(-divergence / σ) of the edges, for a fitted "laplacian"."""
        check_is_fitted(self, "embedding_")
        n, every = len(self.embedding_), []
        for rows, part in self._maps("laplacian", "affinity_matrix_"):
            if part is not None:
                edges = part.affinities.tocoo()
                every.append((edges.data, rows[edges.row], rows[edges.col]))
        data, row, column = (np.concatenate(parts) for parts in zip(*every, strict=True))
        return csr_matrix((data, (row, column)), shape=(n, n))

    def _maps(self, method: str, name: str) -> Iterator[tuple[NDArray, Any]]:
        """Points of each component that was embedded for itself, and its map."""
        if self._fitted_with["method"] != method:
            raise AttributeError(f'{name} is there with method="{method}" only.')
        if not isinstance(self._map, Pieces):
            yield np.arange(len(self.embedding_)), self._map
            return
        for piece, part in enumerate(self._map.maps):
            yield np.flatnonzero(self._map.labels == piece), part

    def _keep(self, **found: Any) -> None:
        """Set attributes to what was found, and leave out what was not."""
        for name, value in found.items():
            if value is not None:
                setattr(self, name, value)

    # ---------------------------------------------------------------------------------- the graph

    def _memory_needs(self, method: str, shape: tuple[int, int], dtype: np.dtype) -> list[Need]:
        """What a method needs in memory for rows of a shape."""
        return needs_of_embedding(self, *shape)

    def _neighbors(self, n_neighbors: int | str, X: Divergences) -> DivergenceNeighbors:
        return DivergenceNeighbors(
            n_neighbors,
            radius=self.radius,
            divergence=self.divergence,
            metric=self.metric,
            covariance=self.covariance,
            gamma=self.gamma,
            n_graph_neighbors=self._n_graph_neighbors(X),
            n_candidates=self.n_candidates,
            use_labels=self.use_labels,
            search=self.search,
            engine=self.engine,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )

    def _n_graph_neighbors(self, X: Divergences) -> int | None:
        """How many neighbors the graph has; None where there is none, or all that are given."""
        learner, n = learner_named(self.method), X.shape[0]
        if learner.graph is None or self.n_graph_neighbors is not None:
            return self.n_graph_neighbors
        if issparse(X) and learner.graph is Graph.JOINED:
            return None
        return min(learner.graph_neighbors(self, n), n - 1)

    def _embedded(self, learner: Learner, space: Space, rng: np.random.Generator) -> Embedded:
        """What the learner makes of the training points, or of each component of their graph."""
        found = self._divergences(learner, space)
        if learner.graph is not Graph.JOINED or pieces_of(found)[0] == 1:
            return learner.embed(space, found, self, rng)
        if self.disconnected == "raise":
            others = one_of(lambda other: other.graph in (None, Graph.ANY))
            check_connected(
                found,
                f'method="{learner.name}" needs one. Raise n_graph_neighbors, use '
                f'disconnected="connect" or "separate", or method={others}',
            )
        if self.disconnected == "separate" or _is_graph(space):
            tell_of_pieces(pieces_of(found)[1], "they were embedded side by side")
            return embed_pieces(learner, space, found, self, rng)
        return learner.embed(space, space.joined(found), self, rng)

    def _divergences(self, learner: Learner, space: Space) -> Divergences:
        """Divergences of the points; those in a graph are found once in all lives of a fit."""
        if learner.graph is None or self.metric == "precomputed":
            return space.divergences()
        n = len(space.points)
        parts = remembered(lambda: parts_of(space.divergences()))
        return csr_matrix(parts, shape=(n, n))

    def _chosen_size(self, X: Divergences, y: Any, rng: np.random.Generator) -> int | str:
        if self.n_neighbors != "energy":
            return self.n_neighbors
        n_leading = self.n_components + 1

        def energy(size: int) -> float:
            model = self._neighbors(size, X).fit(X, y)
            graph = symmetric(space_of(model).divergences())
            scale = scale_of(graph, self.scale, self.scale_quantile)
            return laplacian_energy(graph, n_leading, scale, rng)

        def known(size: int) -> float:
            return remembered(partial(energy, size))

        chosen, self.energies_ = best_size(known, X.shape[0], n_leading)
        return chosen

    # ----------------------------------------------------------------------------- the parameters

    def _checked(self, X: ArrayLike) -> Divergences:
        """Points to learn from, or their distances, all in order, parameters too."""
        is_given = self.metric == "precomputed"
        points = validate_data(
            self,
            X,
            dtype=(np.float64, np.float32),
            ensure_min_samples=2,
            accept_sparse="csr" if is_given else False,
        )
        check_settings(self, points)
        return points

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
        is_given = self.metric == "precomputed"
        tags.input_tags.pairwise = tags.input_tags.sparse = is_given
        tags.input_tags.positive_only = is_given
        return tags


def _is_graph(space: Space) -> bool:
    """Whether of distances only those of neighbors are known."""
    return issparse(getattr(space, "given", None))


# scikit-learn has wrapped the method by now, for `set_output`, and would have hidden this.
DivergenceEmbedding.transform = available_if(_has_transform)(  # type: ignore[method-assign]
    DivergenceEmbedding.transform
)
