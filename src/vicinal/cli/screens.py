"""What people see: tables of facts, and JSON for machines."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vicinal.cli.running import say_held_back
from vicinal.cli.streams import writing_results
from vicinal.cli.wording import printable

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = [
    "show_bars",
    "show_facts",
    "show_json",
    "show_lines",
    "show_paragraphs",
    "show_table",
    "size",
]


def show_json(facts: Mapping[str, Any]) -> None:
    """Facts for machines, on standard output; what JSON has no number for is null."""
    say_held_back()
    text = json.dumps(_plain(facts), indent=2, allow_nan=False)
    with writing_results():
        print(text.replace("\x7f", "\\u007f"))  # the one control character that json leaves


def _plain(value: Any) -> Any:
    """What JSON knows."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy's arrays and numbers
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return repr(value)


def show_facts(facts: Mapping[str, str], title: str) -> None:
    """Facts for people: a name and a value in each line."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    title = printable(title)
    table = Table(title=Text(title), title_justify="left", box=box.SIMPLE_HEAD, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")  # nothing is cut
    for name, value in facts.items():
        table.add_row(Text(printable(name)), Text(printable(value)))
    _print(table)


def show_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    title: str = "",
    caption: str = "",
    right: Sequence[str] = (),
    tight: bool = False,
) -> None:
    """A table for people.

    Parameters
    ----------
    headings : sequence of str
    rows : sequence of sequences of str
    title, caption : str
    right : sequence of str, default=()
        Headings of columns of numbers.
    tight : bool, default=False
        Whether columns stand close together, to fit into 80 characters.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=Text(title) if title else None,
        caption=Text(caption) if caption else None,
        title_justify="left",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=not tight,
        padding=(0, 1, 0, 0) if tight else (0, 1),
    )
    for heading in headings:
        table.add_column(heading, justify="right" if heading in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))  # brackets are no markup
    _print(table)


def show_bars(rows: Sequence[tuple[str, float, str]]) -> None:
    """Names, bars filled from 0 to 1, and values; the last one is the one to look at.

    Parameters
    ----------
    rows : sequence of (name, share, value)
    """
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0))
    for options in ({"width": 25}, {}, {"justify": "right"}):
        table.add_column(**options)
    for i, (name, share, value) in enumerate(rows):
        style = "bold green" if i == len(rows) - 1 else "dim"
        bar = ProgressBar(1.0, share, width=34, complete_style=style, finished_style=style)
        table.add_row(Text(f"   {printable(name)}", style), bar, Text(printable(value), style))
    table.add_row("")
    _print(table)


def show_lines(text: str) -> None:
    """Lines for people, unwrapped, so that a path in them can be copied."""
    from rich.text import Text

    _print(Text(printable(text, keep="\n")), soft_wrap=True)


def show_paragraphs(*texts: str, style: str = "") -> None:
    """Sentences for people, each on lines of its own, broken between words."""
    from rich.text import Text

    for text in texts:
        _print(Text(printable(text), style=style))


def _print(what: "RenderableType", **options: Any) -> None:
    from rich.console import Console

    class Screen(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # for `running`, instead of rich's own end

    say_held_back()
    with writing_results():
        Screen(highlight=False).print(what, **options)


def size(n_bytes: int) -> str:
    """The size of a file, with its unit."""
    if n_bytes < 1000:
        return f"{n_bytes} bytes"
    amount, unit = n_bytes / 1e3, "kB"
    for larger in ("MB", "GB"):
        if amount >= 999.5:  # three digits of it would be those of 1000
            amount, unit = amount / 1000, larger
    return f"{amount:.3g} {unit}"
