"""
The same sums on a GPU
======================

``engine="cuda"`` computes the sums over all pairs of points in fused kernels. They are exact, and
an n × n matrix is never built. Nothing else changes: NumPy arrays go in, and NumPy arrays come out.
``engine="auto"`` picks this engine where there is a GPU and enough work.

This page times the GPU of the machine it runs on. If there is none, it shows what we measured on an
NVIDIA H200, and says so.
"""

# %%
# Is there a GPU?
# ---------------

import importlib.util
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from vicinal.nca import objective


def gpu_name() -> str | None:
    """Name of the GPU, or None if there is none that vicinal can use."""
    if importlib.util.find_spec("torch") is None or importlib.util.find_spec("triton") is None:
        return None
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else None


name = gpu_name()
print(f"GPU of this machine: {name or 'none'}")

# %%
# If so: one objective and its gradient, timed
# --------------------------------------------
#
# Sixteen columns, ten classes, all pairs: the same function on two engines.


def seconds_of(engine: str, n: int) -> tuple[float, float]:
    """Seconds that a second call takes, with kernels compiled by then, and the objective."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 16)).astype(np.float32)
    y = rng.integers(10, size=n)
    A = np.eye(16, dtype=np.float32)
    objective(A, X, y, engine=engine)
    start = time.perf_counter()
    value, _ = objective(A, X, y, engine=engine)
    return time.perf_counter() - start, value


def measure_here() -> None:
    """Both engines on this machine."""
    sizes = {"fused": (4096, 8192, 16384), "cuda": (4096, 8192, 16384, 65536, 131072)}
    _, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
    values = {}
    for (engine, ns), marker, color in zip(
        sizes.items(), "so", ("#E69F00", "#0072B2"), strict=True
    ):
        times, values[engine] = zip(*(seconds_of(engine, n) for n in ns), strict=True)
        label = f"{name} (cuda)" if engine == "cuda" else "CPU (fused)"
        ax.loglog(ns, times, marker=marker, color=color, label=label)
        print(engine, *(f"{n}: {t:.4f} s" for n, t in zip(ns, times, strict=True)))
    apart = np.abs(np.subtract(values["cuda"][:3], values["fused"]) / values["fused"]).max()
    print(f"objectives differ by {apart:.0e} of their value")
    ax.set(xlabel="points", ylabel="seconds", title="Objective and gradient of NCA, all pairs")
    ax.legend()


# %%
# If not: what we measured on an H200
# -----------------------------------
#
# The table is read from ``benchmarks/results/gpu.md``, the page that ``python -m benchmarks.gpu``
# wrote. Next to our kernels it has the usual way to do this in torch: a loop over tiles of 4096
# rows.


def measured_page() -> str | None:
    """The page of measurements, if this is a checkout of the repository."""
    places = [folder / "benchmarks/results/gpu.md" for folder in (Path.cwd(), *Path.cwd().parents)]
    page = next((place for place in places if place.exists()), None)
    return page.read_text(encoding="utf-8") if page else None


def table_under(page: str, first_columns: str) -> list[list[str]]:
    """Cells of each row of the table whose header begins like this."""
    lines = page[page.index(first_columns) :].splitlines()[2:]
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def show_measured(page: str) -> None:
    """Milliseconds of both passes against the number of columns."""
    rows = [row for row in table_under(page, "| n | d | rows, ms") if row[0] == "131072"]
    columns = [int(row[1]) for row in rows]
    ours, tiles = (np.array([float(row[k]) for row in rows]) for k in (4, 8))
    _, ax = plt.subplots(figsize=(8, 4.6), layout="constrained")
    places = np.arange(len(rows))
    ax.bar(places - 0.2, tiles, 0.4, color="#E69F00", hatch="//", label="tiles in torch")
    ax.bar(places + 0.2, ours, 0.4, color="#0072B2", label='engine="cuda"')
    for place, mine, other in zip(places, ours, tiles, strict=True):
        ax.annotate(f"{other / mine:.0f} ×", (place + 0.2, mine), ha="center", va="bottom")
    ax.set(
        yscale="log",
        xticks=places,
        xticklabels=columns,
        xlabel="columns",
        ylabel="milliseconds, both passes",
    )
    ax.set_title(
        "131,072 points, all pairs, float32\nmeasured on an NVIDIA H200, not on this machine"
    )
    ax.legend(loc="upper left", ncols=2)
    ax.set_ylim(10, 3000)
    for what, seconds, result in table_under(page, "| what | seconds | result"):
        print(f"H200: {what}: {seconds} s. {result}")


page = measured_page()
if name:
    measure_here()
elif page:
    show_measured(page)
else:
    reason = "No GPU, and no page of measurements: see benchmarks/results/gpu.md of the repository."
    print(reason)
    plt.figure(figsize=(8, 1)).text(0.5, 0.5, reason, ha="center")
plt.show()
