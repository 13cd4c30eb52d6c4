"""Further parameters for learners of other libraries, under the names that these have for them."""

from collections.abc import Collection
from typing import Any

from vicinal.divergence.learners.learner import Settings

__all__ = ["check_names", "further_params"]

# What the graph decides, and what it cannot be combined with.
_OURS = ("metric", "method", "n_components", "precomputed_knn", "n_neighbors")


def further_params(settings: Settings) -> dict[str, Any]:
    """The further parameters that the user gives."""
    return settings.method_params or {}


def check_names(params: Collection[str], known: Collection[str], method: str) -> None:
    """Refuse parameters that the other library does not know, or that the graph decides."""
    for name in params:
        if name in _OURS and name in known:
            raise ValueError(
                f'method_params["{name}"] is decided by the graph of divergences and cannot be set '
                f'for method="{method}".'
            )
        if name not in known:
            raise ValueError(
                f'method_params[{name!r}] is unknown: method="{method}" takes '
                f"{', '.join(sorted(set(known) - set(_OURS)))}."
            )
