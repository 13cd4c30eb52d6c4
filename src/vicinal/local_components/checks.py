"""Whether the parameters make sense, alone and together."""

from typing import Any

import numpy as np

from vicinal.inputs.checks import (
    check_choice,
    check_count,
    check_flag,
    check_nonnegative,
    check_share,
    column_name,
)
from vicinal.inputs.points import WeightedPoints
from vicinal.inputs.units import SQUARES, check_spread
from vicinal.local_components.bounds import constant_column, refuse_unbounded
from vicinal.local_components.equations import STRUCTURES, Form
from vicinal.local_components.given import RULES, check_given, is_given
from vicinal.local_components.learning import Penalty
from vicinal.local_components.mixture.checks import check_mixture
from vicinal.local_components.settings import LocalSettings
from vicinal.neighborhood import GAUSSIAN, GAUSSIAN_MIXTURES, Law, law_named
from vicinal.rows.cluster import ends_of

__all__ = [
    "COVARIANCES",
    "check_bound",
    "check_columns",
    "check_parameters",
    "check_penalty",
    "check_streaming",
    "check_total",
]

# Largest regularization, as a multiple of the square of the widest column.
_MOST_PENALTY = 1e50

COVARIANCES = (*STRUCTURES, "local", "auto", *RULES)

# What `partial_fit` can do, the first being what it would be set to.
_STREAMING: dict[str, tuple[Any, ...]] = {
    "covariance": STRUCTURES,
    "gaussian": (None, "em"),
    "early_stopping": (False,),
    "n_mixture": (1,),
}


def check_parameters(settings: LocalSettings, n_features: int) -> None:
    """Raise an error that names the argument, its value and what to do."""
    if is_given(settings.covariance):
        check_given(settings, n_features)
    else:
        check_choice("covariance", settings.covariance, COVARIANCES)
    check_choice("kernel", settings.kernel, GAUSSIAN_MIXTURES)
    law = law_named(settings.kernel, degrees_of_freedom=settings.degrees_of_freedom)
    if settings.gaussian is not None:
        check_choice("gaussian", settings.gaussian, ("em", "search", "auto"))
    _check_rank(settings, n_features)
    _check_regularization(settings)
    check_flag("accelerate", settings.accelerate)
    check_flag("early_stopping", settings.early_stopping)
    check_flag("warm_start", settings.warm_start)
    check_share("validation_fraction", settings.validation_fraction)
    check_nonnegative("tol", settings.tol)
    check_count("reservoir_size", settings.reservoir_size, 2)
    for name, least in (("max_iter", 1), ("batch_size", 2), ("n_neighbors", 2)):
        if getattr(settings, name) is not None:
            check_count(name, getattr(settings, name), least)
    _check_discount(settings.discount)
    _check_contamination(settings.contamination)
    if isinstance(settings.smoothing, str):
        check_choice("smoothing", settings.smoothing, ("auto",))
    else:
        check_count("smoothing", settings.smoothing, 1)
    if not is_given(settings.covariance):
        _check_together(settings)
        _check_law(settings, law)
    check_mixture(settings)
    _check_warm_start(settings)


def check_streaming(settings: LocalSettings) -> bool:
    """Refuse in `partial_fit` what only a whole data set can give, and what nobody learns."""
    if is_given(settings.covariance):
        raise ValueError(
            "partial_fit learns a covariance from rows as they come, but covariance is given or by "
            "a rule. Use fit, or covariance='full'."
        )
    for name, values in _STREAMING.items():
        value = getattr(settings, name)
        if value not in values:
            raise ValueError(
                f"partial_fit learns from rows as they come: {name}={value!r} needs all points at "
                f"once. Use fit, or {name}={values[0]!r}."
            )
    return True


def check_total(total: float) -> None:
    """Refuse weights of no more than one point: densities are divided by those of the others."""
    if total < 1 + 1e-6:
        raise ValueError(
            f"sample_weight sums to {total:g}: a weight is a number of copies, and no point has "
            "another one. Multiply the weights so that they sum to more than 1."
        )


def check_bound(
    settings: LocalSettings,
    points: WeightedPoints,
    form: Form,
    penalty: Penalty,
    n_local: int | None = None,
) -> None:
    """Refuse points for which kernels of so many local directions have no likeliest width.

    None: of as many as there are before a fit.
    """
    if n_local is None:
        n_local = 1 if form.gaussian else points.X.shape[1]
    if penalty.local == 0 and not settings.early_stopping:
        refuse_unbounded(points, form, n_local)


