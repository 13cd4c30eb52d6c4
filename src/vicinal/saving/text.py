"""The texts of a model file: JSON within limits."""

import json
from typing import Any
from zipfile import ZipFile

from vicinal.archives import RATIO, read_member

__all__ = ["parsed", "printable", "read_text"]

# So much of a text may be packed as well as can be, the rest no better than texts are.
_ROOM = 2**20

# What users nest; every level is one of Python's stack for skops, too.
MOST_LEVELS = 200


def read_text(archive: ZipFile, name: str, most: int) -> bytes:
    """A long text among the members, at most so many bytes, and none to puff itself up."""
    return read_member(
        archive, name, min(most, _ROOM + RATIO * archive.getinfo(name).compress_size)
    )


def parsed(text: bytes, most_values: int) -> Any:
    """The value of a text in JSON, within limits; else a ValueError.

    Three bytes of text can take a hundred of memory: so many values are allowed, and so
    many levels.
    """
    n_values = sum(text.count(mark) for mark in (b",", b"[", b"{"))
    if n_values > most_values:
        raise ValueError(f"{n_values} values are too many, at most {most_values}")
    try:
        return _checked_depth(json.loads(text, parse_constant=_refuse))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _checked_depth(value: Any) -> Any:
    """The value itself, unless it is nested too deeply."""
    level = [value]
    for _ in range(MOST_LEVELS):
        level = [child for part in level for child in _children(part)]
        if not level:
            return value
    raise ValueError(f"it is nested too deeply, in more than {MOST_LEVELS} levels")


def printable(text: object, most: int = 200) -> str:
    """What may be shown of a text from a file: nothing that a terminal would obey."""
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(text)[:most])
    return shown if len(str(text)) <= most else shown + "…"


def _children(part: Any) -> Any:
    if isinstance(part, dict):
        return part.values()
    return part if isinstance(part, list) else ()


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number in JSON")
