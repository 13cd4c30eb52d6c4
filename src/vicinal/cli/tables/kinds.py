"""Kinds of files that hold tables, and how to tell them apart."""

from enum import Enum
from pathlib import PurePath

__all__ = ["Kind", "kind_of_content", "kind_of_name", "known_suffixes"]


class Kind(str, Enum):  # noqa: UP042  (typer shows the values of these)
    """A kind of file."""

    csv = "csv"
    tsv = "tsv"
    parquet = "parquet"
    arrow = "arrow"
    npy = "npy"
    npz = "npz"

    @property
    def is_text(self) -> bool:
        """Whether people can read it."""
        return self in (Kind.csv, Kind.tsv)


_SUFFIXES = {
    ".csv": Kind.csv,
    ".tsv": Kind.tsv,
    ".parquet": Kind.parquet,
    ".arrow": Kind.arrow,
    ".feather": Kind.arrow,
    ".npy": Kind.npy,
    ".npz": Kind.npz,
    ".tab": Kind.tsv,
    ".txt": Kind.csv,
    ".data": Kind.csv,
    ".pq": Kind.parquet,
    ".ipc": Kind.arrow,
}

# First bytes. A stream of Arrow begins with the length of its first message, all bits set.
_BEGINNINGS = {
    b"PAR1": Kind.parquet,
    b"ARROW1": Kind.arrow,
    b"\xff\xff\xff\xff": Kind.arrow,
    b"\x93NUMPY": Kind.npy,
    b"PK\x03\x04": Kind.npz,
}


def kind_of_name(path: PurePath) -> Kind | None:
    """The kind that a file's name tells, or None; ".gz" at the end does not count."""
    inner = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return _SUFFIXES.get(inner.suffix.lower())


def kind_of_content(beginning: bytes) -> Kind | None:
    """The kind that the first bytes tell; None for text and all that is unknown."""
    for mark, kind in _BEGINNINGS.items():
        if beginning.startswith(mark):
            return kind
    return None


def known_suffixes() -> str:
    """The usual ones, for messages."""
    *most, last = list(_SUFFIXES)[:7]
    return f"{', '.join(most)} or {last}"
