"""Whole fits against peers: test accuracy against the time of the fit.

    python -m benchmarks.peers [--sets landsat mnist] [--dims 5 2] [--methods nca umap] [--seeds 1]
        [--limit 300] [--max-train 10000] [--metric-learn PYTHON] [--torch PYTHON]
        [--raw FILE.jsonl] [--figure FILE.png] [--save]

Supervised maps to few dimensions: ours, those of scikit-learn, metric-learn,
pytorch-metric-learning and UMAP, with PCA and LDA as cheap baselines. Most are also stopped early,
so that each is a curve. Every fit has a process of its own, which may be ended and whose memory is
nobody else's; run nothing else on the machine meanwhile. `--raw` keeps what was measured, and rows
that it holds already are not measured again: the same command goes on where it was stopped, or
draws the figure anew. Delete the file after a change of the code.

Needs the data sets (set VICINAL_DATA); one that is not here is skipped. metric-learn needs an
environment of its own, torch may have one:

    python -m venv ENV; ENV/bin/pip install scikit-learn==1.5.2 metric-learn==0.7.0 "numpy<2"
    python -m venv TORCH; TORCH/bin/pip install torch pytorch-metric-learning
    python -m benchmarks.peers --metric-learn ENV/bin/python --torch TORCH/bin/python
"""

import argparse
import sys
from pathlib import Path

from benchmarks.common.command import add_interpreter, arguments
from benchmarks.common.pages import Page
from benchmarks.peers.figure import draw
from benchmarks.peers.introduction import introduce, measurable
from benchmarks.peers.measuring import Laboratory, Store
from benchmarks.peers.methods import HOMES, METHODS
from benchmarks.peers.report import Report

SETS = ("usps_roweis", "magic", "mnist", "landsat")
DIMENSIONS = (5, 2)


def parse() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--dims", nargs="+", type=int, default=DIMENSIONS)
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--seeds", type=int, default=1, help="how many")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds of a fit")
    parser.add_argument("--max-train", type=int, default=10_000, help="training rows at most")
    add_interpreter(parser, "--metric-learn", "of an environment that has it")
    add_interpreter(parser, "--torch", "of an environment that has pytorch-metric-learning")
    parser.add_argument("--raw", metavar="FILE", type=Path, help="results so far, JSON lines")
    parser.add_argument("--figure", metavar="FILE", type=Path, help="accuracy against time, PNG")
    return parser.parse_args()


def main() -> None:
    options = parse()
    methods, left_out = measurable(options)
    packages = ["umap-learn"] if "umap" in methods else []
    page = Page("Whole fits against peers: accuracy against time", packages)
    introduce(page, options, methods)
    for sentence in left_out:
        page.say(f"{sentence}\n")
    report = Report(page, options, methods)
    pythons = {"here": sys.executable}
    pythons |= {home: getattr(options, home) for home in HOMES}
    store = Store(options.raw, options.limit)
    with Laboratory(store, pythons, options.limit).open() as laboratory:
        report.write(laboratory)
    if options.figure is not None and report.found:
        draw(report.found, options).savefig(options.figure, dpi=150)
        page.say(f"Figure: `{options.figure.name}`.")
    if options.save:
        page.save("peers")


if __name__ == "__main__":
    main()
