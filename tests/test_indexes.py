"""Indexes of faiss and usearch behind a learned map, against distances of all pairs."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from vicinal import LatentCoincidence, LocalComponents, NeighborhoodComponents

# What SWIG says of its own types from Python 3.12 on.
pytestmark = pytest.mark.filterwarnings("ignore:builtin type:DeprecationWarning")

X, Y = load_iris(return_X_y=True)
RNG = np.random.default_rng(0)
MANY = RNG.normal(size=(4000, 20))
MODELS = {
    "nca": NeighborhoodComponents(2),
    "coincidence": LatentCoincidence(3, random_state=0),
    "local": LocalComponents(),
    "float32": NeighborhoodComponents(2),
}


@pytest.fixture
def faiss():
    return pytest.importorskip("faiss", reason="the extra index is not installed")


@pytest.fixture
def usearch():
    return pytest.importorskip("usearch.index", reason="the extra index is not installed")


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    points = X.astype(np.float32) if request.param == "float32" else X
    return MODELS[request.param].fit(points, Y)


@pytest.fixture(scope="module")
def projection():
    """A map that keeps 8 of 20 directions: no fit is needed to look for neighbors by it."""
    model = LocalComponents().fit(MANY[:100])
    model.components_ = RNG.normal(size=(8, 20))
    return model


def exact(model, queries, keys, k):
    """Squared distances to the k nearest keys, by all pairs."""
    apart = [
        model.pair_distance(np.stack([np.broadcast_to(q, keys.shape), keys], axis=1))
        for q in queries
    ]
    return np.square(np.sort(apart, axis=1)[:, :k]), np.argsort(apart, axis=1)[:, :k]


def recall(found, expected):
    return np.mean([len(set(a) & set(b)) for a, b in zip(found, expected, strict=True)]) / len(
        expected[0]
    )


@pytest.mark.parametrize("centered", [True, False])
def test_flat_finds_the_nearest(model, centered, faiss):
    index = model.to_faiss(X=X if centered else None)
    assert isinstance(index, faiss.IndexPreTransform)
    assert index.ntotal == 0
    assert index.is_trained
    index.add(X)
    squared, positions = index.search(X[::7], 5)
    expected = exact(model, X[::7], X, 5)[0]
    assert_allclose(squared, expected, rtol=1e-3, atol=1e-4 * expected.max())
    pairs = np.stack([np.repeat(X[::7], 5, axis=0), X[positions.ravel()]], axis=1)
    truly = np.square(model.pair_distance(pairs)).reshape(-1, 5)
    assert_allclose(truly, expected, rtol=1e-3, atol=1e-4 * expected.max())


def test_flat_and_usearch_give_the_same_neighbors(projection, faiss, usearch):
    index, graph = projection.to_faiss(X=MANY), projection.to_usearch(MANY)
    index.add(MANY)
    graph.add(np.arange(len(MANY)), MANY)
    squared, positions = index.search(MANY[:50], 10)
    expected = exact(projection, MANY[:50], MANY, 10)
    assert_array_equal(positions, expected[1])
    assert_allclose(squared[:, 1:], expected[0][:, 1:], rtol=1e-4)
    matches = graph.search(MANY[:50], 10, exact=True)
    assert_array_equal(matches.keys, expected[1])
    assert_allclose(matches.distances[:, 1:], expected[0][:, 1:], rtol=1e-4)


def test_approximate_indexes_find_most(projection, faiss, usearch):
    expected = exact(projection, MANY[:100], MANY, 10)[1]
    for kind in ("hnsw", "ivf"):
        index = projection.to_faiss(kind, MANY)
        assert index.is_trained
        assert index.ntotal == 0
        index.add(MANY)
        assert recall(index.search(MANY[:100], 10)[1], expected) > {"hnsw": 0.97, "ivf": 0.6}[kind]
    faiss.ParameterSpace().set_index_parameter(index, "nprobe", 50)
    assert recall(index.search(MANY[:100], 10)[1], expected) > 0.95
    graph = projection.to_usearch(MANY)
    graph.add(np.arange(len(MANY)), MANY)
    assert recall(graph.search(MANY[:100], 10).keys, expected) > 0.97


def test_an_offset_costs_no_digits(projection, faiss, usearch):
    """Rows that single precision holds exactly, 100 000 away from zero."""
    rows = np.round(MANY * 64) / 64
    far = rows + 1e5
    expected = exact(projection, rows[:50], rows, 5)
    index = projection.to_faiss(X=far)
    index.add(far)
    squared, positions = index.search(far[:50], 5)
    assert_array_equal(positions, expected[1])
    assert_allclose(squared[:, 1:], expected[0][:, 1:], rtol=1e-3)
    graph = projection.to_usearch(far)
    graph.add(None, far)
    assert_array_equal(graph.search(far[:50], 5, exact=True).keys, expected[1])


def test_usearch_takes_one_vector_or_many(projection, usearch):
    graph = projection.to_usearch(connectivity=8, dtype="f64")
    assert (graph.index.connectivity, len(graph)) == (8, 0)
    graph.add(7, MANY[0])
    graph.add([8, 9], MANY[1:3])
    assert len(graph) == 3
    assert graph.search(MANY[1], 1).keys.tolist() == [8]
    assert graph.search(MANY[:2].tolist(), 1).keys.tolist() == [[7], [8]]
    for vectors in (MANY[:2, :3], np.zeros((2, 2, 20))):
        with pytest.raises(ValueError, match=r"vectors has shape .*, expected \(n, 20\)"):
            graph.search(vectors)
    with pytest.raises(ValueError, match="vectors contains NaN"):
        graph.add(1, np.full(20, np.nan))
    with pytest.raises(ValueError, match=r"vectors reaches .*, too large for the single precision"):
        graph.add(1, np.full(20, 1e60))


def test_indexes_are_copies(projection, faiss, usearch):
    model = clone(projection).fit(MANY[:100])
    index, graph = model.to_faiss(), model.to_usearch()
    model.components_[:] = 0.0
    index.add(MANY[:10])
    graph.add(None, MANY[:10])
    assert index.search(MANY[:1], 2)[0][0, 1] > 0
    assert graph.search(MANY[0], 2).distances[1] > 0


def test_an_index_survives_saving(projection, faiss, tmp_path):
    index = projection.to_faiss("ivf", MANY)
    index.add(MANY)
    faiss.write_index(index, str(tmp_path / "index"))
    again = faiss.read_index(str(tmp_path / "index"))
    assert_array_equal(again.search(MANY[:9], 3)[1], index.search(MANY[:9], 3)[1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"index": "tree"}, "index='tree' is unknown: use one of 'flat', 'hnsw', 'ivf'"),
        ({"index": "ivf"}, 'index="ivf" needs X, rows by which its lists are laid out'),
        ({"X": MANY[:, :3]}, "X has 3 features, expected 20"),
        ({"X": MANY * np.nan}, "X contains NaN"),
        ({"index": "hnsw", "n_links": 1}, "n_links=1 must be a whole number at least 2"),
        (
            {"index": "ivf", "X": MANY, "n_lists": 5000},
            "n_lists=5000 must be a whole number from 1 to 4000",
        ),
    ],
)
def test_wrong_arguments_are_named(projection, arguments, message, faiss):
    with pytest.raises(ValueError, match=message):
        projection.to_faiss(**arguments)


def test_a_map_too_large_for_single_precision_is_named(projection, faiss):
    model = clone(projection).fit(MANY[:100])
    model.components_ = model.components_ * 1e60
    with pytest.raises(ValueError, match=r"components_ reaches .*, too large for the single"):
        model.to_faiss()


@pytest.mark.parametrize(("name", "library"), [("to_faiss", "faiss"), ("to_usearch", "usearch")])
def test_a_missing_library_is_named(projection, name, library, monkeypatch):
    for module in (library, f"{library}.index"):
        monkeypatch.setitem(sys.modules, module, None)
    message = rf"{name} needs {library}: pip install 'vicinal\[index\]'"
    with pytest.raises(ImportError, match=message):
        getattr(projection, name)()
    with pytest.raises(NotFittedError):
        getattr(LocalComponents(), name)()
