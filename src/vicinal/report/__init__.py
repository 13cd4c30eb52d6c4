"""Pictures of fitted models.

Importing this package does not import matplotlib: that happens when something
is drawn, and a missing one is told with the command that installs it.
"""

from vicinal.report.projection import ProjectionDisplay

__all__ = ["ProjectionDisplay"]
