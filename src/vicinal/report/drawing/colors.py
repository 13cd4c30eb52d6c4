"""Colors and marks, to be told apart by color-blind readers too, on light and on dark ground."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib import colormaps, rcParams
from matplotlib.colors import ListedColormap, to_hex, to_rgb, to_rgba

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "DIVERGING",
    "LINES",
    "MARKERS",
    "NEUTRAL",
    "PALETTE",
    "background",
    "class_style",
    "edge",
    "ink",
    "line_style",
    "readable",
    "sequential",
]

# M. Petroff, "Accessible color sequences for data visualization", arXiv:2107.02270: ten colors
# chosen for their distance under the three forms of color blindness and in gray.
PALETTE = (
    "#3f90da",
    "#ffa90e",
    "#bd1f01",
    "#94a4a2",
    "#832db6",
    "#a96b59",
    "#e76300",
    "#b9ac70",
    "#717581",
    "#92dadd",
)
# Five colors share a mark, so that the nearest among the ten differ by their mark too.
MARKERS = ("o", "^", "s", "v", "D", "P", "<", "X", ">", "p")

# Those of them that thin lines can have: their contrast with white is 3 at least.
LINES = ("#3f90da", "#e76300", "#832db6", "#bd1f01", "#717581", "#a96b59")
NEUTRAL = PALETTE[8]  # of points without a class
DIVERGING = "PuOr_r"  # the larger, the more orange

_CONTRAST = 4.5  # of text with its ground, as WCAG 2.1 asks for at level AA
_MIDDLE = 0.179  # luminance whose contrasts with white and with black are equal


def class_style(index: int) -> tuple[str, str]:
    """Color and marker of a class by its number; 50 classes differ."""
    return PALETTE[index % len(PALETTE)], MARKERS[index // 5 % len(MARKERS)]


def line_style(index: int) -> tuple[str, str]:
    """Color and marker of a line by its number; 30 lines differ."""
    return LINES[index % len(LINES)], MARKERS[index % len(MARKERS)]


def sequential() -> ListedColormap:
    """viridis but for its ends, which would be lost on black and on white."""
    return ListedColormap(colormaps["viridis"](np.linspace(0.05, 0.93, 256)), "sequential")


def ink(strength: float = 1.0) -> tuple[float, float, float, float]:
    """matplotlib's color of text, so that pictures follow its style; fainter below 1."""
    return to_rgba(rcParams["text.color"], strength)


def edge(strength: float = 0.3) -> tuple[float, float, float, float]:
    """matplotlib's color of the axes' edges, faint."""
    return to_rgba(rcParams["axes.edgecolor"], strength)


def background(ax: "Axes") -> str | None:
    """What text on these axes stands on; None where that shines through and is not known."""
    for color in (ax.get_facecolor(), ax.figure.get_facecolor()):
        if to_rgba(color)[3] == 1:
            return to_hex(color)
    return None


def readable(color: str, ground: str = "white") -> str:
    """The color, darkened or lightened until text in it can be read.

    Parameters
    ----------
    color : str
    ground : str, default="white"
        Color that the text stands on.

    Returns
    -------
    str

    Examples
    --------
    >>> from vicinal.report.drawing.colors import readable
    >>> readable("#000080"), readable("#ffff00")
    ('#000080', '#7b7b00')
    >>> readable("#000080", "black"), readable("#ffff00", "black")
    ('#7070b8', '#ffff00')
    """
    under = _luminance(ground)
    if _contrast(_luminance(color), under) >= _CONTRAST:
        return to_hex(color)
    if under > _MIDDLE:
        return _with_luminance(color, (under + 0.05) / _CONTRAST - 0.05)
    return _with_luminance(color, (under + 0.05) * _CONTRAST - 0.05)


def _with_luminance(color: str, aim: float) -> str:
    """The color mixed with black or white until its luminance is past the aim."""
    channels = to_rgb(color)
    darken = _luminance(color) > aim
    while (_luminance(channels) > aim) if darken else (_luminance(channels) < aim):
        channels = tuple(0.97 * c if darken else 0.97 * c + 0.03 for c in channels)  # type: ignore[assignment]
    return to_hex(channels)


def _contrast(one: float, other: float) -> float:
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


def _luminance(color: str | tuple[float, float, float]) -> float:
    """Relative luminance of an sRGB color."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
