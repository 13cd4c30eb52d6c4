"""What a fit takes in memory beside X, reckoned before it begins (docs/decisions/0026)."""

from vicinal.coincidence.sample import MOST_ANCHORS, MOST_IMPOSTORS, MOST_ROWS
from vicinal.rows.memory import Need

__all__ = ["needs_of_fit", "needs_of_pairs"]

# Numbers of eight bytes: for every row; copies of rows that are learned from; for every pair.
_NUMBERS_OF_ROW, _COPIES, _NUMBERS_OF_PAIR = 8, 16, 80

# Matrices of all pairs of columns, tiles of distances, and the rest.
_MATRICES, _REST = 20, 80e6


def needs_of_fit(n: int, D: int, n_targets: int = 0) -> list[Need]:
    """Of `fit` to n rows of D columns, of which a sample is learned from.

    How many impostors an anchor has nobody knows before; as many as are allowed for large tables
    are counted.
    """
    fewer = "pass fewer rows, of which a sample is learned from anyway"
    pairs = min(n, MOST_ANCHORS) * (n_targets + MOST_IMPOSTORS) if n_targets else min(n, MOST_ROWS)
    return [
        Need("classes and places of all rows", 8.0 * _NUMBERS_OF_ROW * n, fewer),
        *_needs_of_points(min(n, MOST_ROWS), D, "pass fewer rows, or choose fewer columns"),
        Need("their pairs", 8.0 * _NUMBERS_OF_PAIR * pairs, "pass fewer rows"),
    ]


def needs_of_pairs(n: int, D: int, n_pairs: int) -> list[Need]:
    """Of `fit_pairs` to pairs of n points of D columns."""
    return [
        *_needs_of_points(n, D, "pass fewer points, or choose fewer columns"),
        Need("the pairs", 8.0 * _NUMBERS_OF_PAIR * n_pairs, "pass fewer pairs"),
    ]


def _needs_of_points(n: int, D: int, instead: str) -> list[Need]:
    return [
        Need("rows that are learned from", 8.0 * _COPIES * n * D, instead),
        Need(f"matrices of {D} columns", 8.0 * _MATRICES * D * D, "choose fewer columns"),
        Need("blocks of rows", _REST, ""),
    ]
