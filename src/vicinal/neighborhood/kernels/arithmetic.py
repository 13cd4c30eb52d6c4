"""The scalar functions that decide whether a loop over pairs vectorizes.

LLVM turns neither ``math.exp`` and ``math.log`` (library calls) nor ``max`` (Python's
rules for NaN) into vector instructions. They are written here so that it does.
"""

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from vicinal.compiling.decorators import IN_ORDER, kernel, or_in_python
from vicinal.neighborhood.shared_numbers import CUT_DOUBLE, CUT_SINGLE

# 2^r on [-1/2, 1/2]: Chebyshev interpolation of (2^r - 1) / r, so that 2^0 is 1 exactly.
# Relative error 8.4e-18 (degree 11, double) and 5.1e-9 (degree 6, single).
_DOUBLE = (
    1.0, 0.6931471805599453, 0.24022650695910097, 0.0555041086648216,
    0.009618129107606888, 0.0013333558146416936, 0.0001540353044173605,
    1.525273382983612e-05, 1.321544258792169e-06, 1.0178062445845774e-07,
    7.072585949269223e-09, 4.4549605981865186e-10,
)  # fmt: skip
_SINGLE = tuple(
    np.float32(c)
    for c in (
        1.0,
        0.6931471880262288,
        0.24022650760568126,
        0.05550357114219078,
        0.009618082557277852,
        0.0013390863364671234,
        0.0001545316294512069,
    )
)

# Adding 1.5 · 2^mantissa rounds to an integer and leaves it in the low bits.
_ROUND_DOUBLE = 1.5 * 2.0**52
_ROUND_SINGLE = np.float32(1.5 * 2.0**23)

# log2 of a number from √½ to √2 is t P(t²) with t = (x - 1)/(x + 1), |t| ≤ 0.172, and P the series
# of the inverse hyperbolic tangent. Relative error 6e-19 (11 terms, double), 2e-9 (5, single).
_LOG_DOUBLE = tuple(2.0 / (math.log(2.0) * (2 * i + 1)) for i in range(11))
_LOG_SINGLE = tuple(np.float32(c) for c in _LOG_DOUBLE[:5])

# Bits of √½: what is subtracted for the exponent to be that of a number from √½ to √2.
_HALF_DOUBLE = int(np.sqrt(0.5).view(np.int64))
_HALF_SINGLE = np.int32(np.sqrt(np.float32(0.5)).view(np.int32))

# Adding the bits of 2^mantissa to a small integer makes it a float, that much larger.
_SHIFT_DOUBLE, _SHIFT_SINGLE = 2.0**52, np.float32(2.0**23)
_SHIFT_DOUBLE_BITS = int(np.float64(_SHIFT_DOUBLE).view(np.int64))
_SHIFT_SINGLE_BITS = np.int32(_SHIFT_SINGLE.view(np.int32))


@or_in_python(lambda: None)
@intrinsic
def in_wide_vectors(typing_context: Any) -> Any:
    """Let LLVM use all of AVX-512 in the kernel that calls this first, where a CPU has it.

    For most of Intel's it takes half of it by itself, since a short loop does not pay for a lower
    clock. Ours are long (docs/decisions/0024).
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        # A set of llvmlite's that refuses attributes with values, though LLVM reads them.
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.none(), generate


@intrinsic
def _bits(typing_context: Any, x: Any) -> Any:
    """Reinterpret a float as an integer of the same width."""
    width = x.bitwidth
    integer = types.int64 if width == 64 else types.int32

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(width))

    return integer(x), generate


@or_in_python(lambda i: np.int64(i).view(np.float64))
@intrinsic
def _from_bits(typing_context: Any, i: Any) -> Any:
    """Reinterpret an integer as a float of the same width."""
    double = i.bitwidth == 64

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType() if double else ir.FloatType())

    return (types.float64 if double else types.float32)(i), generate


@or_in_python(max)
@intrinsic
def larger(typing_context: Any, a: Any, b: Any) -> Any:
    """Return the larger of two numbers, neither of them NaN; loops over it vectorize."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = args[0].type
        name = "llvm.maxnum." + ("f64" if isinstance(kind, ir.DoubleType) else "f32")
        function = builder.module.declare_intrinsic(name, (), ir.FunctionType(kind, (kind, kind)))
        return builder.call(function, args, fastmath=("nnan", "nsz"))

    return a(a, a), generate


