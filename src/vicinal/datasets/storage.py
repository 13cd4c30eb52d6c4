"""Data sets as ``.npz`` files: where they lie, how they are read and written."""

import hashlib
import io
import os
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vicinal.archives import check_array, open_archive
from vicinal.datasets.errors import DatasetMismatch, DatasetUnavailable
from vicinal.files import whole_file


class Table(NamedTuple):
    """The rows of a data set on their way to the user."""

    X: NDArray  # (n, D)
    y: NDArray  # (n,), int64 labels 0..C-1
    train: NDArray | None = None  # (n,), bool
    foreign_names: tuple[str, ...] | None = None  # class names, where not the registry's


def data_folder(data_home: str | os.PathLike[str] | None) -> Path | None:
    """Folder of reference files: the argument, else the environment, else none."""
    chosen = os.environ.get("VICINAL_DATA") or None if data_home is None else data_home
    if chosen is None:
        return None
    folder = Path(chosen).expanduser()
    if not folder.is_dir():  # a typing error here should not start a download
        origin = "the environment variable VICINAL_DATA" if data_home is None else "data_home"
        raise DatasetUnavailable(
            f"{origin} names the folder {str(folder)!r}, which does not exist. "
            "Correct it, or leave it unset."
        )
    return folder


def cache_folder() -> Path:
    """Folder of earlier downloads, following the XDG base directory rules."""
    if own := os.environ.get("VICINAL_CACHE"):
        return Path(own).expanduser() / "datasets"
    xdg = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The XDG rules say that a relative path is to be ignored.
    base = xdg if xdg.is_absolute() else Path(os.path.expanduser("~/.cache"))
    if not base.is_absolute():  # a user without a home, as in some containers
        base = Path(tempfile.gettempdir())
    return base / "vicinal" / "datasets"


def read_npz(path: Path, *, sha256: str | None = None) -> Table:
    """Read a table, comparing the file's SHA-256 first where one is given."""
    raw = path.read_bytes()
    found = hashlib.sha256(raw).hexdigest()
    if sha256 is not None and found != sha256:
        raise DatasetMismatch(
            f"The file {str(path)!r} is not the reference file: expected SHA-256 {sha256}, "
            f"found {found}. Replace the file, or pass verify=False to use it as it is."
        )
    try:
        return _parse_npz(raw)
    except Exception as error:  # zipfile, zlib and NumPy have many
        raise DatasetMismatch(
            f"The file {str(path)!r} is not an .npz file with arrays X and y ({error}). "
            "Replace or delete it."
        ) from error


def write_npz(path: Path, table: Table) -> None:
    """Write a table so that readers see either no file or all of it."""
    arrays: dict[str, Any] = {"X": table.X, "y": table.y}
    if table.train is not None:
        arrays["train"] = table.train
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as stream:
        np.savez_compressed(stream, **arrays)


def _parse_npz(raw: bytes) -> Table:
    with open_archive(io.BytesIO(raw)) as archive:
        for name in archive.namelist():
            check_array(archive, name)
    # Pickled arrays could run code when they are read.
    with np.load(io.BytesIO(raw), allow_pickle=False) as archive:
        X, y, train = archive["X"], archive["y"], archive.get("train")
    if X.ndim != 2 or y.shape != (len(X),):
        raise ValueError(f"X has shape {X.shape} and y has shape {y.shape}")
    return Table(X, y, train)
