"""Data sets that are here."""

from collections.abc import Iterable, Sequence

from benchmarks.common.pages import Page
from vicinal import datasets


def available(page: Page, names: Iterable[str], wanted: Sequence[str] | None = None) -> list[str]:
    """Of the names, those asked for that are here; the page tells of others that were asked for."""
    asked = [name for name in names if not wanted or name in wanted]
    missing = [name for name in asked if not datasets.is_available(name)]
    for name in missing:
        page.say(f"({name} is not here and was skipped: set VICINAL_DATA.)\n")
    return [name for name in asked if name not in missing]
