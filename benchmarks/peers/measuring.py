"""One fit in a process of its own, and the accuracy of neighbors by its map."""

import contextlib
import datetime
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.common.arrays import read_array, write_arrays
from benchmarks.common.children import OverLimit, in_fresh_process, last_line
from benchmarks.common.judging import neighbor_accuracy
from benchmarks.common.records import Records
from benchmarks.common.scaling import standardized, varying
from benchmarks.common.splits import TEST_SHARE, Split, split_at, stratified_split
from benchmarks.peers.code import FIT
from benchmarks.peers.methods import METHODS, Setting
from vicinal import datasets

PIXELS = ("usps_roweis", "mnist")
NEIGHBORS = 5  # of the rule that the figure shows

GIGABYTES = 16
# What a process may take beyond the limit of its fit: to start, to warm up and to transform.
SPARE_SECONDS = 180
WARM_UP_ROWS = 1000


def split_of(name: str, seed: int, most: int) -> Split:
    """Other rows for every seed, at most so many for training; the same for every method.

    Pixels from 0 to 1, others standardized, by the training part; no constant columns.
    """
    data = datasets.load(name, download=False)
    part = raw_split(data.data, data.target, data.train if name == "mnist" else None, seed)
    part = part._replace(X=part.X[:most], y=part.y[:most])
    part = part.mapped(lambda points: points.astype(np.float64))
    if name in PIXELS:
        return varying(part).mapped(lambda points: points / 255.0)
    return standardized(part)


def raw_split(X: np.ndarray, y: np.ndarray, train: np.ndarray | None, seed: int) -> Split:
    """Random 70/30, or the customary test rows and a random order of the training rows."""
    if train is None:
        return stratified_split(X, y, seed, test_size=TEST_SHARE)
    order = np.random.default_rng(seed).permutation(np.flatnonzero(train))
    return split_at(X, y, order, ~train)


class Task(NamedTuple):
    """One fit."""

    set: str
    d: int
    method: str
    setting: Setting
    seed: int
    max_train: int


class Store:
    """Results of tasks, kept in a file of JSON lines where one is given."""

    def __init__(self, path: Path | None, limit: float) -> None:
        self.limit = limit
        self.records = Records(path, Task._fields)

    def get(self, task: Task) -> dict | None:
        """What is known; a fit that was given up sooner than now is not."""
        row = self.records.get(task)
        gave_up = row is not None and row.get("lasting") and row["limit"] < self.limit
        return None if gave_up else row

    def add(self, task: Task, result: dict) -> dict:
        """Keep what was measured today."""
        today = datetime.date.today().isoformat()
        return self.records.add({**task._asdict(), "limit": self.limit, "date": today, **result})


class Laboratory:
    """Measures tasks; the split at hand lies in a folder for the processes to read."""

    def __init__(self, store: Store, pythons: dict[str, str], limit: float) -> None:
        self.store, self.pythons, self.limit = store, pythons, limit
        self.at_hand: tuple | None = None
        self.part: Split | None = None

    @contextlib.contextmanager
    def open(self) -> Iterator["Laboratory"]:
        """With a folder that is removed at the end."""
        with tempfile.TemporaryDirectory() as folder:
            self.folder = Path(folder)
            yield self

    def curve(self, task: Task) -> list[dict]:
        """Results of a method's settings, until one takes too much."""
        rows: list[dict] = []
        for setting in METHODS[task.method].settings:
            if rows and rows[-1].get("lasting"):
                idle = {"setting": setting, "problem": "not tried", "lasting": True}
                rows.append({**task._asdict(), **idle})
                continue
            rows.append(self.result(task._replace(setting=setting)))
        return rows

    def result(self, task: Task) -> dict:
        """Known already, or measured now."""
        return self.store.get(task) or self.store.add(task, self.measure(task))

    def measure(self, task: Task) -> dict:
        """Fit apart, judge here, so that the same code judges all."""
        part = self.prepare(task)
        try:
            result = self.fit(task)
        except OverLimit as over:  # of the process, not of the fit
            in_all = " in all" * str(over).startswith("over")
            return {"problem": f"{over}{in_all}", "lasting": True}
        except RuntimeError as error:
            return {"problem": f"broke down: {last_line(error)}"}
        if result.get("over"):
            return {"problem": f"over {self.limit:g} s", "lasting": True}
        return {**result, **self.judge(part)}

    def prepare(self, task: Task) -> Split:
        """Write the split, where it is not the one at hand."""
        wanted = (task.set, task.seed, task.max_train)
        if self.part is None or self.at_hand != wanted:
            self.part, self.at_hand = split_of(*wanted), wanted
            write_arrays(self.folder, **self.part._asdict())
        return self.part

    def fit(self, task: Task) -> dict:
        """Time and memory, in a process of its own; the projected points are left in the folder."""
        method = METHODS[task.method]
        code = FIT.format(
            make=method.make,
            folder=self.folder,
            d=task.d,
            seed=task.seed,
            limit=self.limit,
            setting=method.arguments(task.setting),
            warm_up=method.warm_up,
            warm_up_rows=None if method.compiles else WARM_UP_ROWS,
        )
        return in_fresh_process(
            code,
            python=self.pythons[method.home],
            seconds=self.limit + SPARE_SECONDS,
            gigabytes=GIGABYTES,
        )

    def judge(self, part: Split) -> dict:
        """Test accuracy of nearest neighbors among the projected training rows."""
        Z, Z_test = (read_array(self.folder, name) for name in ("Z", "Z_test"))
        if not (np.isfinite(Z).all() and np.isfinite(Z_test).all()):
            return {"problem": "not finite"}
        scores = {
            f"accuracy_{k}": neighbor_accuracy(k, Z, part.y, Z_test, part.y_test)
            for k in (1, NEIGHBORS)
        }
        shape = {"n_train": len(Z), "n_test": len(Z_test), "n_features": part.X.shape[1]}
        return {**scores, **shape, "dimension": Z.shape[1]}
