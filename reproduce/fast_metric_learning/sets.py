"""The fifteen sets of the thesis (Table 5.1), as it cuts and scales them."""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.scaling import standardized
from benchmarks.common.splits import Split, random_split, split_at
from reproduce.experiment import Unit
from vicinal import datasets


class ThesisSet(NamedTuple):
    """Our name of a set, and how the thesis treats it.

    `customary`: with the split it usually comes with; else 70 % of the rows are drawn at random.
    `images`: gray values, all in one unit; columns of others have mean 0 and variance 1 (3.18).
    """

    name: str
    customary: bool = False
    images: bool = False


SETS = {
    "balance": ThesisSet("balance-scale"),
    "ecoli": ThesisSet("ecoli"),
    "glass": ThesisSet("glass"),
    "ionosphere": ThesisSet("ionosphere"),
    "iris": ThesisSet("iris"),
    "landsat": ThesisSet("landsat", customary=True),
    "magic": ThesisSet("magic"),
    "mnist": ThesisSet("mnist", customary=True, images=True),
    "pima": ThesisSet("pima"),
    "segment": ThesisSet("segment"),
    "spectf": ThesisSet("spectf"),
    "transfusion": ThesisSet("transfusion"),
    "usps": ThesisSet("usps_roweis", images=True),
    "wine": ThesisSet("wine"),
    "yeast": ThesisSet("yeast"),
}


def names_of(*sets: str) -> tuple[str, ...]:
    """What `vicinal.datasets` calls them."""
    return tuple(SETS[name].name for name in sets)


def part_of(name: str, seed: int, rows: int = 0, in_own_units: bool = False) -> Split:
    """Training and test rows of a set; `rows`: at most so many of either, 0: all.

    Seeds are splits, and of customary splits those of the methods only.
    """
    X, y, train = _loaded(name)
    part = random_split(X, y, seed) if train is None else split_at(X, y, train, ~train)
    if rows:
        part = _some(part, rows, seed)
    return _in_units(name, part, in_own_units)


def measure_shape(unit: Unit) -> dict[str, float]:
    """Table 5.1: rows, columns and classes; columns that never change count in images only."""
    part = whole(unit["set"])
    n, n_columns = part.X.shape
    return {"N": float(n), "D": float(n_columns), "C": float(len(np.unique(part.y)))}


@cache
def _loaded(name: str) -> tuple[NDArray, NDArray, NDArray | None]:
    one = SETS[name]
    data = datasets.load(one.name, download=False)
    X = (data.data / 255.0).astype(np.float32) if one.images else data.data
    return X, data.target, data.train if one.customary else None


def _some(part: Split, rows: int, seed: int) -> Split:
    rng = np.random.default_rng(seed)
    train, test = (np.sort(rng.permutation(len(labels))[:rows]) for labels in (part.y, part.y_test))
    return Split(part.X[train], part.X_test[test], part.y[train], part.y_test[test])


def whole(name: str, in_own_units: bool = False) -> Split:
    """All rows of a set, to learn from and to look at."""
    X, y, _ = _loaded(name)
    return _in_units(name, Split(X, X, y, y), in_own_units)


def _in_units(name: str, part: Split, in_own_units: bool) -> Split:
    return part if SETS[name].images or in_own_units else standardized(part)