@kernel(inlined=True, fastmath=IN_ORDER)
def at_least_power_of_two(y):
    """Return 2^y or up to 6.2 % more, for y from -1000 to 1000; 0 below, for -inf and for NaN.

    2^y is convex: between integers the chord lies above it. The chord is what the bits of a number
    with a fractional exponent say.
    """
    bits = np.int64((min(y, 1000.0) + 1023.0) * 2.0**52) if y > -1000.0 else 0
    return _from_bits(bits)


# Only "contract" here: re-association would undo the rounding trick.
@kernel(inlined=True, fastmath=IN_ORDER)
def _power_double(y):
    shifted = y + _ROUND_DOUBLE
    r = y - (shifted - _ROUND_DOUBLE)
    c = _DOUBLE
    p = c[11]
    p = p * r + c[10]
    p = p * r + c[9]
    p = p * r + c[8]
    p = p * r + c[7]
    p = p * r + c[6]
    p = p * r + c[5]
    p = p * r + c[4]
    p = p * r + c[3]
    p = p * r + c[2]
    p = p * r + c[1]
    p = p * r + c[0]
    power = _from_bits(_bits(p) + (_bits(shifted) << 52))
    return power if y > CUT_DOUBLE else 0.0


@kernel(inlined=True, fastmath=IN_ORDER)
def _power_single(y):
    shifted = y + _ROUND_SINGLE
    r = y - (shifted - _ROUND_SINGLE)
    c = _SINGLE
    p = c[6]
    p = p * r + c[5]
    p = p * r + c[4]
    p = p * r + c[3]
    p = p * r + c[2]
    p = p * r + c[1]
    p = p * r + c[0]
    power = _from_bits(np.int32(_bits(p) + (_bits(shifted) << 23)))
    return power if y > CUT_SINGLE else np.float32(0.0)


def power_of_two(y: float) -> float:
    """Return 2^y for y ≤ 1023, and 0 below the cut, for -inf and for NaN."""
    return float(np.exp2(y)) if y > CUT_DOUBLE else 0.0


@overload(power_of_two)
def _power_of_two(y):
    if y == types.float32:
        return lambda y: _power_single(y)
    return lambda y: _power_double(y)


# y - ((1 + y) - 1) is what rounding took from 1 + y: re-association would make it 0.
@kernel(inlined=True, fastmath=IN_ORDER, error_model="numpy")
def _log_double(y):
    x = 1.0 + y
    lost = y - (x - 1.0)
    exponent = (_bits(x) - _HALF_DOUBLE) >> 52
    mantissa = _from_bits(_bits(x) - (exponent << 52))
    lost *= _from_bits((1023 - exponent) << 52)
    t = ((mantissa - 1.0) + lost) / (mantissa + 1.0)
    u, c = t * t, _LOG_DOUBLE
    p = c[10]
    p = p * u + c[9]
    p = p * u + c[8]
    p = p * u + c[7]
    p = p * u + c[6]
    p = p * u + c[5]
    p = p * u + c[4]
    p = p * u + c[3]
    p = p * u + c[2]
    p = p * u + c[1]
    p = p * u + c[0]
    whole = _from_bits(exponent + _SHIFT_DOUBLE_BITS) - _SHIFT_DOUBLE
    return whole + t * p if y < np.inf else y


@kernel(inlined=True, fastmath=IN_ORDER, error_model="numpy")
def _log_single(y):
    one = np.float32(1.0)
    x = one + y
    lost = y - (x - one)
    exponent = np.int32((_bits(x) - _HALF_SINGLE) >> np.int32(23))
    mantissa = _from_bits(np.int32(_bits(x) - np.int32(exponent << np.int32(23))))
    lost *= _from_bits(np.int32(np.int32(np.int32(127) - exponent) << np.int32(23)))
    t = ((mantissa - one) + lost) / (mantissa + one)
    u, c = t * t, _LOG_SINGLE
    p = c[4]
    p = p * u + c[3]
    p = p * u + c[2]
    p = p * u + c[1]
    p = p * u + c[0]
    whole = _from_bits(np.int32(exponent + _SHIFT_SINGLE_BITS)) - _SHIFT_SINGLE
    return whole + t * p if y < np.float32(np.inf) else y


def log_of_one_plus(y: float) -> float:
    """Return log2(1 + y) for y ≥ 0, with all its digits where y is small; inf for inf."""
    return math.log1p(y) / math.log(2.0)


@overload(log_of_one_plus)
def _log_of_one_plus(y):
    if y == types.float32:
        return lambda y: _log_single(y)
    return lambda y: _log_double(y)
