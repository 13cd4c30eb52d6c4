"""What the parts of a fit read of the estimator."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["NeighborhoodSettings"]


class NeighborhoodSettings(Protocol):
    """Parameters of `NeighborhoodComponents`, and the classes it has found."""

    n_components: int | str | None
    init: Any
    n_init: int
    objective: str
    kernel: str
    degrees_of_freedom: float
    background: bool | float
    prior: Any
    solver: str
    batching: str
    batch_size: int | None
    annealing: bool | str
    regularization: float | str
    max_iter: int | None
    tol: float
    early_stopping: bool | str
    validation_fraction: float
    n_iter_no_change: int | None
    validation_every: int | None
    validation_metric: str
    eta0: float | None
    t0: float | None
    reservoir_size: int
    n_neighbors: int | None
    engine: str
    tolerance: float
    precision: str
    memory_limit: float | str | None
    warm_start: bool
    random_state: int | np.random.RandomState | None
    n_jobs: int | None
    verbose: int

    classes_: NDArray
