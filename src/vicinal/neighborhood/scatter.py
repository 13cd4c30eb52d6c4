"""The scatter identity: Σ_ij C_ij (z_i - z_j)(x_i - x_j)ᵀ without ever holding C.

    Σ C_ij (z_i - z_j)(x_i - x_j)ᵀ
        = (r ∘ Z_q - C Z_k)ᵀ X_q + (c ∘ Z_k - Cᵀ Z_q)ᵀ X_k

with row sums r and column sums c. The thesis (after 3.5) thought this needed
automatic differentiation or O(n² d D) operations; it is O(n² d + n d D).
"""

from vicinal.neighborhood.arrays import Array, in_dtype_of, is_chunked
from vicinal.neighborhood.pairs import Pairs
from vicinal.neighborhood.products import combined, gram, weighted_products
from vicinal.neighborhood.sums import ColumnSums, Rows

__all__ = ["diagonal_scatter", "key_pulls", "query_pulls", "scatter", "symmetric_scatter"]


def query_pulls(pairs: Pairs, rows: Rows, coefficients: Array) -> Array:
    """What pairs do to every query: half the gradient of Σ_ij C_ij |z_i - z_j|² in z_i.

    Parameters
    ----------
    pairs : Pairs
    rows : Rows
        Finished rows pass over `pairs`.
    coefficients : array of shape (p, n)
        Row sums of C within each part.

    Returns
    -------
    array of shape (n, d)
        Σ_j C_ij (z_i - z_j), r ∘ Z_q - C Z_k.
    """
    row_moment = combined(coefficients, rows.centroid)
    return coefficients.sum(axis=0)[:, None] * pairs.queries - row_moment


def key_pulls(pairs: Pairs, columns: ColumnSums) -> Array:
    """What pairs do to every key: half the gradient of Σ_ij C_ij |z_i - z_j|² in z_j.

    Parameters
    ----------
    pairs : Pairs
    columns : ColumnSums
        Columns pass with the coefficients C.

    Returns
    -------
    array of shape (m, d)
        Σ_i C_ij (z_j - z_i), c ∘ Z_k - Cᵀ Z_q.
    """
    if is_chunked(pairs.keys):
        return columns.pulls  # type: ignore[attr-defined]
    return columns.total[:, None] * pairs.keys - columns.moment


def scatter(
    pairs: Pairs,
    rows: Rows,
    coefficients: Array,
    columns: ColumnSums,
    query_features: Array,
    key_features: Array | None = None,
) -> Array:
    """Weighted scatter of differences, projected on one side.

    Parameters
    ----------
    pairs : Pairs
    rows : Rows
        Finished rows pass over `pairs`.
    coefficients : array of shape (p, n)
        Row sums of C within each part.
    columns : ColumnSums
        Columns pass with the same coefficients.
    query_features, key_features : array of shape (n, D) and (m, D)
        The points before projection. None: the keys are the queries.

    Returns
    -------
    array of shape (d, D)
        Σ_ij C_ij (z_i - z_j)(x_i - x_j)ᵀ.
    """
    query_pull = query_pulls(pairs, rows, coefficients)
    key_pull = key_pulls(pairs, columns)
    if key_features is None:
        return _product(query_pull + key_pull, query_features)
    return _product(query_pull, query_features) + _product(key_pull, key_features)


def symmetric_scatter(pairs: Pairs, rows: Rows, coefficients: Array, column_totals: Array) -> Array:
    """Weighted scatter of differences of the projected points themselves.

    With z on both sides (CᵀZ_q)ᵀ Z_k is the transpose of Z_qᵀ (C Z_k): the
    columns pass need not collect moments.

    Parameters
    ----------
    pairs : Pairs
    rows : Rows
        Finished rows pass over `pairs`.
    coefficients : array of shape (p, n)
        Row sums of C within each part.
    column_totals : array of shape (m,)
        Column sums of C.

    Returns
    -------
    array of shape (d, d)
        Σ_ij C_ij (z_i - z_j)(z_i - z_j)ᵀ.
    """
    queries, keys = pairs.queries, pairs.keys
    row_totals = coefficients.sum(axis=0)
    cross = gram(queries, combined(coefficients, rows.centroid))
    if queries is keys:  # one product instead of two
        squares = gram(queries, (row_totals + column_totals)[:, None] * queries)
    else:
        squares = gram(queries, row_totals[:, None] * queries)
        squares += gram(keys, column_totals[:, None] * keys)
    return squares - cross - cross.T


def diagonal_scatter(pairs: Pairs, rows: Rows, coefficients: Array, column_totals: Array) -> Array:
    """Weighted squares of differences of the projected points, coordinate by coordinate.

    Parameters
    ----------
    pairs : Pairs
    rows : Rows
        Finished rows pass over `pairs`.
    coefficients : array of shape (p, n)
        Row sums of C within each part.
    column_totals : array of shape (m,)
        Column sums of C.

    Returns
    -------
    array of shape (d,)
        Σ_ij C_ij (z_i - z_j)², the diagonal of `symmetric_scatter`.
    """
    queries, keys = pairs.queries, pairs.keys
    moment = combined(coefficients, rows.centroid)
    squares = weighted_products(coefficients.sum(axis=0), queries, queries)
    squares += weighted_products(column_totals, keys, keys)
    return squares - 2.0 * weighted_products(None, queries, moment)


def _product(pull: Array, features: Array) -> Array:
    # In the precision of the features: a float64 copy of them could exceed memory.
    return gram(in_dtype_of(features, pull), features)
