import numpy as np
from report.pictures import new_axes

from vicinal.report.drawing.labels import Label, draw_labels, spread_labels


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
