"""
A supervised map of digits
==========================

A page has two dimensions, a picture of a digit has sixty-four. Which two directions show the digits
best? PCA keeps those that vary most, and discriminant analysis those that separate the class means.
:class:`~vicinal.NeighborhoodComponents` keeps those in which *neighbors* share a class.
"""

# %%
# One quarter of the pictures are held out. Each method learns its map from the others, with its
# default settings, and only the held-out pictures are drawn.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis

from vicinal import NeighborhoodComponents

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, stratify=y, random_state=0)

maps = {
    "PCA": PCA(n_components=2),
    "LDA": LinearDiscriminantAnalysis(n_components=2),
    "NCA of scikit-learn": NeighborhoodComponentsAnalysis(n_components=2, random_state=0),
    "vicinal": NeighborhoodComponents(n_components=2),
}

# %%
# To judge a map, we let neighbors vote: the 15 training pictures nearest to a new one on the map
# decide which digit it is.


def accuracy(model):
    """Share of new pictures whose 15 neighbors on the map name the right digit."""
    neighbors = KNeighborsClassifier(15).fit(model.transform(X_train), y_train)
    return neighbors.score(model.transform(X_test), y_test)


accuracies = {name: accuracy(model.fit(X_train, y_train)) for name, model in maps.items()}
for name, value in accuracies.items():
    print(f"{name}: {100 * value:.1f} %")

# %%
# Every new picture is drawn as the digit that it shows. Look for digits that lie among others:
# those are the ones the vote gets wrong.

COLORS = ("#000000", "#E69F00", "#56B4E9", "#009E73", "#B8A800", "#0072B2", "#D55E00", "#CC79A7")


def draw(ax, model):
    """Write the digits where the map puts them."""
    Z = model.transform(X_test)
    for (a, b), digit in zip(Z, y_test, strict=True):
        color = COLORS[digit % len(COLORS)]
        ax.text(a, b, str(digit), color=color, ha="center", va="center", size=8, weight="bold")
    ax.set(xticks=[], yticks=[])
    ax.update_datalim(Z)
    ax.autoscale_view()


figure, axes = plt.subplots(1, 3, figsize=(12, 4.4), layout="constrained")
for ax, name in zip(axes, ("PCA", "LDA", "vicinal"), strict=True):
    draw(ax, maps[name])
    ax.set_title(f"{name}: neighbors get {100 * accuracies[name]:.0f} % right")
plt.show()

# %%
# scikit-learn's NCA draws a map as good as vicinal's, within the noise of a single split. What
# vicinal adds is not in the picture: memory that does not grow with the square of the number of
# rows, a penalty chosen by cross-validation, and probabilities. A map that may bend does far
# better: supervised UMAP is ahead of any linear map (``docs/peers.md``).
