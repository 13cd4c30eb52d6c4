"""Fused passes over pairs for one GPU, in Triton: attention without its matrix.

A program owns a tile of outputs (queries in the rows pass, keys in the columns pass), keeps their
sums in registers and walks over blocks of inputs. Points come sorted by class: the inputs of an
output's own class are one run, and for a tile of one class no label is looked at inside a loop.
The few tiles that hold several classes mask the runs of these.

Squared distances come from products on the matrix units. In single precision every coordinate is
the sum of two halves (`HALVES`), scaled so that neither under- nor overflows: three products of
halves carry 22 bits. `DIRECT` takes differences of coordinates instead.

Shapes in comments: BM outputs and BN inputs at a time, DP dimensions with those that are padding,
DV of them whose moments a program adds up; where these are not all, others add up the rest.
"""

import triton
import triton.language as tl

from vicinal.neighborhood import shared_numbers

__all__ = [
    "DIRECT",
    "GAUSSIAN",
    "HALVES",
    "LIFT",
    "ONE_HALF",
    "OWN_ANYWHERE",
    "OWN_DIAGONAL",
    "OWN_NOWHERE",
    "PLAIN",
    "columns",
    "rows",
]

# How coordinates are compared: multiplied in their own precision; as sums of two halves; by the
# larger half alone; subtracted.
PLAIN, HALVES, ONE_HALF, DIRECT = 0, 1, 2, 3

# Where the one input is that an output leaves out.
OWN_NOWHERE, OWN_DIAGONAL, OWN_ANYWHERE = 0, 1, 2

_HALVES, _ONE_HALF, _DIRECT = tl.constexpr(HALVES), tl.constexpr(ONE_HALF), tl.constexpr(DIRECT)
_DIAGONAL, _ANYWHERE = tl.constexpr(OWN_DIAGONAL), tl.constexpr(OWN_ANYWHERE)
GAUSSIAN = shared_numbers.GAUSSIAN
_GAUSSIAN, _COMPACT = tl.constexpr(GAUSSIAN), tl.constexpr(shared_numbers.COMPACT)

# What counts of the inputs a loop walks over: all, those of the own class, all but those.
_ALL, _SAME, _OTHERS = tl.constexpr(0), tl.constexpr(1), tl.constexpr(2)

# Weights are kept at so many powers of two above 1 at most: as halves, what is 2^-38 of the
# largest still counts, for there may be many.
LIFT = 14
_LIFT = tl.constexpr(float(LIFT))
_MOST = tl.constexpr(2.0 ** (LIFT + 1))

_TWO_LOG2E = tl.constexpr(2.8853900817779268)


