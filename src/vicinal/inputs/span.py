"""Tables with many more columns than rows, and tables too wide for matrices of all columns.

Rows differ in fewer directions than there are rows. A linear map learned from their differences
needs no others: what it does across them nobody can tell from the data, and it is taken to be 0.
"""

from numpy.typing import NDArray
from scipy.linalg import svd

__all__ = ["MOST_COLUMNS", "WIDE", "check_components", "check_width", "has_few_rows", "span_of"]

# Columns from which on rows, where there are fewer, are looked at in their span.
WIDE = 1000

# Columns whose covariance is still a matter of seconds and of less than a gigabyte.
MOST_COLUMNS = 5000

# Directions in which rows differ by less than this, relative to the most, they differ by rounding.
_NO_WIDTH = 1e-12


def has_few_rows(n: int, n_columns: int) -> bool:
    """Whether there are many columns, and fewer rows."""
    return n_columns >= WIDE and n < n_columns


def span_of(centered: NDArray) -> NDArray | None:
    """Orthonormal directions in which rows differ, shape (r, D), or None where all columns count.

    Parameters
    ----------
    centered : ndarray of shape (n, D)
        Less their mean.
    """
    if not has_few_rows(*centered.shape):
        return None
    _, widths, directions = svd(centered, full_matrices=False)
    rank = int((widths > _NO_WIDTH * widths[0]).sum())
    return directions[: max(1, rank)]


def check_components(n_components: int | None, n_rows: int, rank: int) -> None:
    """Refuse more components than there are directions in which few rows differ."""
    if n_components is not None and n_components > rank:
        raise ValueError(
            f"n_components={n_components} is more than {rank}, the number of directions in which "
            f"the {n_rows} rows of X differ: use {rank} or fewer, or None."
        )


def check_width(n_columns: int, who: str, instead: str = "") -> None:
    """Refuse at once what would take hours and gigabytes, and say what to do `instead`."""
    if n_columns > MOST_COLUMNS:
        raise ValueError(
            f"X has {n_columns} columns, and {who} a matrix of all pairs of columns, which takes "
            f"{8e-9 * n_columns**2:.1f} GB and minutes for every update: reduce X to {MOST_COLUMNS}"
            f" columns or fewer first, for example with sklearn.decomposition.PCA{instead}."
        )
