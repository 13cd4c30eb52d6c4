"""Rows of text: CSV and TSV files, parsed in parts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vicinal.rows.arrow import ArrowRows

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Text", "TextRows"]

# Of text that is parsed at a time.
_PARSED_BYTES = 8_000_000


class Text(NamedTuple):
    """A table in text, parsed by Arrow from its beginning on, as often as it is asked for.

    Attributes
    ----------
    opened : callable
        Opens it, each time anew.
    name : str
    separator : str
    names : tuple of str, optional
        Of all columns. None: those of the first line.
    n_skipped : int
        Lines before the rows, where `names` are given.
    """

    opened: Callable[[], AbstractContextManager[BinaryIO]]
    name: str
    separator: str = ","
    names: tuple[str, ...] | None = None
    n_skipped: int = 0

    @property
    def schema(self) -> "pa.Schema":
        """Names, and types as the first part of the text has them."""
        with self._read(None) as (reader, _content):
            _ = reader.schema.names  # which Arrow decodes when they are asked for
            return reader.schema

    def batches(self, types: Mapping[str, "pa.DataType"]) -> Iterator["pa.RecordBatch"]:
        """Some columns, as these types, in parts of some megabytes of text."""
        with self._read(types) as (reader, content):
            yield from reader
            content.check_quotes(self.name)

    @contextmanager
    def _read(self, types: Mapping[str, "pa.DataType"] | None) -> Iterator[tuple[Any, "_Content"]]:
        import pyarrow.csv as pacsv

        chosen = None
        if types is not None:
            chosen = pacsv.ConvertOptions(
                column_types=types, include_columns=list(types), strings_can_be_null=False
            )
        reading = pacsv.ReadOptions(
            block_size=_PARSED_BYTES,
            use_threads=False,
            column_names=self.names,
            skip_rows=self.n_skipped,
        )
        parsing = pacsv.ParseOptions(delimiter=self.separator, newlines_in_values=True)
        with (
            _as_table(self.name),
            self.opened() as stream,
            pacsv.open_csv(content := _Content(stream), reading, parsing, chosen) as reader,
        ):
            yield reader, content


class _Content:
    """What Arrow reads, and the number of quotes in it.

    A quote that is not closed begins a field with all rows that follow: Arrow takes it so, and the
    rows would be lost without a word.

    Parameters
    ----------
    stream : binary stream
    """

    closed = False  # as Arrow asks; whoever has opened the stream closes it

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._n_quotes = stream, 0

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        part = self._stream.read(size)
        self._n_quotes += part.count(b'"')
        return part

    def close(self) -> None:
        """Nothing is to be done."""

    def check_quotes(self, name: str) -> None:
        """Refuse an odd number of them, once all was read."""
        if self._n_quotes % 2:
            raise ValueError(
                f"{name} has a stray quote, which is not closed or stands inside a field that is "
                "not quoted: put the field into quotes, and double those inside."
            )


class TextRows(ArrowRows):
    """Rows of a text file with a header line; it is read once to count its rows, then for the rows.

    Parameters
    ----------
    opened : callable
        Opens the file, each time anew.
    name : str
    separator : str, default=","
    columns : sequence of str, optional
        None: all but the target.
    target : str, optional
    """

    def __init__(
        self,
        opened: Callable[[], BinaryIO],
        name: str,
        separator: str = ",",
        columns: Sequence[str] | None = None,
        target: str | None = None,
    ) -> None:
        self._text = Text(opened, name, separator)
        super().__init__(name, self._text.schema, columns, target)
        self.dtype = np.dtype(np.float64)
        counted = sum(batch.num_rows for batch in self._words(self.columns[0]))
        self.shape = (counted, len(self.columns))

    @property
    def target(self) -> NDArray | None:
        """The column that was named: whole numbers where all labels are, else words."""
        if self._target is None:
            return None
        parts = [
            np.asarray(batch.column(0).to_pylist(), dtype=str)
            for batch in self._words(self._target)
        ]
        words = np.concatenate(parts)
        if (words == "").any():
            row = int((words == "").argmax())
            raise ValueError(f"the target {self._target!r} of {self.name} is missing in row {row}.")
        try:
            return words.astype(np.int64)
        except ValueError:
            return words

    def _batches(self, names: Sequence[str], size: int) -> Iterator["pa.RecordBatch"]:
        """As they are parsed, whatever the size."""
        import pyarrow as pa

        found = {name: self._schema.field(name).type for name in names}
        truth = pa.types.is_boolean  # words, as true and false, that are no numbers to a parser
        types = {name: kind if truth(kind) else pa.float64() for name, kind in found.items()}
        return self._text.batches(types)

    def _words(self, name: str) -> Iterator["pa.RecordBatch"]:
        """One column as it is written."""
        import pyarrow as pa

        return self._text.batches({name: pa.string()})


@contextmanager
def _as_table(name: str) -> Iterator[None]:
    """Let an error of Arrow name the file."""
    import pyarrow as pa

    try:
        yield
    except pa.ArrowException as error:
        raise ValueError(f"{name} cannot be read as a table: {error}") from error
    except UnicodeDecodeError as error:
        told = f"{name} has names of columns that are not in UTF-8 ({error.reason})"
        raise ValueError(f"{told}: save it in UTF-8") from error
