"""What a model file says about the table it was fitted to, before it is believed."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["check_metadata"]

_Test = Callable[[Any], bool]


def check_metadata(metadata: Mapping[str, Any], path: Path) -> None:
    """Raise an error where an entry is not what its name says.

    Parameters
    ----------
    metadata : mapping
    path : Path
        For messages.
    """
    for name, (what, is_so) in _SHAPES.items():
        if name in metadata and not is_so(metadata[name]):
            raise ValueError(
                f"'{path}' cannot be used: its metadata have {name}={metadata[name]!r:.60}, where "
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


# What is counted on; a model saved in Python may have some, or none, and more to be shown.
_SHAPES: dict[str, tuple[str, _Test]] = {
    "columns": ("a list of different names", _is_names),
    "named": ("true or false", lambda value: isinstance(value, bool)),
    "categories": ("lists of different words", lambda value: _is_mapping(value, _is_names)),
    "target": ("a name or null", _or_none(_is_text)),
    "n_candidates": ("a whole number or null", _or_none(_is_count)),
}
