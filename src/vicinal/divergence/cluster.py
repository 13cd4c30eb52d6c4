"""Divergences by the workers of a cluster: each compares a share of the pairs, where it chooses to.

Gaussians go to every worker once; shares depend on the number of points alone. All pairs are cut
into squares, whose sides are whole tiles of a CPU: there its numbers are those of one machine.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from vicinal.divergence.comparison import Comparison
from vicinal.divergence.cutting import keep_best, slices, tiles, tiles_in
from vicinal.divergence.ready import Ready
from vicinal.fitting.progress import stage
from vicinal.neighborhood.cluster.sharing import N_SHARES, shared

__all__ = ["SpreadComparison"]

# Values of all pairs that are on their way here at a time, beside the array they are for: 1 GB.
_NUMBERS_AT_A_TIME = 128_000_000

_TOLD = "divergences, on a cluster"

Square = tuple[slice, slice]
Found = tuple[NDArray, NDArray]


@dataclass(frozen=True)
class _Share:
    """What a worker has to know.

    Attributes
    ----------
    comparison : Comparison
    ready : Ready
    n_pairs : int
        Of all shares: whether a GPU pays is asked of these.
    """

    comparison: Comparison
    ready: Ready
    n_pairs: int

    @property
    def _here(self) -> Comparison:
        """The comparison where this worker makes it: on its GPU, if it has one and it pays."""
        return self.comparison._placed(self.n_pairs)

    def values_in(self, square: Square) -> NDArray:
        """Values of all pairs of a square."""
        (rows, columns), ready = square, self.ready
        within = ready.within and rows == columns
        P = ready.P.part(rows)
        return self._here._all_values(
            Ready(P, P if within else ready.Q.part(columns), within, ready.unit)
        )

    def nearest_in(self, k: int, square: Square) -> list[tuple[slice, NDArray, NDArray]]:
        """The nearest of the rows of a square, and of its columns where it stands for both."""
        (rows, columns), here, ready = square, self._here, self.ready
        mirrored = ready.within and here.divergence.symmetric
        parts = tiles_in(square, here.side(ready.P), mirrored)
        found, values = here._nearest_in(ready, k, parts)
        sides = [rows, columns] if mirrored and rows != columns else [rows]
        return [(side, found[side], values[side]) for side in sides]

    def nearest_of(self, k: int, some: tuple[NDArray, NDArray]) -> Found:
        """The nearest of some points, each among the positions in its row."""
        return self._here._nearest_of_some(self.ready, k, *some, lambda more: None)

    def values_of(self, pairs: tuple[NDArray, NDArray]) -> NDArray:
        """Values of given pairs."""
        return self._here._given_values(self.ready, *pairs)

    def shortest(
        self, groups: Sequence[slice], rows: slice
    ) -> list[tuple[NDArray, NDArray, NDArray]]:
        """From some points the shortest way to every group of others."""
        P, Q, _, unit = self.ready
        found = self._here._shortest(Ready(P.part(rows), Q, False, unit), groups)
        return [(rows.start + first, second, values) for first, second, values in found]


@dataclass(frozen=True)
class SpreadComparison(Comparison):
    """A comparison that workers make.

    Attributes
    ----------
    n_pairs : int
        About how many pairs there are.
    """

    n_pairs: int = 0

    def _all_values(self, ready: Ready) -> NDArray:
        out, squares = np.empty((len(ready.P), len(ready.Q))), self._squares(ready)
        mirrored = self._is_mirrored(ready)
        largest = max((rows.stop - rows.start) ** 2 for rows, _ in squares)
        at_a_time = max(1, _NUMBERS_AT_A_TIME // (largest * max(1, len(squares) // N_SHARES)))
        work = self._share(ready).values_in
        with stage(_TOLD, len(squares), self.verbose) as tell:
            found = shared(work, squares, "divergences", at_a_time)
            for (rows, columns), values in zip(squares, found, strict=True):
                out[rows, columns] = values
                if mirrored and rows != columns:
                    out[columns, rows] = values.T
                tell(1)
        return out

    def _nearest_of_all(self, ready: Ready, k: int) -> Found:
        n, squares = len(ready.P), self._squares(ready)
        found = np.full((n, k), len(ready.Q), dtype=np.intp), np.full((n, k), np.inf)
        work = partial(self._share(ready).nearest_in, k)
        with stage(_TOLD, len(squares), self.verbose) as tell:
            for sides in shared(work, squares, "nearest"):
                for side, among, values in sides:
                    keep_best(found[0][side], found[1][side], among, values)
                tell(1)
        return found

    def _nearest_of(self, ready: Ready, k: int, among: NDArray) -> Found:
        n = len(ready.P)
        found = np.empty((n, k), dtype=among.dtype), np.empty((n, k))
        parts = list(self._parts(ready, among))
        work = partial(self._share(ready).nearest_of, k)
        with stage(_TOLD, n, self.verbose) as tell:
            some = shared(work, [(rows, among[rows]) for rows in parts], "candidates")
            for rows, (nearest, values) in zip(parts, some, strict=True):
                found[0][rows], found[1][rows] = nearest, values
                tell(len(rows))
        return found

    def _given_values(self, ready: Ready, first: NDArray, second: NDArray) -> NDArray:
        parts = slices(len(first), _at_least_one(len(first)))
        work, values = self._share(ready).values_of, np.empty(len(first))
        with stage(_TOLD, len(parts), self.verbose) as tell:
            some = shared(work, [(first[part], second[part]) for part in parts], "pairs")
            for part, found in zip(parts, some, strict=True):
                values[part] = found
                tell(1)
        return values

    def _shortest(
        self, ready: Ready, groups: Sequence[slice]
    ) -> list[tuple[NDArray, NDArray, NDArray]]:
        parts = slices(len(ready.P), _at_least_one(len(ready.P)))
        work = partial(self._share(ready).shortest, groups)
        return [one for some in shared(work, parts, "edges") for one in some]

    def _share(self, ready: Ready) -> _Share:
        return _Share(Comparison(self.divergence, n_jobs=1), ready, self.n_pairs)

    def _parts(self, ready: Ready, among: NDArray) -> Iterator[NDArray]:
        """Points whose candidates a task looks at: near ones together, where they have room."""
        most = _at_least_one(len(ready.P))
        for rows in self._pieces(ready, among):
            for part in slices(len(rows), most):
                yield rows[part]

    def _squares(self, ready: Ready) -> list[Square]:
        """All pairs in squares of whole tiles, as many as there are shares, or a few more."""
        side = self.side(ready.P)
        tiles_a_side = max(1, round(np.sqrt(self._n_pairs(ready) / N_SHARES) / side))
        return tiles(len(ready.P), len(ready.Q), side * tiles_a_side, self._is_mirrored(ready))

    def _is_mirrored(self, ready: Ready) -> bool:
        return ready.within and self.divergence.symmetric


def _at_least_one(n: int) -> int:
    """How many of n make a share."""
    return max(1, -(-n // N_SHARES))
