"""Rows and columns passes over a layout: starting kernels, and finishing their sums."""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from vicinal.neighborhood.cuda import kernels
from vicinal.neighborhood.cuda.layout import Layout, padded
from vicinal.neighborhood.laws import LOG2E, Law

__all__ = ["columns", "rows"]

# Powers of two that weights are lifted by in the kernels.
_LIFTED = 2.0**kernels.LIFT

# Programs that keep a device busy; with fewer tiles of outputs, inputs are cut into chunks...
_ENOUGH_PROGRAMS = 528
# ... of at least this many.
_SMALLEST_CHUNK = 2048

# Finite in single precision, so that a weight of 0 times it is 0.
_LARGEST_SHARE = 1e37

# Coordinates whose moments a program has registers for.
_MOST_MOMENTS = 128


class _Tiles(NamedTuple):
    """How many outputs and inputs a program takes at a time, and on how many warps."""

    outputs: int
    inputs: int
    warps: int
    stages: int


# By the padded number of dimensions; measured on an H200 (docs/decisions/0023).
_SINGLE = {
    16: _Tiles(64, 128, 4, 3),
    32: _Tiles(128, 64, 4, 3),
    64: _Tiles(128, 64, 4, 3),
    128: _Tiles(128, 64, 8, 3),
    256: _Tiles(128, 64, 8, 1),
    512: _Tiles(64, 32, 4, 1),
}
# Loops for two parts need more registers.
_SINGLE_LABELED = {**_SINGLE, 64: _Tiles(64, 128, 4, 2)}
_DOUBLE = {
    16: _Tiles(64, 32, 4, 2),
    32: _Tiles(64, 32, 4, 2),
    64: _Tiles(32, 32, 4, 2),
    128: _Tiles(32, 32, 4, 1),
    256: _Tiles(32, 16, 4, 1),
    512: _Tiles(16, 16, 4, 1),
}


# In few dimensions and without moments programs wait for exponentials most of the time: with fewer
# registers, though some of them spill, there is room for twice as many (9.5 to 7.5 ms).
_MORE_AT_ONCE = {"maxnreg": 128}


def _tiles(layout: Layout) -> _Tiles:
    table = _SINGLE if layout.n_parts == 1 else _SINGLE_LABELED
    return (table if layout.dtype == torch.float32 else _DOUBLE)[layout.keys.high.shape[1]]


