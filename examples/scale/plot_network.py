"""
A network that learns NCA
=========================

Neighborhood component analysis learns a linear map. Its objective asks only where points end up,
so a network can take the place of the map. ``vicinal.torch.NeighborhoodLoss`` is that objective as
a loss for PyTorch, with exact gradients, and memory that grows with the rows of a batch rather than
with their pairs.

In the plane, a map that may bend is worth a lot: ten digits do not fit into two linear directions.
"""

# %%
# Digits, split before anything else
# ----------------------------------

import importlib.util

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from vicinal import NeighborhoodComponents

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X / 16, y, test_size=0.3, stratify=y, random_state=0
)

# %%
# The network and its loop
# ------------------------
#
# Two hidden layers and a plain PyTorch loop. The loss takes the batch in the plane and its labels,
# and nothing else. The Student kernel has tails that reach across the gaps between classes. The
# settings are those of ``examples/scale/nonlinear_nca.py``, with a quarter of its epochs. They were
# chosen on other rows, never on the test rows.

N_EPOCHS, BATCH, RATE = 40, 300, 0.01
COLORS = ("#000000", "#E69F00", "#56B4E9", "#009E73", "#B8A800", "#0072B2", "#D55E00", "#CC79A7")


def learned_network(X: np.ndarray, y: np.ndarray):
    """A map to the plane, and the loss after each epoch."""
    import torch
    from torch import nn

    from vicinal.torch import NeighborhoodLoss

    torch.manual_seed(0)
    torch.set_num_threads(1)  # more wait for each other where other programs are busy
    network = nn.Sequential(
        *(nn.Dropout(0.2), nn.Linear(X.shape[1], 500), nn.BatchNorm1d(500), nn.ReLU()),
        *(nn.Dropout(0.2), nn.Linear(500, 500), nn.BatchNorm1d(500), nn.ReLU()),
        nn.Linear(500, 2),
    )
    points, labels = torch.tensor(X, dtype=torch.float32), torch.tensor(y)
    n_batches = -(-len(X) // BATCH)
    adam = torch.optim.AdamW(network.parameters(), RATE, weight_decay=0.01)
    rates = torch.optim.lr_scheduler.OneCycleLR(adam, RATE, total_steps=n_batches * N_EPOCHS)
    objective, losses = NeighborhoodLoss("log", kernel="student"), []
    for _ in range(N_EPOCHS):
        epoch = []
        for rows in torch.randperm(len(X)).chunk(n_batches):
            adam.zero_grad()
            loss = objective(network(points[rows]), labels[rows])
            loss.backward()
            adam.step()
            rates.step()
            epoch.append(loss.item())
        losses.append(np.mean(epoch))
    network.eval()

    def transform(rows: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return network(torch.tensor(rows, dtype=torch.float32)).numpy()

    return transform, losses


# %%
# The test digits in the plane
# ----------------------------
#
# The percentage is how often the 15 nearest training rows in the plane get a test digit right.


def accuracy(transform) -> float:
    """Share of test rows that their neighbors in the plane get right."""
    neighbors = KNeighborsClassifier(15).fit(transform(X_train), y_train)
    return neighbors.score(transform(X_test), y_test)


def draw(ax, Z: np.ndarray, title: str) -> None:
    """Each test row as its digit: shapes tell what colors may not."""
    for digit in range(10):
        color = COLORS[digit % len(COLORS)]
        ax.scatter(*Z[y_test == digit].T, marker=f"${digit}$", s=40, linewidth=0.3, color=color)
    ax.set(title=title, xticks=[], yticks=[])


def main() -> None:
    """Learn both, print and draw."""
    transform, losses = learned_network(X_train, y_train)
    linear = NeighborhoodComponents(2, random_state=0).fit(X_train, y_train)
    _, axes = plt.subplots(1, 3, figsize=(13, 4.6), layout="constrained", width_ratios=(3, 3, 2))
    maps = {"a linear map": linear.transform, "a network": transform}
    for ax, (name, method) in zip(axes, maps.items(), strict=False):
        share = accuracy(method)
        print(f"{name}: {share:.1%} of {len(X_test)} test digits")
        draw(ax, method(X_test), f"NCA with {name}: {share:.1%}")
    axes[2].plot(range(1, N_EPOCHS + 1), losses, color="#0072B2")
    axes[2].set(title="What the network minimizes", xlabel="epoch", ylabel="-mean log p (training)")
    plt.show()


if importlib.util.find_spec("torch") is None:
    reason = "torch is not installed, so there is nothing to train: pip install 'vicinal[gpu]'"
    print(reason)
    plt.figure(figsize=(8, 1)).text(0.5, 0.5, reason, ha="center")
else:
    main()

# %%
# With all its epochs, the network is ahead of supervised UMAP on mnist, too: see
# ``examples/scale/nonlinear_nca.py`` and ``benchmarks/results/nonlinear_nca.md``.
