"""Held-out log-likelihood and time of LocalComponents, next to other density estimators.

    python -m benchmarks.density [--splits 5] [--sets iris wine] [--raw FILE] [--save]

Random splits 75/25, the same for every method. Peers: scikit-learn (KernelDensity,
GaussianMixture, FastICA with kernel densities of the sources), SciPy, statsmodels and KDEpy;
the last two are left out where they are not installed. Needs the data sets (set VICINAL_DATA);
one that is not here is skipped. Every fit is reported on stderr as it ends; with `--raw FILE` what
was measured is kept and a run can be resumed. On a machine with other
work, set OPENBLAS_NUM_THREADS=1: threads that wait for each other slow small matrices down.
"""

import argparse
import importlib.util

from benchmarks.common.command import arguments
from benchmarks.common.pages import Page
from benchmarks.common.records import Records
from benchmarks.common.sets import available
from benchmarks.density.comparison import SETS, Comparison
from benchmarks.density.ours import warm_up
from benchmarks.density.protocol import protocol
from benchmarks.density.report import Report


def parse() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--splits", type=int, default=5, help="usps: at most 2")
    parser.add_argument("--sets", nargs="+", choices=list(SETS), help="default: all")
    parser.add_argument("--methods", nargs="+", help="words in names of methods; default: all")
    parser.add_argument("--raw", metavar="FILE", help="keep what was measured here, and resume")
    parser.add_argument("--known-only", action="store_true", help="measure nothing, show FILE")
    return parser.parse_args()


def main() -> None:
    options = parse()
    packages = [name for name in ("statsmodels", "KDEpy") if importlib.util.find_spec(name)]
    page = Page("Held-out log-likelihood of density estimators", packages)
    page.say(protocol() + "\n")
    if not options.known_only:
        warm_up()
    report, records = Report(page), Records(options.raw, ("set", "split", "method"))
    for name in available(page, SETS, options.sets):
        comparison = Comparison(name, options.splits, records)
        comparison.run(options.methods, options.known_only)
        report.add(comparison)
    report.summary()
    if options.save:
        page.save("density")


if __name__ == "__main__":
    main()
