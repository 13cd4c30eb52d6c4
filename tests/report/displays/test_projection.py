import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text
from report.pictures import blobs, new_axes, note
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import DivergenceEmbedding, DivergenceNeighbors
from vicinal.report import ProjectionDisplay
from vicinal.report.drawing.colors import class_style
from vicinal.report.numbers.plane import in_the_plane


def plot(embedding, labels, **options):
    return ProjectionDisplay(embedding, labels, **options).plot(ax=new_axes())


def drawn(display):
    """All points in the picture, and their colors with markers' shapes."""
    collections = display.points_
    points = np.concatenate([c.get_offsets() for c in collections])
    styles = [
        (to_hex(color), len(c.get_paths()[0].vertices), c.get_paths()[0].vertices.sum())
        for c in collections
        for color in c.get_facecolors()
    ]
    return points, styles


def texts(display):
    return [text.get_text() for text in display.names_]


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
    boxes = [Text.get_window_extent(text) for text in display.names_]  # without lines
    assert len(boxes) == n_classes
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
    assert note(display).startswith(f"a sample of {len(points):,} of 30,001 points")
    assert all(c.get_rasterized() for c in display.points_)
    again, _ = drawn(plot(embedding, labels))
    np.testing.assert_array_equal(points, again)
    assert len(np.unique(points, axis=0)) == len(points)  # without replacement


def test_few_points_are_neither_sampled_nor_rasterized():
    display = plot(*blobs(3, 300))
    assert not any(c.get_rasterized() for c in display.points_)
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
    assert note(display) == "1 far point outside the frame"


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
    assert note(display) == "plane of largest variance: 100 % of 4 components"


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
    display = plot(np.vstack([embedding, [[0.0, 0.0]]]), np.append(labels, 7))
    names = texts(display)
    assert len(names) == 40
    assert "8" in names
    assert "7" not in names
    assert note(display) == "named: the 40 largest of 50 classes; gray: the 10 others"


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


def test_from_estimator_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"from_estimator needs .* 'vicinal\[report\]'"):
        ProjectionDisplay.from_estimator(PCA(), *blobs(2, 4))


def test_importing_does_not_import_matplotlib():
    code = "import sys, vicinal.report, vicinal.demo; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_points_without_labels_have_one_color():
    embedding, _ = blobs(3, 60)
    display = ProjectionDisplay.from_predictions(embedding, ax=new_axes())
    points, styles = drawn(display)
    assert sorted(map(tuple, points)) == sorted(map(tuple, embedding))
    assert len(set(styles)) == 1
    assert display.names_ == []
    assert display.note_ is None


def test_a_million_points_are_sampled():
    rng = np.random.default_rng(0)
    embedding, labels = rng.standard_normal((1_000_000, 2)), rng.integers(26, size=1_000_000)
    display = ProjectionDisplay.from_predictions(embedding, labels, ax=new_axes())
    points, _ = drawn(display)
    assert 19_900 <= len(points) <= 20_000
    assert note(display).startswith(f"a sample of {len(points):,} of 1,000,000 points")
    assert len(texts(display)) == 26


def test_queries_are_marked_and_named():
    embedding, labels = blobs(3, 60)
    queries = [[0.0, 0.0], [1.0, 2.0]]
    display = ProjectionDisplay.from_predictions(embedding, labels, new_axes(), queries=queries)
    np.testing.assert_array_equal(display.queries_.get_offsets(), queries)
    assert texts(display) == ["0", "1", "2", "1", "2"]
    assert display.lines_ is None
    assert note(display) == "stars: queries"


def test_lines_lead_from_queries_to_their_nearest_points():
    embedding, labels = blobs(2, 40, n_components=5)
    queries = blobs(2, 2, n_components=5, seed=1)[0]
    display = ProjectionDisplay.from_predictions(
        embedding, labels, new_axes(), queries=queries, n_neighbors=3
    )
    distances = np.linalg.norm(embedding - queries[:, None], axis=2)  # in all components
    expected = np.argsort(distances, axis=1)[:, :3]
    np.testing.assert_array_equal(display.query_neighbors, expected)
    plane = in_the_plane(embedding, labels)[0]
    segments = np.array(display.lines_.get_segments()).reshape(2, 3, 2, 2)
    np.testing.assert_allclose(segments[:, :, 1], plane[expected])
    np.testing.assert_allclose(segments[:, 0, 0], display.queries_.get_offsets())
    assert "their 3 nearest points" in note(display)


