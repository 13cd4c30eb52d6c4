"""How far single precision is from double, ours and that of a plain loop over tiles."""

import torch
from torch import Tensor

from benchmarks.common.pages import Page
from benchmarks.gpu import tile_loop
from benchmarks.gpu.tile_loop import Passes
from benchmarks.gpu.timing import among, cloud
from vicinal.neighborhood import GAUSSIAN
from vicinal.neighborhood.cuda import CudaEngine

CELLS = ((32_768, 2), (32_768, 8), (32_768, 16), (32_768, 64), (32_768, 256), (131_072, 16))

SAID = """
Root mean square error against float64 on the same inputs: absolute for the logarithm of masses,
relative to their root mean square for centroids, column sums and column moments. "plain" is a loop
over tiles in float32, without TF32. The aim is at most twice its error.
"""


def errors(page: Page) -> None:
    """Table of errors, and of their ratios."""
    page.say("## Errors\n")
    page.say(SAID)
    row = page.table(["n", "d", "by", *Passes._fields, "largest ratio to plain"])
    for n, d in CELLS:
        points = cloud(n, d)
        coefficients = torch.rand(n, device="cuda", dtype=torch.float64)
        expected = tile_loop.both(points.double(), coefficients)
        plain = _errors(tile_loop.both(points, coefficients.float()), expected)
        row(n, d, "plain", *(f"{error:.1e}" for error in plain), "")
        for precision in ("float32", "tf32"):
            found = _errors(_ours(points, coefficients, precision), expected)
            ratio = max(ours / theirs for ours, theirs in zip(found, plain, strict=True))
            row(n, d, precision, *(f"{error:.1e}" for error in found), f"{ratio:.1f}")
    page.say()


def _ours(points: Tensor, coefficients: Tensor, precision: str) -> Passes:
    engine, pairs = CudaEngine(precision=precision), among(points)
    rows = engine.rows(pairs, GAUSSIAN).finish()
    columns = engine.columns(pairs, GAUSSIAN, rows.log_slope, coefficients[None])
    return Passes(rows.log_mass[0], rows.centroid[0], columns.total, columns.moment)


def _errors(found: Passes, expected: Passes) -> list[float]:
    apart = [(a.double() - b).square().mean() for a, b in zip(found, expected, strict=True)]
    units = [1.0, *(each.square().mean() for each in expected[1:])]
    return [float((error / unit) ** 0.5) for error, unit in zip(apart, units, strict=True)]
