"""Whether learning a metric helps on a table.

rows and classes → problem: checked numbers, the same folds for all
                 → measuring: methods, fold by fold, with progress and Ctrl-C
                 → scores of each method; differences, with intervals
                 → comparison: a table, sentences (words), a picture
"""

from vicinal.report.comparing.comparison import Comparison
from vicinal.report.comparing.function import compare

__all__ = ["Comparison", "compare"]
