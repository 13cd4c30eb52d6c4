"""Density queries against peers: seconds at a wanted relative error, and the error measured.

    python -m benchmarks.kde [--n 10000 100000] [--d 1 2] [--bandwidths small] [--errors 1e-2 0]
        [--contenders vicinal scikit-learn] [--peers PYTHON] [--raw FILE] [--limit 60] [--save]

`log_density` beside scikit-learn, SciPy, KDEpy and mlpack. Every measurement is a process of its
own; with --raw it is kept in a file of JSON lines and not made again. Peers that are not installed
here run in another environment, and are left out where there is none:

    python -m venv ENV; ENV/bin/pip install numpy scipy KDEpy mlpack
    python -m benchmarks.kde --peers ENV/bin/python
"""

import argparse
import importlib.metadata
import itertools
import sys
import tempfile

from benchmarks.common.command import add_interpreter, arguments
from benchmarks.common.environments import in_words, versions_in
from benchmarks.common.pages import Page
from benchmarks.kde.contenders import CONTENDERS
from benchmarks.kde.high_dimension import HIGH_D, high_dimension
from benchmarks.kde.measuring import Bench
from benchmarks.kde.problems import BANDWIDTHS, Problem
from benchmarks.kde.protocol import protocol
from benchmarks.kde.report import Report

SIZES = (10**4, 10**5, 10**6)
DIMENSIONS = (1, 2, 3, 5, 8)
ERRORS = (1e-2, 1e-4, 1e-8, 0.0)


def interpreters(page: Page, options: argparse.Namespace) -> dict[str, str]:
    """Which interpreter has which package; this one where it can."""
    packages = sorted({CONTENDERS[name].package for name in options.contenders})
    pythons = {name: sys.executable for name in packages if is_here(name)}
    others = [name for name in packages if name not in pythons]
    if others and options.peers:
        names = [*others, "numpy", "scipy"]
        found = versions_in(options.peers, names)
        pythons |= {name: options.peers for name in others if name in found}
        page.say(f"The peers' environment: {in_words(found)}.\n")
    missing = [name for name in packages if name not in pythons]
    if missing:
        page.say(f"Not installed and left out: {', '.join(missing)}.\n")
    return pythons


def is_here(package: str) -> bool:
    try:
        importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def parse() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--n", type=int, nargs="+", default=SIZES)
    parser.add_argument("--d", type=int, nargs="+", default=DIMENSIONS)
    parser.add_argument("--bandwidths", nargs="+", choices=list(BANDWIDTHS), default=[*BANDWIDTHS])
    parser.add_argument("--errors", type=float, nargs="+", default=ERRORS, help="0: exact")
    parser.add_argument("--contenders", nargs="+", choices=list(CONTENDERS), default=[*CONTENDERS])
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--threads", type=int, default=2, help="ours, but for one column")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of a peer")
    add_interpreter(parser, "--peers", "of an environment that has them")
    parser.add_argument("--raw", metavar="FILE", help="JSON lines; rows in it are not run again")
    parser.add_argument("--folder", help="where the data is written and deleted again")
    parser.add_argument("--no-high", action="store_true", help=f"leave d = {HIGH_D} out")
    return parser.parse_args()


def main() -> None:
    options = parse()
    page = Page("Density queries against peers")
    report = Report(page, Bench(options, interpreters(page, options)))
    page.say(protocol(options) + "\n")
    for d, n in itertools.product(options.d, options.n):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            report.add(Problem(n, d, options.queries, folder))
    report.summary()
    report.contenders()
    if not options.no_high:
        high_dimension(page)
    report.save()


if __name__ == "__main__":
    main()
