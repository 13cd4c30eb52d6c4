"""Plots and HTML reports of fitted models, and comparisons that tell whether a model is worth it.

Importing this package does not import matplotlib; drawing does. If matplotlib is missing, the error
names the command that installs it.
"""

from vicinal.report.comparing import Comparison, compare
from vicinal.report.displays.accuracy import NeighborsAccuracyDisplay
from vicinal.report.displays.comparison import ComparisonDisplay
from vicinal.report.displays.convergence import ConvergenceDisplay
from vicinal.report.displays.density import DensityDisplay
from vicinal.report.displays.ellipses import LocalEllipsesDisplay
from vicinal.report.displays.graph import NeighborhoodGraphDisplay
from vicinal.report.displays.importance import FeatureImportanceDisplay
from vicinal.report.displays.metric import MetricDisplay
from vicinal.report.displays.projection import ProjectionDisplay
from vicinal.report.displays.regularization import RegularizationDisplay
from vicinal.report.displays.reliability import ReliabilityDisplay
from vicinal.report.displays.spectrum import SpectrumDisplay
from vicinal.report.page import write_report

__all__ = [
    "Comparison",
    "ComparisonDisplay",
    "ConvergenceDisplay",
    "DensityDisplay",
    "FeatureImportanceDisplay",
    "LocalEllipsesDisplay",
    "MetricDisplay",
    "NeighborhoodGraphDisplay",
    "NeighborsAccuracyDisplay",
    "ProjectionDisplay",
    "RegularizationDisplay",
    "ReliabilityDisplay",
    "SpectrumDisplay",
    "compare",
    "write_report",
]
