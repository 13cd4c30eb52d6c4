"""What of the parameters goes with several parts."""

from typing import Any

from vicinal.inputs.checks import check_choice, check_count
from vicinal.local_components.settings import LocalSettings

__all__ = ["check_mixture"]

# The first value is what a parameter would be set to.
_TOGETHER: dict[str, tuple[Any, ...]] = {
    "covariance": ("full",),
    "kernel": ("gaussian",),
    "gaussian": (None, "search"),
    "batch_size": (None,),
    "n_neighbors": (None,),
    "early_stopping": (False,),
}


def check_mixture(settings: LocalSettings) -> None:
    """Refuse numbers of parts that are none, and what is derived for one part only."""
    if isinstance(settings.n_mixture, str):
        check_choice("n_mixture", settings.n_mixture, ("auto",))
    else:
        check_count("n_mixture", settings.n_mixture, 1)
    if settings.n_mixture == 1:
        return
    for name, values in _TOGETHER.items():
        value = getattr(settings, name)
        if value not in values:
            raise ValueError(
                f"n_mixture={settings.n_mixture!r} cannot be combined with {name}={value!r}: set "
                f"{name}={values[0]!r}, or n_mixture=1."
            )
