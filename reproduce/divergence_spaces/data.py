"""The paper's data sets, as it has them: raw, without columns that are constant."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vicinal import datasets

# All of Table 1 but Corel (500 x 36, 5 classes), which is not to be had.
SETS = (
    "iris",
    "new-thyroid",
    "wine",
    "glass",
    "bupa",
    "lymphography",
    "ionosphere",
    "sonar",
    "wdbc",
    "balance-scale",
    "segment",
)


class Data(NamedTuple):
    """Rows and their classes."""

    X: NDArray
    y: NDArray

    @property
    def n_classes(self) -> int:
        """Number of clusters, which the paper takes for known."""
        return len(np.unique(self.y))

    @property
    def most_dimensions(self) -> int:
        """⌊d/2⌋, at least 2: how many Isomap and LLE are given at most."""
        return max(2, self.X.shape[1] // 2)


@lru_cache(maxsize=1)  # units of one set come one after the other
def load(name: str) -> Data:
    """Ionosphere and segment have a constant column, which Table 1 does not count."""
    found = datasets.load(name)
    varies = np.ptp(found.data, axis=0) > 0
    return Data(found.data[:, varies], found.target)
