"""Small parts of messages."""

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["closest", "counted", "examples", "plural", "printable", "some"]

_MOST_NAMED = 8


def examples(*commands: str) -> str:
    """What stands below the options of a command in its help, line by line."""
    return "\b\nExamples:\n" + "\n".join(f"  {command}" for command in commands)


def printable(text: str, keep: str = "") -> str:
    r"""Text that does nothing to a terminal but stand there; the rest as Python writes it.

    Parameters
    ----------
    text : str
    keep : str, default=""
        Characters that may do what they do: line breaks, tabs.

    Returns
    -------
    str

    Examples
    --------
    >>> from vicinal.cli.wording import printable
    >>> print(printable("\x1b[31mred\u202e é"))
    \x1b[31mred\u202e é
    """
    if text.isprintable():
        return text
    hidden = {c for c in text if not c.isprintable() and c not in keep}
    return text.translate({ord(c): c.encode("unicode_escape").decode() for c in hidden})


def plural(n: int, noun: str, many: str | None = None) -> str:
    """A number with its noun.

    Examples
    --------
    >>> from vicinal.cli.wording import plural
    >>> plural(1, "row"), plural(1200, "row"), plural(2, "class", "classes")
    ('1 row', '1200 rows', '2 classes')
    """
    return f"{n} {noun}" if n == 1 else f"{n} {many or noun + 's'}"


def counted(values: Sequence[Any]) -> str:
    """How many there are, and the first few of them, quoted.

    Examples
    --------
    >>> from vicinal.cli.wording import counted
    >>> counted(["a", "b"]), counted(range(20))
    ("2: 'a', 'b'", '20: 0, 1, 2, 3, 4, 5, 6, 7, ...')
    """
    listed = ", ".join(repr(value) for value in values[:_MOST_NAMED])
    return f"{len(values)}: {listed}{', ...' if len(values) > _MOST_NAMED else ''}"


def some(values: Iterable[Any], most: int = _MOST_NAMED) -> str:
    """The first few of many, quoted, and how many there are in all.

    Examples
    --------
    >>> from vicinal.cli.wording import some
    >>> some(["a", "b"])
    "'a', 'b'"
    >>> some("abcd", most=2)
    "'a', 'b', ... (4 in all)"
    """
    values = list(values)
    listed = ", ".join(repr(value) for value in values[:most])
    return listed if len(values) <= most else f"{listed}, ... ({len(values)} in all)"


def closest(name: str, known: Sequence[str]) -> str:
    """A question about what may have been meant, to be put behind a sentence, or nothing.

    Examples
    --------
    >>> from vicinal.cli.wording import closest
    >>> closest("specie", ["species", "petal"])
    " Did you mean 'species'?"
    >>> closest("Petal ", ["species", "petal"])
    " Did you mean 'petal'?"
    >>> closest("weight", ["species", "petal"])
    ''
    """
    folded = {other.strip().casefold(): other for other in known}
    found = difflib.get_close_matches(name.strip().casefold(), folded, n=1)
    return f" Did you mean {folded[found[0]]!r}?" if found else ""
