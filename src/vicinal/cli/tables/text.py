"""Tables in text: CSV and TSV."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from vicinal.cli.running import remark
from vicinal.cli.tables.kinds import Kind
from vicinal.cli.tables.sources import Source
from vicinal.cli.tables.table import Table, some_columns, unnamed_columns
from vicinal.cli.wording import plural

if TYPE_CHECKING:
    import polars as pl

__all__ = ["as_numbers", "checked_names", "has_names", "read_text", "separator_of"]

# What stands for a missing number; in a column of words it is a word.
_GAPS = ("", "NA", "N/A", "n/a", "na", "NULL", "null", "None", "?", "-")

_SEPARATORS = (",", "\t", ";", "|")

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class _Text:
    """Text on its way to becoming a table.

    Attributes
    ----------
    name : str
    raw : bytes
        In UTF-8, lines ended by line feeds.
    separator : str
    n_before : int
        Empty lines that were there before.
    has_header : bool
    """

    name: str
    raw: bytes
    separator: str
    n_before: int = 0
    has_header: bool = True

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Number of the last line, and fields, of every record; an empty line has none."""
        lines = io.TextIOWrapper(io.BytesIO(self.raw), "utf-8", newline="")
        reader = csv.reader(lines, delimiter=self.separator)
        csv.field_size_limit(len(self.raw))  # a limit for all readers, and too low for a long text
        for fields in reader:
            yield self.n_before + reader.line_num, fields

    def line_of(self, row: int) -> int:
        """Where the data row at a position begins."""
        before = self.n_before
        for record, (last, _) in enumerate(self.records()):
            if record == row + self.has_header:
                break
            before = last
        return before + 1


def read_text(source: Source, kind: Kind, header: bool | None) -> Table:
    """Read CSV or TSV.

    Parameters
    ----------
    source : Source
    kind : Kind
    header : bool or None

    Returns
    -------
    Table
    """
    whole = _checked(source)
    raw = whole.lstrip(b"\r\n")
    first = raw.partition(b"\n")[0].decode(errors="replace")
    separator = "\t" if kind is Kind.tsv else separator_of(first)
    text = _Text(source.name, raw, separator, whole[: len(whole) - len(raw)].count(b"\n"))
    try:
        names = [name.strip() for name in next(text.records())[1]]
        text = replace(text, has_header=has_names(text.name, names, header))
        all_names = checked_names(text.name, names, text.has_header)
        frame = _tidied(_parsed(text, all_names))
    except UnicodeDecodeError:
        raise _wrong_encoding(text) from None
    except csv.Error as error:
        raise ValueError(f"{source.name} cannot be read as {kind.value}: {error}") from None
    if text.has_header and names[:1] == [""]:
        frame = _without_row_numbers(frame, text.name)

    return Table(
        frame,
        text.name,
        line_of=text.line_of,
        cells=lambda some: some_columns(_cells(text, all_names, some), some),
    )


def _checked(source: Source) -> bytes:
    """The text without what has no meaning; an error where it is none."""
    raw = source.bytes
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ValueError(f"{source.name} is encoded in UTF-16: save it in UTF-8")
    if b"\0" in raw:
        raise ValueError(f"{source.name} is no text, nor any other kind of table known here")
    raw = raw.removeprefix(_BYTE_ORDER_MARK)
    if b"\n" not in raw:
        raw = raw.replace(b"\r", b"\n")  # as in files of old Macs
    content = raw.rstrip(b"\r\n ")
    if not content.strip():
        raise ValueError(f"{source.name} is empty: a table has a line of names and rows")
    blanks = re.match(rb" *", raw[len(content) :])  # of the last cell
    return content + (blanks.group() if blanks else b"") + b"\n"


def separator_of(first: str) -> str:
    """The most frequent one in the first line, outside of quotes."""
    bare = re.sub(r'"[^"]*"', "", first)
    return max(_SEPARATORS, key=bare.count)


def has_names(name: str, names: list[str], header: bool | None) -> bool:
    """Whether the first line holds names: as told; else an error where it looks like data."""
    if header is not None:
        return header
    numbers = [cell for cell in names if re.fullmatch(r"[+-]?\d*\.\d+([eE][+-]?\d+)?", cell)]
    if numbers:
        raise ValueError(
            f"the first line of {name} looks like data ({numbers[0]!r}): if it is, use "
            "--no-header, and the columns are called x1, x2, ...; if these are names, --header"
        )
    return True


def checked_names(name: str, names: list[str], has_header: bool) -> list[str]:
    """Names of all columns, those of unnamed ones made up; an error where two are the same."""
    if not has_header:
        return unnamed_columns(len(names))
    names = [name or f"column{i + 1}" for i, name in enumerate(names)]
    for twin, times in Counter(names).items():
        if times > 1:
            places = " and ".join(str(i + 1) for i, other in enumerate(names) if other == twin)
            raise ValueError(
                f"{name} has several columns named {twin!r} (columns {places}): names must differ"
            )
    return names


