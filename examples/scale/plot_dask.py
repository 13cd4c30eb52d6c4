"""
A fit on a Dask cluster
=======================

Rows that are on a cluster can stay there. Given a Dask array and an open client, the workers
compute the sums over pairs and send back only small results. Up to rounding, the model is the one
that a single machine would learn.

Here the "cluster" is two workers in this process. With ``Client("tcp://scheduler:8786")``, the rest
of the code would be the same.
"""

# %%
# Rows in chunks
# --------------
#
# Two directions out of twenty tell the four classes apart.

import importlib.util
import warnings

import matplotlib.pyplot as plt
import numpy as np

from vicinal import NeighborhoodComponents

FEW, MANY = 1, 5  # updates
BATCH, N_COLUMNS = 1600, 20


def rows_of(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows and their classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(4, size=n)
    X = rng.normal(size=(n, N_COLUMNS))
    X[:, 0] += 3 * (y % 2)
    X[:, 1] += 3 * (y // 2)
    return X @ np.linalg.qr(np.random.default_rng(1).normal(size=(N_COLUMNS, N_COLUMNS)))[0], y


def new_model(n_updates: int = MANY) -> NeighborhoodComponents:
    """Each update compares 1600 rows with all others, wherever these are."""
    return NeighborhoodComponents(
        2,
        batching="stochastic",
        batch_size=BATCH,
        max_iter=n_updates,
        early_stopping=False,
        regularization=0.001,
        random_state=0,
    )


# %%
# Fit where the rows are
# ----------------------
#
# Workers count what they send. A fit also looks over all rows when it begins, so we subtract a fit
# of one update from a fit of five: what is left is what the four other updates moved.


def megabytes_sent(client) -> float:
    """Sent by all workers so far."""
    counts = client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)
    return sum(counts.values()) / 1e6


def fit_on(client, X: np.ndarray, y: np.ndarray) -> tuple[NeighborhoodComponents, float]:
    """A model, and the megabytes that an update moved."""
    import dask.array as da

    chunked, sent = da.from_array(X, chunks=(5000, N_COLUMNS)), []
    for n_updates in (FEW, MANY):
        before = megabytes_sent(client)
        model = new_model(n_updates).fit(chunked, y)
        sent.append(megabytes_sent(client) - before)
    return model, (sent[1] - sent[0]) / (MANY - FEW)


# %%
# Once more on one machine
# ------------------------
#
# The picture shows the objective of both fits, update by update, and how much an update moves as
# the rows grow in number. The batch moves; the rows do not. Accuracy is measured on new rows.


def draw(models: dict, sizes: list[int], moved: list[float]) -> None:
    """Left: the same course. Right: traffic beside the size of the rows."""
    _, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    styles = (("#0072B2", "-", 5), ("#E69F00", "--", 2))
    for (name, model), (color, line, width) in zip(models.items(), styles, strict=True):
        objective = model.history_["objective"]
        left.plot(objective, color=color, linestyle=line, linewidth=width, label=name)
    left.set(title="The same fit", xlabel="update", ylabel="objective of a batch")
    left.legend()
    thousands = np.array(sizes) / 1000
    right.plot(thousands, np.array(sizes) * N_COLUMNS * 8 / 1e6, "s--", color="#E69F00")
    right.plot(thousands, moved, "o-", color="#0072B2")
    right.annotate("all rows", (thousands[-2] - 1, sizes[-2] * N_COLUMNS * 8e-6 + 0.2), ha="right")
    right.annotate("moved by an update", (thousands[-2], moved[-2] + 0.2), ha="center", va="bottom")
    right.set(title="What moves", xlabel="thousand rows", xticks=thousands, ylabel="megabytes")
    right.set_ylim(0, None)


def main() -> None:
    """Fit both ways, print and draw."""
    from dask.distributed import Client, LocalCluster

    sizes = [20_000, 30_000, 40_000]
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    )
    with cluster, Client(cluster) as client:
        fits = [fit_on(client, *rows_of(n)) for n in sizes]
        moved = [megabytes for _, megabytes in fits]
        there = fits[0][0]
    X, y = rows_of(sizes[0])
    here = new_model().fit(X, y)
    apart = np.abs(there.components_ - here.components_).max() / np.abs(here.components_).max()
    X_test, y_test = rows_of(2000, seed=2)
    print(f"engine: {there.engine_} ({there.engine_reason_})")
    print(f"the two maps differ by {apart:.0e} of their largest entry")
    print(f"test accuracy: cluster {there.score(X_test, y_test):.1%}", end=", ")
    print(f"one machine {here.score(X_test, y_test):.1%}")
    for n, megabytes in zip(sizes, moved, strict=True):
        print(f"{n:,} rows: an update moved {megabytes:.2f} MB")
    draw({"cluster": there, "one machine": here}, sizes, moved)
    plt.show()


if importlib.util.find_spec("distributed") is None:
    reason = "dask is not installed, so there is no cluster: pip install 'vicinal[dask]'"
    print(reason)
    plt.figure(figsize=(8, 1)).text(0.5, 0.5, reason, ha="center")
else:
    warnings.filterwarnings("ignore", category=UserWarning, module="distributed")
    main()

# %%
# A cluster inside one process is no faster. Two workers with a core each were 1.9 times as fast as
# one (``benchmarks/results/cluster.md``, ``docs/scale.md``).
