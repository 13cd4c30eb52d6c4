"""Tables that are hostile but finite: shapes, types, layouts, scales, twins, outliers, labels."""

from dataclasses import dataclass
from typing import Any

import numpy as np

# How far units may go beyond what a model must take: some are to be refused.
_SCALES = (1e-170, 1e-150, 1e-139, 1e-30, 1e-8, 1.0, 1.0, 1.0, 1.0, 1e8, 1e30, 1e139, 1e150, 1e170)


@dataclass
class Table:
    """What is handed to an estimator, and in words how it came about."""

    X: Any
    y: Any
    sample_weight: Any
    words: str
    new: Any  # rows to predict, of the same columns


def draw_table(rng: np.random.Generator) -> Table:
    """A table from random parts, each of them harmless most of the time."""
    n, d = _shape(rng)
    values, words = _values(rng, n, d)
    values, more = _spoiled(rng, values)
    words += more
    values, more = _scaled(rng, values)
    words += more
    new = values[rng.integers(0, n, 5)] + 0.03 * np.ptp(values, axis=0)
    X, layout = _laid_out(rng, values)
    y, labels = _labels(rng, n)
    weights, weighing = _weights(rng, n)
    words = [f"{n} x {d}", *words, layout, labels, weighing]
    return Table(X, y, weights, ", ".join(word for word in words if word), new)


def _shape(rng):
    n = int(rng.choice([1, 2, 3, 4, 7, 12, 30, 60], p=[0.03, 0.05, 0.06, 0.06, 0.1, 0.2, 0.3, 0.2]))
    d = int(rng.choice([1, 2, 3, 5, 20], p=[0.15, 0.25, 0.3, 0.2, 0.1]))
    return n, 1100 if rng.random() < 0.01 else d


def _values(rng, n, d):
    """Where rows come from."""
    kind = rng.choice(["normal", "discrete", "binary", "uniform", "heavy", "flat", "counts"])
    if kind == "normal":
        values = rng.normal(size=(n, d)) + 2.0 * rng.integers(0, 3, (n, 1))
    elif kind == "discrete":
        values = rng.integers(0, 3, (n, d)).astype(float)
    elif kind == "binary":
        values = (rng.random((n, d)) < 0.3).astype(float)
    elif kind == "uniform":
        values = rng.random((n, d))
    elif kind == "heavy":
        values = np.clip(rng.standard_cauchy((n, d)), -1e12, 1e12)
    elif kind == "flat":  # of lower rank
        values = rng.normal(size=(n, max(1, d // 2))) @ rng.normal(size=(max(1, d // 2), d))
    else:
        values = rng.poisson(3.0, (n, d)).astype(float)
    return values, [str(kind)]


def _spoiled(rng, values):
    """Twins, constant columns, one outlier, all rows the same."""
    n, d = values.shape
    words = []
    if rng.random() < 0.15:
        values[: n // 2] = values[n - n // 2 :]
        words.append("twins")
    if rng.random() < 0.1:
        values[:, rng.integers(d)] = 3.0
        words.append("a constant column")
    if rng.random() < 0.1:
        far = float(rng.choice([1e3, 1e6, 1e9, 1e15]))
        values[rng.integers(n)] *= far
        words.append(f"an outlier {far:g} out")
    if rng.random() < 0.02:
        values[:] = values[0]
        words.append("all rows the same")
    return values, words


def _scaled(rng, values):
    words = []
    scale = float(rng.choice(_SCALES))
    if scale != 1.0:
        words.append(f"times {scale:g}")
    if rng.random() < 0.1:
        column = float(rng.choice([1e-12, 1e-8, 1e6, 1e12]))
        values[:, 0] *= column
        words.append(f"column 0 times {column:g}")
    if rng.random() < 0.1:
        offset = float(rng.choice([1.0, 1e4, 1e8, -1e12]))
        values += offset
        words.append(f"plus {offset:g}")
    return values * scale, words


def _laid_out(rng, values):
    """The same numbers in another type, order or container."""
    kind = str(
        rng.choice(
            [
                *["plain"] * 6,
                "float32",
                "Fortran",
                "strided",
                "backward",
                "read-only",
                "big-endian",
                "list",
                "frame",
                "object",
                "integer",
                "boolean",
                "float16",
            ]
        )
    )
    if kind in _LAYOUTS:
        with np.errstate(over="ignore", invalid="ignore"):
            return _LAYOUTS[kind](values), "" if kind == "plain" else kind
    import pandas as pd

    names = [f"column {j}" for j in range(values.shape[1])]
    return pd.DataFrame(values, columns=names), kind


def _strided(values):
    wide = np.zeros((len(values) * 2, values.shape[1] * 3))
    wide[::2, ::3] = values
    return wide[::2, ::3]


def _read_only(values):
    frozen = values.copy()
    frozen.flags.writeable = False
    return frozen


_LAYOUTS = {
    "plain": lambda values: values.copy(),
    "float32": lambda values: np.clip(values, -1e37, 1e37).astype(np.float32),
    "Fortran": lambda values: np.asfortranarray(values),
    "strided": _strided,
    "backward": lambda values: values[::-1].copy()[::-1],
    "read-only": _read_only,
    "big-endian": lambda values: values.astype(">f8"),
    "list": lambda values: values.tolist(),
    "object": lambda values: values.astype(object),
    "integer": lambda values: np.clip(values, -(2.0**62), 2.0**62).astype(np.int64),
    "boolean": lambda values: values > np.median(values),
    "float16": lambda values: np.clip(values, -6e4, 6e4).astype(np.float16),
}


def _labels(rng, n):
    kind = str(
        rng.choice(
            [
                "int",
                "int",
                "int",
                "str",
                "float",
                "bool",
                "object",
                "single",
                "rare",
                "each",
                "wide",
            ]
        )
    )
    codes = rng.integers(0, 3, n)
    labels = {
        "int": codes,
        "str": np.array(["a", "b b", "ü"])[codes],
        "float": codes.astype(float),
        "bool": codes > 0,
        "object": np.array(["x", "y", "z"], dtype=object)[codes],
        "single": np.zeros(n, dtype=int),
        "rare": np.where(np.arange(n) == n - 1, 7, 0),
        "each": np.arange(n),
        "wide": codes * (2**40) - 2**62,
    }[kind]
    return labels, f"y {kind}"


def _weights(rng, n):
    if rng.random() < 0.8:
        return None, ""
    kind = str(rng.choice(["counts", "zeros", "tiny", "huge", "fractions", "one", "negative"]))
    weights = {
        "counts": rng.integers(1, 4, n).astype(float),
        "zeros": (np.arange(n) % 2).astype(float),
        "tiny": np.full(n, 1e-200),
        "huge": np.full(n, 1e200),
        "fractions": rng.random(n),
        "one": (np.arange(n) == 0).astype(float),
        "negative": np.where(np.arange(n) == 0, -1.0, 1.0),
    }[kind]
    return weights, f"weights {kind}"
