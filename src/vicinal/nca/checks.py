"""Parameters of the estimator, alone and together: defined, or refused by name."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vicinal.inputs.checks import (
    check_choice,
    check_count,
    check_flag,
    check_nonnegative,
    check_positive,
    check_prior,
    check_share,
)
from vicinal.nca.annealing import ORDERS
from vicinal.nca.criteria import CRITERIA, Criterion
from vicinal.nca.settings import NeighborhoodSettings
from vicinal.neighborhood import LAWS, Law, law_named

__all__ = ["check_combination", "check_members", "check_parameters", "check_streaming"]

# What `partial_fit` can do; all else needs the whole data set.
_STREAMING = {
    "solver": ("auto", "adam"),
    "batching": ("auto", "random", "stochastic"),
    "early_stopping": ("auto", False),
    "background": (False,),
    "annealing": (False,),
}


def check_parameters(settings: NeighborhoodSettings, X: NDArray) -> None:
    """Check everything but what a recipe depends on (`recipe.choose_recipe`)."""
    criterion = CRITERIA[check_choice("objective", settings.objective, CRITERIA)]
    check_choice("kernel", settings.kernel, LAWS)
    law = law_named(settings.kernel, degrees_of_freedom=settings.degrees_of_freedom)
    if not isinstance(settings.background, bool | np.bool_):
        check_share("background", settings.background)
    check_combination(criterion, law, settings.background)
    check_prior(settings.prior, len(settings.classes_))
    _check_numbers(settings)
    check_flag("early_stopping", settings.early_stopping, ("auto",))
    _check_components(settings, X)
    _check_annealing(settings, X.shape[1])


def _check_components(settings: NeighborhoodSettings, X: NDArray) -> None:
    if isinstance(settings.n_components, str):
        check_choice("n_components", settings.n_components, ("auto",))
    elif settings.n_components is not None:
        why = f", the number of features, for X of shape {X.shape}"
        check_count("n_components", settings.n_components, 1, X.shape[1], why)


def check_members(settings: NeighborhoodSettings, labels: NDArray, weights: NDArray | None) -> None:
    """Refuse a class whose only member could never have a neighbor of its own."""
    alone = np.bincount(labels, weights, minlength=len(settings.classes_)) == 1
    bounded = CRITERIA[settings.objective].bounded
    if not bounded and alone.any() and not settings.background:
        raise ValueError(
            f"class {settings.classes_[alone.argmax()]!r} has one member, whose log p is -inf "
            f"under objective={settings.objective!r}: drop it, merge it, or use "
            "objective='accuracy'."
        )


def check_combination(criterion: Criterion, law: Law, background: Any) -> None:
    """Refuse an objective without finite values, and a background without its kernel."""
    has_background = background is not None and background is not False
    if has_background and not law.has_support:
        raise ValueError(
            f"background={background!r} stands behind kernels of compact support: set "
            f"kernel='compact' (it is {law.name!r}), or leave the background out."
        )
    if not criterion.bounded and law.has_support and not has_background:
        raise ValueError(
            f"objective={criterion.name!r} with kernel={law.name!r} has no finite value: a point "
            "with none of its class in reach has log p = -inf. Add a background, or use "
            "objective='accuracy' or kernel='gaussian'."
        )


def check_streaming(settings: NeighborhoodSettings) -> bool:
    """Refuse in `partial_fit` what only a whole data set can give."""
    if isinstance(settings.n_components, str):
        raise ValueError(
            f"partial_fit learns from rows as they come: n_components={settings.n_components!r} "
            "needs all points at once. Use fit, or a number of components."
        )
    for name, values in _STREAMING.items():
        value = getattr(settings, name)
        if value not in values:
            raise ValueError(
                f"partial_fit learns by Adam from rows as they come: {name}={value!r} needs all "
                f"points at once. Use fit, or {name}={values[0]!r}."
            )
    return True


def _check_numbers(settings: NeighborhoodSettings) -> None:
    check_nonnegative("tol", settings.tol)
    if not (isinstance(settings.regularization, str) and settings.regularization == "auto"):
        check_nonnegative("regularization", settings.regularization)
    check_share("validation_fraction", settings.validation_fraction)
    check_count("n_init", settings.n_init, 1)
    check_count("reservoir_size", settings.reservoir_size, 2)
    for name in ("eta0", "t0"):
        if getattr(settings, name) is not None:
            check_positive(name, getattr(settings, name))
    for name in ("max_iter", "n_iter_no_change", "n_neighbors", "validation_every"):
        if getattr(settings, name) is not None:
            check_count(name, getattr(settings, name), 1)
    if settings.batch_size is not None:
        check_count("batch_size", settings.batch_size, 2)


def _check_annealing(settings: NeighborhoodSettings, n_features: int) -> None:
    check_flag("annealing", settings.annealing, tuple(ORDERS))
    d = settings.n_components
    if settings.annealing and not isinstance(d, str) and (d or n_features) >= n_features:
        raise ValueError(
            f"annealing={settings.annealing!r} fades dimensions out until n_components are left, "
            f"but n_components={settings.n_components} keeps all {n_features}: set n_components "
            "below the number of features, or annealing=False."
        )
