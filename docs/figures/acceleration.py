"""The gap of EM and SQUAREM to the optimum after each E-step, on iris and wine."""

import numpy as np
from sklearn.datasets import load_iris, load_wine
from style import BLUE, INK, ORANGE, panels, write

from vicinal import LocalComponents


def gaps(X, accelerate):
    """The gap to the optimum after each update, in nats per row."""
    best = LocalComponents(regularization=0.0, tol=0.0, max_iter=400).fit(X)
    model = LocalComponents(regularization=0.0, tol=0.0, max_iter=90, accelerate=accelerate)
    objective = model.fit(X).history_["objective"]
    return np.maximum(best.history_["objective"].max() - objective, 1e-13)


def main():
    """Two data sets, with and without acceleration."""
    figure, axes = panels(2, 4.4, 3.4)
    tables = {"iris": load_iris().data, "wine": load_wine().data}
    for ax, (name, X) in zip(axes, tables.items(), strict=True):
        for accelerate, color, words in ((False, ORANGE, "EM"), (True, BLUE, "SQUAREM")):
            left = gaps(X, accelerate)
            ax.semilogy(left[left > 1e-11], color=color, lw=2.4, label=words)
        ax.set_title(name, fontsize=13)
        ax.set_xlabel("updates", color=INK)
        ax.set_xlim(0, 90)
        ax.set_xticks([0, 30, 60, 90])
        ax.set_yticks([1, 1e-3, 1e-6, 1e-9])
        ax.tick_params(colors=INK, which="both")
        ax.minorticks_off()
    axes[0].set_ylabel("gap to optimum, nats per row", color=INK)
    axes[1].legend(frameon=False, labelcolor=INK)
    write(figure, "acceleration")


if __name__ == "__main__":
    main()