def check_columns(settings: LocalSettings, points: WeightedPoints, penalty: Penalty) -> None:
    """Refuse columns without, or with too little, width, by the names the user gave them."""
    chosen = penalty.units is not None  # in units of the columns, which all have some then
    if chosen or penalty.global_ > 0 or (penalty.local > 0 and settings.gaussian is None):
        return
    spreads = np.ptp(ends_of(points.X), axis=0)
    narrowest = int(spreads.argmin())
    name = column_name(settings, narrowest)
    if spreads[narrowest] == 0:
        raise constant_column(name)
    check_spread(float(spreads[narrowest]), points.X.dtype, SQUARES, f"{name} of X")


def check_penalty(settings: LocalSettings, penalty: Penalty, points: WeightedPoints) -> None:
    """Refuse kernels so wide beside the data that nothing is left of it."""
    if penalty.units is not None:  # a share of the variances of the columns
        return
    largest = float(np.square(np.ptp(ends_of(points.X), axis=0).max(), dtype=np.float64))
    if max(penalty.global_, penalty.local) > _MOST_PENALTY * (largest or 1.0):
        raise ValueError(
            f"regularization={settings.regularization!r} is a variance more than {_MOST_PENALTY:g} "
            f"times the square of the widest column of X, {largest:.3g}: choose a smaller one."
        )


def _check_rank(settings: LocalSettings, n_features: int) -> None:
    if settings.rank is None:
        return
    check_count("rank", settings.rank, 1, n_features, " (the number of features)")
    if is_given(settings.covariance) or settings.covariance != "low_rank":
        raise ValueError(
            f"rank={settings.rank} is for covariance='low_rank', but covariance="
            f"{settings.covariance!r}: set one of them."
        )


def _check_regularization(settings: LocalSettings) -> None:
    value = settings.regularization
    if isinstance(value, str):
        check_choice("regularization", value, ("auto",))
        return
    if not isinstance(value, tuple | list):
        check_nonnegative("regularization", value)
        return
    if len(value) != 2:
        raise ValueError(f"regularization={value!r} must be one number, two, or 'auto'.")
    for part in value:
        check_nonnegative("regularization", part)
    if settings.gaussian is None and settings.n_mixture == 1:
        raise ValueError(
            f"regularization={value!r} has a part for the global covariance, which only a "
            "Gaussian uses: give one number, or set gaussian='em' or 'search'."
        )


def _check_discount(value: Any) -> None:
    if check_nonnegative("discount", value) >= 1:
        raise ValueError(f"discount={value!r} must be below 1: nothing new would be learned.")


def _check_contamination(value: Any) -> None:
    if isinstance(value, str):
        check_choice("contamination", value, ("auto",))
    elif check_share("contamination", value) > 0.5:
        raise ValueError(f"contamination={value!r} must be at most 0.5: most rows are no outliers.")


def _check_together(settings: LocalSettings) -> None:
    if settings.gaussian not in (None, "auto") and settings.covariance not in ("full", "auto"):
        raise ValueError(
            f"gaussian={settings.gaussian!r} splits directions of all kinds: it needs "
            f"covariance='full', not {settings.covariance!r}."
        )
    for name in ("batch_size", "n_neighbors"):
        value = getattr(settings, name)
        for other, whole in (("covariance", ("local", "auto")), ("gaussian", ("search", "auto"))):
            if value is not None and getattr(settings, other) in whole:
                raise ValueError(
                    f"{name}={value} cannot be combined with {other}={getattr(settings, other)!r}: "
                    "drop one of them."
                )


def _check_warm_start(settings: LocalSettings) -> None:
    """Refuse to go on from what one covariance does not tell."""
    if not settings.warm_start:
        return
    if settings.n_mixture != 1:
        raise ValueError(
            f"warm_start=True goes on from one covariance, and n_mixture={settings.n_mixture!r} "
            "has several: set warm_start=False, or n_mixture=1."
        )
    if isinstance(settings.covariance, str) and settings.covariance in ("local", "auto"):
        raise ValueError(
            "warm_start=True goes on from one covariance of a known shape, which covariance="
            f"{settings.covariance!r} does not have: set warm_start=False, or covariance='full'."
        )


def _check_law(settings: LocalSettings, law: Law) -> None:
    """Refuse what is derived for Gaussian kernels only."""
    if law == GAUSSIAN:
        return
    for name, wanted, value in (
        ("gaussian", None, settings.gaussian),
        ("covariance", "full", settings.covariance),
    ):
        if value != wanted and (name == "gaussian" or value in ("local", "auto")):
            raise ValueError(
                f"kernel={law.name!r} cannot be combined with {name}={value!r}, for which EM is "
                f"exact with Gaussian kernels only: set {name}={wanted!r}, or kernel='gaussian'."
            )
