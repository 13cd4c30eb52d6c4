"""Parameters of the estimator, alone and together: defined, or refused by name."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vicinal.inputs.checks import (
    check_choice,
    check_count,
    check_flag,
    check_nonnegative,
    check_prior,
    check_share,
)
from vicinal.nca.annealing import CRITERIA
from vicinal.nca.equations import OBJECTIVES
from vicinal.neighborhood import LAWS

__all__ = ["check_combination", "check_members", "check_parameters", "check_streaming"]

# What `partial_fit` can do; all else needs the whole data set.
_STREAMING = {
    "solver": ("auto", "adam"),
    "batching": ("auto", "random", "stochastic"),
    "early_stopping": ("auto", False),
    "background": (False,),
    "annealing": (False,),
}


def check_parameters(model: Any, X: NDArray) -> None:
    """Check everything but what a recipe depends on (`recipe.choose_recipe`)."""
    check_choice("objective", model.objective, OBJECTIVES)
    check_choice("kernel", model.kernel, LAWS)
    if not isinstance(model.background, bool | np.bool_):
        check_share("background", model.background)
    check_combination(model.objective, model.kernel, model.background)
    check_prior(model.prior, len(model.classes_))
    _check_numbers(model)
    check_flag("early_stopping", model.early_stopping, ("auto",))
    if model.n_components is not None:
        why = f", the number of features, for X of shape {X.shape}"
        check_count("n_components", model.n_components, 1, X.shape[1], why)
    _check_annealing(model, X.shape[1])


def check_members(model: Any, labels: NDArray, weights: NDArray | None) -> None:
    """Refuse a class whose only member could never have a neighbor of its own."""
    alone = np.bincount(labels, weights, minlength=len(model.classes_)) == 1
    if model.objective == "log" and alone.any() and not model.background:
        raise ValueError(
            f"class {model.classes_[alone.argmax()]!r} has one member, whose log p is -inf "
            "under objective='log': drop it, merge it, or use objective='accuracy'."
        )


def check_combination(objective: str, kernel: str, background: Any) -> None:
    """Refuse an objective without finite values, and a background without its kernel."""
    has_background = background is not None and background is not False
    if has_background and kernel != "compact":
        raise ValueError(
            f"background={background!r} stands behind kernels of compact support: set "
            f"kernel='compact' (it is {kernel!r}), or leave the background out."
        )
    if objective == "log" and kernel == "compact" and not has_background:
        raise ValueError(
            "objective='log' with kernel='compact' has no finite value: a point with none of its "
            "class in reach has log p = -inf. Add a background, or use objective='accuracy' or "
            "kernel='gaussian'."
        )


def check_streaming(model: Any) -> bool:
    """Refuse in `partial_fit` what only a whole data set can give."""
    for name, values in _STREAMING.items():
        value = getattr(model, name)
        if value not in values:
            raise ValueError(
                f"partial_fit learns by Adam from rows as they come: {name}={value!r} needs all "
                f"points at once. Use fit, or {name}={values[0]!r}."
            )
    return True


def _check_numbers(model: Any) -> None:
    check_nonnegative("tol", model.tol)
    if not (isinstance(model.regularization, str) and model.regularization == "auto"):
        check_nonnegative("regularization", model.regularization)
    check_share("validation_fraction", model.validation_fraction)
    check_count("reservoir_size", model.reservoir_size, 2)
    for name in ("max_iter", "n_iter_no_change", "n_neighbors"):
        if getattr(model, name) is not None:
            check_count(name, getattr(model, name), 1)
    if model.batch_size is not None:
        check_count("batch_size", model.batch_size, 2)


def _check_annealing(model: Any, n_features: int) -> None:
    check_flag("annealing", model.annealing, tuple(CRITERIA))
    if model.annealing and (model.n_components or n_features) >= n_features:
        raise ValueError(
            f"annealing={model.annealing!r} fades dimensions out until n_components are left, "
            f"but n_components={model.n_components} keeps all {n_features}: set n_components "
            "below the number of features, or annealing=False."
        )
