"""Colors and marks of classes, to be told apart by color-blind readers too."""

from matplotlib.colors import to_hex, to_rgb

__all__ = ["MARKERS", "PALETTE", "class_style", "readable"]

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

_CONTRAST = 4.5  # of text on white, as WCAG 2.1 asks for at level AA


def class_style(index: int) -> tuple[str, str]:
    """Color and marker of a class by its number; 50 classes differ."""
    return PALETTE[index % len(PALETTE)], MARKERS[index // 5 % len(MARKERS)]


def readable(color: str) -> str:
    """The color, darkened until text in it can be read on white.

    Examples
    --------
    >>> from vicinal.report.colors import readable
    >>> readable("#000080"), readable("#ffff00")
    ('#000080', '#7b7b00')
    """
    red, green, blue = to_rgb(color)
    while 1.05 / (_luminance(red, green, blue) + 0.05) < _CONTRAST:
        red, green, blue = 0.97 * red, 0.97 * green, 0.97 * blue
    return to_hex((red, green, blue))


def _luminance(*channels: float) -> float:
    """Relative luminance of an sRGB color."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
