import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal.report import ProjectionDisplay
from vicinal.report.colors import class_style, readable


def blobs(n_classes, n, n_components=2, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % n_classes
    centers = 4 * rng.standard_normal((n_classes, n_components))
    return centers[labels] + rng.standard_normal((n, n_components)), labels


def new_axes():
    return Figure(figsize=(5, 5)).subplots()


def plot(embedding, labels, **options):
    return ProjectionDisplay(embedding, labels, **options).plot(ax=new_axes())


def drawn(display):
    """All points in the picture, and their colors with markers' shapes."""
    collections = display.ax_.collections
    points = np.concatenate([c.get_offsets() for c in collections])
    styles = [
        (to_hex(color), len(c.get_paths()[0].vertices), c.get_paths()[0].vertices.sum())
        for c in collections
        for color in c.get_facecolors()
    ]
    return points, styles


def texts(display):
    return [text.get_text() for text in display.ax_.texts]


def test_plot_returns_itself_with_the_axes_given():
    ax = new_axes()
    display = ProjectionDisplay(*blobs(3, 30), title="three")
    assert display.plot(ax=ax) is display
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert ax.get_title() == "three"


def test_plot_makes_a_figure_of_its_own():
    plt = pytest.importorskip("matplotlib.pyplot")
    display = ProjectionDisplay(*blobs(3, 30)).plot()
    assert plt.fignum_exists(display.figure_.number)
    plt.close(display.figure_)


@pytest.mark.parametrize("n_classes", [2, 10, 26])
def test_every_point_and_class_is_shown(n_classes):
    embedding, labels = blobs(n_classes, 5 * n_classes)
    display = plot(embedding, labels)
    points, styles = drawn(display)
    assert sorted(map(tuple, points)) == sorted(map(tuple, embedding))
    assert len(set(styles)) == n_classes
    assert texts(display) == [str(c) for c in range(n_classes)]


def test_points_have_the_color_of_their_class():
    embedding, labels = blobs(4, 40)
    points, styles = drawn(plot(embedding, labels))
    color_at = {tuple(point): color for point, (color, *_) in zip(points, styles, strict=True)}
    for point, label in zip(embedding, labels, strict=True):
        assert color_at[tuple(point)] == class_style(label)[0]


@pytest.mark.parametrize("n_classes", [10, 26])
def test_names_do_not_overlap(n_classes):
    rng = np.random.default_rng(0)
    embedding = rng.standard_normal((10 * n_classes, 2))  # all classes at the same place
    display = plot(embedding, np.arange(len(embedding)) % n_classes)
    display.figure_.draw_without_rendering()
    boxes = [Text.get_window_extent(text) for text in display.ax_.texts]  # without lines
    frame = display.ax_.get_window_extent().padded(1)
    for i, box in enumerate(boxes):
        assert frame.containsx(box.x0)
        assert frame.containsy(box.y1)
        assert not any(box.overlaps(other) for other in boxes[:i])


def test_many_points_are_sampled_and_said_so():
    embedding, labels = blobs(3, 30_000)
    embedding = np.vstack([embedding, [[0.0, 0.0]]])
    labels = np.append(labels, 3)  # a class of one point
    display = plot(embedding, labels)
    points, styles = drawn(display)
    assert 19_900 <= len(points) <= 20_001
    assert {color for color, *_ in styles} == {class_style(c)[0] for c in range(4)}
    assert texts(display)[-1].startswith(f"a sample of {len(points):,} of 30,001 points")
    assert all(c.get_rasterized() for c in display.ax_.collections)
    again, _ = drawn(plot(embedding, labels))
    np.testing.assert_array_equal(points, again)
    assert len(np.unique(points, axis=0)) == len(points)  # without replacement


def test_few_points_are_neither_sampled_nor_rasterized():
    display = plot(*blobs(3, 300))
    assert not any(c.get_rasterized() for c in display.ax_.collections)
    assert texts(display) == ["0", "1", "2"]


def test_no_class_covers_all_others():
    _, styles = drawn(plot(*blobs(2, 1000)))
    changes = sum(a != b for a, b in pairwise(styles))
    assert changes > 300  # in the order of classes there would be one


def test_far_points_do_not_crowd_the_others():
    embedding, labels = blobs(3, 600)
    embedding[0] = (1e4, 0.0)
    display = plot(embedding, labels)
    left, right = display.ax_.get_xlim()
    assert right - left < 100
    assert texts(display)[-1] == "1 far point outside the frame"


def test_a_small_class_far_away_is_kept_in_the_frame():
    embedding, labels = blobs(3, 600)
    embedding[0], labels[0] = (1e3, 0.0), 3
    display = plot(embedding, labels)
    assert display.ax_.get_xlim()[1] > 1e3
    assert texts(display) == ["0", "1", "2", "3"]


def test_more_than_two_components_show_the_widest_plane():
    rng = np.random.default_rng(0)
    plane = rng.standard_normal((50, 2)) * (9, 3)
    rotation = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    display = plot(plane @ rotation[:2], np.arange(50) % 2)
    points, _ = drawn(display)
    plane -= plane.mean(axis=0)
    assert np.square(points).sum() == pytest.approx(np.square(plane).sum())
    assert texts(display)[-1] == "plane of largest variance: 100% of 4 components"


def test_one_component_is_shown_as_strips():
    embedding, labels = blobs(3, 90, n_components=1)
    display = plot(embedding, labels)
    points, styles = drawn(display)
    assert set(points[:, 0]) == set(embedding[:, 0])
    for c in range(3):
        rows = [color == class_style(c)[0] for color, *_ in styles]
        assert np.abs(points[rows, 1] + c).max() < 0.5
    assert display.ax_.get_aspect() == "auto"


def test_both_axes_have_the_same_unit():
    assert plot(*blobs(2, 50)).ax_.get_aspect() == 1


def test_of_many_classes_the_largest_are_named():
    embedding, labels = blobs(50, 500)
    labels[labels == 7] = 8
    names = texts(plot(np.vstack([embedding, [[0.0, 0.0]]]), np.append(labels, 7)))
    assert len(names) == 41
    assert "8" in names
    assert "7" not in names
    assert names[-1] == "named: the 40 largest of 50 classes"


def test_class_names_are_shown_as_they_are():
    names = ["$x_1$", "a name that is far too long", "c"]
    display = plot(*blobs(3, 30), class_names=names)
    assert texts(display) == ["$x_1$", "a name that is fa…", "c"]
    assert not any(text.get_parse_math() for text in display.ax_.texts)


def test_labels_may_be_strings():
    assert texts(plot(blobs(2, 4)[0], ["no", "yes", "no", "yes"])) == ["no", "yes"]


@pytest.mark.parametrize("same", [1, 4])
def test_points_without_extent(same):
    assert texts(plot(np.zeros((same, 2)), np.zeros(same))) == ["0.0"]


@pytest.mark.parametrize(
    ("embedding", "labels", "names", "said"),
    [
        (np.zeros((3, 2)), [0, 1], None, "inconsistent"),
        (np.full((2, 2), np.nan), [0, 1], None, "embedding contains NaN"),
        (np.zeros((2, 2)), [0, 1], ["a"], "class_names has 1 names, but labels has 2"),
        (np.zeros(2), [0, 1], None, "2D array"),
    ],
)
def test_bad_input(embedding, labels, names, said):
    with pytest.raises(ValueError, match=said):
        plot(embedding, labels, class_names=names)


def test_from_estimator_projects_and_names_the_model():
    X, y = blobs(3, 60, n_components=5)
    model = make_pipeline(StandardScaler(), PCA(2)).fit(X)
    display = ProjectionDisplay.from_estimator(model, X, y, ax=new_axes(), class_names="abc")
    points, _ = drawn(display)
    expected = sorted(map(tuple, model.transform(X)))
    np.testing.assert_allclose(sorted(map(tuple, points)), expected)
    assert display.ax_.get_title() == "PCA"
    assert texts(display) == ["a", "b", "c"]


def test_from_estimator_needs_a_transformer():
    with pytest.raises(TypeError, match="has no transform"):
        ProjectionDisplay.from_estimator(object(), *blobs(2, 4))


def test_without_matplotlib(monkeypatch):
    display = ProjectionDisplay(*blobs(2, 4))
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"ProjectionDisplay.plot .* 'vicinal\[report\]'"):
        display.plot()
    with pytest.raises(ImportError, match=r"from_estimator needs .* 'vicinal\[report\]'"):
        ProjectionDisplay.from_estimator(PCA(), *blobs(2, 4))


def test_importing_does_not_import_matplotlib():
    code = "import sys, vicinal.report, vicinal.demo; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_text_in_class_colors_can_be_read():
    def luminance(color):
        channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return np.dot((0.2126, 0.7152, 0.0722), linear)

    for index in range(10):
        assert 1.05 / (luminance(readable(class_style(index)[0])) + 0.05) > 4.4


def test_styles_differ_for_as_many_classes_as_are_named():
    assert len({class_style(index) for index in range(40)}) == 40
