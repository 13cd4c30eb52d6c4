"""Models by their names on the command line."""

from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

__all__ = ["Family"]


class Family(str, Enum):  # noqa: UP042  (typer shows the values of these)
    """What can be fitted."""

    nca = "nca"
    local = "local"
    coincidence = "coincidence"

    @property
    def estimator(self) -> "type[BaseEstimator]":
        """The class of its models."""
        home, name = _HOMES[self]
        found: type[BaseEstimator] = getattr(import_module(home), name)
        return found

    @property
    def needs_classes(self) -> bool:
        """Whether it learns from labeled rows."""
        return self is not Family.local

    @property
    def starts_from_distances(self) -> bool:
        """Whether features should have comparable scales.

        The density learns its own scales, and stays in the units of the data without others.
        """
        return self is not Family.local


_HOMES = {
    Family.nca: ("vicinal.nca", "NeighborhoodComponents"),
    Family.local: ("vicinal.local_components", "LocalComponents"),
    Family.coincidence: ("vicinal.coincidence", "LatentCoincidence"),
}
