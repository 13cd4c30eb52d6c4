"""What ``vicinal demo`` does: the four families on scikit-learn's digits, beside others.

Functions here return data or a figure, or write a page, and print nothing; `vicinal.cli` shows
the numbers.
"""

from vicinal.demo.comparison import (
    N_DENSITY_COMPONENTS,
    Comparison,
    Density,
    Projection,
    Score,
    Split,
    compare,
    load_split,
)
from vicinal.demo.pictures import draw, write_page

__all__ = [
    "N_DENSITY_COMPONENTS",
    "Comparison",
    "Density",
    "Projection",
    "Score",
    "Split",
    "compare",
    "draw",
    "load_split",
    "write_page",
]
