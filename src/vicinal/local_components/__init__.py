"""Local components: the metric in which data are locally round, and its density."""

from vicinal.local_components.estimator import LocalComponents
from vicinal.local_components.function import log_density

__all__ = ["LocalComponents", "log_density"]
