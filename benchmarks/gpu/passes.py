"""Both passes over n points: our kernels, a loop over tiles, and what the machine allows."""

from collections.abc import Callable

import torch
from torch import Tensor

from benchmarks.common.pages import Page
from benchmarks.gpu import tile_loop
from benchmarks.gpu.timing import among, cloud, milliseconds
from vicinal.neighborhood import COMPACT, GAUSSIAN, Law, Student
from vicinal.neighborhood.cuda import CudaEngine

CELLS = (
    (131_072, 2),
    (131_072, 4),
    (131_072, 8),
    (131_072, 16),
    (131_072, 32),
    (131_072, 64),
    (131_072, 128),
    (65_536, 256),
    (32_768, 512),
    (1_048_576, 64),
)

# Exponentials that a multiprocessor of an H200 makes in a cycle.
_EXPONENTIALS = 16

SAID = """
Rows (with moments) plus columns (without): 6 n² d operations, one exact EM step. Float32 as two
halves per number. "bound": the exponential unit alone ({units} multiprocessors, {rate} per cycle,
at the clock of the device), for both passes. "tile loop": the same in torch, 4096 queries at a
time, float32 without TF32.
"""


def passes(page: Page) -> None:
    """Tables of times."""
    page.say("## Passes\n")
    tf32 = _product_rate(torch.float32)
    fp16 = _product_rate(torch.float16)
    page.say(f"Matrix product of 8192 x 8192, TFLOP/s: fp16 {fp16:.0f}, TF32 {tf32:.0f}.")
    units = torch.cuda.get_device_properties(0).multi_processor_count
    page.say(SAID.format(units=units, rate=_EXPONENTIALS))
    names = ["n", "d", "rows, ms", "columns, ms", "both, ms", "TFLOP/s", "of TF32's rate"]
    row = page.table([*names, "bound, ms", "tile loop, ms", "times as fast"])
    for n, d in CELLS:
        _cell(row, n, d, tf32, units)
    page.say("\nOther laws, labels (10 classes) and precisions, n = 131 072, d = 64:\n")
    row = page.table(["what", "rows, ms", "columns, ms", "columns with moments, ms"])
    for what, (law, n_classes, precision) in _VARIANTS.items():
        points = cloud(131_072, 64)
        row(what, *(f"{ms:.1f}" for ms in _times(points, law, n_classes, precision)))
    page.say()


_VARIANTS: dict[str, tuple[Law, int, str]] = {
    "Gaussian": (GAUSSIAN, 0, "float32"),
    "Gaussian, labels": (GAUSSIAN, 10, "float32"),
    "Gaussian, tf32": (GAUSSIAN, 0, "tf32"),
    "Gaussian, float64": (GAUSSIAN, 0, "float64"),
    "compact": (COMPACT, 0, "float32"),
    "Student's": (Student(3.0), 0, "float32"),
}


def _cell(row: Callable[..., None], n: int, d: int, tf32: float, units: int) -> None:
    points = cloud(n, d)
    repeats = 5 if n < 1_000_000 else 1
    rows, columns, _ = _times(points, GAUSSIAN, 0, "float32", repeats, moments=False)
    both, flops = rows + columns, 6.0 * n * n * d
    clock = torch.cuda.clock_rate() * 1e6
    bound = 2.0 * n * n / (units * _EXPONENTIALS * clock) * 1e3
    speed = flops / both / 1e9
    loop = _loop(points) if n <= 131_072 else None
    beside = ("", "") if loop is None else (f"{loop:.0f}", f"{loop / both:.1f}")
    cells = (f"{rows:.1f}", f"{columns:.1f}", f"{both:.1f}", f"{speed:.0f}", f"{speed / tf32:.2f}")
    row(n, d, *cells, f"{bound:.1f}", *beside)


def _times(
    points: Tensor,
    law: Law,
    n_classes: int,
    precision: str,
    repeats: int = 5,
    moments: bool = True,
) -> tuple[float, float, float]:
    """Milliseconds of rows, of columns and of columns with moments; the layout is made once."""
    engine, pairs = CudaEngine(precision=precision), among(points, n_classes)
    rows = engine.rows(pairs, law).finish()
    ones = torch.ones_like(rows.log_slope)
    terms = pairs, law, rows.log_slope, ones
    found = [
        milliseconds(lambda: engine.rows(pairs, law), repeats),
        milliseconds(lambda: engine.columns(*terms, moments=False), repeats),
    ]
    if moments:
        found.append(milliseconds(lambda: engine.columns(*terms), repeats))
    return (*found, 0.0)[:3]  # type: ignore[return-value]


def _loop(points: Tensor) -> float:
    log_mass, _ = tile_loop.rows(points)
    ones = torch.ones_like(log_mass)
    rows = milliseconds(lambda: tile_loop.rows(points), 2)
    return rows + milliseconds(lambda: tile_loop.columns(points, log_mass, ones, False), 2)


def _product_rate(dtype: torch.dtype) -> float:
    torch.backends.cuda.matmul.allow_tf32 = True
    A = torch.randn((8192, 8192), device="cuda").to(dtype)
    ms = milliseconds(lambda: A @ A, 10)
    torch.backends.cuda.matmul.allow_tf32 = False
    return 2.0 * 8192**3 / ms / 1e9
