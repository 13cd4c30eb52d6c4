import numpy as np
from matplotlib.figure import Figure
from report.pictures import new_axes

from vicinal.report.drawing.base import settle, write_note


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
