"""Pictures inside the page: SVG whose ink is the page's, so that they follow light and dark."""

import io
import re
import warnings
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Picture", "figure_picture", "svg_picture"]

_INK = "#123457"  # no other color of the displays; becomes "currentColor"


@dataclass(frozen=True)
class Picture:
    """A picture ready to stand in the page.

    Attributes
    ----------
    markup : str
        HTML or SVG, safe as it is.
    caption : str
    """

    markup: str
    caption: str = ""


def svg_picture(
    draw: Callable[["Axes"], object],
    alt: str,
    *,
    key: str,
    caption: str = "",
    size: tuple[float, float] = (5.4, 3.5),
) -> Picture:
    """A picture by matplotlib, as SVG in the ink of the page.

    Parameters
    ----------
    draw : callable
        Of matplotlib Axes.
    alt : str
        What is to be seen, for those who cannot.
    key : str
        A name that no other picture of the page has.
    caption : str, optional
    size : tuple of float, default=(5.4, 3.5)
        Width and height in inches.

    Returns
    -------
    Picture

    Examples
    --------
    >>> from vicinal.report.page.figures import svg_picture
    >>> picture = svg_picture(lambda ax: ax.plot([1, 2]), "A line <up>", key="line")
    >>> picture.markup[:46]
    '<svg role="img" aria-label="A line &lt;up&gt;"'
    """
    from markupsafe import escape
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(_style(key)), missing_letters():
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.subplots())
        with io.StringIO() as stream:
            figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None})
            svg = stream.getvalue()
    svg = svg[svg.index("<svg") :].replace(_INK, "currentColor")
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    # Names within a picture must not meet those of another one on the same page.
    svg = re.sub(r'\bid="', f'id="{key}-', svg)
    svg = re.sub(r"url\(#", f"url(#{key}-", svg)
    svg = re.sub(r'href="#', f'href="#{key}-', svg)
    return Picture(svg.replace("<svg", f'<svg role="img" aria-label="{escape(alt)}"', 1), caption)


def figure_picture(figure: "Figure", alt: str) -> Picture:
    """A figure as PNG, as it is: for many points.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    alt : str
        What is to be seen, for those who cannot.

    Returns
    -------
    Picture
    """
    from markupsafe import escape

    with io.BytesIO() as stream, missing_letters():
        figure.savefig(stream, format="png", dpi=90)
        image = b64encode(stream.getvalue()).decode()
    return Picture(f'<img alt="{escape(alt)}" src="data:image/png;base64,{image}">')


@contextmanager
def missing_letters() -> Iterator[None]:
    """Letters that matplotlib's font lacks are the browser's to draw; it need not be warned."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font")
        yield


def _style(key: str) -> dict[Any, Any]:
    ink = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
    return dict.fromkeys(ink, _INK) | {
        "svg.fonttype": "none",  # text stays text: to be read aloud, found and copied
        "svg.hashsalt": key,
        "font.family": "sans-serif",
        "axes.facecolor": "none",  # the page shines through
        "figure.facecolor": "none",
        "legend.frameon": False,
    }
