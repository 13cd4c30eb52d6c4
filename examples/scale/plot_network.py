"""
A network that learns NCA
=========================

Neighborhood component analysis (NCA) learns a linear map. Its objective depends only on where
points end up, so a network can take the place of the map. ``vicinal.torch.NeighborhoodLoss`` is
that objective as a loss for PyTorch. Its gradients are exact, and its memory grows with the number
of rows in a batch, not with the number of pairs.

In the plane, a nonlinear map is worth a lot: two linear directions cannot keep ten digits apart.
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
# Two hidden layers and a plain PyTorch loop. All the loss needs is where the network puts the rows
# of a batch, and their labels. The tails of a Student kernel reach across the gaps between classes.
# The settings are those of ``examples/scale/nonlinear_nca.py``, with a quarter of its epochs. They
# were chosen on other rows, never on the test rows.

N_EPOCHS, BATCH, RATE = 40, 300, 0.01


def learned_network(X: np.ndarray, y: np.ndarray):
    """A map to the plane, and the loss after each epoch."""
    import torch
    from torch import nn

    from vicinal.torch import NeighborhoodLoss

    torch.manual_seed(0)
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
# The percentage is how often the 15 nearest training rows in the plane vote for the right digit.


def accuracy(transform) -> float:
    """Accuracy on the test rows, by their neighbors in the plane."""
    neighbors = KNeighborsClassifier(15).fit(transform(X_train), y_train)
    return neighbors.score(transform(X_test), y_test)


def draw(ax, Z: np.ndarray, title: str) -> None:
    """Draw each test row as its digit, for those who cannot tell the colors apart."""
    colors = plt.get_cmap("cividis")(np.linspace(0, 0.95, 10))
    for digit in range(10):
        ax.scatter(
            *Z[y_test == digit].T, marker=f"${digit}$", s=36, linewidth=0.3, color=colors[digit]
        )
    ax.set(title=title, xticks=[], yticks=[])


def main() -> None:
    """Learn both maps, print their accuracies and draw them."""
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
# Trained for all its epochs, the network is ahead of supervised UMAP on mnist, too: see
# ``examples/scale/nonlinear_nca.py`` and ``benchmarks/results/nonlinear_nca.md``.
