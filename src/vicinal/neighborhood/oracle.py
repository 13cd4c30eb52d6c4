"""The definition, written out over n × m arrays in float64: the yardstick of every engine.

For tests only: it needs memory for several n × m × d arrays.
"""

import numpy as np
from numpy.typing import NDArray

from vicinal.neighborhood.abilities import Abilities
from vicinal.neighborhood.hosted import takes_tensors
from vicinal.neighborhood.laws import Law
from vicinal.neighborhood.pairs import Pairs
from vicinal.neighborhood.sums import ColumnSums, RowSums

__all__ = ["OracleEngine"]


class OracleEngine:
    """Rows and columns sums by the formulas in `sums` and `engine`."""

    name = "oracle"
    can = Abilities(takes=lambda law: True)

    @takes_tensors
    def rows(self, pairs: Pairs, law: Law, *, moments: bool = True) -> RowSums:
        """Sums over the keys, for every query."""
        (n, _, d), d_near = pairs.shape, pairs.near.stop
        s, log_u = _squared_distances(pairs), _log_weights(pairs)
        keys = pairs.keys.astype(np.float64)
        sums = RowSums.empty(pairs.n_parts, n, d if moments else 0)
        for p, allowed in enumerate(_parts(pairs)):
            for i in range(n):
                j = np.flatnonzero(allowed[i])
                if len(j) == 0:
                    continue
                peak = _peak(law, s[i, j], log_u[j], d_near)
                mass, slope = _relative(law, s[i, j], log_u[j], peak, d_near)
                sums.peak[p, i], sums.mass[p, i], sums.slope[p, i] = peak, mass.sum(), slope.sum()
                if moments:
                    sums.moment[p, i] = slope @ keys[j]
        return sums

    @takes_tensors
    def columns(
        self,
        pairs: Pairs,
        law: Law,
        log_slope: NDArray,
        coefficients: NDArray,
        *,
        moments: bool = True,
    ) -> ColumnSums:
        """Sums over the queries of C_ij, for every key."""
        c = coefficient_matrix(pairs, law, log_slope, coefficients)
        values = pairs.queries.astype(np.float64)[:, slice(None if moments else 0)]
        return ColumnSums(c.sum(axis=0), c.T @ values)


def coefficient_matrix(
    pairs: Pairs, law: Law, log_slope: NDArray, coefficients: NDArray
) -> NDArray:
    """C itself: coefficients times each key's share in its part of the row."""
    s, log_u = _squared_distances(pairs), _log_weights(pairs)
    c = np.zeros(s.shape)
    for p, allowed in enumerate(_parts(pairs)):
        for i, j in zip(*np.nonzero(allowed), strict=True):
            if np.isneginf(log_slope[p, i]):
                continue
            _, share = _relative(law, s[i, j], log_u[j], log_slope[p, i], pairs.near.stop)
            c[i, j] = coefficients[p, i] * share
    return c


def _peak(law: Law, s: NDArray, log_u: NDArray, d: int) -> float:
    """The largest exponent of a row; the largest weight where a law has support."""
    return float(np.max(log_u if law.has_support else log_u + law.log_mass(s, d)))


def _relative(
    law: Law, s: NDArray, log_u: NDArray, log_unit: float, d: int
) -> tuple[NDArray, NDArray]:
    """u k(s) and u (-k'(s)), both divided by exp(log_unit)."""
    return (
        np.exp(log_u + law.log_mass(s, d) - log_unit),
        np.exp(log_u + law.log_slope(s, d) - log_unit),
    )


def _squared_distances(pairs: Pairs) -> NDArray:
    queries = pairs.queries[:, pairs.near].astype(np.float64)
    keys = pairs.keys[:, pairs.near].astype(np.float64)
    return np.square(queries[:, None, :] - keys[None, :, :]).sum(axis=-1)


def _log_weights(pairs: Pairs) -> NDArray:
    if pairs.key_log_weights is None:
        return np.zeros(len(pairs.keys))
    return pairs.key_log_weights.astype(np.float64)


def _parts(pairs: Pairs) -> list[NDArray]:
    """For each part, which pairs belong to it, shape (n, m)."""
    n, m, _ = pairs.shape
    allowed = np.ones((n, m), dtype=bool)
    if pairs.own is not None:
        has_own = np.flatnonzero(pairs.own >= 0)
        allowed[has_own, pairs.own[has_own]] = False
    if pairs.query_labels is None or pairs.key_labels is None:
        return [allowed]
    same = pairs.query_labels[:, None] == pairs.key_labels[None, :]
    return [allowed & ~same, allowed & same]
