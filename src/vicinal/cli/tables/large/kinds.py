"""From a path or a URL to a table that is read in parts: one value per kind of file."""

import gzip
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, BinaryIO

from vicinal.cli.tables.arrays import plain_type
from vicinal.cli.tables.kinds import Kind, kind_of_content, kind_of_name
from vicinal.cli.tables.large.table import LargeTable
from vicinal.cli.tables.large.text import LargeText
from vicinal.cli.tables.table import unnamed_columns

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from vicinal.rows import RowSource
    from vicinal.rows.opening import Place

__all__ = ["large_table"]

_GZIP = b"\x1f\x8b"


def large_table(
    path: str | os.PathLike[str], kind: Kind | None = None, header: bool | None = None
) -> LargeTable:
    """Open a table, or a folder of them, and look at its columns.

    Parameters
    ----------
    path : path-like or str
        A URL goes to fsspec.
    kind : Kind, optional
        None: by the first bytes, else by the name.
    header : bool, optional
        Whether the first line of a text holds names. None: yes, unless it looks like data.
    """
    from vicinal.rows.opening import Place

    place = Place.of(path)
    if place.suffix == ".zarr":
        return LargeArray(place, ".zarr")
    found = kind or _kind(place)
    if found is None or found not in _OPENERS:
        raise ValueError(
            f"{place.name} cannot be read in parts: that can be .csv, .tsv, .parquet, .arrow, .npy "
            "and .zarr, and folders of .parquet; an .npz file is one zipped whole"
        )
    if header is not None and not found.is_text:
        raise ValueError(f"--header and --no-header are for text: {place.name} is {found.value}")
    return _OPENERS[found](place, header)


def _kind(place: "Place") -> Kind | None:
    """By the first bytes, else by the name; a folder has files of Parquet."""
    named = kind_of_name(PurePosixPath(place.path))
    if place.is_folder:
        return named or Kind.parquet
    with place.open() as stream:
        return kind_of_content(stream.read(8)) or named


@contextmanager
def _unzipped(place: "Place") -> Iterator[BinaryIO]:
    """To be read from its beginning; what gzip zipped is unzipped."""
    with place.open() as stream:
        is_zipped = stream.read(2) == _GZIP
    with place.open() as stream:
        if not is_zipped:
            yield stream
            return
        with gzip.open(stream) as unzipped:
            yield unzipped  # type: ignore[misc]


class LargeArrow(LargeTable):
    """Files of Arrow: Parquet, or its own.

    Parameters
    ----------
    format : str
        As Arrow calls it.
    place : Place
    """

    def __init__(self, format: str, place: "Place") -> None:
        import polars as pl

        from vicinal.rows.arrow import n_rows_of
        from vicinal.rows.opening import dataset_at

        self._dataset = dataset_at(place, format)
        if "" in self._dataset.schema.names:
            raise ValueError(f"{place.name} has a column without a name: give it one")
        n_rows = n_rows_of(self._dataset, (), place.name)
        empty = pl.DataFrame(pl.from_arrow(self._dataset.schema.empty_table()))
        super().__init__(place.name, _in_words(empty), n_rows)

    def check(self, names: Sequence[str]) -> None:
        """All files have them, of the same types."""
        from vicinal.rows.arrow import n_rows_of

        n_rows_of(self._dataset, names, self.name)

    def _frames(self, names: Sequence[str]) -> "Iterator[pl.DataFrame]":
        import polars as pl

        from vicinal.cli.tables.large.table import part_rows
        from vicinal.rows.arrow import batches_of

        for batch in batches_of(self._dataset, names, part_rows(len(names)), self.name):
            yield _in_words(pl.DataFrame(pl.from_arrow(batch)))


def _in_words(frame: "pl.DataFrame") -> "pl.DataFrame":
    """Without categories, whose numbers differ from part to part."""
    import polars as pl

    return frame.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))


class LargeArray(LargeTable):
    """An array of NumPy or zarr, whose columns are called x1, x2, ...

    Parameters
    ----------
    place : Place
    suffix : str, default=".npy"
        How it is opened.
    """

    def __init__(self, place: "Place", suffix: str = ".npy") -> None:
        import polars as pl

        self._place, self._suffix = place, suffix
        source = self._source(None)
        names = unnamed_columns(source.shape[1])
        self._positions = {name: position for position, name in enumerate(names)}
        empty = _frame(next(source.chunks()), names)[:0] if len(source) else pl.DataFrame()
        super().__init__(place.name, empty, len(source), is_named=False)

    def numbers(self, names: Sequence[str]) -> "RowSource | None":
        """A memory map needs no copy."""
        return self._source([self._positions[name] for name in names])

    def _frames(self, names: Sequence[str]) -> "Iterator[pl.DataFrame]":
        for chunk in self._source([self._positions[name] for name in names]).chunks():
            yield _frame(chunk, names)

    def _source(self, positions: list[int] | None) -> "RowSource":
        from vicinal.rows.opening import SUFFIXES

        return SUFFIXES[self._suffix](self._place, positions, None)


def _frame(chunk: "NDArray", names: Sequence[str]) -> "pl.DataFrame":
    import numpy as np
    import polars as pl

    plain = np.asarray(chunk).astype(plain_type(chunk.dtype), copy=False)
    return pl.DataFrame(plain, schema=list(names))


def _text(separator: str | None, place: "Place", header: bool | None) -> LargeTable:
    return LargeText(partial(_unzipped, place), place.name, separator, header)


# From a place, and whether a text has a line of names, to a table.
_OPENERS: "dict[Kind, Callable[[Place, bool | None], LargeTable]]" = {
    Kind.csv: partial(_text, None),
    Kind.tsv: partial(_text, "\t"),
    Kind.parquet: lambda place, _: LargeArrow("parquet", place),
    Kind.arrow: lambda place, _: LargeArrow("ipc", place),
    Kind.npy: lambda place, _: LargeArray(place),
}
