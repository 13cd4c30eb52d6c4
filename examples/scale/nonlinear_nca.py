"""Nonlinear NCA: a network trained with NCA's objective, beside supervised UMAP in the plane.

    python examples/scale/nonlinear_nca.py [--output nonlinear_nca.png] [--full]

maps scikit-learn's digits, and mnist (3000 training rows, 2000 test rows) if VICINAL_DATA has it,
to two dimensions: with a linear map, with supervised UMAP and with a network. For each of them it
prints how often the 15 nearest training rows vote for the right class of a test row, and how many
seconds of CPU time it takes to learn the map and to apply it to the test rows; then it draws the
test rows. This takes two minutes on two cores; `--full` trains the network three times as long.
Needs the extras gpu (a torch without CUDA will do), umap and report.

Nothing was chosen on the test rows. Width, dropout, decay, objective, kernel, rate, batches and
epochs of the network, and some settings of UMAP (none was clearly better than its defaults), were
compared on rows of mnist that are in neither part here, and on parts of the training rows of
digits.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from matplotlib.figure import Figure
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from torch import nn
from torch.optim.lr_scheduler import OneCycleLR
from umap import UMAP

from vicinal import NeighborhoodComponents, datasets
from vicinal.report import ProjectionDisplay
from vicinal.report.support import save_figure
from vicinal.torch import NeighborhoodLoss

WIDTH, DROPOUT, BATCH, RATE, DECAY = 500, 0.2, 300, 0.01, 0.01
EPOCHS, EPOCHS_FULL = 160, 480
N_NEIGHBORS = 15
COLUMNS = ("data", "method", f"{N_NEIGHBORS}-NN, %", "fit, s", "transform, s")


class NonlinearNca(TransformerMixin, BaseEstimator):
    """A network to the plane that gives rows soft neighbors of their own class.

    Parameters
    ----------
    n_epochs : int, default=160
    random_state : int, default=0
    """

    def __init__(self, n_epochs: int = EPOCHS, random_state: int = 0) -> None:
        self.n_epochs, self.random_state = n_epochs, random_state

    def fit(self, X: np.ndarray, y: np.ndarray) -> "NonlinearNca":
        """Learn from batches, in which each row looks at all others."""
        torch.manual_seed(self.random_state)
        points, labels = torch.tensor(X, dtype=torch.float32), torch.tensor(y)
        self.network_ = network(X.shape[1])
        n_batches = -(-len(X) // BATCH)
        adam, schedule = optimizer(self.network_, n_batches * self.n_epochs)
        # On held-out rows as accurate as a Gaussian; its tails reach across gaps in the plane.
        loss = NeighborhoodLoss("log", kernel="student")
        for _ in range(self.n_epochs):
            for rows in torch.randperm(len(X)).chunk(n_batches):
                adam.zero_grad()
                loss(self.network_(points[rows]), labels[rows]).backward()
                adam.step()
                schedule.step()
        self.network_.eval()
        return self

    @torch.no_grad()
    def transform(self, X: np.ndarray) -> np.ndarray:
        """Map rows to the plane."""
        return self.network_(torch.tensor(X, dtype=torch.float32)).numpy()


def network(n_features: int) -> nn.Sequential:
    """Two hidden layers; no dropout right before the plane, which has no room to spare."""
    return nn.Sequential(
        nn.Dropout(DROPOUT),
        nn.Linear(n_features, WIDTH),
        nn.BatchNorm1d(WIDTH),
        nn.ReLU(),
        nn.Dropout(DROPOUT),
        nn.Linear(WIDTH, WIDTH),
        nn.BatchNorm1d(WIDTH),
        nn.ReLU(),
        nn.Linear(WIDTH, 2),
    )


def optimizer(model: nn.Module, n_steps: int) -> tuple[torch.optim.Optimizer, OneCycleLR]:
    """Adam, with a rate that rises at first and falls to almost nothing by the end."""
    adam = torch.optim.AdamW(model.parameters(), RATE, weight_decay=DECAY)
    return adam, OneCycleLR(adam, RATE, total_steps=n_steps)


class Plane(NamedTuple):
    """Test rows in the plane, and seconds of CPU time: to learn the map, and to apply it."""

    data: str
    method: str
    Z: np.ndarray
    y: np.ndarray
    accuracy: float
    fit_seconds: float
    transform_seconds: float

    def cells(self) -> tuple[str, ...]:
        """As a row of the table."""
        seconds = (f"{self.fit_seconds:.1f}", f"{self.transform_seconds:.2f}")
        return self.data, self.method, f"{100 * self.accuracy:.1f}", *seconds


def compared(name: str, split: list[np.ndarray], n_epochs: int, seed: int = 0) -> Iterator[Plane]:
    """Each method on the same rows."""
    yield placed(name, "linear NCA", NeighborhoodComponents(2, random_state=seed), split)
    yield placed(name, "supervised UMAP", UMAP(random_state=seed, n_jobs=1), split)
    yield placed(name, "nonlinear NCA", NonlinearNca(n_epochs, seed), split)


def placed(name: str, method: str, model: BaseEstimator, split: list[np.ndarray]) -> Plane:
    """Learn from some rows, map the others, and ask their neighbors."""
    X, X_test, y, y_test = split
    start = time.process_time()
    model.fit(X, y)
    learned = time.process_time()
    Z_test = model.transform(X_test)
    end = time.process_time()
    neighbors = KNeighborsClassifier(N_NEIGHBORS).fit(model.transform(X), y)
    accuracy = neighbors.score(Z_test, y_test)
    return Plane(name, method, Z_test, y_test, accuracy, learned - start, end - learned)


def warm_up() -> None:
    """Compile what is compiled on first use, so that only the work itself is timed.

    Torch gets one thread: where other programs are busy, two wait for each other most of the time.
    """
    torch.set_num_threads(1)
    X, y = load_digits(n_class=3, return_X_y=True)
    for _ in compared("", train_test_split(X / 16, y, random_state=0), n_epochs=1):
        pass


def draw(planes: list[Plane], path: Path) -> None:
    """A picture with a row of panels for each set."""
    n_rows = len({plane.data for plane in planes})
    figure = Figure(figsize=(13.2, 4.7 * n_rows))
    # Margins are given, not found: names of classes are placed for the final size.
    figure.subplots_adjust(left=0.01, right=0.99, bottom=0.03, top=0.95, wspace=0.04, hspace=0.12)
    for ax, plane in zip(figure.subplots(n_rows, 3).flat, planes, strict=True):
        title = f"{plane.data}, {plane.method}: {plane.accuracy:.1%}"
        ProjectionDisplay(plane.Z, plane.y, title=title).plot(ax=ax)
    save_figure(figure, path, dpi=80)


def sets() -> Iterator[tuple[str, list[np.ndarray]]]:
    """Name and split of each data set: training rows, test rows, and the labels of both."""
    X, y = load_digits(return_X_y=True)
    yield "digits", train_test_split(X / 16, y, test_size=0.3, stratify=y, random_state=0)
    if not datasets.is_available("mnist"):
        print("mnist is not here and was skipped: set VICINAL_DATA.")
        return
    mnist = datasets.load("mnist", download=False)
    X, y, sizes = mnist.data, mnist.target, {"train_size": 3000, "test_size": 2000}
    X, X_test, y, y_test = train_test_split(X, y, **sizes, stratify=y, random_state=0)
    yield "mnist", [X / 255, X_test / 255, y, y_test]


def show(cells: tuple[str, ...]) -> None:
    """Print a row of the table."""
    print(*(f"{cell:<15}" for cell in cells), flush=True)


def main() -> None:
    """Measure, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, default="nonlinear_nca.png", help="the picture")
    parser.add_argument("--full", action="store_true", help="train the network longer")
    options = parser.parse_args()
    warm_up()
    show(COLUMNS)
    planes = []
    for name, split in sets():
        for plane in compared(name, split, EPOCHS_FULL if options.full else EPOCHS):
            show(plane.cells())
            planes.append(plane)
    draw(planes, options.output)


if __name__ == "__main__":
    main()
