"""What a method may take in memory, and what it would need."""

import re
from collections.abc import Iterable
from numbers import Real
from typing import Any, NamedTuple

__all__ = ["Need", "bytes_of", "check_memory", "in_words"]

_UNITS = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
_BINARY = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_WRITTEN = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([kmgt]i?)?b?\s*", re.IGNORECASE)


class Need(NamedTuple):
    """A part of what a method needs.

    Attributes
    ----------
    what : str
        What it is for.
    n_bytes : float
    instead : str
        What to change so that there is less of it; empty: nothing does.
    """

    what: str
    n_bytes: float
    instead: str


def bytes_of(memory_limit: Any) -> float | None:
    """A limit in bytes, from a number of them or words as "2GB"; None: no limit."""
    if memory_limit is None:
        return None
    n_bytes = memory_limit
    if isinstance(memory_limit, str):
        found = _WRITTEN.fullmatch(memory_limit)
        if found is None:
            raise ValueError(f"memory_limit={memory_limit!r} is no size: write it as '2GB'.")
        unit = (found[2] or "").lower()
        n_bytes = float(found[1]) * {**_UNITS, **_BINARY}[unit]
    if isinstance(n_bytes, bool) or not isinstance(n_bytes, Real):
        raise TypeError(f"memory_limit={memory_limit!r} must be a number of bytes, '2GB', or None.")
    if not 0 < float(n_bytes) < float("inf"):
        raise ValueError(f"memory_limit={memory_limit!r} must be positive: bytes, or '2GB'.")
    return float(n_bytes)


def in_words(n_bytes: float) -> str:
    """A size for people."""
    for unit, size in (("GB", 1e9), ("MB", 1e6)):
        if n_bytes >= size:
            return f"{n_bytes / size:.3g} {unit}"
    return f"{n_bytes / 1e3:.3g} kB"


def check_memory(who: str, memory_limit: Any, needs: Iterable[Need]) -> None:
    """Refuse what would take more than the limit, and say which part does and what changes it.

    Parameters
    ----------
    who : str
    memory_limit : int, float, str or None
        As the user gave it.
    needs : iterable of Need
    """
    limit = bytes_of(memory_limit)
    if limit is None:
        return
    parts = list(needs)
    total = sum(part.n_bytes for part in parts)
    if total > limit:
        told = f"memory_limit={memory_limit!r} is too little for {who}, which needs about"
        least = sum(part.n_bytes for part in parts if not part.instead)
        if least > limit:
            raise ValueError(f"{told} {in_words(least)} for any rows: raise the limit.")
        largest = max((part for part in parts if part.instead), key=lambda part: part.n_bytes)
        raise ValueError(
            f"{told} {in_words(total)}, of which {in_words(largest.n_bytes)} are for "
            f"{largest.what}: {largest.instead}, or raise the limit."
        )
