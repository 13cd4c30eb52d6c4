"""Search indexes that take raw vectors and find neighbors by a learned metric."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from vicinal.compiling.libraries import importing
from vicinal.inputs.checks import check_choice, check_count
from vicinal.neighborhood import times
from vicinal.neighborhood.threads import on_own_threads

if TYPE_CHECKING:
    import faiss
    import usearch.index

__all__ = ["FAISS_INDEXES", "UsearchIndex", "bare_index", "faiss_index", "usearch_index"]

FAISS_INDEXES = ("flat", "hnsw", "ivf")

# faiss warns of lists that are trained with fewer rows each.
_ROWS_PER_LIST = 39

# One of so many lists is looked through; and rows kept in view while a graph is walked.
_LISTS_PER_PROBE, _IN_VIEW = 16, 64


def faiss_index(
    components: NDArray, index: str, X: ArrayLike | None, n_links: int, n_lists: int | None
) -> "faiss.IndexPreTransform":
    """An empty index of faiss with a linear map in front; see `LinearMapMixin.to_faiss`."""
    check_choice("index", index, FAISS_INDEXES)
    check_count("n_links", n_links, 2)
    rows = None if X is None else _check_rows(X, components)
    if index == "ivf" and rows is None:
        raise ValueError('index="ivf" needs X, rows by which its lists are laid out.')
    with importing("faiss", "index", "to_faiss"):
        import faiss
    whole = faiss.IndexPreTransform(bare_index(len(components), index, rows, n_links, n_lists))
    whole.prepend_transform(_linear(components))
    if rows is not None:
        whole.prepend_transform(_centering(rows.mean(axis=0, dtype=np.float64)))
        if index == "ivf":
            whole.train(rows)
    return whole


def bare_index(
    d: int, index: str, rows: NDArray | None, n_links: int, n_lists: int | None
) -> "faiss.Index":
    """An index of faiss without a map; `rows` are those that lists are laid out by."""
    import faiss

    if index == "flat":
        return faiss.IndexFlatL2(d)
    if index == "hnsw":
        graph = faiss.IndexHNSWFlat(d, n_links)
        graph.hnsw.efSearch = _IN_VIEW
        return graph
    n_rows = 0 if rows is None else len(rows)
    most = max(1, n_rows // _ROWS_PER_LIST)
    n_lists = min(most, round(4 * n_rows**0.5)) if n_lists is None else n_lists
    check_count("n_lists", n_lists, 1, n_rows, " (number of rows of X)")
    lists = faiss.IndexIVFFlat(faiss.IndexFlatL2(d), d, n_lists)
    lists.nprobe = -(-n_lists // _LISTS_PER_PROBE)
    return lists


def _linear(components: NDArray) -> "faiss.LinearTransform":
    import faiss

    d, n_features = components.shape
    step = faiss.LinearTransform(n_features, d, False)
    faiss.copy_array_to_vector(_single(components, "components_").ravel(), step.A)
    step.is_trained = True
    return step


def _centering(center: NDArray) -> "faiss.CenteringTransform":
    """A step of its own: subtracted after the product, the center would have cost digits there."""
    import faiss

    step = faiss.CenteringTransform(len(center))
    faiss.copy_array_to_vector(_single(center, "X"), step.mean)
    step.is_trained = True
    return step


class UsearchIndex:
    """A usearch index that takes raw vectors; see `LinearMapMixin.to_usearch`.

    Attributes
    ----------
    index : usearch.index.Index
        The index that holds the mapped vectors; use it to save, and for everything else.
    components : ndarray of shape (n_components, n_features)
        The learned map.
    center : ndarray of shape (n_features,)
        Mean that is subtracted first.
    """

    def __init__(self, index: "usearch.index.Index", components: NDArray, center: NDArray) -> None:
        self.index, self.components, self.center = index, components, center

    def add(self, keys: Any, vectors: ArrayLike, **options: Any) -> Any:
        """Add raw vectors.

        Parameters
        ----------
        keys : int, array-like of int of shape (n,), or None
            Keys that `search` returns for the vectors. None: consecutive numbers.
        vectors : array-like of shape (n, n_features) or (n_features,)
            Vectors to add.
        **options
            Options of ``usearch.index.Index.add``.

        Returns
        -------
        The keys.
        """
        return self.index.add(keys, self._mapped(vectors), **options)

    def search(self, vectors: ArrayLike, count: int = 10, **options: Any) -> Any:
        """Find the nearest neighbors of raw vectors.

        Parameters
        ----------
        vectors : array-like of shape (n, n_features) or (n_features,)
            Query vectors.
        count : int, default=10
            Number of neighbors for each vector.
        **options
            Options of ``usearch.index.Index.search``; ``exact=True`` compares all vectors.

        Returns
        -------
        usearch.index.BatchMatches or Matches
            With `keys` and `distances`, which are squares of the learned distance.
        """
        return self.index.search(self._mapped(vectors), count, **options)

    def __len__(self) -> int:
        return len(self.index)

    @on_own_threads
    def _mapped(self, vectors: ArrayLike) -> NDArray:
        points = check_array(
            vectors, ensure_2d=False, allow_nd=True, dtype=np.float64, input_name="vectors"
        )
        if points.ndim > 2 or points.shape[-1:] != self.center.shape:
            raise ValueError(
                f"vectors has shape {points.shape}, expected (n, {len(self.center)}), or "
                f"({len(self.center)},) for a single one."
            )
        mapped = times(np.atleast_2d(points - self.center), self.components.T)
        return _single(mapped.reshape(*points.shape[:-1], -1), "vectors")


def usearch_index(
    components: NDArray, X: ArrayLike | None, options: dict[str, Any]
) -> UsearchIndex:
    """An empty index of usearch with a linear map in front; see `LinearMapMixin.to_usearch`."""
    center = np.zeros(components.shape[1])
    if X is not None:
        center = _check_rows(X, components).mean(axis=0, dtype=np.float64)
    with importing("usearch", "index", "to_usearch"):
        from usearch.index import Index
    index = Index(ndim=len(components), metric="l2sq", **{"dtype": "f32", **options})
    return UsearchIndex(index, np.array(components, dtype=np.float64), center)


def _check_rows(X: ArrayLike, components: NDArray) -> NDArray:
    rows = check_array(X, dtype=(np.float64, np.float32), input_name="X")
    n_features = components.shape[1]
    if rows.shape[1] != n_features:
        raise ValueError(f"X has {rows.shape[1]} features, expected {n_features}.")
    return rows


def _single(values: NDArray, name: str) -> NDArray:
    """Numbers in single precision, which the indexes compute with."""
    with np.errstate(over="ignore"):
        single = np.ascontiguousarray(values, dtype=np.float32)
    if not np.isfinite(single).all():
        raise ValueError(
            f"{name} reaches {np.abs(values).max():.3g}, too large for the single precision of "
            "the index: scale the features down, and fit again."
        )
    return single
