"""What a model file says about itself, before it is believed."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vicinal.saving import ModelHeader

__all__ = ["check_header"]

_Test = Callable[[Any], bool]


def check_header(header: "ModelHeader", path: Path) -> None:
    """Raise an error where an entry is not what its name says.

    Parameters
    ----------
    header : ModelHeader
    path : Path
        For messages.
    """
    for entries, shapes in ((vars(header), _HEADER), (header.metadata, _METADATA)):
        if not isinstance(entries, Mapping):
            continue  # told as an entry of the header
        for name, (what, is_so) in shapes.items():
            if name in entries and not is_so(entries[name]):
                raise ValueError(
                    f"'{path}' cannot be used: its header has {name}={entries[name]!r:.60}, where "
                    f"{what} should be; save the model again"
                )


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value)) and len({*value}) == len(value)


def _is_mapping(value: Any, of: _Test) -> bool:
    return isinstance(value, dict) and all(map(_is_text, value)) and all(map(of, value.values()))


def _or_none(is_so: _Test) -> _Test:
    return lambda value: value is None or is_so(value)


_TEXT = ("text", _is_text)

_HEADER: dict[str, tuple[str, _Test]] = {
    "metadata": ("a mapping", lambda value: isinstance(value, dict)),
    "vicinal": _TEXT,
    "versions": ("a mapping of names to versions", lambda value: _is_mapping(value, _is_text)),
    "model": _TEXT,
    "steps": ("a list of names", lambda v: isinstance(v, list) and all(map(_is_text, v))),
    "created": _TEXT,
    "checksum": _TEXT,
}

# What the command line itself puts there; a model saved in Python may have some, or none.
_METADATA: dict[str, tuple[str, _Test]] = {
    "columns": ("a list of different names", _is_names),
    "named": ("true or false", lambda value: isinstance(value, bool)),
    "categories": ("lists of different words", lambda value: _is_mapping(value, _is_names)),
    "target": ("a name or null", _or_none(_is_text)),
    "n_candidates": ("a whole number or null", _or_none(_is_count)),
    "rows": ("a whole number", _is_count),
    "data": _TEXT,
    "command": _TEXT,
}
