"""The same fit with smaller random batches: generalization and overfitting.

Nothing is penalized, held out or chosen; only the batches differ. Prints the table of
docs/explanation/random-batches.md and draws it.
"""

import numpy as np
from matplotlib.ticker import MaxNLocator
from style import BLUE, INK, ORANGE, panels, write

from vicinal import NeighborhoodComponents, datasets
from vicinal.nca import objective

N_TRAIN, SEEDS, N_UPDATES = 3000, (0, 1, 2), 600
SIZES = (100, 250, 500, 1000, 2000, 3000)


def split(seed):
    """Rows of usps to learn from, and all others."""
    usps = datasets.load("usps")
    order = np.random.default_rng(seed).permutation(len(usps.data))
    known, new = order[:N_TRAIN], order[N_TRAIN:]
    labels = np.unique(usps.target, return_inverse=True)[1]
    return usps.data[known], labels[known], usps.data[new], labels[new]


def accuracies(seed, size):
    """In percent: the objective over all training rows, and the rule on new rows."""
    X, y, X_new, y_new = split(seed)
    model = NeighborhoodComponents(
        5,
        solver="adam",
        batching="random",
        batch_size=size,
        max_iter=N_UPDATES,
        regularization=0.0,
        early_stopping=False,
        random_state=seed,
    ).fit(X, y)
    learned = objective(model.components_, X, y)[0] / len(X)
    return 100 * learned, 100 * model.score(X_new, y_new)


def main():
    """All sizes and seeds."""
    found = np.array([[accuracies(seed, size) for seed in SEEDS] for size in SIZES])
    mean, error = found.mean(axis=1), found.std(axis=1, ddof=1) / np.sqrt(len(SEEDS))
    for size, (train, test), (train_error, test_error) in zip(SIZES, mean, error, strict=True):
        print(f"| {size} | {train:.1f} ± {train_error:.1f} | {test:.1f} ± {test_error:.1f} |")
    figure, (ax,) = panels(1, 6.4, 3.8)
    known = {"mean of p on training rows": ORANGE, "NCA rule on new rows": BLUE}
    for which, (words, color) in enumerate(known.items()):
        ax.errorbar(
            SIZES, mean[:, which], error[:, which], color=color, lw=2.4, marker="o", label=words
        )
    ax.set_xscale("log")
    ax.set_xticks(SIZES, [str(size) for size in SIZES])
    ax.minorticks_off()
    ax.yaxis.set_major_locator(MaxNLocator(5))
    ax.tick_params(colors=INK)
    ax.set_xlabel(f"rows of a batch (of {N_TRAIN})", color=INK)
    ax.set_ylabel("percent", color=INK)
    ax.legend(frameon=False, labelcolor=INK)
    write(figure, "random-batches")


if __name__ == "__main__":
    main()
