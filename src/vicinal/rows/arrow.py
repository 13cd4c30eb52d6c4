"""Rows of Arrow: tables, and data sets of Parquet (or other) files, columns by their names."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vicinal.rows.blocks import block_rows
from vicinal.rows.source import RowSource, naming_rows, precision_of

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset as pads

__all__ = ["ArrowRows", "DatasetRows", "TableRows", "batches_of", "n_rows_of"]

# What is read at once of a column of a Parquet file.
_BUFFER = 2**18


def _chosen_names(
    name: str, schema: "pa.Schema", columns: Sequence[str] | None, target: str | None
) -> tuple[str, ...]:
    """Columns to learn from, all of them numbers: those asked for, or all but the target."""
    known = schema.names
    asked = known if columns is None else [str(one) for one in columns]
    for wanted in [*asked, *([] if target is None else [target])]:
        if wanted not in known:
            raise ValueError(f"{name} has no column {wanted!r}: it has {', '.join(known)}.")
    chosen = tuple(one for one in asked if one != target)
    if not chosen:
        raise ValueError(f"{name} has no columns left to learn from.")
    for one in chosen:
        if chosen.count(one) > 1 or known.count(one) > 1:
            raise ValueError(
                f"{name} has more than one column {one!r}, or it was chosen twice: give every "
                "column a name of its own, and choose each once, by columns=[...] of "
                "vicinal.open_rows."
            )
        if not _is_number(schema.field(one).type):
            raise ValueError(
                f"column {one!r} of {name} is of type {schema.field(one).type}, and no number: "
                "leave it out by columns=[...], or name it as the target, both of "
                "vicinal.open_rows."
            )
    return chosen


def _is_number(kind: "pa.DataType") -> bool:
    import pyarrow as pa

    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)


def _precision(schema: "pa.Schema", names: Sequence[str]) -> np.dtype:
    import pyarrow as pa

    return precision_of(
        np.float32 if schema.field(name).type == pa.float32() else np.float64 for name in names
    )


def _matrix(batch: "pa.RecordBatch", names: Sequence[str], dtype: np.dtype) -> NDArray:
    """Columns beside each other; gaps are not a number."""
    import pyarrow as pa

    X = np.empty((batch.num_rows, len(names)), dtype)
    for place, name in enumerate(names):
        values = batch.column(name)
        if values.null_count or pa.types.is_boolean(values.type):
            values = values.cast(pa.float64(), safe=False)
        X[:, place] = values.to_numpy(zero_copy_only=False)
    return X


def _labels(chunks: "pa.ChunkedArray") -> NDArray:
    """Labels as NumPy has them: words of one length, numbers, truth."""
    import pyarrow as pa

    if pa.types.is_dictionary(chunks.type):
        chunks = chunks.cast(chunks.type.value_type)
    found = chunks.to_numpy()
    return found.astype(str) if found.dtype == object and not chunks.null_count else found


class ArrowRows(RowSource):
    """Columns of Arrow data by name; base class of sources that have `shape` and `_batches`.

    Parameters
    ----------
    name : str
    schema : pyarrow.Schema
    columns : sequence of str, optional
        None: all but the target.
    target : str, optional
    """

    columns: tuple[str, ...]

    def __init__(
        self, name: str, schema: "pa.Schema", columns: Sequence[str] | None, target: str | None
    ) -> None:
        self.name, self._schema, self._target = name, schema, target
        self.columns = _chosen_names(name, schema, columns, target)
        self.dtype = _precision(schema, self.columns)

    @abstractmethod
    def _batches(self, names: Sequence[str], size: int) -> Iterator["pa.RecordBatch"]:
        """These columns of all rows, in order, about so many rows at a time."""

    def chunks(self) -> Iterator[NDArray]:
        """Some megabytes at a time."""
        for batch in self._batches(self.columns, block_rows(self.shape[1])):
            yield _matrix(batch, self.columns, self.dtype)

    @property
    def target(self) -> NDArray | None:
        """The column that was named, read when it is asked for."""
        import pyarrow as pa

        if self._target is None:
            return None
        arrays = [batch.column(0) for batch in self._batches([self._target], 1_000_000)]
        return _labels(pa.chunked_array(arrays, self._schema.field(self._target).type))


class TableRows(ArrowRows):
    """Rows of an Arrow table, in memory or memory-mapped.

    Parameters
    ----------
    table : pyarrow.Table
    name : str, default="X"
    columns : sequence of str, optional
        None: all but the target.
    target : str, optional
    """

    def __init__(
        self,
        table: "pa.Table",
        name: str = "X",
        columns: Sequence[str] | None = None,
        target: str | None = None,
    ) -> None:
        super().__init__(name, table.schema, columns, target)
        self._table, self.shape = table, (table.num_rows, len(self.columns))

    def _batches(self, names: Sequence[str], size: int) -> Iterator["pa.RecordBatch"]:
        yield from self._table.select(list(names)).to_batches(max_chunksize=size)


class DatasetRows(ArrowRows):
    """Rows of the files of a data set, in order: Parquet, or any other format that Arrow reads.

    The footer of each Parquet file, which holds its number of rows and its columns, is read at
    once: a file that is damaged, or lacks a column, raises an error before any work.

    Parameters
    ----------
    dataset : pyarrow.dataset.Dataset
    name : str, default="X"
    columns : sequence of str, optional
        None: all but the target.
    target : str, optional
    """

    def __init__(
        self,
        dataset: "pads.Dataset",
        name: str = "X",
        columns: Sequence[str] | None = None,
        target: str | None = None,
    ) -> None:
        super().__init__(name, dataset.schema, columns, target)
        needed = [*self.columns, *([] if target is None else [target])]
        self._dataset = dataset
        self.shape = (n_rows_of(dataset, needed, name), len(self.columns))

    def _batches(self, names: Sequence[str], size: int) -> Iterator["pa.RecordBatch"]:
        return batches_of(self._dataset, names, size, self.name)


def n_rows_of(dataset: "pads.Dataset", needed: Sequence[str], name: str) -> int:
    """Number of rows of all files, each of which has these columns."""
    files = list(dataset.get_fragments())
    return sum(_checked_rows(each, needed, dataset.schema, name) for each in files)


def batches_of(
    dataset: "pads.Dataset", names: Sequence[str], size: int, name: str
) -> Iterator["pa.RecordBatch"]:
    """Some columns of one file after the other, so many rows at most at a time."""
    for fragment in dataset.get_fragments():
        with naming_rows(_path(fragment, name)):
            yield from _parts_of(fragment, names, dataset.schema, size)


def _parts_of(
    fragment: Any, names: Sequence[str], schema: "pa.Schema", size: int
) -> Iterator["pa.RecordBatch"]:
    import pyarrow.dataset as pads

    is_parquet = isinstance(fragment, pads.ParquetFileFragment)
    if is_parquet and {*names} <= {*fragment.physical_schema.names}:
        yield from _streamed(fragment, names, size)
        return
    # Left to itself Arrow keeps all it has read of a Parquet file until that is at its end.
    sparing = pads.ParquetFragmentScanOptions(pre_buffer=False, use_buffered_stream=True)
    # Few at a time, on few threads: what is read ahead takes memory, too.
    yield from fragment.to_batches(
        schema=schema,
        columns=list(names),
        batch_size=size,
        batch_readahead=1,
        fragment_readahead=0,
        use_threads=False,
        fragment_scan_options=sparing if is_parquet else None,
    )


def _streamed(
    fragment: "pads.ParquetFileFragment", names: Sequence[str], size: int
) -> Iterator["pa.RecordBatch"]:
    """Columns of a Parquet file: some pages of each at a time, however large its row groups are."""
    import pyarrow.parquet as pq

    known = {
        "metadata": fragment.metadata,
        "read_dictionary": sorted(fragment.format.read_options.dictionary_columns),
    }
    groups = [group.id for group in fragment.row_groups]
    with (
        fragment.open() as stream,
        pq.ParquetFile(stream, buffer_size=_BUFFER, pre_buffer=False, **known) as file,
    ):
        parts = file.iter_batches(size, groups, list(names), use_threads=False)
        for batch in parts:
            yield batch.select(list(names))


def _path(fragment: Any, otherwise: str) -> str:
    return getattr(fragment, "path", None) or otherwise


def _checked_rows(fragment: Any, needed: Sequence[str], schema: "pa.Schema", name: str) -> int:
    """Number of rows of a file that has all columns."""
    path = _path(fragment, name)
    with naming_rows(path):
        n, there = fragment.count_rows(), fragment.physical_schema
    known = {*there.names} | _partition_names(fragment)
    missing = [one for one in needed if one not in known]
    if missing:
        raise ValueError(
            f"{path} lacks the column {missing[0]!r}, which other files of {name} have: all must "
            "have the same columns."
        )
    for one in needed:
        if one in there.names and there.field(one).type != schema.field(one).type:
            raise ValueError(
                f"column {one!r} of {path} is of type {there.field(one).type}, and of "
                f"{schema.field(one).type} in other files of {name}: write them with one type."
            )
    return int(n)


def _partition_names(fragment: Any) -> set[str]:
    """Columns that are said by the names of folders."""
    import pyarrow.dataset as pads

    expression = getattr(fragment, "partition_expression", None)
    return set() if expression is None else {*pads.get_partition_keys(expression)}