@triton.jit
def _log2_of_one_plus(s):
    """log2(1 + s), to rounding of itself however small s is."""
    t = s / (2.0 + s)
    u = t * t
    # 2 atanh(t) for t up to 1/3: t^17 is rounding in single precision, t^33 in double.
    last: tl.constexpr = 17 if s.dtype == tl.float32 else 33
    series = tl.zeros_like(u) + 1.0 / last
    for k in tl.static_range(1, last // 2 + 1):
        series = series * u + 1.0 / (last - 2 * k)
    return tl.where(s < 1.0, _TWO_LOG2E * t * series, tl.log2(1.0 + s))


@triton.jit
def _closeness(
    own_high, own_low, high, low, own_points, points, out, into, d, stride_out, stride_in, unit,
    KIND: tl.constexpr,
):  # fmt: skip
    """-|q - k|² without its terms -|q|² - |k|²; with DIRECT, the whole. (BM, BN)."""
    if KIND == _DIRECT:
        s = tl.zeros((out.shape[0], into.shape[0]), own_points.dtype.element_ty)
        for c in range(d):
            a = tl.load(own_points + c * stride_out + out)
            b = tl.load(points + c * stride_in + into)
            apart = a[:, None] - b[None, :]
            s += apart * apart
        return -s
    if KIND == _HALVES:
        # The smallest terms first: matrix units cut off what they add, instead of rounding it.
        s = tl.dot(own_low, tl.trans(high))
        s = tl.dot(own_high, tl.trans(low), s)
        s = tl.dot(own_high, tl.trans(high), s)
    elif KIND == _ONE_HALF:
        s = tl.dot(own_high, tl.trans(high))
    else:
        s = tl.dot(own_high, tl.trans(high), input_precision="ieee", out_dtype=high.dtype)
    return s * unit


@triton.jit
def _moments(weights, high, low, KIND: tl.constexpr):
    """weights @ inputs, (BM, DV).

    A sum of its own for every block, added to the others by units that round: over many blocks,
    what matrix units cut off would add up.
    """
    if KIND == _HALVES:
        large = weights.to(tl.float16)
        moment = tl.dot((weights - large.to(tl.float32)).to(tl.float16), high)
        moment = tl.dot(large, low, moment)
        moment = tl.dot(large, high, moment)
    elif KIND == _ONE_HALF:
        moment = tl.dot(weights.to(tl.float16), high)
    else:
        moment = tl.dot(weights, high, input_precision="ieee", out_dtype=high.dtype)
    return moment


@triton.jit
def _inputs(highs, lows, into, start, KIND: tl.constexpr, WIDTH: tl.constexpr, DP: tl.constexpr):
    """Both halves of WIDTH coordinates of some inputs, from the one at `start` on. (BN, WIDTH)."""
    grid = into[:, None] * DP + (start + tl.arange(0, WIDTH))[None, :]
    high = tl.load(highs + grid)
    low = high
    if KIND == _HALVES:
        low = tl.load(lows + grid)
    return high, low


@triton.jit
def _allowed(into, own, first, last, WHICH: tl.constexpr, OWN: tl.constexpr):
    """Which pairs count, (BM, BN)."""
    there = into[None, :] >= 0
    if WHICH != _ALL:
        there = (into[None, :] >= first[:, None]) & (into[None, :] < last[:, None])
        if WHICH == _OTHERS:
            there = there == 0
    if OWN:
        there = there & (into[None, :] != own[:, None])
    return there


@triton.jit
def _plus(total, rest, more):
    """total + more, and what rounding took from it (Kahan): a sum may have thousands of blocks."""
    wanted = more - rest
    reached = total + wanted
    return reached, (reached - total) - wanted


@triton.jit
def _fold_rows(
    sums, tile, inputs, power, start, stop,
    LAW: tl.constexpr, KIND: tl.constexpr, MOMENTS: tl.constexpr,
    WHICH: tl.constexpr, OWN: tl.constexpr, BN: tl.constexpr, DP: tl.constexpr, DV: tl.constexpr,
):  # fmt: skip
    """Add inputs start..stop to the sums of the queries of a tile.

    sums: peak, mass, what rounding took from it, slope (BM,), moment (BM, DV). tile: the queries'
    halves (BM, DP), positions, own keys, runs of their class, biases (BM,). inputs: all keys.
    """
    peak, mass, rest, slope, moment = sums
    own_high, own_low, out, own, first, last, bias_out = tile
    highs, lows, own_points, points, biases, weights, d, stride_out, stride_in, unit = inputs
    for j in tl.range(start, stop, BN):
        into = j + tl.arange(0, BN)
        high, low = _inputs(highs, lows, into, 0, KIND, DP, DP)
        s = _closeness(
            own_high, own_low, high, low, own_points, points, out, into, d, stride_out, stride_in,
            unit, KIND,
        )  # fmt: skip
        bias = tl.load(biases + into)
        is_there = into < stop
        if LAW == _GAUSSIAN:
            e = s + tl.where(is_there, bias, -float("inf"))[None, :]
            if WHICH != _ALL or OWN:
                e = tl.where(_allowed(into, own, first, last, WHICH, OWN), e, -float("inf"))
            peak, factor, w = _relative(e, peak)
            mass, rest = _plus(mass * factor, rest * factor, tl.sum(w, 1))
        elif LAW == _COMPACT:
            inside = tl.maximum(s + (bias[None, :] + bias_out[:, None]), 0.0)
            if WHICH != _ALL or OWN:
                inside = tl.where(_allowed(into, own, first, last, WHICH, OWN), inside, 0.0)
            u = tl.where(is_there, tl.load(weights + into), 0.0)
            w = inside * u[None, :]
            mass, rest = _plus(mass, rest, tl.sum(w * inside, 1))
            slope += tl.sum(w, 1)
            factor = tl.zeros_like(peak) + 1.0
            peak = tl.zeros_like(peak)
        else:
            logs = _log2_of_one_plus(tl.maximum(-(s + (bias[None, :] + bias_out[:, None])), 0.0))
            u = tl.where(is_there, tl.load(weights + into), -float("inf"))
            e = u[None, :] - power * logs
            if WHICH != _ALL or OWN:
                e = tl.where(_allowed(into, own, first, last, WHICH, OWN), e, -float("inf"))
            peak, factor, share = _relative(e, peak)
            w = share * tl.exp2(-logs)
            mass, rest = _plus(mass * factor, rest * factor, tl.sum(share, 1))
            slope = slope * factor + tl.sum(w, 1)
        if MOMENTS:
            if DV < DP:
                high, low = _inputs(highs, lows, into, tl.program_id(2) * DV, KIND, DV, DP)
            moment = moment * factor[:, None] + _moments(w, high, low, KIND)
    return peak, mass, rest, slope, moment


@triton.jit
def _relative(e, peak):
    """The new largest exponent, what old sums shrink by, and powers relative to it, lifted."""
    largest = tl.maximum(peak, tl.max(e, 1))
    shift = tl.where(largest == -float("inf"), 0.0, largest)
    return largest, tl.exp2(peak - shift), tl.exp2(e - (shift - _LIFT)[:, None])


@triton.jit
def _tile(
    highs, lows, runs, owns, biases, n_padded,
    KIND: tl.constexpr, BM: tl.constexpr, DP: tl.constexpr,
):  # fmt: skip
    """The outputs of this program: halves, positions, own inputs, runs of their class, biases."""
    out = tl.program_id(0) * BM + tl.arange(0, BM)
    high, low = _inputs(highs, lows, out, 0, KIND, DP, DP)
    first, last = tl.load(runs + out), tl.load(runs + n_padded + out)
    return high, low, out, tl.load(owns + out), first, last, tl.load(biases + out)


@triton.jit
def _runs(runs, n, n_padded, OWN: tl.constexpr, BM: tl.constexpr):
    """Of all classes in this tile: the run of their inputs, its masked piece, whether several.

    The masked piece holds the own inputs or, where there are several classes, is all of the run.
    """
    start, end = tl.program_id(0) * BM, tl.minimum((tl.program_id(0) + 1) * BM, n)
    first, last = tl.load(runs + start), tl.load(runs + n_padded + end - 1)
    is_mixed = (tl.load(runs + end - 1) != first) | (tl.load(runs + n_padded + start) != last)
    own_first, own_last = first, first
    if OWN == _DIAGONAL:
        own_first, own_last = start, end
    masked = tl.where(is_mixed, first, own_first)
    after = tl.where(is_mixed, last, own_last)
    return first, masked, after, last, is_mixed


@triton.jit
def _cut(start, stop, chunk, chunk_size):
    """The piece of a run that lies in one chunk of the inputs."""
    return tl.maximum(start, chunk * chunk_size), tl.minimum(stop, (chunk + 1) * chunk_size)


@triton.jit
def rows(
    out_highs, out_lows, out_points, out_biases, owns, runs,
    in_highs, in_lows, in_points, in_biases, in_weights,
    peaks, masses, slopes, moments,
    n, n_padded, m, stride_in, d, chunk_size, unit, power,
    LAW: tl.constexpr, KIND: tl.constexpr, MOMENTS: tl.constexpr, LABELS: tl.constexpr,
    OWN: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, DP: tl.constexpr, DV: tl.constexpr,
):  # fmt: skip
    """Sums over the keys of a chunk for a tile of queries; without labels, all are of one class."""
    chunk = tl.program_id(1)
    tile = _tile(out_highs, out_lows, runs, owns, out_biases, n_padded, KIND, BM, DP)
    keys = (
        in_highs, in_lows, out_points, in_points, in_biases, in_weights,
        d, n_padded, stride_in, unit,
    )  # fmt: skip
    zero = tl.zeros((BM,), out_biases.dtype.element_ty)
    none = zero - float("inf"), zero, zero, zero, tl.zeros((BM, DV), zero.dtype)
    first, masked, after, last, is_mixed = _runs(runs, n, n_padded, OWN, BM)
    everywhere: tl.constexpr = OWN if OWN == _ANYWHERE else 0

    a, b = _cut(first, masked, chunk, chunk_size)
    same = _fold_rows(
        none, tile, keys, power, a, b, LAW, KIND, MOMENTS, _ALL, everywhere, BN, DP, DV
    )
    a, b = _cut(masked, after, chunk, chunk_size)
    same = _fold_rows(same, tile, keys, power, a, b, LAW, KIND, MOMENTS, _SAME, OWN, BN, DP, DV)
    a, b = _cut(after, last, chunk, chunk_size)
    same = _fold_rows(
        same, tile, keys, power, a, b, LAW, KIND, MOMENTS, _ALL, everywhere, BN, DP, DV
    )
    place = chunk * 2 + 1 if LABELS else chunk
    _store(peaks, masses, slopes, moments, same, tile[2], place, n, MOMENTS, DP, DV)
    if LABELS:
        a, b = _cut(0, first, chunk, chunk_size)
        rest = _fold_rows(
            none, tile, keys, power, a, b, LAW, KIND, MOMENTS, _ALL, everywhere, BN, DP, DV
        )
        a, b = _cut(first, tl.where(is_mixed, last, first), chunk, chunk_size)
        rest = _fold_rows(
            rest, tile, keys, power, a, b, LAW, KIND, MOMENTS, _OTHERS, OWN, BN, DP, DV
        )
        a, b = _cut(last, m, chunk, chunk_size)
        rest = _fold_rows(
            rest, tile, keys, power, a, b, LAW, KIND, MOMENTS, _ALL, everywhere, BN, DP, DV
        )
        _store(peaks, masses, slopes, moments, rest, tile[2], chunk * 2, n, MOMENTS, DP, DV)


@triton.jit
def _store(
    peaks, masses, slopes, moments, sums, out, place, n,
    MOMENTS: tl.constexpr, DP: tl.constexpr, DV: tl.constexpr,
):  # fmt: skip
    peak, mass, _, slope, moment = sums
    at = place.to(tl.int64) * n + out
    tl.store(peaks + at, peak, mask=out < n)
    tl.store(masses + at, mass, mask=out < n)
    tl.store(slopes + at, slope, mask=out < n)
    if MOMENTS:
        _store_moments(moments, moment, at, out < n, DP, DV)


@triton.jit
def _store_moments(moments, moment, at, is_there, DP: tl.constexpr, DV: tl.constexpr):
    grid = at[:, None] * DP + (tl.program_id(2) * DV + tl.arange(0, DV))[None, :]
    tl.store(moments + grid, moment, mask=is_there[:, None])


@triton.jit
def _fold_columns(
    sums, tile, inputs, power, start, stop,
    LAW: tl.constexpr, KIND: tl.constexpr, MOMENTS: tl.constexpr,
    WHICH: tl.constexpr, OWN: tl.constexpr, BN: tl.constexpr, DP: tl.constexpr, DV: tl.constexpr,
):  # fmt: skip
    """Add C_ij of queries start..stop to the sums of the keys of a tile: total, rest, moment."""
    total, rest, moment = sums
    own_high, own_low, out, own, first, last, bias_out, weight_out = tile
    highs, lows, own_points, points, biases, shifts, shares, d, stride_out, stride_in, unit = inputs
    for j in tl.range(start, stop, BN):
        into = j + tl.arange(0, BN)
        high, low = _inputs(highs, lows, into, 0, KIND, DP, DP)
        s = _closeness(
            own_high, own_low, high, low, own_points, points, out, into, d, stride_out, stride_in,
            unit, KIND,
        )  # fmt: skip
        bias = tl.load(biases + into)
        share = tl.where(into < stop, tl.load(shares + into), 0.0)
        # A share is at most 1, lifted; rounding of large distances must not make it more.
        if LAW == _GAUSSIAN:
            w = tl.exp2(tl.minimum(s + bias[None, :] + bias_out[:, None], _LIFT))
        elif LAW == _COMPACT:
            w = tl.maximum(s + (bias[None, :] + bias_out[:, None]), 0.0) * weight_out[:, None]
        else:
            far = tl.maximum(-(s + (bias[None, :] + bias_out[:, None])), 0.0)
            e = tl.load(shifts + into)[None, :] - power * _log2_of_one_plus(far)
            w = tl.exp2(tl.minimum(e + weight_out[:, None], _LIFT))
        w = w * share[None, :]
        if LAW == _COMPACT:  # at the end of a row's reach rounding is more than what is there
            w = tl.minimum(tl.maximum(w, -_MOST), _MOST)
        if WHICH != _ALL or OWN:
            w = tl.where(_allowed(into, own, first, last, WHICH, OWN), w, 0.0)
        total, rest = _plus(total, rest, tl.sum(w, 1))
        if MOMENTS:
            if DV < DP:
                high, low = _inputs(highs, lows, into, tl.program_id(2) * DV, KIND, DV, DP)
            moment += _moments(w, high, low, KIND)
    return total, rest, moment


@triton.jit
def columns(
    out_highs, out_lows, out_points, out_biases, out_weights, owns, runs,
    in_highs, in_lows, in_points, in_biases, in_shifts, in_shares,
    totals, moments,
    n, n_padded, m, stride_in, d, chunk_size, unit, power,
    LAW: tl.constexpr, KIND: tl.constexpr, MOMENTS: tl.constexpr, LABELS: tl.constexpr,
    OWN: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, DP: tl.constexpr, DV: tl.constexpr,
):  # fmt: skip
    """Sums over the queries of a chunk for a tile of keys. Here outputs are keys, inputs queries.

    in_biases, in_shifts and in_shares hold a row for each part: other classes, the own class. For
    Gaussian weights all of an exponent is in the biases.
    """
    chunk = tl.program_id(1)
    high, low, out, own, start, end, bias = _tile(
        out_highs, out_lows, runs, owns, out_biases, n_padded, KIND, BM, DP
    )
    tile = high, low, out, own, start, end, bias, tl.load(out_weights + out)
    part = stride_in if LABELS else 0
    same = (
        in_highs, in_lows, out_points, in_points,
        in_biases + part, in_shifts + part, in_shares + part, d, n_padded, stride_in, unit,
    )  # fmt: skip
    zero = tl.zeros((BM,), out_biases.dtype.element_ty)
    sums = zero, zero, tl.zeros((BM, DV), zero.dtype)
    first, masked, after, last, is_mixed = _runs(runs, n, n_padded, OWN, BM)
    everywhere: tl.constexpr = OWN if OWN == _ANYWHERE else 0

    a, b = _cut(first, masked, chunk, chunk_size)
    sums = _fold_columns(
        sums, tile, same, power, a, b, LAW, KIND, MOMENTS, _ALL, everywhere, BN, DP, DV
    )
    a, b = _cut(masked, after, chunk, chunk_size)
    sums = _fold_columns(sums, tile, same, power, a, b, LAW, KIND, MOMENTS, _SAME, OWN, BN, DP, DV)
    a, b = _cut(after, last, chunk, chunk_size)
    sums = _fold_columns(
        sums, tile, same, power, a, b, LAW, KIND, MOMENTS, _ALL, everywhere, BN, DP, DV
    )
    if LABELS:
        rest = (
            in_highs, in_lows, out_points, in_points,
            in_biases, in_shifts, in_shares, d, n_padded, stride_in, unit,
        )  # fmt: skip
        a, b = _cut(0, first, chunk, chunk_size)
        sums = _fold_columns(
            sums, tile, rest, power, a, b, LAW, KIND, MOMENTS, _ALL, everywhere, BN, DP, DV
        )
        a, b = _cut(first, tl.where(is_mixed, last, first), chunk, chunk_size)
        sums = _fold_columns(
            sums, tile, rest, power, a, b, LAW, KIND, MOMENTS, _OTHERS, OWN, BN, DP, DV
        )
        a, b = _cut(last, m, chunk, chunk_size)
        sums = _fold_columns(
            sums, tile, rest, power, a, b, LAW, KIND, MOMENTS, _ALL, everywhere, BN, DP, DV
        )
    at = chunk.to(tl.int64) * n + out
    tl.store(totals + at, sums[0], mask=out < n)
    if MOMENTS:
        _store_moments(moments, sums[2], at, out < n, DP, DV)
