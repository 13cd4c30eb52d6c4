"""The command line.

    python -m reproduce list
    python -m reproduce run local-components/figure-5 [--quick] [--minutes 30] [--jobs 2] [--again]
    python -m reproduce run divergence-spaces/table-2 --only learner=lle --only set=iris,wine
    python -m reproduce run local-components [--quick]
    python -m reproduce report

`run` goes on where it was stopped. Set VICINAL_DATA to the folder of the data sets.
"""

import argparse
import sys
from collections.abc import Sequence

from reproduce.gallery import write_gallery
from reproduce.papers import PAPERS, chosen
from reproduce.report import refresh_pages, standing, write_report
from reproduce.running import run
from vicinal.cli.streams import abandon
from vicinal.datasets import DatasetUnavailable

INTERRUPTED = 130  # as shells have it


def main(words: Sequence[str] | None = None) -> None:
    """Do what the command line says."""
    options = _parser().parse_args(words)
    try:
        options.command(options)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output has left, with what it wanted
        abandon(sys.stdout)
    except KeyboardInterrupt:
        print("\nStopped. What was measured is kept; the same command goes on.", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None


def show_list(options: argparse.Namespace) -> None:
    """Every item, and how much of it was run."""
    for paper in PAPERS:
        for experiment in paper.experiments:
            print(f"{paper.name}/{experiment.name}: {experiment.what}")
            print(f"    {standing(paper, experiment).words}")


def run_items(options: argparse.Namespace) -> None:
    """Measure what is missing."""
    mode = "quick" if options.quick else "full"
    wishes = {"minutes": options.minutes, "again": options.again, "jobs": options.jobs}
    cannot = []
    for paper, experiment in chosen(options.id):
        try:
            is_done = run(paper, experiment, mode, only=_merged(options.only), **wishes)
        except DatasetUnavailable as reason:  # other items of the paper may need less
            cannot.append(f"{paper.name}/{experiment.name}: {reason}")
        else:
            print(f"{paper.name}/{experiment.name}: {'done' if is_done else 'to be continued'}")
    if cannot:
        raise SystemExit("\n".join(cannot))


def report(options: argparse.Namespace) -> None:
    """Write both pages, and those of all items."""
    refresh_pages(PAPERS)
    write_report(PAPERS)
    write_gallery(PAPERS)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m reproduce",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    commands.add_parser("list", help="every item").set_defaults(command=show_list)
    running = commands.add_parser("run", help="measure an item, or all of a paper")
    running.add_argument("id", help="as `list` shows it, or the name of a paper")
    running.add_argument("--quick", action="store_true", help="smaller settings: minutes at most")
    running.add_argument(
        "--minutes", type=float, default=float("inf"), help="begin no unit after so many (per item)"
    )
    running.add_argument(
        "--only",
        type=_setting,
        action="append",
        default=[],
        metavar="SETTING=VALUE,...",
        help="units with these values only; may be repeated",
    )
    running.add_argument("--jobs", type=_at_least_one, default=1, help="so many units at a time")
    running.add_argument("--again", action="store_true", help="measure what is there, too")
    running.set_defaults(command=run_items)
    commands.add_parser("report", help="docs/results/papers*.md").set_defaults(command=report)
    return parser


def _setting(words: str) -> tuple[str, list[str]]:
    name, sign, values = words.partition("=")
    if not sign:
        raise argparse.ArgumentTypeError(f"{words!r} is not SETTING=VALUE,...")
    return name, values.split(",")


def _merged(only: Sequence[tuple[str, list[str]]]) -> dict[str, list[str]]:
    """Values of a setting that is named twice count all."""
    found: dict[str, list[str]] = {}
    for name, values in only:
        found.setdefault(name, []).extend(values)
    return found


def _at_least_one(words: str) -> int:
    number = int(words)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{words} is less than 1")
    return number


if __name__ == "__main__":
    main()
