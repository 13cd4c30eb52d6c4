"""Where bytes come from: a file, or standard input."""

import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from vicinal.cli.running import remark
from vicinal.cli.streams import errors_of_libraries_hidden
from vicinal.cli.tables.kinds import Kind, kind_of_content, kind_of_name, known_suffixes
from vicinal.cli.tables.locations import Url

__all__ = ["STANDARD", "Source"]

STANDARD = Path("-")  # standard input or output

_GZIP = b"\x1f\x8b"

_FILES = {
    Kind.parquet: "a Parquet file",
    Kind.arrow: "an Arrow file",
    Kind.npy: "a NumPy file",
    Kind.npz: "a NumPy file",
}


@dataclass(frozen=True)
class Source:
    """Bytes to be read as a table.

    Attributes
    ----------
    name : str
        For messages.
    path : Path
        STANDARD, or a path that exists.
    content : bytes or None
        None: still in the regular file at `path`.
    """

    name: str
    path: Path
    content: bytes | None

    @classmethod
    def at(cls, path: Path) -> "Source":
        """The source at a path, "-" being standard input; what gzip zipped is unzipped."""
        if isinstance(path, Url):
            raise ValueError(
                f"'{path}' is a URL, which fit, transform, predict and score read: download it"
            )
        if path == STANDARD:
            source = cls("standard input", path, _standard_input())
        else:
            source = cls(f"'{path}'", path, _content_of_special(path))
        if source.beginning == b"":
            raise ValueError(f"{source.name} is empty: a table has a line of names and rows")
        return source._unzipped()

    def _unzipped(self) -> "Source":
        if not self.beginning.startswith(_GZIP):
            return self
        try:
            return Source(self.name, self.path, gzip.decompress(self.bytes))
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{self.name} is damaged: gzip says {error}") from None

    @property
    def beginning(self) -> bytes:
        """The first bytes of the content."""
        if self.content is not None:
            return self.content[:8]
        with self.path.open("rb") as stream:
            return stream.read(8)

    @property
    def bytes(self) -> bytes:
        """The whole content."""
        return self.path.read_bytes() if self.content is None else self.content

    @property
    def stream(self) -> Path | io.BytesIO:
        """What to hand to readers that can do without the whole content in memory."""
        return self.path if self.content is None else io.BytesIO(self.content)

    def open(self) -> BinaryIO:
        """The content as an open file."""
        return self.path.open("rb") if self.content is None else io.BytesIO(self.content)

    def read_by(self, reader: Callable[[], Any], kind: str) -> Any:
        """What the reader of a library makes of it; a ValueError where that fails in any way."""
        import polars as pl

        # A damaged file can make a reader fail in any way, polars by a panic that is no Exception.
        panic: type[BaseException] = pl.exceptions.PanicException
        try:
            with errors_of_libraries_hidden():
                return reader()
        except Exception as error:
            reason = str(error).partition("\n")[0]
            raise ValueError(f"{self.name} cannot be read as {kind}: {reason}") from error
        except panic as error:
            raise ValueError(f"{self.name} cannot be read as {kind}: it is damaged") from error

    def kind(self, asked: Kind | None) -> Kind:
        """The kind asked for, else that of the content, else of the name."""
        found = kind_of_content(self.beginning)
        if asked is not None and found in (asked, None):
            if found is None and not asked.is_text:
                raise ValueError(f"{self.name} is not {_FILES[asked]} (--format {asked.value})")
            return asked
        if asked is not None and found is not None:
            raise ValueError(
                f"{self.name} is not {asked.value}: it begins like {_FILES[found]}; leave --format "
                "out, or correct it"
            )
        return found or self._kind_of_text()

    def _kind_of_text(self) -> Kind:
        """The content has no mark of a binary kind."""
        if self.path == STANDARD or not self.path.suffix or self.path.is_fifo():
            return Kind.csv
        named = kind_of_name(self.path)
        if named is None:
            raise ValueError(
                f"{self.name} has no suffix of a table: use {known_suffixes()}, or say what it is "
                "by --format"
            )
        if not named.is_text:
            raise ValueError(f"{self.name} is not {_FILES[named]}, in spite of its name")
        return named


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise OSError("there is no standard input to read from")
    if sys.stdin.isatty():
        remark("reading a table from the terminal; end it with Ctrl-D")
    return sys.stdin.buffer.read()


def _content_of_special(path: Path) -> bytes | None:
    """What a pipe or device holds; None for a regular file, which can wait."""
    try:
        if path.is_file():
            with path.open("rb"):
                return None
        if path.is_dir():
            raise IsADirectoryError(f"'{path}' is a folder: name a file in it")
        return path.read_bytes()
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file '{path}'{_elsewhere(path)}") from None
    except PermissionError:
        raise PermissionError(f"'{path}' may not be read: its permissions forbid it") from None


def _elsewhere(path: Path) -> str:
    """A hint for relative paths, which are often wrong by the folder alone."""
    return "" if path.is_absolute() else f" in {os.getcwd()}"
