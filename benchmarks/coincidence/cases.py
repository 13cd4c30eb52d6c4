"""How each set is split and prepared."""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils import Bunch

from benchmarks.common.scaling import principal_components, standardized
from benchmarks.common.splits import Split, split_at, stratified_split
from vicinal import datasets

LARGE_SPLITS = 2  # at most, of a large set


class Case(NamedTuple):
    """How a set is split and prepared: without principal components it is standardized."""

    rows: int | None = None  # for training; None: 70 %
    test_rows: int | None = None  # None: what is left
    components: int | None = None  # principal components
    dimension: int | None = None  # of the map; None: of the input
    divisor: float = 1.0
    # Training rows are drawn from the customary ones, the others are tested.
    customary: bool = False

    @property
    def is_large(self) -> bool:
        """Whether rows are drawn from it."""
        return self.rows is not None


CASES = {
    **dict.fromkeys(("iris", "wine", "balance-scale", "ionosphere"), Case()),
    **dict.fromkeys(("glass", "sonar", "wdbc", "segment"), Case()),
    "letter": Case(6000, 4000),
    # The customary test rows are harder than a random part (Euclid, seed 0: 6.3 % and 4.3 %), and
    # the reference's errors of Euclid, LDA and QDA are near those of the customary ones.
    "usps": Case(4000, None, 50, 30, customary=True),
    "mnist": Case(4000, 4000, 60, 30, divisor=255.0),
    "isolet": Case(4000, None, 50, 30, customary=True),
}
CLASS_CASES = {
    "usps": Case(4000, None, 40, 5, customary=True),
    "segment": Case(),
    "ionosphere": Case(),
}
PAIR_CASES = {
    "letter": Case(6000, 4000),
    "usps": Case(4000, 4000, 50),
    "segment": Case(),
}
SPEED_CASES = {
    "letter": Case(customary=True),
    "usps": Case(components=50, dimension=30, customary=True),
    "mnist": Case(components=60, dimension=30, divisor=255.0, customary=True),
}


@lru_cache(maxsize=1)
def load(name: str) -> Bunch:
    return datasets.load(name, download=False)


def raw_split(name: str, case: Case, seed: int) -> Split:
    """Stratified; the same rows for every method."""
    data = load(name)
    if case.customary:
        part = customary_split(data, case, seed)
    else:
        sizes = {"train_size": 0.7 if case.rows is None else case.rows, "test_size": case.test_rows}
        part = stratified_split(data.data, data.target, seed, **sizes)
    return part.mapped(lambda points: points.astype(np.float64) / case.divisor)


def customary_split(data: Bunch, case: Case, seed: int) -> Split:
    """Training rows drawn from the customary ones, all the others for the test."""
    train, test = np.flatnonzero(data.train), np.flatnonzero(~data.train)
    if case.rows is not None and case.rows < len(train):
        labels = data.target[train]
        train, _ = train_test_split(train, train_size=case.rows, stratify=labels, random_state=seed)
    return split_at(data.data, data.target, train, test)


def prepared(part: Split, case: Case) -> Split:
    """Principal components, or standardized columns that vary, by the training part."""
    if case.components is not None:
        return principal_components(part, case.components)
    return standardized(part)


def splits_of(name: str, case: Case, n_splits: int) -> Iterator[tuple[int, Split]]:
    """Seeds and parts."""
    for seed in range(min(n_splits, LARGE_SPLITS) if case.is_large else n_splits):
        yield seed, prepared(raw_split(name, case, seed), case)
