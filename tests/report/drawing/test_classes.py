import datetime

import numpy as np
import pytest
from report.pictures import blobs, new_axes, note

from vicinal.report import LocalEllipsesDisplay, NeighborhoodGraphDisplay, ProjectionDisplay
from vicinal.report.drawing.classes import Classes
from vicinal.report.drawing.colors import NEUTRAL
from vicinal.report.numbers.labels import coded, coded_together


def many(n_classes, n):
    return Classes.of(np.minimum(np.arange(n), n_classes - 1), None, n)


def test_up_to_forty_classes_are_told_apart():
    classes = many(40, 50)
    assert classes.n_others == 0
    assert len(set(classes.styles)) == 40
    np.testing.assert_array_equal(classes.groups, classes.codes)


def test_of_more_the_others_are_a_group_of_their_own():
    labels = np.append(np.arange(70_000), [69_999, 500])
    classes = Classes.of(labels, None, len(labels))
    assert classes.told_apart.tolist() == [*range(38), 500, 69_999]
    assert classes.n_others == 69_960
    assert len(classes.styles) == len(set(classes.styles)) == 41
    assert classes.styles[-1][0] == NEUTRAL
    assert classes.groups[[0, 38, 500, 69_999, 70_000]].tolist() == [0, 40, 38, 39, 39]


@pytest.mark.parametrize("display", [ProjectionDisplay, NeighborhoodGraphDisplay])
def test_no_two_classes_of_a_picture_look_the_same(display):
    points, labels = blobs(2000, 2000)
    graph = [np.eye(2000, k=1)] if display is NeighborhoodGraphDisplay else []
    shown = display(points, *graph, labels).plot(ax=new_axes())
    counts = {}
    for one in shown.points_:
        shape = one.get_paths()[0].vertices.tobytes()
        for color in one.get_facecolors():
            counts[shape, *color] = counts.get((shape, *color), 0) + 1
    assert sorted(counts.values()) == [1] * 40 + [1960]
    assert "the 40 largest of 2,000 classes; gray: the 1,960 others" in note(shown).replace(
        "\n", " "
    )


def test_strips_of_many_classes_are_few():
    points, labels = blobs(500, 500, n_components=1)
    shown = ProjectionDisplay(points, labels).plot(ax=new_axes())
    heights = np.concatenate([one.get_offsets()[:, 1] for one in shown.points_])
    assert heights.min() > -41


def test_ellipses_have_groups_too():
    points, labels = blobs(100, 100)
    shown = LocalEllipsesDisplay(points, points[:2], [np.eye(2)] * 2, labels).plot(ax=new_axes())
    assert "gray: the 60 others" in note(shown)


DAY = datetime.date(2020, 1, 1)


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ([2.5, -1.0], ["-1.0", "2.5"]),
        ([True, False], ["False", "True"]),
        ([10**30, 1], ["1", "1" + "0" * 30]),
        ([2**62 + 1, 2**62], [str(2**62), str(2**62 + 1)]),
        (np.array(["2021", "2020"], dtype="M8[Y]"), ["2020", "2021"]),
        (np.array([DAY]), ["2020-01-01"]),
        ([b"b", b"a"], ["a", "b"]),
        (np.array([2, 1], dtype=">i4"), ["1", "2"]),
        (["", "a"], ['""', "a"]),
    ],
)
def test_labels_of_all_kinds(labels, names):
    assert Classes.of(labels, None, len(labels)).names == names


@pytest.mark.parametrize("missing", [None, np.nan, float("inf"), np.datetime64("NaT", "D")])
def test_a_missing_label_is_named(missing):
    kind = object if missing is None else None
    with pytest.raises(ValueError, match=r"y names no class .* in 2 of 3 rows"):
        coded(np.array([missing, missing, np.ones(1, np.asarray(missing).dtype)[0]], kind), "y")


def test_pandas_knows_missing_labels_too():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="names no class"):
        coded(pandas.Series([1, None], dtype="Int64"), "y")


def test_labels_without_an_order():
    with pytest.raises(TypeError, match=r"y has labels of types without .* \(float, int, str\)"):
        coded(np.array([1, "a", 2.5], dtype=object), "y")


def test_large_whole_numbers_keep_their_last_digit():
    y, other = np.array([2**53, 2**53 + 1]), np.array([2**63 + 5], dtype=np.uint64)
    known, asked = coded_together(y, other)
    assert known.tolist() == [0, 1]
    assert asked.tolist() == [2]
