"""What the parts of a fit read of the estimator."""

from typing import Any, Protocol

__all__ = ["LocalSettings"]


class LocalSettings(Protocol):
    """Parameters of `LocalComponents`."""

    covariance: Any
    kernel: str
    degrees_of_freedom: float
    gaussian: str | None
    n_mixture: int | str
    rank: int | None
    smoothing: int | str
    regularization: Any
    contamination: float | str
    batch_size: int | None
    n_neighbors: int | None
    discount: float
    accelerate: bool
    max_iter: int | None
    tol: float
    early_stopping: bool
    validation_fraction: float
    warm_start: bool
    reservoir_size: int
    engine: str
    verbose: int
