"""Rows of text: CSV and TSV files, parsed in parts."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numpy.typing import NDArray

from vicinal.rows.arrow import chosen_names, matrix_of
from vicinal.rows.source import RowSource

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.csv as pacsv

__all__ = ["TextRows"]

# Of text that is parsed at a time.
_PARSED_BYTES = 8_000_000


class TextRows(RowSource):
    """A file of text with a line of names, read once to count its rows and then for them.

    Parameters
    ----------
    opened : callable
        Opens it, each time anew.
    name : str
    separator : str
    columns : sequence of str, optional
        None: all but the target.
    target : str, optional
    """

    columns: tuple[str, ...]

    def __init__(
        self,
        opened: Callable[[], BinaryIO],
        name: str,
        separator: str = ",",
        columns: Sequence[str] | None = None,
        target: str | None = None,
    ) -> None:
        self._open, self.name, self._separator, self._target = opened, name, separator, target
        self.columns = chosen_names(name, self._schema(), columns, target)
        self.dtype = np.dtype(np.float64)
        self.shape = (sum(batch.num_rows for batch in self._batches(())), len(self.columns))

    def chunks(self) -> Iterator[NDArray]:
        """As they were parsed, some megabytes of text at a time."""
        for batch in self._batches(self.columns):
            yield matrix_of(batch, self.columns, self.dtype)

    @property
    def target(self) -> NDArray | None:
        """The column that was named: whole numbers where all labels are, else words."""
        if self._target is None:
            return None
        parts = [
            np.asarray(batch.column(self._target).to_pylist(), dtype=str)
            for batch in self._batches([self._target], as_words=True)
        ]
        words = np.concatenate(parts)
        if (words == "").any():
            row = int((words == "").argmax())
            raise ValueError(f"the target {self._target!r} of {self.name} is missing in row {row}.")
        try:
            return words.astype(np.int64)
        except ValueError:
            return words

    def _schema(self) -> "pa.Schema":
        """Names, and types as the first part of the text has them."""
        with _as_table(self.name), self._open() as stream, self._reader(stream, None) as reader:
            return reader.schema

    def _batches(self, names: Sequence[str], as_words: bool = False) -> Iterator["pa.RecordBatch"]:
        import pyarrow as pa
        import pyarrow.csv as pacsv

        kind = pa.string() if as_words else pa.float64()
        # To count rows takes one column, whatever is in it.
        wanted = dict.fromkeys(names, kind) or {self.columns[0]: pa.string()}
        convert = pacsv.ConvertOptions(
            column_types=wanted, include_columns=list(wanted), strings_can_be_null=False
        )
        with _as_table(self.name), self._open() as stream, self._reader(stream, convert) as reader:
            yield from reader

    def _reader(
        self, stream: BinaryIO, convert: "pacsv.ConvertOptions | None"
    ) -> "pacsv.CSVStreamingReader":
        import pyarrow.csv as pacsv

        return pacsv.open_csv(
            stream,
            read_options=pacsv.ReadOptions(block_size=_PARSED_BYTES, use_threads=False),
            parse_options=pacsv.ParseOptions(delimiter=self._separator, newlines_in_values=True),
            convert_options=convert,
        )


@contextmanager
def _as_table(name: str) -> Iterator[None]:
    """Let an error of Arrow name the file."""
    import pyarrow as pa

    try:
        yield
    except pa.ArrowException as error:
        raise ValueError(f"{name} cannot be read as a table: {error}") from error
