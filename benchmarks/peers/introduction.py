"""Who is compared and how: the beginning of the page."""

import argparse
import importlib.util
from collections.abc import Sequence

from benchmarks.common.children import last_line
from benchmarks.common.pages import Page
from benchmarks.peers.measuring import GIGABYTES, NEIGHBORS, WARM_UP_ROWS
from benchmarks.peers.methods import HOMES, METHODS, Method

PROTOCOL = """
Test accuracy in % of {neighbors} and of 1 nearest neighbors among the projected training
rows, the same rule for every method, and seconds of the fit. At most
{max_train} training rows, for everyone, since some store n × n arrays. Random
stratified splits 70/30; mnist: the customary test rows, training rows drawn from the
customary ones. Seeds: {seeds}, each with a split of its own (mean ± standard
error where there are several). Pixels (usps_roweis, mnist) divided by 255, others
standardized by the training part; columns constant there dropped; float64.

Every fit has a process of its own and uses the threads its library takes by default. It
is timed after a fit of few updates that does not count, for compilers and lazy imports:
of all rows where there is a compiler (vicinal NCA, UMAP), else of {warm_up_rows}. A fit
is ended after {limit:g} s, and may use {gigabytes} GB; larger settings of a
method that went over are not tried. Transform: of the test rows. MB: largest resident
memory of the process until the end of the fit, libraries and data included.

Best, below a table: chosen by the test rows themselves, among many settings.
"""


def introduce(page: Page, options: argparse.Namespace, methods: Sequence[str]) -> None:
    """Environments, protocol and methods."""
    for home, environment in HOMES.items():
        if any(METHODS[method].home == home for method in methods):
            page.say(environment.line(getattr(options, home)))
    numbers = {"neighbors": NEIGHBORS, "warm_up_rows": WARM_UP_ROWS, "gigabytes": GIGABYTES}
    page.say(PROTOCOL.lstrip().format(**numbers, **vars(options)))
    for method in methods:
        page.say(f"- {METHODS[method].name}: {METHODS[method].about}")
    page.say()


def measurable(options: argparse.Namespace) -> tuple[list[str], list[str]]:
    """Methods to measure, and sentences about those that cannot be."""
    chosen, left_out = [], []
    for key in options.methods:
        why = why_not(METHODS[key], key, options)
        if why:
            left_out.append(f"{METHODS[key].name}: not measured, {why}.")
        else:
            chosen.append(key)
    return chosen, left_out


def why_not(method: Method, key: str, options: argparse.Namespace) -> str | None:
    """Reason why a method cannot be measured."""
    if method.home == "here":
        missing = key == "umap" and importlib.util.find_spec("umap") is None
        return "umap-learn is not installed" if missing else None
    python = getattr(options, method.home)
    if python is None:
        return "no environment given"
    try:
        HOMES[method.home].line(python)
    except (OSError, RuntimeError) as error:
        return f"its environment does not work ({last_line(error)})"
    return None
