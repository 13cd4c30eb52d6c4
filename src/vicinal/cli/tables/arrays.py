"""Tables in NumPy's files: .npy and .npz."""

from typing import TYPE_CHECKING

from vicinal.cli.tables.sources import Source
from vicinal.cli.tables.table import Table, unnamed_columns
from vicinal.cli.wording import some

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["plain_type", "read_npy", "read_npz"]


def read_npy(source: Source) -> Table:
    """Read a matrix, or a vector as one column."""
    array = source.read_by(lambda: _loaded(source), "NumPy")
    return Table(_frame(array, source.name), source.name, is_named=False)


def read_npz(source: Source) -> Table:
    """Read the array X and, where there is one, y as the column of classes."""
    arrays = source.read_by(lambda: _unpacked(source), "NumPy")
    if "X" not in arrays:
        raise ValueError(f"{source.name} has no array 'X', but {some(arrays) or 'none at all'}")
    frame = _frame(arrays["X"], f"X of {source.name}")
    if "y" not in arrays:
        return Table(frame, source.name, is_named=False)
    y = arrays["y"]
    if y.shape != (frame.height,):
        raise ValueError(
            f"{source.name}: y has shape {y.shape}, but X has {frame.height} rows: there must be "
            "one entry of y for each"
        )
    frame = frame.with_columns(_series("y", y, f"y of {source.name}"))
    return Table(frame, source.name, is_named=False, target="y")


def _loaded(source: Source) -> "NDArray":
    import numpy as np

    with source.open() as stream:
        array: NDArray = np.load(stream, allow_pickle=False)  # what is pickled could run code
        return array


def _unpacked(source: Source) -> "dict[str, NDArray]":
    import numpy as np

    with source.open() as stream, np.load(stream, allow_pickle=False) as archive:
        if not all(name.endswith(".npy") for name in archive.zip.namelist()):
            raise ValueError("it is a zip archive of something else; save a sheet as CSV")
        return dict(archive)


def _frame(array: "NDArray", name: str) -> "pl.DataFrame":
    """A matrix as a table with names x1, x2, ..."""
    import polars as pl

    if array.ndim not in (1, 2):
        raise ValueError(f"{name} has shape {array.shape}: a table has rows and columns")
    columns = array[None] if array.ndim == 1 else array.T
    names = unnamed_columns(len(columns))
    return pl.DataFrame([_series(*named, name) for named in zip(names, columns, strict=True)])


def _series(column: str, values: "NDArray", name: str) -> "pl.Series":
    import polars as pl

    if values.dtype.kind not in "biufU":
        raise ValueError(f"{name} is an array of {values.dtype}: it must hold numbers")
    if values.dtype.kind == "U":
        return pl.Series(column, values.tolist(), dtype=pl.String)
    return pl.Series(column, values.astype(plain_type(values.dtype)))


def plain_type(dtype: "np.dtype") -> "np.dtype":
    """The nearest type that a table can hold."""
    import numpy as np

    if dtype.kind == "f":
        return np.dtype(np.float32 if dtype.itemsize <= 4 else np.float64)
    return dtype.newbyteorder("=")
