"""Graph-DBD: distances along paths through dense regions (sections 5 and 7)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix, issparse
from scipy.sparse.csgraph import csgraph_from_dense, shortest_path
from sklearn.base import clone
from sklearn.utils import check_array

from vicinal.divergence.divergences import check_symmetric
from vicinal.divergence.graph import with_lengths, without_last
from vicinal.divergence.limits import check_room
from vicinal.divergence.neighbors import DivergenceNeighbors
from vicinal.inputs.checks import check_count, check_nonnegative
from vicinal.inputs.tensors import answers_in_kind
from vicinal.inputs.units import check_reach, check_units
from vicinal.neighborhood.threads import effective_n_threads, on_own_threads, run_in_order

__all__ = ["density_paths"]

# Numbers of differences held at a time by every thread.
_BLOCK_NUMBERS = 1_000_000

# Longest and shortest cost of the longest edge, as a power of ten: 1e200, whose sums are numbers,
# and 1e-200, beside which nothing that matters is lost.
_MOST_DIGITS = 200


@answers_in_kind
@on_own_threads
def density_paths(
    X: ArrayLike,
    Y: ArrayLike | None = None,
    *,
    exponent: float | None = None,
    norm: float | None = None,
    divergence: str | DivergenceNeighbors | None = None,
    n_graph_neighbors: int | None = None,
    n_jobs: int | None = None,
) -> NDArray:
    """Lengths of shortest paths that prefer dense regions (Graph-DBD).

    The cost of an edge is the distance between its two points, raised to a power above 1, so that
    many short steps through a dense region are shorter than one long step. Alternatively, it is the
    divergence between the Gaussians around the two points.

    Parameters
    ----------
    X : array-like of shape (n_samples_X, n_features)
        Points where paths start.
    Y : array-like of shape (n_samples_Y, n_features), optional
        Points where paths end. None: paths run between the points of X, through points of X.
        Otherwise they run from each point of X to the points of Y, through points of Y.
    exponent : float, optional
        Power q of the edge lengths ‖x - x'‖_p^q. None: 2, or 1 with `divergence`.
    norm : float, optional
        Order p of the norm, at least 1. None: 2. Not with `divergence`.
    divergence : str or DivergenceNeighbors, optional
        Use this divergence as the length of edges: its name, or an estimator with further settings.
    n_graph_neighbors : int, optional
        Number of nearest neighbors that each point has edges to (for points of X, among those of
        Y). None: edges between all points.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    ndarray of shape (n_samples_X, n_samples_X), or (n_samples_X, n_samples_Y)
        Path lengths; inf between components of a graph of nearest neighbors.

    References
    ----------
    .. [1] A. Bijral, N. Ratliff, N. Srebro. "Semi-supervised learning with density
       based distances". UAI 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.divergence import density_paths
    >>> dense = np.arange(0.0, 1.01, 0.1)[:, None]
    >>> paths = density_paths(np.vstack([dense, [[2.0]]]))
    >>> round(float(paths[0, 10]), 2), round(float(paths[10, 11]), 2)
    (0.1, 1.0)
    """
    points = _checked(X if Y is None else Y, 2)
    new = None if Y is None else _checked(X, 1)
    if new is not None and new.shape[1] != points.shape[1]:
        raise ValueError(f"X has {new.shape[1]} features, and Y has {points.shape[1]}.")
    power = (2.0 if divergence is None else 1.0) if exponent is None else exponent
    check_nonnegative("exponent", power)
    _check_sizes(points, new, n_graph_neighbors)
    if divergence is None:
        lengths = _lengths(points, new, 2.0 if norm is None else norm, n_graph_neighbors, n_jobs)
    else:
        if norm is not None:
            raise ValueError(f"norm={norm!r} has no meaning with a divergence.")
        lengths = _divergences(points, new, divergence, n_graph_neighbors, n_jobs)
    within, to_new = lengths
    paths = _shortest(within, power)
    return paths if to_new is None else _through(to_new, power, paths)


def _checked(X: ArrayLike, least: int) -> NDArray:
    points = check_array(X, dtype=(np.float64, np.float32), ensure_min_samples=least)
    check = check_units if least > 1 else check_reach
    check(points)
    return points


def _check_sizes(points: NDArray, new: NDArray | None, k: int | None) -> None:
    n = len(points)
    check_room("lengths of all paths", (n, n), "take fewer points")
    if new is not None:
        check_room("lengths of all new paths", (len(new), n), "take fewer new points")
    if k is not None:
        check_count("n_graph_neighbors", k, 1, n - 1, " (number of other points)")


# Lengths of edges between points, and from new points to these.
_Edges = tuple[NDArray | csr_matrix, NDArray | csr_matrix | None]


def _lengths(
    X: NDArray, new: NDArray | None, p: float, k: int | None, n_jobs: int | None
) -> _Edges:
    if check_nonnegative("norm", p) < 1:
        raise ValueError(f"norm={p!r} must be at least 1.")
    X = X.astype(np.float64)
    within = _all_norms(X, X, p, n_jobs)
    to_new = None if new is None else _all_norms(new.astype(np.float64), X, p, n_jobs)
    if k is None:
        return within, to_new
    np.fill_diagonal(within, np.inf)
    return _nearest_only(within, k), None if to_new is None else _nearest_only(to_new, k)


def _all_norms(rows: NDArray, X: NDArray, p: float, n_jobs: int | None) -> NDArray:
    step = max(1, _BLOCK_NUMBERS // X.size)
    parts = [slice(start, start + step) for start in range(0, len(rows), step)]

    def distances(part: slice) -> NDArray:
        return _norms(np.abs(rows[part, None] - X), p)

    return np.concatenate(list(run_in_order(distances, parts, effective_n_threads(n_jobs))))


def _norms(differences: NDArray, p: float) -> NDArray:
    """p-norms along the last axis, of numbers that are not negative.

    In units of the largest: its own power might be no number.
    """
    largest = differences.max(axis=-1)
    differences /= np.where(largest > 0, largest, 1.0)[..., None]
    return largest * (differences**p).sum(axis=-1) ** (1.0 / p)


def _nearest_only(lengths: NDArray, k: int) -> csr_matrix:
    """Edges to the k nearest, equally near ones by position."""
    near = np.argsort(lengths, axis=1, kind="stable")[:, :k]
    ends = np.repeat(np.arange(len(lengths)), k), near.ravel()
    return csr_matrix((lengths[ends], ends), shape=lengths.shape)


def _divergences(
    X: NDArray,
    new: NDArray | None,
    divergence: str | DivergenceNeighbors,
    k: int | None,
    n_jobs: int | None,
) -> _Edges:
    if isinstance(divergence, DivergenceNeighbors):
        model: DivergenceNeighbors = clone(divergence)
        if n_jobs is not None:
            model.set_params(n_jobs=n_jobs)
    else:
        model = DivergenceNeighbors(divergence=divergence, n_graph_neighbors=None, n_jobs=n_jobs)
    if k is not None:
        model.set_params(n_graph_neighbors=k)
    check_symmetric(model.divergence, "density_paths")
    within = model.fit_transform(X)
    if new is None:
        return within, None
    to_new = model.transform(new)
    return within, without_last(to_new) if issparse(to_new) else to_new


def _through(lengths: NDArray | csr_matrix, power: float, paths: NDArray) -> NDArray:
    """Shortest paths from new points: an edge to some point, and on from there."""
    if not isinstance(lengths, np.ndarray):
        graph = with_lengths(lengths, _powers(lengths.data, power))
        rows = [slice(*graph.indptr[i : i + 2]) for i in range(graph.shape[0])]
        found = [(graph.data[row, None] + paths[graph.indices[row]]).min(axis=0) for row in rows]
        return np.array(found)
    costs = _powers(lengths, power)
    return np.array([(cost[:, None] + paths).min(axis=0) for cost in costs])


def _shortest(lengths: NDArray | csr_matrix, power: float) -> NDArray:
    """All shortest paths. Edges of length 0, between duplicates, stay edges."""
    if isinstance(lengths, np.ndarray):
        graph = csgraph_from_dense(_powers(lengths, power), null_value=np.inf)
        return shortest_path(graph, method="FW", directed=False)
    graph = with_lengths(lengths, _powers(lengths.data, power))
    return shortest_path(graph, method="D", directed=False)


def _powers(lengths: NDArray, power: float) -> NDArray:
    """Lengths to a power, where these are numbers; what vanishes beside the longest may be 0."""
    lengths = lengths.astype(np.float64)
    longest = float(lengths.max(initial=0.0))
    size = power * np.log10(longest) if longest > 0 else 0.0
    if abs(size) > _MOST_DIGITS:
        raise ValueError(
            f"exponent={power:g} of lengths up to {longest:.1e} makes no numbers to compute with: "
            "lower it, or scale X, for example with sklearn.preprocessing.StandardScaler."
        )
    return lengths**power
