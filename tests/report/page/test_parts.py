"""Small parts of the page: choosing, packing, notes, snippets, pictures."""

import base64
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import LocalComponents, NeighborhoodComponents
from vicinal.report.drawing.classes import Classes
from vicinal.report.page import interactive
from vicinal.report.page.choosing import nearest_of, spread_sample
from vicinal.report.page.figures import svg_picture
from vicinal.report.page.interactive import interactive_data
from vicinal.report.page.notes import data_notes
from vicinal.report.page.packing import on_a_grid, pack
from vicinal.report.page.snippet import python_snippet
from vicinal.report.page.stages import Stage

# ------------------------------------------------------------------------------------ choosing


def test_nearest_are_the_nearest_others():
    points = np.random.default_rng(0).normal(size=(60, 3))
    rows = np.array([5, 0, 59])
    found = nearest_of(rows, points, 4)
    distances = np.linalg.norm(points[rows][:, None] - points, axis=2)
    distances[np.arange(3), rows] = np.inf
    np.testing.assert_array_equal(found.who, distances.argsort(axis=1)[:, :4])
    np.testing.assert_allclose(found.distance, np.sort(distances, axis=1)[:, :4])


def test_twins_are_neighbors_and_nobody_is_their_own():
    points = np.zeros((9, 2))
    found = nearest_of(np.arange(9), points, 3)
    assert found.who.shape == (9, 3)
    assert not (found.who == np.arange(9)[:, None]).any()


def test_fewer_points_than_neighbors():
    assert nearest_of(np.array([0]), np.array([[0.0], [1.0]]), 5).who.tolist() == [[1]]


@given(st.integers(1, 300), st.integers(30, 100), st.booleans())
def test_a_sample_is_sorted_and_has_every_class(n, most, labeled):
    labels = np.random.default_rng(n).integers(0, 5, n) if labeled else None
    rows = spread_sample(labels, n, most)
    assert len(rows) == min(n, most)
    assert (np.diff(rows) > 0).all()
    if labeled:
        assert set(labels[rows]) == set(labels)


# ------------------------------------------------------------------------------------- packing


def unpacked(packed):
    return np.frombuffer(base64.b64decode(packed["bytes"]), dtype=f"<{packed['dtype']}")


@pytest.mark.parametrize("dtype", ["int16", ">i4", "int64", "uint8", "uint16", "float32", ">f8"])
def test_packed_bytes_are_little_endian(dtype):
    array = np.arange(5).astype(dtype)
    np.testing.assert_array_equal(unpacked(pack(array)), array)
    assert pack(None) is None


@pytest.mark.parametrize(
    ("numbers", "kind"),
    [
        ([0, 255], "u1"),
        ([0, 256], "u2"),
        ([65_535], "u2"),
        ([65_536], "i4"),
        ([-1, 5], "i2"),
        ([-32_769], "i4"),
        ([], "u1"),
    ],
)
def test_whole_numbers_get_the_shortest_type_that_holds_them(numbers, kind):
    packed = pack(np.array(numbers, dtype=np.int64))
    assert packed["dtype"] == kind
    assert unpacked(packed).tolist() == numbers


def test_whole_numbers_that_no_type_holds_are_refused():
    with pytest.raises(OverflowError, match="from 0 to 9007199254740993"):
        pack(np.array([0, 2**53 + 1]))


@pytest.mark.parametrize("value", [1e300, -1e-300, 16_777_217.0, 1e-45, 0.1])
def test_floats_are_as_long_as_what_is_shown_of_them_needs(value):
    found = unpacked(pack(np.array([0.0, value])))
    np.testing.assert_allclose(found, [0.0, value], rtol=1e-7)
    assert value == 0.1 or found.dtype == np.float64


@given(arrays(float, (7, 2), elements=st.floats(-1e100, 1e100)))
def test_the_grid_keeps_shapes(points):
    x, y = on_a_grid(points)
    spread = np.ptp(points, axis=0).max()
    step = max(spread, 1e-300) / 64_000
    for steps, column in ((x, 0), (y, 1)):
        gaps = np.subtract.outer(steps.astype(float), steps) * step
        true = np.subtract.outer(points[:, column], points[:, column])
        np.testing.assert_allclose(gaps, true, atol=1.01 * step)


@pytest.mark.parametrize("scale", [1e-310, 1e-300, 1e300, 1.7e308])
def test_the_grid_keeps_shapes_of_any_size(scale):
    points = np.array([[-1.0, 0.0], [1.0, 0.5], [0.0, -0.25]])
    x, y = on_a_grid(points * scale)
    np.testing.assert_array_equal(x, [-32_000, 32_000, 0])
    np.testing.assert_allclose(np.diff(y), [16_000, -24_000], atol=1)


def test_a_far_point_leaves_the_others_their_places():
    points = np.random.default_rng(0).normal(size=(1000, 2))
    points[0] = 1e5
    x, _ = on_a_grid(points)
    assert len(np.unique(x)) > 950


@pytest.mark.parametrize("n_classes", [3, 41, 70_000])
def test_every_row_has_its_class(n_classes):
    codes = np.arange(70_003) % n_classes
    rng = np.random.default_rng(0)
    rng.shuffle(codes)
    labels = Classes.of(codes, [f"class {c}" for c in range(n_classes)], len(codes))
    points = rng.normal(size=(len(codes), 2))
    stage = Stage("All", points)
    data = interactive_data(points, labels, stage, stage, points, [(0, "x0")], equal=True)
    shown = unpacked(data["points"]["labels"])
    assert [data["names"][c] for c in shown] == [f"class {c}" for c in codes]
    groups = [one["name"] for one in data["classes"]]
    if n_classes <= 40:
        assert groups == data["names"]
    else:
        assert groups[-1] == f"others: {n_classes - 40:,} classes"
        assert groups[:-1] == data["names"][:40]


