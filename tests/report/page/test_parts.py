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
from vicinal.report.classes import Classes
from vicinal.report.page.choosing import nearest_of, spread_sample
from vicinal.report.page.figures import svg_picture
from vicinal.report.page.notes import data_notes
from vicinal.report.page.packing import on_a_grid, pack
from vicinal.report.page.snippet import python_snippet

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
    assert len(rows) == n if n <= most else most - 5 <= len(rows) <= most
    assert (np.diff(rows) > 0).all()
    if labeled:
        assert set(labels[rows]) == set(labels)


# ------------------------------------------------------------------------------------- packing


@pytest.mark.parametrize("dtype", ["int16", "int32", "uint8", "uint16", "float32"])
def test_packed_bytes_are_little_endian(dtype):
    array = np.arange(5).astype(dtype)
    packed = pack(array)
    found = np.frombuffer(base64.b64decode(packed["bytes"]), dtype=f"<{packed['dtype']}")
    np.testing.assert_array_equal(found, array)
    assert pack(None) is None


@given(arrays(float, (7, 2), elements=st.floats(-1e100, 1e100)))
def test_the_grid_keeps_shapes(points):
    x, y = on_a_grid(points)
    spread = np.ptp(points, axis=0).max()
    step = max(spread, 1e-300) / 64_000
    for steps, column in ((x, 0), (y, 1)):
        gaps = np.subtract.outer(steps.astype(float), steps) * step
        true = np.subtract.outer(points[:, column], points[:, column])
        np.testing.assert_allclose(gaps, true, atol=1.01 * step)


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
