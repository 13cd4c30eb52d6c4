"""LatentCoincidence beside Euclid, PCA, NCA and LMNN: test error, verification of pairs, speed.

    python -m benchmarks.coincidence [--parts neighbors classes verification speed]
        [--sets iris letter] [--splits 5] [--metric-learn PYTHON] [--plot PATH] [--save]

neighbors: test error of 3 nearest neighbors. classes: CoincidenceClassifier beside LDA and QDA.
verification: whether two points are of the same class, and whether the probability of that is
calibrated. speed: one fit of many rows. Needs the data sets (set VICINAL_DATA); one that is not
here is skipped, and the page says so. metric-learn, for LMNN, needs an environment of its own:

    python -m venv ENV; ENV/bin/pip install scikit-learn==1.5.2 metric-learn==0.7.0 "numpy<2"
    python -m benchmarks.coincidence --metric-learn ENV/bin/python
"""

import argparse
import warnings

from sklearn.exceptions import ConvergenceWarning

from benchmarks.coincidence.cases import CASES
from benchmarks.coincidence.classes import report_classes
from benchmarks.coincidence.neighbors import Neighbors
from benchmarks.coincidence.speed import Speed
from benchmarks.coincidence.verification import Verification
from benchmarks.common.command import add_interpreter, arguments
from benchmarks.common.environments import METRIC_LEARN
from benchmarks.common.pages import Page

PARTS = ("neighbors", "classes", "verification", "speed")


def parse() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--sets", nargs="+", choices=list(CASES), help="default: all")
    parser.add_argument("--splits", type=int, default=5)
    add_interpreter(parser, "--metric-learn", "of an environment that has it")
    parser.add_argument("--lmnn-seconds", type=float, default=120.0, help="limit of a fit, part 1")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds of a peer's fit, speed")
    parser.add_argument("--plot", metavar="PATH", help="reliability diagram of the verification")
    return parser.parse_args()


def main() -> None:
    options = parse()
    # Fits that stop at their number of updates, and LDA of columns that depend on others.
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.filterwarnings("ignore", message="Variables are collinear")
    only_speed = list(options.parts) == ["speed"]
    what = "speed" if only_speed else "test error, verification of pairs"
    page = Page(f"Latent coincidence analysis: {what}")
    if options.metric_learn:
        page.say(METRIC_LEARN.line(options.metric_learn))
    if "neighbors" in options.parts:
        Neighbors(page, options).report()
    if "classes" in options.parts:
        report_classes(page, options)
    if "verification" in options.parts:
        Verification(page, options).report()
    if "speed" in options.parts:
        Speed(page, options).report()
    if options.save:
        page.save("coincidence_speed" if only_speed else "coincidence_accuracy")


if __name__ == "__main__":
    main()
