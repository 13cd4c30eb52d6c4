"""
Divergence graphs for Isomap, t-SNE and UMAP
============================================

Most maps of a manifold begin with a graph of who is near whom. By Euclidean distance a thread in a
fog gets lost, because points of the fog that happen to be close become neighbors of the thread. A
divergence also compares *shapes*: around a point of the thread the data are thin and dense, around
a point of the fog they are wide and round. `DivergenceNeighbors` builds such graphs, and
`DivergenceEmbedding` hands them to Isomap, t-SNE or UMAP.
"""

# %%
# A thread in a fog
# -----------------
#
# Half of the points lie along a helix, half are spread evenly around it. No method below is told
# which is which; we use that only for colors and for counting.

import importlib.util
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from vicinal import DivergenceEmbedding, DivergenceNeighbors

# The graph of a fog may fall into pieces, which are then joined: a warning says so each time.
warnings.filterwarnings("ignore", message=".*component.*")
rng = np.random.default_rng(0)
turns = rng.uniform(0, 2, 300)
angle = 2 * np.pi * turns
helix = np.column_stack([np.cos(angle), np.sin(angle), turns - 1])
thread = helix + 0.03 * rng.normal(size=helix.shape)
fog = rng.uniform(-1.4, 1.4, size=(300, 3))
X, kind = np.vstack([thread, fog]), np.repeat([0, 1], 300)
COLORS = np.array(["#0072B2", "#E69F00"])  # Okabe and Ito: safe for color-blind eyes

# %%
# Two graphs
# ----------
#
# Each point is linked to its 15 nearest neighbors, once by Euclidean distance and once by Jeffreys
# divergence. How many links join the thread to the fog, and should not?


def edges(divergence: str) -> np.ndarray:
    """Pairs of linked points, without those of a point with itself."""
    graph = (
        DivergenceNeighbors(divergence=divergence, n_graph_neighbors=15).fit_transform(X).tocoo()
    )
    pairs = np.column_stack([graph.row, graph.col])
    return pairs[graph.row != graph.col]


def draw_edges(ax, pairs: np.ndarray, title: str) -> None:
    """Only the links that mix the two kinds, over all points."""
    mixed = pairs[kind[pairs[:, 0]] != kind[pairs[:, 1]]]
    for i, j in mixed:
        ax.plot(*X[[i, j]].T, color="#777777", linewidth=0.5, alpha=0.5)
    for label, name in enumerate(("thread", "fog")):
        ax.scatter(*X[kind == label].T, s=6, color=COLORS[label], label=name, depthshade=False)
    ax.set(title=title, xticks=[], yticks=[], zticks=[])


GRAPHS = {"Euclid": "euclidean", "Jeffreys": "jeffreys"}
figure, axes = plt.subplots(
    1, 2, figsize=(9, 4.6), layout="constrained", subplot_kw={"projection": "3d"}
)
for ax, (name, divergence) in zip(axes, GRAPHS.items(), strict=True):
    pairs = edges(divergence)
    mixed = np.mean(kind[pairs[:, 0]] != kind[pairs[:, 1]])
    print(f"{name}: {mixed:.1%} of the links join thread and fog")
    draw_edges(ax, pairs, f"{name}: {mixed:.0%} of links are wrong (gray)")
axes[0].legend(loc="lower left", markerscale=3)

# %%
# Three maps of each graph
# ------------------------
#
# The methods keep their default settings; only the graph changes. The percentage in each title says
# how often a point's five nearest neighbors on the map tell whether it is thread or fog, by
# five-fold cross-validation. UMAP needs the package umap-learn.

METHODS = {"isomap": "Isomap", "tsne": "t-SNE", "umap": "UMAP"}
if importlib.util.find_spec("umap") is None:
    print("umap-learn is not installed, so UMAP is left out: pip install 'vicinal[umap]'")
    del METHODS["umap"]

figure, axes = plt.subplots(
    2, len(METHODS), figsize=(3.3 * len(METHODS), 6.6), layout="constrained"
)
for row, (name, divergence) in zip(axes, GRAPHS.items(), strict=True):
    for ax, (method, title) in zip(row, METHODS.items(), strict=True):
        Z = DivergenceEmbedding(method=method, divergence=divergence, random_state=0).fit_transform(
            X
        )
        accuracy = cross_val_score(KNeighborsClassifier(5), Z, kind).mean()
        print(f"{title}, {name}: {accuracy:.1%}")
        ax.scatter(*Z.T, c=COLORS[kind], s=7)
        ax.set(title=f"{title}, {name}: {accuracy:.0%}", xticks=[], yticks=[])

plt.show()

# %%
# All three gain, t-SNE and UMAP most, because in these data regions differ in density and in shape.
# Where classes are compact clouds of similar density, as in wine or iris, the Euclidean graph is as
# good, and where neighborhoods are too small to show a shape it is better by a point (on wdbc and
# segment; all ten data sets are in ``benchmarks/results/divergence_accuracy.md``).
