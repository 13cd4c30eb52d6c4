"""Distances of coinciding and other pairs, before and after learning, and their probabilities."""

import numpy as np
from sklearn.datasets import load_wine
from style import BLUE, INK, ORANGE, panels, write

from vicinal import LatentCoincidence, sample_pairs


def bars(ax, squared, coincide, title):
    """Histograms of the distances of both kinds of pairs, in units of the median."""
    distances = np.sqrt(squared / np.median(squared))
    edges = np.linspace(0, 3.25, 27)
    for which, color in ((coincide, BLUE), (~coincide, ORANGE)):
        ax.hist(distances[which], edges, color=color, alpha=0.65)
    ax.set_title(title, fontsize=12)
    ax.set_xlabel("distance of a pair", color=INK)


def main():
    """New pairs of wines, by their columns and by a map learned from other wines."""
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    rng = np.random.RandomState(0)
    learn = rng.permutation(len(X)) < 110
    pairs, coincide = sample_pairs(y[learn], 1500, random_state=0)
    model = LatentCoincidence().fit_pairs(pairs, coincide, X[learn])
    new, together = sample_pairs(y[~learn], 1500, random_state=1)
    first, second = X[~learn][new[:, 0]], X[~learn][new[:, 1]]
    together = together.astype(bool)
    figure, (before, after, said) = panels(3, 3.4, 3.3)
    bars(before, np.square(first - second).sum(axis=1), together, "standardized columns")
    mapped = model.transform(first) - model.transform(second)
    bars(after, np.square(mapped).sum(axis=1), together, "under the learned map")
    probability = model.pair_probability(np.stack([first, second], axis=1))
    for which, color in ((together, BLUE), (~together, ORANGE)):
        said.hist(probability[which], np.linspace(0, 1, 21), color=color, alpha=0.65)
    said.set_title("the learned probability", fontsize=12)
    said.set_xlabel("probability of the same class, 0 to 1", color=INK)
    before.text(
        0.97, 0.95, "same class", color=BLUE, ha="right", va="top", transform=before.transAxes
    )
    before.text(
        0.97,
        0.86,
        "different classes",
        color=ORANGE,
        ha="right",
        va="top",
        transform=before.transAxes,
    )
    write(figure, "latent-coincidence")


if __name__ == "__main__":
    main()