def test_neighbors_of_queries_are_drawn_even_if_the_sample_leaves_them_out():
    embedding = np.random.default_rng(0).standard_normal((50_000, 2))
    display = ProjectionDisplay.from_predictions(
        embedding, ax=new_axes(), queries=[[0.0, 0.0]], n_neighbors=20
    )
    points = set(map(tuple, drawn(display)[0]))
    assert points >= set(map(tuple, embedding[display.query_neighbors[0]]))


def test_queries_stay_inside_the_frame():
    display = plot(*blobs(2, 500), queries=[[300.0, 0.0]])
    assert display.ax_.get_xlim()[1] > 300
    assert texts(display)[-1] == "query"


def test_names_do_not_cover_queries():
    embedding, labels = blobs(1, 50)
    center = embedding[np.square(embedding - np.median(embedding, axis=0)).sum(axis=1).argmin()]
    display = plot(embedding, labels, class_names=["amid"], queries=[center])
    display.figure_.draw_without_rendering()
    star = display.ax_.transData.transform(center)
    assert sorted(texts(display)) == ["amid", "query"]
    for name in display.names_:
        assert not Text.get_window_extent(name).contains(*star)


def test_queries_of_one_component_stand_above_the_strips():
    embedding, labels = blobs(3, 90, n_components=1)
    display = plot(embedding, labels, queries=[[0.5]], query_names=["$new"])
    (star,) = display.queries_.get_offsets()
    assert star[0] == 0.5
    assert drawn(display)[0][:, 1].max() < star[1] < display.ax_.get_ylim()[1]
    assert texts(display)[-1] == "$new"


def test_of_many_queries_the_first_are_named():
    embedding, labels = blobs(1, 50)
    display = plot(embedding, labels, queries=embedding[:20])
    assert len(display.queries_.get_offsets()) == 20
    assert len(texts(display)) == 1 + 12
    assert "the first 12 are named" in note(display)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"query_names": ["a"]}, "query_names are given without queries"),
        ({"queries": [[1.0]]}, "queries has 1 components, but embedding has 2"),
        ({"queries": [[1.0, 2.0]], "query_names": []}, "query_names has 0 names, .* 1 queries"),
        ({"queries": [[1.0, 2.0]], "query_neighbors": [[9]]}, "rows from 9 to 9.* has 4 rows"),
        ({"queries": [[1.0, 2.0]], "query_neighbors": [0.5]}, "query_neighbors has shape"),
    ],
)
def test_bad_queries(options, said):
    with pytest.raises(ValueError, match=said):
        plot(*blobs(2, 4), **options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"n_neighbors": 2}, "n_neighbors=2 are those of queries"),
        ({"n_neighbors": 9, "queries": [[0.0, 0.0]]}, "n_neighbors=9 must be .* 0 to 4"),
    ],
)
def test_bad_numbers_of_neighbors(options, said):
    with pytest.raises(ValueError, match=said):
        ProjectionDisplay.from_predictions(*blobs(2, 4), new_axes(), **options)


def test_class_names_need_labels():
    with pytest.raises(ValueError, match="class_names are given without labels"):
        plot(np.zeros((3, 2)), None, class_names="ab")


def test_distances_are_no_places():
    X, y = blobs(2, 30)
    with pytest.raises(TypeError, match="distances rather than places"):
        ProjectionDisplay.from_estimator(DivergenceNeighbors().fit(X), X, y, new_axes())


def test_an_embedding_without_transform_is_told_of_from_predictions():
    X, y = blobs(2, 40)
    model = DivergenceEmbedding(method="mds", gamma=0.1, random_state=0).fit(X)
    model._fitted_with["method"] = "tsne"  # which takes long to fit, and has no transform
    with pytest.raises(TypeError, match=r"has no transform.* give its embedding_"):
        ProjectionDisplay.from_estimator(model, X, y, new_axes())
