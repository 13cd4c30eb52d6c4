"""The objective as a function, for experiments and checks."""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.special
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_X_y

from vicinal.inputs.checks import (
    check_choice,
    check_classes,
    check_nonnegative,
    check_prior,
    check_share,
    check_weights,
)
from vicinal.inputs.features import Features, moments
from vicinal.inputs.points import LabeledPoints
from vicinal.inputs.tensors import answers_in_kind
from vicinal.inputs.units import check_reach
from vicinal.nca.background import ClassGaussians
from vicinal.nca.checks import check_combination
from vicinal.nca.criteria import CRITERIA
from vicinal.nca.equations import Objective, evaluate, penalized
from vicinal.neighborhood import LAWS, Workload, choose_engine, law_named
from vicinal.neighborhood.threads import on_own_threads

__all__ = ["objective"]


@answers_in_kind
@on_own_threads
def objective(
    A: ArrayLike,
    X: ArrayLike,
    y: ArrayLike,
    *,
    objective: str = "accuracy",
    kernel: str = "gaussian",
    degrees_of_freedom: float = 3.0,
    background: float | None = None,
    prior: Any = "empirical",
    regularization: float = 0.0,
    sample_weight: ArrayLike | None = None,
    engine: str = "auto",
    tolerance: float = 0.0,
    precision: str = "auto",
) -> tuple[float, NDArray]:
    """Objective of neighborhood component analysis, and its gradient.

    Parameters
    ----------
    A : array-like of shape (d, D)
        Linear map: points are compared as A x.
    X : array-like of shape (n, D)
        Training points.
    y : array-like of shape (n,)
        Class labels.
    objective : {"accuracy", "log"}, default="accuracy"
        "accuracy": Σ p_i; "log": Σ log p_i, where p_i is the probability that point i picks a
        neighbor of its own class. The only member of a class has no such neighbor and counts 0.
    kernel : {"gaussian", "compact", "student"}, default="gaussian"
        Weight of a neighbor at squared distance s. "gaussian": exp(-s). "compact": (1 - s)² within
        the unit ball; a point with no neighbor there has p_i = 0. "student": (1 + s/ν)^(-(ν +
        d)/2).
    degrees_of_freedom : float, default=3.0
        Degrees of freedom ν of ``kernel="student"``.
    background : float in (0, 1), optional
        Share β of a Gaussian per class, which is mixed with the kernels in the density of the
        class. Only with ``kernel="compact"``.
    prior : {"empirical", "uniform"} or array-like of shape (n_classes,), default="empirical"
        Prior probabilities of the classes; p_i is a posterior probability under class-conditional
        densities. "empirical": the class frequencies, which is classic NCA. "uniform": the same for
        all.
    regularization : float, default=0.0
        Strength λ of the penalty λ Σ A_ij² on the sum over points.
    sample_weight : array-like of shape (n,), optional
        Sample weights: weight k counts as k copies of the point. None: all 1.
    engine : {"auto", "blocked", "fused", "tree", "radius", "adaptive", "cuda"}, default="auto"
        How the sums over pairs are computed, as in `vicinal.NeighborhoodComponents`.
    tolerance : float, default=0.0
        Relative error that "tree" may make in p_i and in the sums over neighbors.
    precision : {"auto", "float64", "float32", "tf32"}, default="auto"
        Precision of the sums over pairs with ``engine="cuda"``. "auto": single precision for NumPy
        arrays; for tensors, their own. "tf32": faster, with products of 11 bits. All other engines
        compute in the precision of X and raise an error for any other; with ``engine="auto"``,
        asking for another precision selects the GPU.

    Returns
    -------
    value : float
        Objective: the sum over the points.
    gradient : ndarray of shape (d, D)
        Gradient of the objective with respect to A.

    Notes
    -----
    Equations (3.3) and (3.5) of Oneață's thesis, with (4.15) for compact kernels and (4.22) for a
    background: ``docs/equations/nca.md``.

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
    criterion = CRITERIA[check_choice("objective", objective, CRITERIA)]
    law = law_named(check_choice("kernel", kernel, LAWS), degrees_of_freedom=degrees_of_freedom)
    penalty = check_nonnegative("regularization", regularization)
    points, targets = check_X_y(X, y, dtype=(np.float64, np.float32))
    check_reach(points)
    linear_map = _checked_map(A, points, regularization)
    weights = check_weights(sample_weight, points)
    if weights is not None:
        points, targets, weights = (a[weights > 0] for a in (points, targets, weights))
    classes, labels = check_classes(targets)
    center = np.average(points, axis=0, weights=weights).astype(points.dtype)
    features = Features(points, center, 1.0)
    check_combination(criterion, law, background)
    goal = Objective(law, criterion, check_prior(prior, len(classes)), len(classes))
    logit = 0.0
    if background is not None:
        logit = float(scipy.special.logit(check_share("background", background)))
        known = moments(features, labels, len(classes), weights)
        goal = replace(goal, background=ClassGaussians.of(features, labels, known, weights))
    size, dtype = len(points), points.dtype.name
    work = Workload(size, size, len(linear_map), law=law, dtype=dtype)
    chosen, _ = choose_engine(engine, work, tolerance=tolerance, precision=precision)
    given = LabeledPoints(features[:], weights, labels=labels)
    found = evaluate(linear_map, goal, chosen, given, logit=logit)
    return penalized(found.value, found.gradient, linear_map, penalty)


def _checked_map(A: ArrayLike, points: NDArray, regularization: float) -> NDArray:
    """A map of the points whose penalty, and the points under it, are numbers."""
    linear_map = check_array(A, dtype=np.float64, input_name="A")
    largest = np.finfo(points.dtype).max  # in the precision that points are projected in
    check_reach(np.clip(linear_map, -largest, largest).astype(points.dtype), name="A")
    if not np.isfinite(float(regularization) * float(np.square(linear_map).sum())):
        raise ValueError(
            f"regularization={regularization!r} times the squares of A is no number any more: "
            "choose a smaller one."
        )
    if linear_map.shape[1] != points.shape[1]:
        raise ValueError(
            f"A has {linear_map.shape[1]} columns, but X has {points.shape[1]} features."
        )
    return linear_map