def test_of_many_rows_a_sample_as_large_as_is_said(monkeypatch):
    monkeypatch.setattr(interactive, "MOST_SHOWN", 500)
    monkeypatch.setattr(interactive, "MOST_CHOOSABLE", 40)
    points = np.random.default_rng(0).normal(size=(3000, 2))
    labels, stage = Classes.of(np.arange(3000), None, 3000), Stage("All", points)
    data = interactive_data(points, labels, stage, stage, points, [(0, "x0")], equal=True)
    rows = unpacked(data["points"]["rows"])
    assert len(rows) == 500
    assert len(unpacked(data["choice"]["rows"])) == 40
    assert [data["names"][c] for c in unpacked(data["points"]["labels"])] == [str(r) for r in rows]
    assert data["others"] == 2960


# --------------------------------------------------------------------------------------- notes


def classes_of(labels):
    return Classes.of(labels, None, len(labels))


def test_clean_data_need_no_notes():
    X = np.random.default_rng(0).normal(size=(80, 3))
    assert data_notes(X, classes_of(np.repeat([0, 1], 40)), ["a", "b", "c"]) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda X: X * [1, 0, 1], "Constant, so of no use: b."),
        (lambda X: X * [1, 1, 500], "c varies"),
        (lambda X: np.column_stack([X[:, :2], 3 * X[:, 0] + 1]), "They say the same: a and c."),
        (lambda X: np.vstack([X, X[:4]]), "4 of 84 rows repeat another one"),
        (lambda X: X[:3], "3 rows in 3 dimensions"),
    ],
)
def test_notes_name_what_is_odd(change, said):
    X = change(np.random.default_rng(0).normal(size=(80, 3)))
    notes = data_notes(X, None, ["a", "b", "c"])
    assert len(notes) == 1
    assert said in notes[0]


def test_notes_on_classes():
    X = np.random.default_rng(0).normal(size=(105, 2))
    notes = data_notes(X, classes_of(["big"] * 102 + ["tiny"] * 3), ["a", "b"])
    assert notes[0] == "Classes of fewer than 5 rows: tiny."
    assert notes[1].startswith("Class big has 102 rows, class tiny 3")


def test_notes_call_classes_by_their_names():
    labels = Classes.of([0] * 102 + [1] * 3, ["big", "x" * 500], 105)
    notes = data_notes(np.random.default_rng(0).normal(size=(105, 2)), labels, ["a", "b"])
    assert notes[0] == f"Classes of fewer than 5 rows: {'x' * 59}…."
    assert "Class big has 102 rows" in notes[1]


@pytest.mark.parametrize("scale", [1e-310, 1e-300, 1e-160, 1e160, 1e300])
def test_notes_on_numbers_of_any_size(scale):
    X = np.random.default_rng(0).normal(size=(80, 3))
    assert data_notes(X * scale, None, ["a", "b", "c"]) == []
    twins = np.column_stack([X[:, 0], X[:, 1], -X[:, 0]]) * scale
    assert data_notes(twins, None, ["a", "b", "c"]) == ["They say the same: a and c."]
    (said,) = data_notes(X * [1e-300, 1.0, 1e300], None, ["a", "b", "c"])
    assert said.startswith("c varies 10^600 times as much as a")


def test_a_single_row_is_not_called_constant():
    said = data_notes(np.ones((1, 3)), classes_of([0]), ["a", "b", "c"])
    assert said == ["One row: nothing to compare it with."]


def test_scaled_features_are_not_told_apart():
    X = np.random.default_rng(0).normal(size=(80, 2)) * [1, 1000]
    assert data_notes(X, None, ["a", "b"], prepared=True) == []


# ------------------------------------------------------------------------------------- snippet


@pytest.mark.parametrize(
    ("model", "supervised"),
    [
        (NeighborhoodComponents(2, init="pca", max_iter=3), True),
        (make_pipeline(StandardScaler(), PCA(3), NeighborhoodComponents(2, max_iter=3)), True),
        (LocalComponents(covariance="diag"), False),
    ],
)
def test_the_snippet_runs(model, supervised):
    code = python_snippet(model, supervised, "iris")
    before = "from sklearn.datasets import load_iris\nX, y = load_iris(return_X_y=True)\n"
    before += "import warnings; warnings.simplefilter('ignore')\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{before}{code}\nprint(model.n_features_in_)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "4\n"


def test_the_snippet_imports_only_what_is_there():
    code = python_snippet(make_pipeline("passthrough", LocalComponents(), None), False)
    lines = [line for line in code.splitlines() if line.startswith("from")]
    assert lines == ["from sklearn.pipeline import Pipeline", "from vicinal import LocalComponents"]


# ------------------------------------------------------------------------------------ pictures


def test_a_picture_is_in_the_ink_of_the_page_and_escaped():
    picture = svg_picture(
        lambda ax: ax.set_title("<script>alert(1)</script>"), 'a "quoted" <alt>', key="k"
    )
    assert "<script" not in picture.markup
    assert "&lt;script&gt;" in picture.markup
    assert 'aria-label="a &#34;quoted&#34; &lt;alt&gt;"' in picture.markup
    assert "currentColor" in picture.markup
    assert 'id="k-figure_1"' in picture.markup
