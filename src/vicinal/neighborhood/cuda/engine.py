"""The engine for a GPU: from pairs to their layout, to both passes, and back to sums."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from vicinal.neighborhood.abilities import NO_KERNELS, Abilities, is_compiled, work_of
from vicinal.neighborhood.arrays import dtype_of, is_numpy
from vicinal.neighborhood.cuda.halves import (
    SMALLEST_HALF,
    columns_by_halves,
    rows_by_halves,
)
from vicinal.neighborhood.cuda.layout import Layout, lay_out, numbers_of_side, on_device
from vicinal.neighborhood.cuda.passes import columns, rows
from vicinal.neighborhood.cuda.replay import Repeated, is_recording
from vicinal.neighborhood.gpu import MOST_DIMS, DeviceLostError
from vicinal.neighborhood.laws import Law
from vicinal.neighborhood.pairs import Pairs
from vicinal.neighborhood.sums import ColumnSums, RowSums

__all__ = ["PRECISIONS", "CudaEngine"]

Sums = TypeVar("Sums", RowSums, ColumnSums)

# "input": that of the points.
PRECISIONS = ("input", "float64", "float32", "tf32")

# Work that is not worth recording: beyond it kernels take longer than Python to start them.
_RECORDED_PAIRS = 2**32

# Of one side of a layout: kernels count its numbers in 32 bits.
_MOST_NUMBERS = 2**31 - 1

# Of a layout and its sums, at most: coordinates in double precision while they are centered, as
# halves, their moments.
BYTES_PER_NUMBER = 48


class CudaEngine:
    """Fused passes on a GPU: memory O((n + m) d), exact to rounding of the precision.

    Parameters
    ----------
    n_jobs : int, optional
        As every engine takes it; a device has threads of its own.
    precision : {"input", "float64", "float32", "tf32"}, default="input"
        "input": that of the points. "float32": products by two halves for each number, as accurate
        as single precision. "tf32": numbers of 11 bits in all products, faster; an exponent may
        err by 2^-11 of the largest squared norm after centering.
    device : str or torch.device, default="cuda"
    """

    name = "cuda"
    can = Abilities(
        is_compiled,
        NO_KERNELS,
        devices=("cuda", "cpu"),
        precisions=("float64", "float32", "tf32"),
        most_dims=MOST_DIMS,
    )

    def __init__(
        self, n_jobs: int | None = None, *, precision: str = "input", device: Any = "cuda"
    ) -> None:
        if precision not in PRECISIONS:
            known = ", ".join(repr(each) for each in PRECISIONS)
            raise ValueError(f"precision={precision!r} is unknown: use one of {known}.")
        self.precision = precision
        self.device = torch.device(device)
        self._last: tuple[Pairs, Law, Layout] | None = None

    def place(self, array: Any) -> Tensor:
        """The array on the device; what is there already is not copied."""
        return on_device(array, self.device)

    def repeated(self, function: Callable[..., Any], n_pairs: int) -> Callable[..., Any]:
        """The function, made ready to be called often (see `engine.repeated`)."""
        pays = self.device.type == "cuda" and n_pairs <= _RECORDED_PAIRS
        return Repeated(function) if pays else function

    def rows(self, pairs: Pairs, law: Law, *, moments: bool = True) -> RowSums:
        """Sums over the keys, for every query; without `moments` their width is 0."""

        def whole() -> RowSums:
            return RowSums(*_returned(rows(self._layout(pairs, law), law, moments), pairs))

        def of(half: Pairs) -> RowSums:
            return self.rows(half, law, moments=moments)

        return self._by_halves(whole, lambda: rows_by_halves(pairs, of), pairs)

    def columns(
        self,
        pairs: Pairs,
        law: Law,
        log_slope: Any,
        coefficients: Any,
        *,
        moments: bool = True,
    ) -> ColumnSums:
        """Sums over the queries of C_ij, for every key (see `engine.Engine`)."""

        def whole() -> ColumnSums:
            slopes, shares = (self.place(each).double() for each in (log_slope, coefficients))
            found = columns(self._layout(pairs, law), law, slopes, shares, moments)
            return ColumnSums(*_returned(found, pairs))

        def of(half: Pairs, queries: slice) -> ColumnSums:
            terms = log_slope[:, queries], coefficients[:, queries]
            return self.columns(half, law, *terms, moments=moments)

        return self._by_halves(whole, lambda: columns_by_halves(pairs, of), pairs)

    def _by_halves(
        self, whole: Callable[[], Sums], halved: Callable[[], Sums], pairs: Pairs
    ) -> Sums:
        """All at once, or half by half where kernels, or the device, have no room: sums merge."""
        n, m, d = pairs.shape
        if numbers_of_side(max(n, m), d) <= _MOST_NUMBERS:
            try:
                return whole()
            except torch.OutOfMemoryError as error:
                self._last = None
                if is_recording():  # who records can do without; halves would be taken down, too
                    raise
                if max(n, m) < SMALLEST_HALF:
                    raise DeviceLostError(_no_room(self.device, n, m, d)) from error
            torch.cuda.empty_cache()
        try:
            return halved()
        except torch.OutOfMemoryError as error:  # for both halves together
            raise DeviceLostError(_no_room(self.device, n, m, d)) from error

    def _layout(self, pairs: Pairs, law: Law) -> Layout:
        """Made for these very pairs before, or made now: both passes need the same."""
        if self._last is not None and self._last[0] is pairs and self._last[1] == law:
            return self._last[2]
        precision = self.precision
        if precision == "input":
            precision = dtype_of(pairs.queries, pairs.keys)
        # Those that are carried along have their place beside those of distances.
        self.can.check(self.name, replace(work_of(pairs, law), n_dims=pairs.shape[2]))
        layout = lay_out(
            pairs,
            law,
            torch.float64 if precision == "float64" else torch.float32,
            self.device,
            precision == "tf32",
        )
        self._last = pairs, law, layout
        return layout


def _no_room(device: torch.device, n: int, m: int, d: int) -> str:
    """What to say where not even a piece fits."""
    free, total = torch.cuda.mem_get_info(device) if device.type == "cuda" else (0, 0)
    needed = BYTES_PER_NUMBER * (n + m) * d
    return (
        f"{n} queries and {m} keys of {d} coordinates need about {needed / 1e9:.1g} GB on "
        f"{device}, of whose {total / 1e9:.3g} GB {free / 1e9:.3g} GB are free: free some, or use "
        "another engine."
    )


def _returned(sums: tuple[Tensor, ...], pairs: Pairs) -> tuple[Any, ...]:
    """As NumPy's arrays in double precision where the pairs are NumPy's."""
    if not is_numpy(pairs.queries):
        return tuple(each.to(pairs.queries.device) for each in sums)
    return tuple(each.cpu().numpy().astype(np.float64) for each in sums)
