"""Local component analysis: a metric in which data are locally round, its density and its modes."""

from vicinal.local_components.clustering import ModeClustering
from vicinal.local_components.estimator import LocalComponents
from vicinal.local_components.function import log_density

__all__ = ["LocalComponents", "ModeClustering", "log_density"]