def _parsed(text: _Text, names: list[str]) -> "pl.DataFrame":
    import polars as pl

    commas = re.search(rb"\d+,\d+", text.raw) if text.separator == ";" else None
    try:
        frame = _read(text, infer_schema_length=None, decimal_comma=commas is not None)
    except pl.exceptions.PolarsError as error:  # among them a guess that was no number
        _refuse_ragged(text, len(names))
        if "utf-8" in str(error):
            raise _wrong_encoding(text) from None
        _refuse_stray_quotes(text)
        frame = _read_as_words(text)
    if b'"' in text.raw and sum(1 for _ in text.records()) != frame.height + text.has_header:
        _refuse_stray_quotes(text)  # one in the line of names makes polars lose rows
    if commas is not None and any(dtype.is_float() for dtype in frame.dtypes):
        number = commas.group().decode()
        remark(f"commas in {text.name} are decimal: {number} is {number.replace(',', '.')}")
    # A row that is too short has no value in the last column.
    if frame.height and frame[:, -1].null_count():
        _refuse_ragged(text, len(names))
    frame.columns = names
    return frame


def _read(text: _Text, **options: Any) -> "pl.DataFrame":
    import polars as pl

    return pl.read_csv(text.raw, has_header=text.has_header, separator=text.separator, **options)


def _read_as_words(text: _Text) -> "pl.DataFrame":
    import polars as pl

    try:
        return _read(text, infer_schema=False)
    except pl.exceptions.PolarsError as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"{text.name} cannot be read as a table: {reason}") from error


def _cells(text: _Text, names: list[str], some: Sequence[str]) -> "pl.DataFrame":
    """Columns as text, with all their blanks and zeros."""
    places = {name: place for place, name in enumerate(names)}
    some = sorted(some, key=places.__getitem__)
    frame = _read(text, infer_schema=False, columns=[places[name] for name in some])
    frame.columns = some
    return frame


def _refuse_stray_quotes(text: _Text) -> None:
    """Raise an error if a quote stands inside a field that is not quoted, or is not closed."""
    before, lines = text.n_before, text.raw.split(b"\n")
    for last, _ in text.records():
        record = b"\n".join(lines[before - text.n_before : last - text.n_before])
        if record.count(b'"') % 2:
            raise ValueError(
                f"{text.name} has a stray quote in line {before + 1}: put the field into quotes, "
                "and double those inside"
            )
        before = last


def _refuse_ragged(text: _Text, n_columns: int) -> None:
    """Raise an error if some row has more or fewer fields than there are columns."""
    before = text.n_before
    for last, fields in text.records():
        if fields and len(fields) != n_columns:
            quote = "; is a quote not closed?" if last > before + 1 else ""
            raise ValueError(
                f"{text.name} has {plural(len(fields), 'field')} in line {before + 1}, but "
                f"{plural(n_columns, 'column')}{quote}"
            )
        before = last


def _wrong_encoding(text: _Text) -> ValueError:
    where = ""
    try:
        text.raw.decode()
    except UnicodeDecodeError as error:
        line = text.n_before + text.raw[: error.start].count(b"\n") + 1
        where = f" (byte {text.raw[error.start]:#04x} in line {line})"
    return ValueError(f"{text.name} is not in UTF-8{where}: save it in UTF-8")


def _tidied(frame: "pl.DataFrame") -> "pl.DataFrame":
    """Words without blanks around them, and numbers where all of a column can be read so."""
    import polars as pl

    words = [column for column in frame if column.dtype == pl.String]
    frame = frame.with_columns([_as_numbers(column.str.strip_chars()) for column in words])
    return frame.with_columns(pl.col(pl.Int128).cast(pl.Float64))  # which few can deal with


def _as_numbers(words: "pl.Series") -> "pl.Series":
    """The column as numbers, missing ones null, where it has no words but such for gaps."""
    numbers, gaps = as_numbers(words)
    is_number = not gaps.all() and (numbers.is_null() == gaps).all()
    return numbers if is_number else words.set(words == "", None)


def as_numbers(words: "pl.Series") -> "tuple[pl.Series, pl.Series]":
    """Words as numbers, null where they are none, and which of them stand for gaps."""
    import polars as pl

    gaps = words.is_null() | words.is_in(_GAPS)
    return words.set(gaps, None).cast(pl.Float64, strict=False), gaps


def _without_row_numbers(frame: "pl.DataFrame", name: str) -> "pl.DataFrame":
    """Without a first column, one without a name, if it counts rows as saved data frames do."""
    counted = frame[:, 0].to_list()
    if frame.width == 1 or not any(counted == list(range(i, i + frame.height)) for i in (0, 1)):
        return frame
    remark(f"the first column of {name} has no name and counts rows: left out")
    return frame[:, 1:]
