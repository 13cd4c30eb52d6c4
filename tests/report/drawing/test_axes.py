from report.pictures import new_axes

from vicinal.report.drawing.axes import draw_legend, quiet_corner


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
