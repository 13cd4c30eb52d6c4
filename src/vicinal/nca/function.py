"""The objective as a function, for experiments and checks."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_X_y

from vicinal.inputs.checks import check_choice, check_classes, check_nonnegative, check_prior
from vicinal.nca.equations import OBJECTIVES, class_priors, penalized, value_and_gradient
from vicinal.neighborhood import LAWS, Workload, choose_engine

__all__ = ["objective"]


def objective(
    A: ArrayLike,
    X: ArrayLike,
    y: ArrayLike,
    *,
    objective: str = "accuracy",
    kernel: str = "gaussian",
    prior: Any = "empirical",
    regularization: float = 0.0,
    engine: str = "auto",
) -> tuple[float, NDArray]:
    """Objective of neighborhood component analysis and its gradient.

    Parameters
    ----------
    A : array-like of shape (d, D)
        Linear map; points are compared as A x.
    X : array-like of shape (n, D)
    y : array-like of shape (n,)
        Class labels.
    objective : {"accuracy", "log"}, default="accuracy"
        Σ p_i or Σ log p_i, with p_i the probability that point i picks a
        neighbor of its own class.
    kernel : {"gaussian", "compact"}, default="gaussian"
        Weight of a neighbor at squared distance s: exp(-s), or (1 - s)² within
        the unit ball. A point with no neighbor there has p_i = 0.
    prior : {"empirical", "uniform"} or array-like of shape (n_classes,), default="empirical"
        Prior probabilities of the classes when p_i is read as a posterior of
        class-conditional densities. "empirical" is classic NCA.
    regularization : float, default=0.0
        λ of the penalty λ Σ A_ij², on the sum over points.
    engine : {"auto", "blocked", "fused"}, default="auto"
        How the sums over pairs are computed.

    Returns
    -------
    value : float
        Sum over the points.
    gradient : ndarray of shape (d, D)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from vicinal.nca import objective
    >>> X, y = load_iris(return_X_y=True)
    >>> value, gradient = objective(np.eye(2, 4), X, y)
    >>> print(f"{value:.2f} of {len(y)} expected right")
    80.98 of 150 expected right
    >>> gradient.shape
    (2, 4)
    """
    check_choice("objective", objective, OBJECTIVES)
    check_choice("kernel", kernel, LAWS)
    penalty = check_nonnegative("regularization", regularization)
    points, targets = check_X_y(X, y, dtype=(np.float64, np.float32))
    linear_map = check_array(A, dtype=np.float64, input_name="A")
    if linear_map.shape[1] != points.shape[1]:
        raise ValueError(
            f"A has {linear_map.shape[1]} columns, but X has {points.shape[1]} features."
        )
    classes, labels = check_classes(targets)
    work = Workload(len(points), len(points), len(linear_map))
    value, gradient = value_and_gradient(
        linear_map,
        points - points.mean(axis=0, dtype=np.float64).astype(points.dtype),
        labels,
        engine=choose_engine(engine, work)[0],
        law=LAWS[kernel],
        objective=objective,
        priors=class_priors(check_prior(prior, len(classes)), labels),
    )
    return penalized(value, gradient, linear_map, penalty)
