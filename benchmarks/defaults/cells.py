"""Every method on every split of every cell: a data set at full rank or in two dimensions."""

import argparse
import sys
import time
from collections.abc import Sequence

import numpy as np

from benchmarks.coincidence.scores import Failure
from benchmarks.common.records import Records
from benchmarks.common.scaling import standardized
from benchmarks.common.splits import Split, random_split
from benchmarks.defaults.methods import METHODS, Found, Method, Task
from vicinal import datasets

SETS = (
    "balance-scale",
    "ecoli",
    "glass",
    "ionosphere",
    "iris",
    "isolet",
    "landsat",
    "letter",
    "magic",
    "mnist",
    "new-thyroid",
    "pima",
    "segment",
    "sonar",
    "spectf",
    "transfusion",
    "usps",
    "wdbc",
    "wine",
    "yeast",
)
FIELDS = ("set", "d", "seed", "method")
MOST_ROWS = 5000
_LEAST_PROBABILITY = 1e-15


def split_of(name: str, seed: int) -> Split:
    """Rows of a set, at most 5000 of them, in two parts."""
    data = datasets.load(name)
    X, y = np.asarray(data.data, dtype=np.float64), np.asarray(data.target)
    if len(X) > MOST_ROWS:
        keep = np.random.default_rng(seed).choice(len(X), MOST_ROWS, replace=False)
        X, y = X[keep], y[keep]
    return random_split(X, y, seed)


def measure(records: Records, names: Sequence[str], options: argparse.Namespace) -> None:
    """Fill in what is not known yet."""
    for seed in range(options.splits):
        for name in names:
            raw = split_of(name, seed)
            for cell in ("full", "2"):
                d = raw.X.shape[1] if cell == "full" else 2
                limits = (options.peer_seconds, options.metric_learn)
                task = Task(raw, standardized(raw), d, seed, *limits)
                for method in METHODS:
                    _measure_one(records, (name, cell, seed, method.name), method, task, options)


def _measure_one(
    records: Records, key: tuple, method: Method, task: Task, options: argparse.Namespace
) -> None:
    cell, seed = key[1:3]
    is_asked = cell in method.cells and (not method.is_slow or seed < options.peer_splits)
    if not is_asked or records.get(key) is not None or _has_failed(records, key):
        return
    row = dict(zip(FIELDS, key, strict=True))
    start = time.perf_counter()
    try:
        row |= scores(method.run(task), task.raw.y_test)
    except Failure as failure:
        row["failure"], row["lasting"] = str(failure), bool(failure.lasting)
    row["seconds"] = time.perf_counter() - start
    records.add(row)
    said = row.get("failure") or f"{100 * row['accuracy']:.1f} % {row['log_loss']:.3f}"
    print(*key, said, f"{row['seconds']:.1f} s", file=sys.stderr, flush=True)


def _has_failed(records: Records, key: tuple) -> bool:
    """Whether the method went over its limits on the first split: it will again."""
    first = records.get((*key[:2], 0, key[3]))
    return first is not None and bool(first.get("lasting"))


def scores(found: Found, y: np.ndarray) -> dict[str, float]:
    """Accuracy and log-loss; a class that was not learned from has probability 0."""
    classes, probabilities = found
    place = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    own = np.where(classes[place] == y, probabilities[np.arange(len(y)), place], 0.0)
    right = classes[probabilities.argmax(axis=1)] == y
    loss = -np.log(np.clip(own, _LEAST_PROBABILITY, 1.0))
    return {"accuracy": float(right.mean()), "log_loss": float(loss.mean())}
