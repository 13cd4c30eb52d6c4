"""Points whose likelihood has no bound, as kernels can become ever narrower around them."""

import numpy as np

from vicinal.fitting import CollapseError
from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.equations import Form

__all__ = ["collapse", "constant_column", "refuse_unbounded", "why_unbounded"]

# Points tried one by one for an equal one before all are compared.
_TRIES = 10


def constant_column(name: str) -> CollapseError:
    """To be raised where a column has one value only."""
    return CollapseError(
        f"{name} of X is constant: a density has no width there. Drop it, or set regularization "
        "to a small positive variance."
    )


def refuse_unbounded(points: WeightedPoints, form: Form, n_local: int) -> None:
    """Refuse points for which a leave-one-out likelihood has no bound, even where EM would stop."""
    why = why_unbounded(points, form, n_local)
    if why is not None:
        raise collapse(why)


def why_unbounded(points: WeightedPoints, form: Form, n_local: int) -> str | None:
    """What leaves the leave-one-out likelihood of points without a bound, if anything does.

    Kernels may be flat in a subspace of n_local - 1 dimensions, or of the rank of "low_rank". If
    the differences of n / 2 pairs fit into it, every point has another one at distance 0 across.
    """
    flat = {"full": n_local - 1, "low_rank": min(form.rank, n_local - 1)}.get(form.structure, 0)
    n, d = points.X.shape
    if n <= 2 * flat:
        return f"{n} points in {d} dimensions are too few"
    return "every row has a twin" if _all_have_twins(points) else None


def _all_have_twins(points: WeightedPoints) -> bool:
    """Whether all points occur more than once."""
    X = points.X
    for position in range(min(_TRIES, len(X))):  # one without an equal is enough, and likely
        if (points.counts * (X[position] == X).all(axis=1)).sum() <= 1:
            return False
    _, which = np.unique(X, axis=0, return_inverse=True)
    return bool(np.bincount(which.ravel(), points.counts).min() > 1)


def collapse(why: str) -> CollapseError:
    """To be raised where kernels become ever narrower, and why they do."""
    return CollapseError(
        f"the kernel covariance collapses, as its likelihood has no upper bound: {why}. Set "
        'regularization to a small positive variance or to "auto", drop the feature, or '
        "reduce the dimension first."
    )
