import numpy as np
import pytest
from matplotlib.figure import Figure

from vicinal.report.drawing.colors import (
    LINES,
    PALETTE,
    background,
    class_style,
    line_style,
    readable,
    sequential,
)


def luminance(color):
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return np.dot((0.2126, 0.7152, 0.0722), linear)


def contrast(one, other):
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("ground", ["#ffffff", "#000000", "#16181d", "#f4f1e8"])
@pytest.mark.parametrize("color", PALETTE)
def test_text_in_class_colors_can_be_read(color, ground):
    assert contrast(readable(color, ground), ground) > 4.4


def test_thin_lines_can_be_seen_on_white():
    assert min(contrast(color, "#ffffff") for color in LINES) >= 3


def test_styles_differ_for_as_many_classes_as_are_named():
    assert len({class_style(index) for index in range(40)}) == 40
    assert len({line_style(index) for index in range(30)}) == 30


def test_the_scale_of_colors_is_lost_neither_on_white_nor_on_black():
    ends = [tuple(sequential()(end)[:3]) for end in (0.0, 1.0)]
    assert min(map(sum, ends)) > 0.5
    assert max(map(sum, ends)) < 2.0


@pytest.mark.parametrize(
    ("axes", "figure", "found"),
    [("white", "black", "#ffffff"), ("none", "#123456", "#123456"), ("none", "none", None)],
)
def test_the_ground_is_what_is_opaque(axes, figure, found):
    ax = Figure(facecolor=figure).subplots()
    ax.set_facecolor(axes)
    assert background(ax) == found
