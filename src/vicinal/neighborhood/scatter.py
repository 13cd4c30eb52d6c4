"""The scatter identity: Σ_ij C_ij (z_i - z_j)(x_i - x_j)ᵀ without ever holding C.

    Σ C_ij (z_i - z_j)(x_i - x_j)ᵀ
        = (r ∘ Z_q - C Z_k)ᵀ X_q + (c ∘ Z_k - Cᵀ Z_q)ᵀ X_k

with row sums r and column sums c. The thesis (after 3.5) thought this needed
automatic differentiation or O(n² d D) operations; it is O(n² d + n d D).
"""

import numpy as np
from numpy.typing import NDArray

from vicinal.neighborhood.pairs import Pairs
from vicinal.neighborhood.products import gram
from vicinal.neighborhood.sums import ColumnSums, Rows

__all__ = ["diagonal_scatter", "scatter", "symmetric_scatter"]


def scatter(
    pairs: Pairs,
    rows: Rows,
    coefficients: NDArray,
    columns: ColumnSums,
    query_features: NDArray,
    key_features: NDArray | None = None,
) -> NDArray:
    """Weighted scatter of differences, projected on one side.

    Parameters
    ----------
    pairs : Pairs
    rows : Rows
        Finished rows pass over `pairs`.
    coefficients : ndarray of shape (p, n)
        Row sums of C within each part.
    columns : ColumnSums
        Columns pass with the same coefficients.
    query_features, key_features : ndarray of shape (n, D) and (m, D)
        The points before projection. None: the keys are the queries.

    Returns
    -------
    ndarray of shape (d, D)
        Σ_ij C_ij (z_i - z_j)(x_i - x_j)ᵀ.
    """
    row_moment = np.einsum("pn,pnd->nd", coefficients, rows.centroid)
    query_pull = coefficients.sum(axis=0)[:, None] * pairs.queries - row_moment
    key_pull = columns.total[:, None] * pairs.keys - columns.moment
    if key_features is None:
        return _product(query_pull + key_pull, query_features)
    return _product(query_pull, query_features) + _product(key_pull, key_features)


def symmetric_scatter(
    pairs: Pairs, rows: Rows, coefficients: NDArray, column_totals: NDArray
) -> NDArray:
    """Weighted scatter of differences of the projected points themselves.

    With z on both sides (CᵀZ_q)ᵀ Z_k is the transpose of Z_qᵀ (C Z_k): the
    columns pass need not collect moments.

    Parameters
    ----------
    pairs : Pairs
    rows : Rows
        Finished rows pass over `pairs`.
    coefficients : ndarray of shape (p, n)
        Row sums of C within each part.
    column_totals : ndarray of shape (m,)
        Column sums of C.

    Returns
    -------
    ndarray of shape (d, d)
        Σ_ij C_ij (z_i - z_j)(z_i - z_j)ᵀ.
    """
    queries, keys = pairs.queries, pairs.keys
    row_totals = coefficients.sum(axis=0)
    cross = gram(queries, np.einsum("pn,pnd->nd", coefficients, rows.centroid))
    if queries is keys:  # one product instead of two
        squares = gram(queries, (row_totals + column_totals)[:, None] * queries)
    else:
        squares = gram(queries, row_totals[:, None] * queries)
        squares += gram(keys, column_totals[:, None] * keys)
    return squares - cross - cross.T


def diagonal_scatter(
    pairs: Pairs, rows: Rows, coefficients: NDArray, column_totals: NDArray
) -> NDArray:
    """Weighted squares of differences of the projected points, coordinate by coordinate.

    Parameters
    ----------
    pairs : Pairs
    rows : Rows
        Finished rows pass over `pairs`.
    coefficients : ndarray of shape (p, n)
        Row sums of C within each part.
    column_totals : ndarray of shape (m,)
        Column sums of C.

    Returns
    -------
    ndarray of shape (d,)
        Σ_ij C_ij (z_i - z_j)², the diagonal of `symmetric_scatter`.
    """
    queries, keys = pairs.queries, pairs.keys
    moment = np.einsum("pn,pnd->nd", coefficients, rows.centroid)
    squares = np.einsum("n,nd,nd->d", coefficients.sum(axis=0), queries, queries)
    squares += np.einsum("m,md,md->d", column_totals, keys, keys)
    return squares - 2.0 * np.einsum("nd,nd->d", queries, moment)


def _product(pull: NDArray, features: NDArray) -> NDArray:
    # In the precision of the features: a float64 copy of them could exceed memory.
    return gram(pull.astype(features.dtype), features)
