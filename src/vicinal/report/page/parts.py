"""What a page is made of."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from vicinal.report.page.figures import Picture

__all__ = ["Accuracy", "Report", "Section", "Table"]


@dataclass(frozen=True)
class Table:
    """Rows of text under headings.

    Attributes
    ----------
    headings : sequence of str
        One that ends in "#" stands over numbers (and is shown without it).
    rows : sequence of sequence of str
        The first cell of each names the row.
    caption : str
    best : collection of int
        Rows to print in bold.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    best: Sequence[int] = ()


@dataclass(frozen=True)
class Section:
    """A heading with texts, pictures and a table under it."""

    title: str
    texts: Sequence[str] = ()
    figures: Sequence[Picture] = ()
    table: Table | None = None


@dataclass(frozen=True)
class Accuracy:
    """How well neighbors name classes, before and after."""

    how: str
    table: Table
    gain: str = ""
    caution: str = ""
    figures: Sequence[Picture] = ()


@dataclass(frozen=True)
class Report:
    """All that a page says, as text and pictures.

    Attributes
    ----------
    title, subtitle, footer : str
    facts : list of tuple of str
        Names and values.
    notes : list of str
        About the data.
    still : Picture
        Stands in for the interactive one.
    map_note, map_alt, choice_note, before_name : str
        Beside the interactive parts.
    data : dict
        What these need, ready for JSON.
    accuracy : Accuracy or None
    extras, sections : list of Section
        In front of and behind what every page has.
    snippets : list of str
    """

    title: str
    subtitle: str
    footer: str
    facts: Sequence[tuple[str, str]]
    notes: Sequence[str]
    still: Picture
    map_note: str
    map_alt: str
    choice_note: str
    before_name: str
    data: dict[str, Any]
    accuracy: Accuracy | None = None
    extras: Sequence[Section] = ()
    sections: Sequence[Section] = ()
    snippets: Sequence[str] = field(default_factory=list)