def _chunks(n_out: int, n_in: int, tiles: _Tiles) -> tuple[int, int]:
    """How many chunks of inputs, and of what size; from sizes alone."""
    wanted = -(-_ENOUGH_PROGRAMS // max(1, -(-n_out // tiles.outputs)))
    n_chunks = max(1, min(wanted, n_in // _SMALLEST_CHUNK))
    return n_chunks, -(-max(1, n_in) // n_chunks)


def _grid(
    n_out: int, n_chunks: int, tiles: _Tiles, width: int, moments: bool
) -> tuple[int, int, int]:
    """Programs: tiles of outputs, chunks of inputs, blocks of coordinates for the moments."""
    return -(-n_out // tiles.outputs), n_chunks, -(-width // _MOST_MOMENTS) if moments else 1


def _query_biases(layout: Layout, law: Law) -> Tensor:
    """What queries add to -|q - k|²; to 1 - |q - k|² where there is support."""
    return (1.0 if law.has_support else 0.0) - layout.queries.squares


def rows(layout: Layout, law: Law, moments: bool) -> tuple[Tensor, ...]:
    """Peaks, masses, slopes and moments of all queries, in the caller's order and coordinates."""
    queries, keys, tiles = layout.queries, layout.keys, _tiles(layout)
    n, m, width = len(queries), len(keys), keys.high.shape[1]
    n_chunks, chunk_size = _chunks(n, m, tiles)
    shape = (n_chunks, layout.n_parts, n)
    peaks, masses, slopes = (keys.squares.new_empty(shape) for _ in range(3))
    sums = keys.squares.new_empty((*shape, width if moments else 0))
    is_gaussian = law.code == kernels.GAUSSIAN
    key_biases = layout.key_weights - keys.squares if is_gaussian else -keys.squares
    if n and m:
        kernels.rows[_grid(n, n_chunks, tiles, width, moments)](
            queries.near_high,
            queries.near_low,
            queries.points,
            _query_biases(layout, law),
            layout.own,
            layout.key_runs,
            keys.high,
            keys.low,
            keys.points,
            key_biases,
            layout.key_weights * _LIFTED if law.has_support else layout.key_weights,
            peaks,
            masses,
            slopes,
            sums,
            n,
            len(queries.squares),
            m,
            len(keys.squares),
            layout.n_near,
            chunk_size,
            layout.unit,
            float(law.numbers(layout.n_near).power),
            **_constants(layout, law, moments, tiles, width),
        )
    else:
        peaks.fill_(-torch.inf), masses.zero_(), slopes.zero_(), sums.zero_()
    if is_gaussian:
        slopes = masses
    return _finished_rows(layout, law, moments, *_merged(peaks, masses, slopes, sums))


def _constants(
    layout: Layout, law: Law, moments: bool, tiles: _Tiles, width: int
) -> dict[str, Any]:
    """What kernels are compiled for."""
    return {
        "LAW": law.code,
        "KIND": layout.kind,
        "MOMENTS": moments,
        "LABELS": layout.n_parts == 2,
        "OWN": layout.own_kind,
        "BM": tiles.outputs,
        "BN": tiles.inputs,
        "DP": width,
        "DV": min(width, _MOST_MOMENTS),
        "num_warps": tiles.warps,
        "num_stages": tiles.stages,
    }


def _merged(peaks: Tensor, *sums: Tensor) -> tuple[Tensor, ...]:
    """Sums over all chunks of keys, always in the same order."""
    if len(peaks) == 1:
        return peaks[0], *(each[0] for each in sums)
    peak = peaks.amax(dim=0)
    factor = torch.exp2(peaks - torch.where(torch.isneginf(peak), 0.0, peak))
    factors = (factor, factor, factor[..., None])
    return peak, *((f * each).sum(dim=0) for f, each in zip(factors, sums, strict=True))


def _finished_rows(
    layout: Layout,
    law: Law,
    moments: bool,
    peak: Tensor,
    mass: Tensor,
    slope: Tensor,
    sums: Tensor,
) -> tuple[Tensor, ...]:
    """In natural logarithms, in the caller's order, scale and coordinates."""
    queries, numbers = layout.queries, law.numbers(layout.n_near)
    peak, mass, slope = (each.double() for each in (peak, mass, slope))
    factor = 1.0 / _LIFTED  # of slopes
    if law.has_support:
        peak = torch.where(torch.isneginf(peak), peak, layout.weight_peak)
        factor *= 2.0
    else:
        if law.code == kernels.GAUSSIAN:
            peak = peak - queries.squares[: len(queries)].double()
        peak, factor = peak / LOG2E, factor * numbers.decay
    mass, slope = mass / _LIFTED, slope * factor
    moment = sums
    if moments:
        moment = sums[..., : layout.n_dims] * (factor / layout.column_scale).to(layout.dtype)
        moment += slope[..., None].to(layout.dtype) * layout.center.to(layout.dtype)
    return tuple(queries.unsort(each, 1) for each in (peak, mass, slope, moment))


def columns(
    layout: Layout, law: Law, log_slope: Tensor, coefficients: Tensor, moments: bool
) -> tuple[Tensor, ...]:
    """Totals and moments of all keys, in the caller's order and coordinates."""
    queries, keys, tiles = layout.queries, layout.keys, _tiles(layout)
    n, m, width = len(queries), len(keys), keys.high.shape[1]
    n_chunks, chunk_size = _chunks(m, n, tiles)
    totals = keys.squares.new_zeros((n_chunks, m))
    sums = keys.squares.new_zeros((n_chunks, m, width if moments else 0))
    terms = _query_terms(layout, law, log_slope, coefficients)
    if n and m:
        kernels.columns[_grid(m, n_chunks, tiles, width, moments)](
            keys.near_high,
            keys.near_low,
            keys.points,
            *_key_terms(layout, law),
            layout.owner,
            layout.query_runs,
            queries.high,
            queries.low,
            queries.points,
            terms.biases,
            terms.shifts,
            terms.shares,
            totals,
            sums,
            m,
            len(keys.squares),
            n,
            len(queries.squares),
            layout.n_near,
            chunk_size,
            layout.unit,
            float(law.numbers(layout.n_near).power + 1.0),
            **_constants(layout, law, moments, tiles, width),
            **({} if moments or width > 16 else _MORE_AT_ONCE),
        )
    summed = totals.sum(dim=0), sums.sum(dim=0)
    return _finished_columns(layout, moments, *summed, terms.unit / _LIFTED)


def _key_terms(layout: Layout, law: Law) -> tuple[Tensor, Tensor]:
    """Biases and weights of the keys in the columns pass."""
    biases, weights = -layout.keys.squares, layout.key_weights
    if law.has_support:
        return biases, 2.0 * _LIFTED * weights
    if law.code == kernels.GAUSSIAN:
        return biases + weights, weights
    return biases, weights + law.numbers(layout.n_near).log_decay


class _QueryTerms(NamedTuple):
    """What the queries bring to the columns pass, a row for each part.

    Attributes
    ----------
    biases : Tensor of shape (p, n_padded)
        What they add to -|q - k|², and for Gaussian weights to the exponent.
    shifts : Tensor of shape (p, n_padded)
        Minus log2 of the slopes, lifted.
    shares : Tensor of shape (p, n_padded)
        Coefficients, as shares of the largest; over the slopes, where the law has a support.
    unit : Tensor
        That one, a number.
    """

    biases: Tensor
    shifts: Tensor
    shares: Tensor
    unit: Tensor


def _query_terms(layout: Layout, law: Law, log_slope: Tensor, coefficients: Tensor) -> _QueryTerms:
    size = len(layout.queries.squares)
    log_slope, coefficients = (layout.queries.sort(each, 1) for each in (log_slope, coefficients))
    # A part without any weight has nothing to share out, whatever the model asks for.
    nothing = torch.isneginf(log_slope)
    coefficients = torch.where(nothing, 0.0, coefficients)
    shifts = padded(torch.where(nothing, -torch.inf, kernels.LIFT - LOG2E * log_slope), size)
    largest = coefficients.abs().amax() if coefficients.numel() else coefficients.sum()
    unit = torch.where(largest > 0, largest, 1.0)
    biases = _query_biases(layout, law).expand(len(shifts), size).contiguous()
    if law.code == kernels.GAUSSIAN:
        biases = biases.double() + shifts
    shares = coefficients / unit
    if law.has_support:  # a row of one key at the end of its reach must not dwarf all others
        scale = torch.exp(layout.weight_peak - torch.where(nothing, 0.0, log_slope))
        shares = (shares * scale).clamp(-_LARGEST_SHARE, _LARGEST_SHARE)
    shares = padded(shares, size)
    biases, shifts, shares = (each.to(layout.dtype) for each in (biases, shifts, shares))
    return _QueryTerms(biases, shifts, shares, unit)


def _finished_columns(
    layout: Layout, moments: bool, total: Tensor, sums: Tensor, unit: Tensor
) -> tuple[Tensor, Tensor]:
    """In the caller's order, scale and coordinates."""
    total = total.double() * unit
    moment = sums
    if moments:
        moment = sums[:, : layout.n_dims] * (unit / layout.column_scale).to(layout.dtype)
        moment += total[:, None].to(layout.dtype) * layout.center.to(layout.dtype)
    return layout.keys.unsort(total, 0), layout.keys.unsort(moment, 0)
