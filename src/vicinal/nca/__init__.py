"""Neighborhood component analysis: a metric under which soft neighbors share a class."""

from vicinal.nca.estimator import NeighborhoodComponents
from vicinal.nca.function import objective

__all__ = ["NeighborhoodComponents", "objective"]
