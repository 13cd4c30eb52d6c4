"""Time on the device."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from vicinal.neighborhood import Pairs


def milliseconds(work: Callable[[], object], repeats: int = 5) -> float:
    """Median over repeats, by events on the device; one more before them, to compile."""
    work()
    times = []
    for _ in range(repeats):
        before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        before.record()
        work()
        after.record()
        torch.cuda.synchronize()
        times.append(before.elapsed_time(after))
    return float(np.median(times))


def cloud(n: int, d: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Normal points whose neighborhoods hold many of them."""
    generator = torch.Generator(device="cuda").manual_seed(0)
    spread = 1.0 if d <= 16 else 4.0 / d**0.5
    return spread * torch.randn((n, d), generator=generator, device="cuda", dtype=dtype)


def among(points: Tensor, n_classes: int = 0) -> Pairs:
    """Every point against every other one, with labels where there are classes."""
    if not n_classes:
        return Pairs.among(points)
    return Pairs.among(points, torch.arange(len(points), device="cuda") % n_classes)
