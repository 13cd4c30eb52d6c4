"""Arrays in a folder, by which a benchmark and its processes pass them to each other."""

from pathlib import Path

import numpy as np


def write_arrays(folder: str | Path, **arrays: np.ndarray) -> None:
    """Each under its name."""
    for name, values in arrays.items():
        np.save(Path(folder) / f"{name}.npy", values)


def read_array(folder: str | Path, name: str) -> np.ndarray:
    """One of them."""
    return np.load(Path(folder) / f"{name}.npy")
