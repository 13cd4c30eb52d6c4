"""The methods of the thesis as options of `NeighborhoodComponents`, and how it scores them."""

import time
import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NearestNeighbors

from benchmarks.common.splits import Split
from vicinal import NeighborhoodComponents

# No penalty anywhere; classic NCA runs until it converges. A gain of 1e-5, our default, would end
# it at the saddle that RCA's start is near on balance: README.md.
_CLASSIC = {"init": "rca", "solver": "cg", "regularization": 0.0, "tol": 1e-7}


def standard_normal(d: int, n_columns: int, seed: int) -> NDArray:
    """A map to start from, `randn(d, D)`: Table 5.2 says "randomly", and comes out with these."""
    return np.random.default_rng(seed).normal(size=(d, n_columns))


# Section 5.3.2: rates η / (t + t0) with t0 from trials; 5 % of the rows are held back, and it ends
# when their accuracy has not risen for 25 updates.
_STOCHASTIC = {
    "init": "rca",
    "solver": "sgd",
    "regularization": 0.0,
    "early_stopping": True,
    "validation_fraction": 0.05,
    "validation_metric": "accuracy",
    "validation_every": 1,
    "n_iter_no_change": 25,
}
_ROWS = {**_STOCHASTIC, "batching": "stochastic", "batch_size": 50}

METHODS: dict[str, dict[str, Any]] = {
    "cg": _CLASSIC,
    "cg-random": {**_CLASSIC, "init": standard_normal},
    "bold": {**_CLASSIC, "solver": "bold-driver"},
    "cs": {**_CLASSIC, "kernel": "compact"},
    "cs-back": {**_CLASSIC, "kernel": "compact", "background": True},
    "ss": {**_CLASSIC, "batching": "subsample", "batch_size": 3000},
    "mb": {**_STOCHASTIC, "batching": "projection", "batch_size": 2000},
    "sl": _ROWS,
    "sl-kde": {**_ROWS, "engine": "tree", "tolerance": 0.1},
    "sl-cs": {**_ROWS, "kernel": "compact"},
}

LABELS = {
    "cg": "NCA",
    "cg-random": "NCA",
    "bold": "NCA, bold driver",
    "cs": "NCA CS",
    "cs-back": "NCA CS BACK",
    "ss": "SS",
    "mb": "MB",
    "sl": "SL",
    "sl-kde": "SL-KDE",
    "sl-cs": "SL-CS",
}


class Timed(NamedTuple):
    """A fit, and the seconds of CPU that it took on one thread."""

    model: NeighborhoodComponents
    seconds: float


def fitted(
    method: str,
    part: Split,
    d: int,
    seed: int,
    max_iter: int,
    callbacks: Sequence[Any] = (),
    **others: Any,
) -> Timed:
    """A method on a training part; `others`: options in place of its own."""
    d = min(d, part.X.shape[1])  # a split may lose a column: one of ecoli is constant but for a row
    options = _options(method, d, part.X.shape[1], seed) | others
    _compile(method, d)
    model = NeighborhoodComponents(d, random_state=seed, max_iter=max_iter, n_jobs=1, **options)
    if callbacks:
        model.set_callbacks(*callbacks)
    start = time.process_time()
    with warnings.catch_warnings():  # where `max_iter` ends a fit, its number of updates says so
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(part.X, part.y)
    return Timed(model, time.process_time() - start)


def _options(method: str, d: int, n_columns: int, seed: int) -> dict[str, Any]:
    """Those of a method, with the start that it draws, where it does."""
    options = METHODS[method]
    draw = options["init"]
    return {**options, "init": draw(d, n_columns, seed)} if callable(draw) else options


def scores(model: NeighborhoodComponents, part: Split) -> dict[str, float]:
    """Training score f(A), and test accuracy by the nearest neighbor and by the NCA rule, in %.

    With compact support the thesis leaves a point without neighbors in reach all classes alike,
    and MATLAB the first of them; ours takes that of its nearest neighbor ("fallback").
    """
    Z, Z_test = model.transform(part.X), model.transform(part.X_test)
    distance, nearest = NearestNeighbors(n_neighbors=1).fit(Z).kneighbors(Z_test)
    predicted = model.predict(part.X_test)
    found = {
        "train": 100 * float(model.objective_),
        "1-nn": share_right(part.y[nearest[:, 0]], part.y_test),
        "nca": share_right(predicted, part.y_test),
    }
    if model.kernel == "compact" and model.background is False:
        alone = distance[:, 0] >= 1.0
        found["fallback"], found["alone"] = found["nca"], 100 * float(alone.mean())
        found["nca"] = share_right(np.where(alone, model.classes_[0], predicted), part.y_test)
    return found


def share_right(predicted: NDArray, y: NDArray) -> float:
    """Accuracy in percent."""
    return 100 * float((predicted == y).mean())


def left_out(Z: NDArray, y: NDArray) -> float:
    """Leave-one-out accuracy of the nearest neighbor, in percent."""
    nearest = NearestNeighbors(n_neighbors=1).fit(Z).kneighbors(return_distance=False)
    return share_right(y[nearest[:, 0]], y)


@cache
def _compile(method: str, d: int) -> None:
    """Compile or load the kernels of a method, so that seconds are those of the fit."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    X = rng.normal(size=(120, d + 1)) + y[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        options = _options(method, d, d + 1, 0)
        NeighborhoodComponents(d, max_iter=1, n_jobs=1, **options).fit(X, y)
