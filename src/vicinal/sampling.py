"""Draw pairs of rows from class labels, half of them from the same class."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, column_or_1d

from vicinal.inputs.checks import check_choice, check_classes, check_count, check_seed
from vicinal.inputs.nearest import nearest, squared_distances
from vicinal.inputs.tensors import answers_in_kind
from vicinal.inputs.units import check_reach
from vicinal.neighborhood.threads import on_own_threads

__all__ = ["sample_pairs"]

# Near is who is among that many nearest; far is the farthest of so many drawn at random.
_NEAREST, _TRIED = 3, 10

# The nearest rows are looked for among that many, drawn at random where there are more.
_MOST_KEYS = 50_000


@answers_in_kind
@on_own_threads
def sample_pairs(
    y: ArrayLike,
    n_pairs: int,
    *,
    X: ArrayLike | None = None,
    kind: str = "random",
    random_state: int | np.random.RandomState | None = None,
) -> tuple[NDArray, NDArray]:
    """Draw pairs of rows from class labels, half of them from the same class.

    No pair is drawn twice, in either order, and no row is paired with itself. If the labels allow
    fewer pairs of one kind than half of `n_pairs`, all of these are returned, with more of the
    other kind to make up for it.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Class labels.
    n_pairs : int
        Number of pairs. If it is odd, there is one more pair of different classes.
    X : array-like of shape (n_samples, n_features), optional
        Points to measure distances between; required for "near" and "hard". Scale the features
        first, or pass the output of a fitted model.
    kind : {"random", "near", "hard"}, default="random"
        "random": all pairs of the same class are equally likely, and so are all pairs of different
        classes. "near": a row drawn at random with one of its 3 nearest neighbors of the same
        class, or of other classes (more than 3 if 3 do not give enough pairs). "hard": same-class
        pairs that are far apart, the farthest of every ten drawn at random (of fewer, if there are
        not enough), and pairs of different classes that are near, as in "near".
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Returns
    -------
    pairs : ndarray of int, shape (n_pairs, 2)
        Row numbers of the two rows of each pair, in random order. In a near pair, the second row is
        a neighbor of the first.
    labels : ndarray of int, shape (n_pairs,)
        1 for pairs of the same class, 0 for all others.

    See Also
    --------
    LatentCoincidence.fit_pairs : Learn a metric from such pairs.
    LatentCoincidence.calibrate_threshold : Set a threshold with such pairs.

    Notes
    -----
    Time and memory for random pairs grow with `n_pairs` and the number of rows. With more than
    50 000 rows, near rows are searched for among 50 000 rows drawn at random.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import LatentCoincidence, sample_pairs
    >>> X, y = load_iris(return_X_y=True)
    >>> pairs, labels = sample_pairs(y, 1000, random_state=0)
    >>> pairs.shape, int(labels.sum())
    ((1000, 2), 500)
    >>> bool(((y[pairs[:, 0]] == y[pairs[:, 1]]) == labels).all())
    True
    >>> model = LatentCoincidence().fit_pairs(pairs, labels, X)
    """
    check_choice("kind", kind, _KINDS)
    classes = _Classes.of(check_classes(column_or_1d(y))[1])
    points = np.empty((0, 0))
    if kind != "random":
        points = _check_points(X, len(classes.rows), kind)
    rng = np.random.default_rng(check_seed(random_state).randint(2**31 - 1))
    numbers = _halves(classes, check_count("n_pairs", n_pairs, 1))
    drawn = [
        draw(points, classes, n, same, rng)
        for draw, n, same in zip(_KINDS[kind], numbers, (True, False), strict=True)
    ]
    order = rng.permutation(sum(numbers))
    return np.concatenate(drawn)[order], np.repeat([1, 0], numbers)[order]


def _check_points(X: ArrayLike | None, n: int, kind: str) -> NDArray:
    if X is None:
        raise ValueError(
            f'kind={kind!r} needs X, whose rows are near or far; or use kind="random".'
        )
    points = check_array(X, dtype=(np.float64, np.float32), input_name="X")
    if len(points) != n:
        raise ValueError(f"X has {len(points)} rows, but y has {n} labels: give one for each row.")
    check_reach(points)
    return points


@dataclass(frozen=True)
class _Classes:
    """Rows in the order of their classes, and all their pairs by number.

    Attributes
    ----------
    rows : ndarray of int, shape (n,)
        Positions of the rows, class by class.
    ends : ndarray of int, shape (n_classes + 1,)
        Where classes end among these, 0 first.
    """

    rows: NDArray
    ends: NDArray

    @classmethod
    def of(cls, codes: NDArray) -> "_Classes":
        return cls(np.argsort(codes, kind="stable"), np.append(0, np.cumsum(np.bincount(codes))))

    def numbers(self, same: bool) -> NDArray:
        """How many pairs begin in the classes before each, and in all, shape (n_classes + 1,)."""
        sizes = np.diff(self.ends)
        each = sizes * (sizes - 1) // 2 if same else sizes * (self.ends[-1] - self.ends[1:])
        return np.append(0, np.cumsum(each))

    def pairs(self, numbers: NDArray, same: bool) -> NDArray:
        """The pairs with these numbers, shape (n, 2), in the order of classes."""
        before = self.numbers(same)
        c = np.searchsorted(before, numbers, side="right") - 1
        begin, rest = self.ends[c], numbers - before[c]
        if same:
            first, second = _triangle(rest)
            pairs = np.column_stack([begin + first, begin + second])
        else:
            first, second = np.divmod(rest, self.ends[-1] - self.ends[c + 1])
            pairs = np.column_stack([begin + first, self.ends[c + 1] + second])
        return self.rows[pairs]


def _triangle(numbers: NDArray) -> tuple[NDArray, NDArray]:
    """Row i and column j < i of the entries below the diagonal, counted row by row."""
    i = ((1.0 + np.sqrt(1.0 + 8.0 * numbers)) / 2.0).astype(np.int64)
    i -= i * (i - 1) // 2 > numbers  # the root may have been rounded up, or down
    i += i * (i + 1) // 2 <= numbers
    return i, numbers - i * (i - 1) // 2


def _halves(classes: _Classes, n_pairs: int) -> tuple[int, int]:
    """How many pairs of the same class, and of different ones."""
    all_same, all_different = (int(classes.numbers(same)[-1]) for same in (True, False))
    if not all_same:
        raise ValueError("y has no class with two members: there is no pair of the same class.")
    check_count("n_pairs", n_pairs, 1, all_same + all_different, " (number of pairs of rows)")
    n_same = min(max(n_pairs // 2, n_pairs - all_different), all_same)
    return n_same, n_pairs - n_same


def _random(
    points: NDArray, classes: _Classes, n: int, same: bool, rng: np.random.Generator
) -> NDArray:
    """Any pairs, each with either row first."""
    pairs = classes.pairs(_distinct(n, int(classes.numbers(same)[-1]), rng), same)
    return rng.permuted(pairs, axis=1)


def _distinct(n: int, total: int, rng: np.random.Generator) -> NDArray:
    """n of the numbers from 0 to total - 1, each at most once."""
    if 2 * n > total:
        return rng.permutation(total)[:n]
    found = np.empty(0, dtype=np.int64)
    while len(found) < n:  # at least half of what is drawn is new, as a rule nearly all
        more = rng.integers(total, size=n - len(found) + n // 8 + 1)
        found = np.sort(np.append(found, more))
        found = found[np.diff(found, prepend=-1) > 0]
    return rng.permutation(found)[:n]


def _far(
    points: NDArray, classes: _Classes, n: int, same: bool, rng: np.random.Generator
) -> NDArray:
    """The farthest of every ten random pairs; these stand together in the order of classes."""
    total = int(classes.numbers(same)[-1])
    pairs = classes.pairs(np.sort(_distinct(min(_TRIED * n, total), total, rng)), same)
    group = np.arange(len(pairs)) * n // len(pairs)
    order = np.lexsort((squared_distances(points, *pairs.T), group))
    last = np.flatnonzero(np.diff(group, append=n))
    return rng.permuted(pairs[order[last]], axis=1)


def _near(
    points: NDArray, classes: _Classes, n: int, same: bool, rng: np.random.Generator
) -> NDArray:
    """Rows drawn at random, each with one of its nearest of the same class, or of others."""
    n_rows = len(points)
    k = max(_NEAREST, -(-2 * n // n_rows))
    # A pair is found twice at most, so that 2n are enough; unless classes have too few rows.
    anchors = rng.permutation(n_rows) < -(-2 * n // k)
    keys = rng.permutation(n_rows) < _MOST_KEYS
    while True:
        pairs = _neighbors(points, classes, anchors, keys, k, same)
        if len(pairs) >= n:
            return rng.permutation(pairs)[:n]
        anchors = keys = np.ones(n_rows, dtype=bool)
        k *= 2


def _neighbors(
    points: NDArray, classes: _Classes, anchors: NDArray, keys: NDArray, k: int, same: bool
) -> NDArray:
    """Pairs of an anchor and one of the k nearest keys, each pair once, anchor first."""
    found = _Found(points, anchors, keys, k)
    parts = [classes.rows[slice(*ends)] for ends in pairwise(classes.ends)]
    if same:
        for part in parts:
            found.look(part, part)
    else:
        _between(found, classes, 0, len(parts))
    return found.pairs()


def _between(found: "_Found", classes: _Classes, first: int, last: int) -> None:
    """Look for neighbors in other classes of these: halves in one another, then within each.

    Every row is looked for in log₂ of the number of classes parts, and in none twice.
    """
    if last - first < 2:
        return
    middle = (first + last) // 2
    ends = classes.ends[[first, middle, last]]
    one, other = (classes.rows[slice(*part)] for part in pairwise(ends))
    found.look(one, other)
    found.look(other, one)
    _between(found, classes, first, middle)
    _between(found, classes, middle, last)


class _Found:
    """The nearest keys of every anchor, of all those looked at so far."""

    def __init__(self, points: NDArray, anchors: NDArray, keys: NDArray, k: int) -> None:
        self.points, self.anchors, self.keys = points, anchors, keys
        self.positions = np.zeros((len(points), k), dtype=np.intp)
        self.squared = np.full((len(points), k), np.inf)

    def look(self, rows: NDArray, others: NDArray) -> None:
        """Look for the nearest of all anchors among `rows` that are keys among `others`."""
        queries, keys = rows[self.anchors[rows]], others[self.keys[others]]
        if not len(queries) or not len(keys):
            return
        k, own = self.squared.shape[1], None
        if rows is others:
            own = np.where(self.keys[queries], np.searchsorted(keys, queries), -1)
        found, squared = nearest(self.points[keys], self.points[queries], k, own)
        squared = np.hstack([self.squared[queries], squared])
        positions = np.hstack([self.positions[queries], keys[found]])
        order = np.lexsort((positions, squared), axis=1)[:, :k]
        self.squared[queries] = np.take_along_axis(squared, order, axis=1)
        self.positions[queries] = np.take_along_axis(positions, order, axis=1)

    def pairs(self) -> NDArray:
        """Each pair once, anchor first, shape (n, 2)."""
        first, column = np.nonzero(np.isfinite(self.squared))
        second = self.positions[first, column]
        n = len(self.points)
        once = np.unique(np.minimum(first, second) * n + np.maximum(first, second), True)[1]
        return np.column_stack([first, second])[once]


# How pairs of the same class are drawn, and those of different classes.
_KINDS = {"random": (_random, _random), "near": (_near, _near), "hard": (_far, _near)}
