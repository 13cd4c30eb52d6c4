"""Pictures of fitted models, and a page of them.

Importing this package does not import matplotlib: that happens when something
is drawn, and a missing one is told with the command that installs it.
"""

from vicinal.report.accuracy import NeighborsAccuracyDisplay
from vicinal.report.convergence import ConvergenceDisplay
from vicinal.report.density import DensityDisplay
from vicinal.report.ellipses import LocalEllipsesDisplay
from vicinal.report.graph import NeighborhoodGraphDisplay
from vicinal.report.importance import FeatureImportanceDisplay
from vicinal.report.metric import MetricDisplay
from vicinal.report.page import write_report
from vicinal.report.projection import ProjectionDisplay
from vicinal.report.reliability import ReliabilityDisplay
from vicinal.report.spectrum import SpectrumDisplay

__all__ = [
    "ConvergenceDisplay",
    "DensityDisplay",
    "FeatureImportanceDisplay",
    "LocalEllipsesDisplay",
    "MetricDisplay",
    "NeighborhoodGraphDisplay",
    "NeighborsAccuracyDisplay",
    "ProjectionDisplay",
    "ReliabilityDisplay",
    "SpectrumDisplay",
    "write_report",
]
