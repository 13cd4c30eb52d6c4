"""From parts to one HTML file that needs nothing else."""

import gzip
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from vicinal.report.names import seen
from vicinal.report.page.figures import Picture
from vicinal.report.page.parts import Report, Table

__all__ = ["render", "require_page_libraries"]


def require_page_libraries(what: str) -> None:
    """Raise an ImportError that tells how to install what a page needs, if it is missing."""
    try:
        import jinja2  # noqa: F401
        import matplotlib  # noqa: F401
        import plotly  # noqa: F401
    except ImportError as error:
        raise ImportError(f"{what} needs {error.name}: pip install 'vicinal[report]'") from error


def render(report: Report) -> str:
    """The page.

    Every text is escaped where it is put in; pictures come escaped. A policy in
    the page lets no script run but its own two, known by their digests, and
    nothing be fetched.

    Parameters
    ----------
    report : Report

    Returns
    -------
    str
        HTML.
    """
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    script, plotly = _template("report.js"), _plotly()
    # tojson writes < > & ' as escapes, so that no text can end the script element.
    data = environment.from_string("{{ data|tojson }}").render(data=report.data)
    page = environment.from_string(_template("report.html")).render(
        report=report,
        css=Markup(_template("report.css")),
        data=Markup(data),
        plotly=Markup(b64encode(gzip.compress(plotly.encode(), 9, mtime=0)).decode()),
        script=Markup(script),
        script_digests=[_digest(script), _digest(plotly)],
        table=_table,
        picture=_picture,
    )
    return seen(page)


def _template(name: str) -> str:
    return (files("vicinal.report.page") / "templates" / name).read_text(encoding="utf-8")


@cache
def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    return get_plotlyjs()


def _digest(script: str) -> str:
    return b64encode(sha256(script.encode()).digest()).decode()


def _picture(picture: Picture) -> Any:
    from markupsafe import Markup

    caption = Markup("<figcaption>{}</figcaption>").format(picture.caption)
    return Markup("<figure>{}{}</figure>").format(
        Markup(picture.markup), caption if picture.caption else ""
    )


def _table(table: Table) -> Any:
    """A table as HTML, with the first cell of each row as its heading."""
    from markupsafe import Markup

    numeric = [heading.endswith("#") for heading in table.headings]
    head = [
        Markup('<th scope="col"{}>{}</th>').format(_number(is_number), heading.removesuffix("#"))
        for heading, is_number in zip(table.headings, numeric, strict=True)
    ]
    body = [
        Markup("<tr{}>{}</tr>").format(
            Markup(' class="best"') if i in table.best else "", _cells(row, numeric)
        )
        for i, row in enumerate(table.rows)
    ]
    caption = Markup("<caption>{}</caption>").format(table.caption) if table.caption else ""
    return Markup(
        '<div class="scroll"><table>{}<thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>'
    ).format(caption, Markup("").join(head), Markup("").join(body))


def _cells(row: Any, numeric: list[bool]) -> Any:
    from markupsafe import Markup

    first = Markup('<th scope="row"{}>{}</th>').format(_number(numeric[0]), row[0])
    rest = [
        Markup("<td{}>{}</td>").format(_number(is_number), cell)
        for cell, is_number in zip(row[1:], numeric[1:], strict=True)
    ]
    return first + Markup("").join(rest)


def _number(is_number: bool) -> Any:
    from markupsafe import Markup

    return Markup(' class="number"') if is_number else ""
