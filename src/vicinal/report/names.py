"""Names and other words of users, as they can be shown."""

import re

__all__ = ["plain_text", "seen", "shortened"]

MAX_NAME = 18

# Control characters but for white space, halves of characters, and marks that turn the direction
# of all that follows them: no font has them, and some libraries and browsers stumble over them.
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")


def plain_text(name: object) -> str:
    r"""The name as text that can be shown: unseen characters as �, a blank name in quotes.

    Examples
    --------
    >>> from vicinal.report.names import plain_text
    >>> plain_text("a\x1b[31m"), plain_text(" "), plain_text(b"caf\xc3\xa9"), plain_text(1.5)
    ('a�[31m', '" "', 'café', '1.5')
    """
    text = name.decode(errors="replace") if isinstance(name, bytes) else str(name)
    return seen(text if text.strip() else f'"{text}"')


def seen(text: str) -> str:
    """The text with � for every character that cannot be seen or written."""
    return _UNSEEN.sub("�", text)


def shortened(name: object, most: int = MAX_NAME) -> str:
    """The name, cut to a length that can be shown.

    Examples
    --------
    >>> from vicinal.report.names import shortened
    >>> shortened("a name that is far too long")
    'a name that is fa…'
    """
    text = " ".join(plain_text(name).split())
    return text if len(text) <= most else text[: most - 1] + "…"
