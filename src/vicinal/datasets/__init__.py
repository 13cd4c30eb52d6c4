"""Benchmark data sets by name, and toy problems.

:func:`load` finds a data set in a local folder, in scikit-learn, in the cache or on
OpenML, and checks that it is the very set that the published numbers are about.
The ``make_`` functions generate the toy problems of local component analysis.

>>> from vicinal import datasets
>>> wine = datasets.load("wine")
>>> wine.data.shape
(178, 13)
"""

from vicinal.datasets.errors import DatasetMismatch, DatasetUnavailable
from vicinal.datasets.loading import is_available, load, names
from vicinal.datasets.toys import make_five_gaussians, make_noisy_circles, make_noisy_gaussians

__all__ = [
    "DatasetMismatch",
    "DatasetUnavailable",
    "is_available",
    "load",
    "make_five_gaussians",
    "make_noisy_circles",
    "make_noisy_gaussians",
    "names",
]
