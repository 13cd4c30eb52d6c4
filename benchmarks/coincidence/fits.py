"""Maps learned in fresh processes, and the error of neighbors by a map."""

import sys
import tempfile
from typing import NamedTuple

import numpy as np

from benchmarks.coincidence.scores import Failure
from benchmarks.common.arrays import read_array, write_arrays
from benchmarks.common.children import OverLimit, in_fresh_process, last_line
from benchmarks.common.judging import neighbor_accuracy
from benchmarks.common.splits import Split, stratified_split

LEARN_RATES = (1e-7, 1e-6, 1e-5)
LMNN_NEIGHBORS, LMNN_UPDATES = 3, 200
# What a process may take beyond the limit of its fit, to start and to read the data.
START_SECONDS = 10

# Ends with a line of JSON; the map goes to a file.
FIT = """
import json, time
import numpy as np
from benchmarks.common.arrays import read_array
from benchmarks.common.memory import MemoryWatch
{model}
X, y = read_array("{folder}", "X"), read_array("{folder}", "y")
start = time.perf_counter()
with MemoryWatch() as memory:
    model.fit(X, y)
seconds = time.perf_counter() - start
np.save("{folder}/components.npy", model.components_)
print(json.dumps(dict(seconds=seconds, megabytes=memory.above)))
"""

OURS = """
from vicinal import LatentCoincidence
model = LatentCoincidence({dimension}, random_state=0)
"""

SCIKIT_LEARN = """
from sklearn.neighbors import NeighborhoodComponentsAnalysis
model = NeighborhoodComponentsAnalysis({dimension}, random_state=0, max_iter={updates})
"""

METRIC_LEARN = """
from metric_learn import LMNN
model = LMNN(n_neighbors={neighbors}, learn_rate={rate}, max_iter={updates},
             n_components={dimension}, random_state={seed})
"""


class Fit(NamedTuple):
    """A map learned in a fresh process."""

    components: np.ndarray
    seconds: float
    megabytes: float  # at most, above what there was before


def fit_apart(
    model: str,
    X: np.ndarray,
    y: np.ndarray,
    *,
    python: str = sys.executable,
    seconds: float | None = None,
    gigabytes: float | None = None,
) -> Fit:
    """Fit in a fresh process; `Failure` says which limit it went over, or that it broke down."""
    limit = None if seconds is None else seconds + START_SECONDS
    with tempfile.TemporaryDirectory() as folder:
        write_arrays(folder, X=X, y=y)
        code = FIT.format(model=model, folder=folder)
        try:
            result = in_fresh_process(code, python=python, seconds=limit, gigabytes=gigabytes)
        except OverLimit as over:
            timed = str(over).startswith("over")
            raise Failure(f"over {seconds:g} s" if timed else str(over), lasting=True) from over
        except RuntimeError as error:
            raise Failure(f"broke down: {last_line(error)}") from error
        if seconds is not None and result["seconds"] > seconds:
            raise Failure(f"over {seconds:g} s", lasting=True)
        return Fit(read_array(folder, "components"), result["seconds"], result["megabytes"])


class Lmnn:
    """LMNN of metric-learn, its learning rate chosen on a validation part."""

    def __init__(self, python: str | None, seconds: float) -> None:
        self.python, self.seconds = python, seconds
        self.chosen: list[float] = []

    def __call__(self, part: Split, d: int, seed: int) -> np.ndarray:
        """The map learned at the best rate."""
        if self.python is None:
            raise Failure("not asked for", lasting=True)
        rate = self.best_rate(part, d, seed)
        A = self.fit(part, d, seed, rate)
        self.chosen.append(rate)
        return A

    def best_rate(self, part: Split, d: int, seed: int) -> float:
        """With the least error among those that stay within the limit."""
        inner = stratified_split(part.X, part.y, seed, test_size=0.2)
        errors, failures = {}, []
        for rate in LEARN_RATES:
            try:
                errors[rate] = neighbor_error(inner, self.fit(inner, d, seed, rate))
            except Failure as failure:
                failures.append(failure)
        if not errors:
            raise failures[-1]
        return min(errors, key=errors.__getitem__)

    def fit(self, part: Split, d: int, seed: int, rate: float) -> np.ndarray:
        """One fit in metric-learn's environment."""
        assert self.python is not None
        model = lmnn_code(d, rate, seed)
        return fit_apart(model, part.X, part.y, python=self.python, seconds=self.seconds).components


def lmnn_code(d: int, rate: float, seed: int) -> str:
    return METRIC_LEARN.format(
        neighbors=LMNN_NEIGHBORS, rate=rate, updates=LMNN_UPDATES, dimension=d, seed=seed
    )


def neighbor_error(part: Split, A: np.ndarray | None) -> float:
    """Test error of 3-NN in %, by the map A."""
    Z, Z_test = (part.X, part.X_test) if A is None else (part.X @ A.T, part.X_test @ A.T)
    return 100 * (1 - neighbor_accuracy(3, Z, part.y, Z_test, part.y_test))
