import numpy as np
import pytest
from matplotlib.figure import Figure
from report.pictures import new_axes

from vicinal.report.colors import (
    LINES,
    PALETTE,
    background,
    class_style,
    line_style,
    readable,
    sequential,
)
from vicinal.report.drawing import draw_legend, percent_tick, quiet_corner, settle, write_note
from vicinal.report.labels import Label, draw_labels, spread_labels


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


def test_a_note_stands_below_the_names_of_the_axis():
    ax = new_axes()
    ax.set_xlabel("name")
    note = write_note(ax, ["first", "", "second"])
    assert note.get_text() == "first\nsecond"
    settle(ax)
    ax.figure.draw_without_rendering()
    assert note.get_window_extent().y1 < ax.xaxis.label.get_window_extent().y0


def test_no_note_without_words():
    assert write_note(new_axes(), ["", ""]) is None


def test_margins_grow_only_where_something_would_be_cut_off():
    ax = new_axes()
    before = ax.get_position().extents
    settle(ax)
    np.testing.assert_array_equal(ax.get_position().extents, before)
    ax.set_ylabel("a name\nof six\nlines\nthat\nneeds\nroom")
    settle(ax)
    after = ax.get_position().extents
    assert after[0] > before[0]
    np.testing.assert_array_equal(after[1:], before[1:])


def test_axes_placed_by_hand_stay_where_they_are():
    ax = Figure().add_axes((0.0, 0.0, 1.0, 1.0))
    ax.set_xlabel("below the figure")
    settle(ax)
    assert ax.get_position().bounds == (0.0, 0.0, 1.0, 1.0)


def test_axes_keep_some_room_however_long_the_names():
    ax = new_axes()
    before = ax.get_position().extents
    ax.set_yticks([0.5], ["x" * 500])
    settle(ax)
    np.testing.assert_array_equal(ax.get_position().extents, before)


def test_a_subfigure_is_no_obstacle():
    ax = Figure(layout="constrained").subfigures(1, 2)[0].subplots()
    write_note(ax, ["said"])
    settle(ax)


def test_the_corner_of_a_legend_is_away_from_all_lines():
    ax = new_axes()
    over = ax.twinx()
    ax.plot([0, 1, 2], [0, 1, 2])
    over.plot([0, 1, 2], [2, 1, 0])
    over.plot([2, 2], [0.1, 0.2])
    over.plot([0, 0.1], [1.9, 2.0])
    assert quiet_corner([ax, over]) in {"lower left", "upper right"}


def test_a_legend_takes_names_as_they_are():
    ax = new_axes()
    ax.plot([0, 1], label="$x")
    (text,) = draw_legend(ax).get_texts()
    assert text.get_text() == "$x"
    assert not text.get_parse_math()


def test_ticks_of_shares():
    assert [percent_tick(x) for x in (0.0, 0.05, 0.125, -0.1)] == ["0 %", "5 %", "12.5 %", "−10 %"]


def test_names_stay_off_obstacles():
    anchors, sizes = np.array([[5.0, 5.0], [5.0, 5.0]]), np.full((2, 2), 2.0)
    obstacles = np.array([[5.0, 5.0], [5.0, 8.0]])
    box = np.zeros(2), np.full(2, 20.0)
    centers = spread_labels(anchors, sizes, *box, obstacles, 2.0)
    for center in centers:
        assert (np.abs(center - obstacles).max(axis=1) >= 2.0 - 1e-6).all()
    assert np.abs(centers[0] - centers[1]).max() >= 2.0


def test_a_name_far_from_its_place_gets_a_line():
    ax = new_axes()
    label = Label("name", np.array([0.5, 0.5]))
    (alone,) = draw_labels(ax, [label], 10)
    assert alone.arrow_patch is None
    crowd = draw_labels(ax, [label] * 6, 10)
    with_line = [text.arrow_patch is not None for text in crowd]
    assert with_line == [np.hypot(*text.xyann) > 9 for text in crowd]
    assert any(with_line)
    assert draw_labels(ax, [], 10) == []
