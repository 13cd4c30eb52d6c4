"""From a path or a URL to rows."""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np

from vicinal.rows.arrays import ArrayRows, NpyRows
from vicinal.rows.arrow import DatasetRows
from vicinal.rows.chunked import ZarrRows
from vicinal.rows.source import RowSource, naming_rows
from vicinal.rows.text import TextRows

if TYPE_CHECKING:
    import pyarrow.dataset as pads

__all__ = ["SUFFIXES", "Place", "dataset_at", "needed", "open_rows"]


def open_rows(
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str | int] | None = None,
    target: str | int | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> RowSource:
    """Open rows in a file, folder or object store as the `X` of any estimator; read when needed.

    Needs the extra ``files``, except for a .npy file on a disk.

    Parameters
    ----------
    path : path-like or str
        A .npy file, a .parquet file or a folder of these, or an .arrow, .zarr (an array, or a group
        with an array named X), .csv or .tsv file; or the URL of one, such as
        "s3://bucket/rows.parquet", for which fsspec may need an additional package.
    columns : sequence of str or int, optional
        Names of the columns to read, or for arrays, which have no names, their positions. None: all
        but the target.
    target : str or int, optional
        Column that holds the labels; in a zarr group, the array that holds them.
    storage_options : mapping, optional
        Options that fsspec needs for the store of a URL.

    Returns
    -------
    RowSource
        Rows with `shape`, `dtype` and `columns`. `target` holds the labels, as an array.

    Notes
    -----
    Parquet files are checked before any work: an error names the file that cannot be read or lacks
    a column. Text files are read twice, first to count the rows. If rows cannot be read in
    arbitrary order, `fit` first copies them to a scratch file (`docs/scale.md`).

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from vicinal import NeighborhoodComponents, open_rows
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 3, 300)
    >>> X = rng.normal(size=(300, 4)) + y[:, None]
    >>> with TemporaryDirectory() as folder:
    ...     np.save(Path(folder, "rows.npy"), np.column_stack([X, y]))
    ...     rows = open_rows(Path(folder, "rows.npy"), target=4)
    ...     model = NeighborhoodComponents(n_components=2).fit(rows, rows.target)
    ...     Z = model.transform(rows)
    >>> rows.shape, Z.shape
    ((300, 4), (300, 2))
    """
    _check_asked(path, columns)
    place = Place.of(path, storage_options)
    suffix = place.suffix
    if suffix not in SUFFIXES and place.is_folder:  # its name has a dot, as "rows-1.2"
        suffix = ""
    if suffix not in SUFFIXES:
        known = ", ".join(one for one in SUFFIXES if one)
        raise ValueError(f"{place.name} has no suffix that tells what it is: use one of {known}.")
    return SUFFIXES[suffix](place, columns, target)


def _check_asked(path: Any, columns: Any) -> None:
    """Refuse what is no path, and one column where a list of them is expected."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path={path!r} must be the path of a file or a folder, or a URL.")
    if isinstance(columns, str | int | np.integer):
        raise TypeError(f"columns={columns!r} must be a list: write columns=[{columns!r}].")


class Place(NamedTuple):
    """Where a file is: a path of this machine, or one in a store of fsspec."""

    name: str
    path: str
    store: Any = None
    options: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, path: str | os.PathLike[str], options: Mapping[str, Any] | None = None) -> "Place":
        """Where a path or a URL leads; an error where there is nothing."""
        url = os.fspath(path)
        if "://" not in url:
            if not Path(url).exists():
                raise FileNotFoundError(f"there is no file '{url}'")
            return cls(f"'{url}'", url)
        fsspec = needed("fsspec", f"reading {url!r}")
        store, inner = fsspec.core.url_to_fs(url, **(options or {}))
        if not store.exists(inner):
            raise FileNotFoundError(f"there is no file {url!r}")
        return cls(f"'{url}'", inner, store, options)

    @property
    def suffix(self) -> str:
        """The end of its name, which tells the kind."""
        return PurePosixPath(self.path.rstrip("/")).suffix.lower()

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder of files."""
        return Path(self.path).is_dir() if self.store is None else self.store.isdir(self.path)

    def open(self) -> BinaryIO:
        """To be read from its beginning."""
        if self.store is None:
            return open(self.path, "rb")
        return self.store.open(self.path, "rb")


# From a place, columns and target to rows.
Opener = Callable[[Place, Any, Any], RowSource]


def needed(module: str, what: str) -> Any:
    """A module of the extra "files"."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f"{what} needs {package}: pip install 'vicinal[files]'") from error


def _npy(place: Place, columns: Any, target: Any) -> RowSource:
    if place.store is not None:
        return NpyRows(place.open, place.name, columns, target)
    with naming_rows(place.name):
        array = np.load(place.path, mmap_mode="r", allow_pickle=False)
    return ArrayRows(array, place.name, columns, target)


def dataset_at(place: Place, format: str) -> "pads.Dataset":
    """Files of Arrow in the order of their names, which that of a folder's entries need not be."""
    arrow = needed("pyarrow.dataset", f"reading {place.name}")
    known = {"format": format, "filesystem": place.store, "partitioning": "hive"}
    with naming_rows(place.name):
        found: pads.Dataset = arrow.dataset(place.path, **known)
        files = sorted(found.files)
        if files != found.files:
            found = arrow.dataset(files, schema=found.schema, **known)
    if not files:
        raise FileNotFoundError(f"{place.name} has no files of {format}")
    return found


def _dataset(format: str, place: Place, columns: Any, target: Any) -> RowSource:
    return DatasetRows(dataset_at(place, format), place.name, columns, target)


def _zarr(place: Place, columns: Any, target: Any) -> RowSource:
    zarr = needed("zarr", f"reading {place.name}")
    where = place.path if place.store is None else place.name.strip("'")
    with naming_rows(place.name):
        found = zarr.open(where, mode="r", storage_options=dict(place.options or {}) or None)
    if not hasattr(found, "shape"):  # a group
        for name in ("X", *([target] if isinstance(target, str) else [])):
            if name not in found:
                raise ValueError(f"{place.name} is a group that has no array {name!r}.")
        target = found[target] if isinstance(target, str) else target
        found = found["X"]
    return ZarrRows(found, place.name, columns, target)


def _text(separator: str, place: Place, columns: Any, target: Any) -> RowSource:
    needed("pyarrow.csv", f"reading {place.name} in parts")
    return TextRows(place.open, place.name, separator, columns, target)


# How a file, or a folder, is opened by the end of its name; a folder without one has Parquet files.
SUFFIXES: dict[str, Opener] = {
    ".npy": _npy,
    ".parquet": partial(_dataset, "parquet"),
    ".pq": partial(_dataset, "parquet"),
    ".arrow": partial(_dataset, "ipc"),
    ".feather": partial(_dataset, "ipc"),
    ".zarr": _zarr,
    ".csv": partial(_text, ","),
    ".tsv": partial(_text, "\t"),
    "": partial(_dataset, "parquet"),
}
