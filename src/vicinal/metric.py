"""What every model with a linear map offers: the projection, and distances between given pairs."""

from math import hypot
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from vicinal.inputs.pairs import split_pairs
from vicinal.inputs.tensors import answers_in_kind, computes_in_place, float_dtypes
from vicinal.inputs.units import check_projection
from vicinal.neighborhood import gram, times
from vicinal.neighborhood.arrays import Array
from vicinal.neighborhood.threads import on_own_threads
from vicinal.rows.methods import answers_in_blocks

if TYPE_CHECKING:
    import faiss
    import torch

    from vicinal.indexes import UsearchIndex

__all__ = ["LinearMapMixin", "MahalanobisMetric", "MahalanobisMixin"]


class MahalanobisMetric:
    """A learned distance as a function of two points: a copy that later fits do not change.

    Parameters
    ----------
    components : array-like of shape (n_components, n_features)
        The learned map.

    See Also
    --------
    MahalanobisMixin.get_metric : Create one from a fitted model.

    Examples
    --------
    >>> from vicinal.metric import MahalanobisMetric
    >>> metric = MahalanobisMetric([[2.0, 0.0]])
    >>> metric([0, 0], [1, 5])
    2.0
    """

    def __init__(self, components: ArrayLike) -> None:
        self.components = np.array(components, dtype=np.float64)

    def __call__(self, u: ArrayLike, v: ArrayLike) -> float:
        """Distance between two points, both of shape (n_features,)."""
        u, v = np.asarray(u, dtype=np.float64), np.asarray(v, dtype=np.float64)
        if u.shape != v.shape or u.shape != self.components.shape[1:]:
            raise ValueError(
                f"u has shape {u.shape} and v {v.shape}, expected {self.components.shape[1:]}: "
                "two points. For many pairs at a time use pair_distance of the model."
            )
        # Not by BLAS, on whose number of threads bits would depend. hypot needs no square: what
        # is a number comes out as one.
        return hypot(*np.einsum("ij,j->i", self.components, u - v).tolist())

    def __repr__(self) -> str:
        d, n_features = self.components.shape
        return f"{type(self).__name__}(n_features={n_features}, n_components={d})"


class MahalanobisMixin:
    """Methods on pairs for estimators with `components_`; names as in metric-learn."""

    components_: NDArray

    @on_own_threads
    def get_mahalanobis_matrix(self) -> NDArray:
        """Matrix M of the learned distance √((x - x')ᵀ M (x - x')).

        Returns
        -------
        ndarray of shape (n_features, n_features)
            The matrix M.
        """
        check_is_fitted(self)
        return gram(self.components_, self.components_)

    @answers_in_kind
    @on_own_threads
    def pair_distance(self, pairs: Any, X: Any = None) -> NDArray:
        """Learned distance between the two points of each pair.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features), or of int, shape (n_pairs, 2)
            Two points per pair, or the row numbers of two rows of `X`.
        X : array-like of shape (n_samples, n_features), optional
            The points, if `pairs` holds row numbers.

        Returns
        -------
        ndarray of shape (n_pairs,)
            Distances.
        """
        check_is_fitted(self)
        points, positions = split_pairs(pairs, X, self._n_columns)
        check_projection(points, self._stretches, squares=False, name="pairs" if X is None else "X")
        # Less their mean: an offset costs digits.
        Z = self._mapped(points - points.mean(axis=0)) if len(points) else points
        return _norms(Z[positions[:, 0]] - Z[positions[:, 1]])

    def get_metric(self) -> MahalanobisMetric:
        """The learned distance as a function of two points.

        The function can be pickled, and passed to scikit-learn and SciPy as ``metric=``. They call
        it once for every pair; searching for neighbors in the output of `transform` gives the same
        result much faster.

        Returns
        -------
        MahalanobisMetric
            A function of two points of shape (n_features,) that returns their `pair_distance` as a
            float. It is a copy that later fits do not change.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> from vicinal import NeighborhoodComponents
        >>> X, y = load_iris(return_X_y=True)
        >>> model = NeighborhoodComponents(n_components=2).fit(X, y)
        >>> metric = model.get_metric()
        >>> bool(abs(metric(X[0], X[100]) - model.pair_distance([[X[0], X[100]]])[0]) < 1e-9)
        True
        >>> bool(KNeighborsClassifier(metric=metric).fit(X, y).score(X, y) > 0.95)
        True
        """
        check_is_fitted(self)
        return MahalanobisMetric(self.components_)

    def pair_score(self, pairs: Any, X: Any = None) -> NDArray:
        """Similarity of the two points of each pair: their negative distance.

        Higher scores mean that two points more likely belong together, as with scikit-learn's
        ``decision_function``; functions such as ``roc_auc_score`` expect such scores.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features), or of int, shape (n_pairs, 2)
            Two points per pair, or the row numbers of two rows of `X`.
        X : array-like of shape (n_samples, n_features), optional
            The points, if `pairs` holds row numbers.

        Returns
        -------
        ndarray of shape (n_pairs,)
            Scores.
        """
        return -self.pair_distance(pairs, X)

    @property
    def _n_columns(self) -> int:
        """Number of features."""
        return self.components_.shape[1]

    @property
    def _stretches(self) -> NDArray:
        """A matrix whose rows are, in sum, as large as those of the map."""
        return self.components_

    def _mapped(self, X: Array) -> Array:
        """Points as the map has them."""
        return times(X, self.components_.T)


class LinearMapMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin, MahalanobisMixin):
    """A transformer by `components_`, which keeps the precision of its input."""

    @answers_in_blocks
    @computes_in_place
    @on_own_threads
    def transform(self, X: ArrayLike) -> NDArray:
        """Apply the learned linear map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points to transform.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Points under the map.
        """
        check_is_fitted(self)
        points = validate_data(self, X, dtype=float_dtypes(X), reset=False)
        check_projection(points, self._stretches, squares=False)
        return self._mapped(points)

    def to_sklearn(self) -> BaseEstimator:
        """The linear map as a fitted transformer of scikit-learn.

        For pipelines that will run where vicinal is not installed. Fitting the transformer again
        would learn a different map.

        Returns
        -------
        NeighborhoodComponentsAnalysis or GaussianRandomProjection
            The former for models that learn from labels; the latter, which can hold any linear map,
            for all others. Its `inverse_transform` is the pseudo-inverse.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from vicinal import NeighborhoodComponents
        >>> X, y = load_iris(return_X_y=True)
        >>> model = NeighborhoodComponents(n_components=2).fit(X, y)
        >>> step = model.to_sklearn()
        >>> step
        NeighborhoodComponentsAnalysis(n_components=2)
        >>> bool((step.transform(X) == model.transform(X)).all())
        True
        """
        check_is_fitted(self)
        d, n_features = self.components_.shape
        if get_tags(self).target_tags.required:
            from sklearn.neighbors import NeighborhoodComponentsAnalysis

            step = NeighborhoodComponentsAnalysis(n_components=d)
        else:
            # TruncatedSVD, too, maps without centering, but it would invert by the transpose.
            from sklearn.random_projection import GaussianRandomProjection

            step = GaussianRandomProjection(n_components=d)
            step.n_components_ = step._n_features_out = d
        step.components_, step.n_features_in_ = self.components_.copy(order="K"), n_features
        if hasattr(self, "feature_names_in_"):
            step.feature_names_in_ = self.feature_names_in_.copy()
        return step

    def to_faiss(
        self,
        index: str = "flat",
        X: ArrayLike | None = None,
        *,
        n_links: int = 32,
        n_lists: int | None = None,
    ) -> "faiss.IndexPreTransform":
        """An empty faiss index that takes raw vectors and finds neighbors by the learned metric.

        The index applies the map first: ``add`` and ``search`` take the same rows as `transform`,
        and the distances are squares of `pair_distance`. Needs the extra ``index``.

        Parameters
        ----------
        index : {"flat", "hnsw", "ivf"}, default="flat"
            "flat": compares all vectors, exact. "hnsw": a graph of neighbors. "ivf": inverted
            lists, of which only the nearest are searched. The latter two are approximate.
        X : array-like of shape (n_samples, n_features), optional
            Rows whose mean is subtracted first: faiss computes in single precision, and loses
            digits if features have a large offset. Required for "ivf", which also builds its lists
            from it.
        n_links : int, default=32
            Number of links per vector in the graph of "hnsw".
        n_lists : int, optional
            Number of lists of "ivf". None: 4 √n_samples, but at most so many that each list has at
            least 39 rows.

        Returns
        -------
        faiss.IndexPreTransform
            The index, with a copy of the map that later fits do not change.

        Notes
        -----
        "ivf" searches one in 16 of its lists, and "hnsw" keeps 64 candidates. To find more of the
        neighbors, or for more speed, change this:
        ``faiss.ParameterSpace().set_index_parameter(index, "nprobe", 50)``, or "efSearch".

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from vicinal import NeighborhoodComponents
        >>> X, y = load_iris(return_X_y=True)
        >>> model = NeighborhoodComponents(n_components=2).fit(X, y)
        >>> index = model.to_faiss(X=X)
        >>> index.add(X)
        >>> squared, positions = index.search(X[:3], 5)
        >>> positions[:, 0]
        array([0, 1, 2])
        """
        check_is_fitted(self)
        from vicinal.indexes import faiss_index

        return faiss_index(self.components_, index, X, n_links, n_lists)

    def to_usearch(self, X: ArrayLike | None = None, **options: Any) -> "UsearchIndex":
        """An empty usearch index that takes raw vectors and finds neighbors by the learned metric.

        The index applies the map first: ``add`` and ``search`` take the same rows as `transform`,
        and the distances are squares of `pair_distance`. Needs the extra ``index``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), optional
            Rows whose mean is subtracted first: usearch computes in single precision, and loses
            digits if features have a large offset.
        **options
            Options of ``usearch.index.Index``, such as `connectivity`, `expansion_add`,
            `expansion_search` and `dtype`.

        Returns
        -------
        UsearchIndex
            Index with ``add(keys, vectors)`` and ``search(vectors, count)``; its `index` is the
            usearch index. It holds a copy of the map that later fits do not change.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from vicinal import NeighborhoodComponents
        >>> X, y = load_iris(return_X_y=True)
        >>> model = NeighborhoodComponents(n_components=2).fit(X, y)
        >>> index = model.to_usearch(X)
        >>> keys = index.add(range(len(X)), X)
        >>> index.search(X[:3], 5).keys.shape
        (3, 5)
        """
        check_is_fitted(self)
        from vicinal.indexes import usearch_index

        return usearch_index(self.components_, X, options)

    def to_torch(self) -> "torch.nn.Linear":
        """The linear map as a torch layer, to be part of a network.

        For example, as the first layer of a network that starts from the fitted map, or as the last
        layer after features that a network computes. Needs the extra ``gpu``; a torch without CUDA
        is sufficient.

        Returns
        -------
        torch.nn.Linear
            A layer without bias, in the precision of `components_`, that can be trained like any
            other. It is a copy that later fits do not change.

        Examples
        --------
        >>> import torch
        >>> from sklearn.datasets import load_iris
        >>> from vicinal import NeighborhoodComponents
        >>> X, y = load_iris(return_X_y=True)
        >>> model = NeighborhoodComponents(n_components=2).fit(X, y)
        >>> layer = model.to_torch()
        >>> layer
        Linear(in_features=4, out_features=2, bias=False)
        >>> Z = layer(torch.tensor(X)).detach().numpy()
        >>> bool(abs(Z - model.transform(X)).max() < 1e-9)
        True
        """
        check_is_fitted(self)
        from vicinal.layers import linear_layer

        return linear_layer(self.components_)

    @property
    def _n_features_out(self) -> int:
        """Number of output features, for get_feature_names_out."""
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _norms(rows: NDArray) -> NDArray:
    """Length of every row, also where its square is no number, shape (n,)."""
    units = np.abs(rows).max(axis=1, initial=0.0)
    return units * np.linalg.norm(rows / np.where(units > 0, units, 1.0)[:, None], axis=1)
