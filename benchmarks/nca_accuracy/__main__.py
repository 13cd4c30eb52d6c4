"""Test accuracy of NCA and its variants, next to the thesis, the spec and scikit-learn.

    python -m benchmarks.nca_accuracy [--splits 10] [--sets iris wine] [--no-large] [--save]

Small sets: random splits 70/30, features standardized by the training part, two dimensions and
all. Large sets: default settings in five dimensions, each fit in a fresh process, with its time
and memory. Needs the data sets (set VICINAL_DATA); one that is not here is skipped.
"""

import argparse
import warnings

from sklearn.exceptions import ConvergenceWarning

from benchmarks.common.command import arguments
from benchmarks.common.pages import Page
from benchmarks.common.sets import available
from benchmarks.nca_accuracy.large import LARGE, LargeSets
from benchmarks.nca_accuracy.small import SMALL, SmallSets

PROTOCOL = """
Test accuracy in %, mean ± standard error over {splits} random splits 70/30
(the thesis: other splits, 20 where it says), by the NCA rule where not said otherwise:
the class with most of the soft neighborhood. Classic: L-BFGS, no penalty. Stochastic:
50 rows against all, Adam, early stopping. All but scikit-learn start from RCA.
"""


def parse() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--sets", nargs="+", choices=[*SMALL, *LARGE], help="default: all")
    parser.add_argument("--large", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--peer-splits", type=int, default=1, help="splits for scikit-learn")
    parser.add_argument("--peer-seconds", type=float, default=600.0, help="its time limit")
    return parser.parse_args()


def main() -> None:
    options = parse()
    warnings.filterwarnings("ignore", category=ConvergenceWarning)
    page = Page("Accuracy of NCA and its variants")
    page.say(PROTOCOL.lstrip().format(splits=options.splits))
    small = available(page, SMALL, options.sets)
    if small:
        SmallSets(page, small, options.splits).report()
    large = available(page, LARGE, options.sets) if options.large else []
    if large:
        LargeSets(page, large, options).report()
    if options.save:
        page.save("nca_accuracy")


if __name__ == "__main__":
    main()
