import numpy as np
import pytest
from report.pictures import blobs, new_axes, note, words
from scipy.sparse import csr_array
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import DivergenceEmbedding, DivergenceNeighbors, NeighborhoodComponents
from vicinal.report import NeighborhoodGraphDisplay
from vicinal.report.numbers.edges import edges_of
from vicinal.voting import nearest_others

X, y = blobs(3, 90, n_components=4)
Z = X[:, :2]


def graph(model, *args, **options):
    return NeighborhoodGraphDisplay.from_estimator(model, *args, ax=new_axes(), **options)


def pairs(matrix):
    """Edges of a dense matrix by a plain loop."""
    found = set()
    for i in range(len(matrix)):
        for j in range(len(matrix)):
            if i != j and matrix[i, j] != 0:
                found.add((min(i, j), max(i, j)))
    return sorted(found)


def drawn(display):
    lines = [display.edges_] + [display.crossing_edges_] * (display.crossing_edges_ is not None)
    return np.concatenate([np.array(c.get_segments()).reshape(-1, 2, 2) for c in lines])


def test_every_edge_is_drawn_once():
    neighbors = kneighbors_graph(Z, 4, mode="distance")
    display = NeighborhoodGraphDisplay.from_predictions(Z, neighbors, y, ax=new_axes())
    expected = pairs(neighbors.toarray())
    ends = Z[np.array(expected)].reshape(-1, 4)
    assert sorted(map(tuple, drawn(display).reshape(-1, 4))) == sorted(map(tuple, ends))
    crossing = [i for i, j in expected if y[i] != y[j]]
    assert len(display.crossing_edges_.get_segments()) == len(crossing)
    assert display.crossing_share_ == len(crossing) / len(expected)
    assert f"{len(expected)} edges, " in note(display)
    assert words(display.names_) == ["0", "1", "2"]


def test_edges_within_a_class_have_its_color():
    display = NeighborhoodGraphDisplay(Z, np.ones((90, 90)), y).plot(ax=new_axes())
    assert len({tuple(color[:3]) for color in display.edges_.get_colors()}) == 3
    assert len(display.crossing_edges_.get_colors()) == 1


def test_without_labels_no_edge_stands_out():
    display = NeighborhoodGraphDisplay(Z, kneighbors_graph(Z, 3)).plot(ax=new_axes())
    assert display.crossing_edges_ is None
    assert display.crossing_share_ is None
    assert "different classes" not in note(display)


def test_stored_zeros_are_edges():
    twins = csr_array((np.zeros(2), ([0, 1], [1, 0])), shape=(3, 3))
    np.testing.assert_array_equal(edges_of(twins, 3), [[0, 1]])


def test_no_edges():
    display = NeighborhoodGraphDisplay(Z, csr_array((90, 90)), y).plot(ax=new_axes())
    assert note(display) == "0 edges"


def test_the_graph_of_divergences():
    model = DivergenceNeighbors(n_graph_neighbors=4, gamma=0.1)
    made = model.fit_transform(X)
    display = graph(model, X, y)
    np.testing.assert_array_equal(edges_of(display.graph, 90), edges_of(made, 90))
    assert note(display).startswith("plane of largest variance")
    fewer = graph(model, X, y, n_neighbors=2)
    dense = made.toarray()
    dense[dense == 0] = np.inf
    nearest = np.argsort(dense, axis=1)[:, :2]
    expected = {(min(i, j), max(i, j)) for i in range(90) for j in nearest[i]}
    assert set(map(tuple, edges_of(fewer.graph, 90).tolist())) == expected


def test_a_dense_model_shows_its_nearest():
    model = DivergenceNeighbors(gamma=0.1).fit(X)
    sparse = DivergenceNeighbors(gamma=0.1, n_graph_neighbors=3).fit(X)
    one, other = graph(model, X, n_neighbors=3), graph(sparse, X)
    np.testing.assert_array_equal(edges_of(one.graph, 90), edges_of(other.graph, 90))


def test_an_embedding_shows_its_own_coordinates():
    model = DivergenceEmbedding(gamma=0.1, random_state=0, n_graph_neighbors=30).fit(X)
    display = graph(model, X, y)
    np.testing.assert_array_equal(display.embedding, model.embedding_)
    places = graph(model, X, y, embedding=Z)
    np.testing.assert_array_equal(places.embedding, Z)


def test_neighbors_in_a_learned_metric():
    chain = make_pipeline(StandardScaler(), NeighborhoodComponents(2)).fit(X, y)
    display = graph(chain, X, y, n_neighbors=6)
    expected = kneighbors_graph(chain.transform(X), 6)
    np.testing.assert_array_equal(edges_of(display.graph, 90), edges_of(expected, 90))
    assert display.ax_.get_title() == "NeighborhoodComponents"


def test_twins_are_not_their_own_neighbors():
    same = np.zeros((6, 2))
    near = nearest_others(same, np.arange(6), 3)[1]
    assert near.shape == (6, 3)
    assert not (near == np.arange(6)[:, None]).any()


def test_of_many_edges_those_of_a_sample_are_drawn():
    points, labels = blobs(2, 10_000)
    near = kneighbors_graph(points, 5)
    display = NeighborhoodGraphDisplay(points, near, labels).plot(ax=new_axes())
    edges = edges_of(near, 10_000)
    n_drawn = len(drawn(display))
    assert 10_000 < n_drawn <= 22_000
    assert f"drawn: the {n_drawn:,} edges of " in note(display)
    share = (labels[edges[:, 0]] != labels[edges[:, 1]]).mean()
    assert display.crossing_share_ == share  # of all edges
    assert display.edges_.get_rasterized()


def test_a_million_points():
    points = np.random.default_rng(0).standard_normal((1_000_000, 2))
    labels = (points[:, 0] > 0).astype(int)
    model = NeighborhoodComponents(2).fit(points[:100], labels[:100])
    display = graph(model, points, labels)
    assert "neighbors of a sample of 2,000 points, among all" in note(display)
    assert 2_000 * 5 / 2 <= len(drawn(display)) <= 2_000 * 5
    n_shown = sum(len(c.get_offsets()) for c in display.points_)
    assert n_shown < 25_000
    assert f"a sample of {n_shown:,} of 1,000,000 points" in note(display)


def test_one_component():
    display = NeighborhoodGraphDisplay(Z[:, :1], kneighbors_graph(Z, 2), y).plot(ax=new_axes())
    assert "height has no meaning" in note(display)


@pytest.mark.parametrize("n_classes", [2, 26])
def test_classes(n_classes):
    points, labels = blobs(n_classes, 5 * n_classes)
    display = NeighborhoodGraphDisplay(points, kneighbors_graph(points, 2), labels)
    assert len(display.plot(ax=new_axes()).names_) == n_classes


def test_bad_input():
    with pytest.raises(ValueError, match=r"graph has shape \(3, 3\), expected \(90, 90\)"):
        NeighborhoodGraphDisplay(Z, np.eye(3)).plot(ax=new_axes())
    model = DivergenceNeighbors(gamma=0.1).fit(X)
    with pytest.raises(ValueError, match="X has 10 rows, but estimator was fitted to 90"):
        graph(model, X[:10])
    metric = NeighborhoodComponents(2).fit(X, y)
    with pytest.raises(ValueError, match="n_neighbors=90 must be"):
        graph(metric, X, n_neighbors=90)
    with pytest.raises(ValueError, match="n_neighbors=0 must be"):
        graph(metric, X, n_neighbors=0)
