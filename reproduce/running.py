"""Runs an item: unit after unit, with progress; what is done is done."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from reproduce.experiment import Experiment, Measure, Paper, Unit, units
from reproduce.lines import Lines
from reproduce.pages import write_results
from vicinal import datasets
from vicinal.files import check_target


def results_folder(paper: Paper, mode: str) -> Path:
    """Where results are kept, unless told otherwise."""
    return paper.folder / "results" / mode


def run(
    paper: Paper,
    experiment: Experiment,
    mode: str,
    folder: Path | None = None,
    *,
    minutes: float = float("inf"),
    again: bool = False,
    only: Mapping[str, Sequence[str]] | None = None,
    jobs: int = 1,
) -> bool:
    """Measure the units that are missing, and write tables and figures of all that are there.

    Parameters
    ----------
    paper : Paper
    experiment : Experiment
    mode : {"full", "quick"}
    folder : Path, optional
        None: that of the paper.
    minutes : float
        After so many no other unit is begun.
    again : bool, default=False
        Forget the units that are asked for, where they were measured before: for a change of the
        code, which settings do not show.
    only : mapping from str to sequence of str, optional
        Begin those units only that have one of these values of a setting, each as a string.
    jobs : int, default=1
        So many units at a time, each in a process of its own with its share of the cores. Times
        that an item measures are then those of a busy machine.

    Returns
    -------
    bool
        Whether all units are done.
    """
    check_data(experiment)
    folder = folder or results_folder(paper, mode)
    wanted = units(paper.settings(experiment, mode))
    asked = chosen_units(wanted, only or {}, experiment.name)
    check_folder(folder / experiment.lines_file)
    lines = Lines(folder / experiment.lines_file)
    if again:
        lines.forget(asked)
    try:
        _measure(experiment, lines, asked, minutes, jobs)
    finally:  # Ctrl-C, too, leaves a table of what there is
        if lines.of(wanted):
            write_results(paper, experiment, mode, folder, lines.of(wanted), len(wanted))
    return not lines.missing(wanted)


def chosen_units(
    wanted: Sequence[Unit], only: Mapping[str, Sequence[str]], item: str
) -> list[Unit]:
    """Those whose settings have the values that are asked for."""
    for name, values in only.items():
        if name not in wanted[0]:
            raise SystemExit(f"only {name}=...: settings of {item} are {', '.join(wanted[0])}")
        there = dict.fromkeys(str(unit[name]) for unit in wanted)
        if not set(values) <= set(there):
            raise SystemExit(
                f"only {name}={','.join(values)}: no unit of {item} has that; there are "
                f"{', '.join(there)}"
            )
    return [unit for unit in wanted if all(str(unit[name]) in only[name] for name in only)]


def check_data(experiment: Experiment) -> None:
    """Raise an error where a data set is not here."""
    missing = [name for name in experiment.needs if not datasets.is_available(name)]
    if missing:
        raise datasets.DatasetUnavailable(
            f"{experiment.name} needs the data set(s) {', '.join(missing)}: set VICINAL_DATA to "
            "their folder"
        )


def check_folder(path: Path) -> None:
    """End the program where lines could not be kept, before anything is measured for them."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        check_target(path, "results")
    except OSError as error:
        raise SystemExit(f"results cannot be kept in '{path}': {error}") from None


def _measure(
    experiment: Experiment, lines: Lines, wanted: Sequence[Unit], minutes: float, jobs: int
) -> None:
    missing = lines.missing(wanted)
    units_in_time = _until(time.monotonic() + 60 * minutes, missing)
    with _progress(experiment.name, len(wanted), len(wanted) - len(missing)) as advance:
        # As many as there are processes are begun, and another whenever one is done.
        parallel = Parallel(jobs, return_as="generator_unordered", batch_size=1, pre_dispatch=jobs)
        measure = delayed(_timed)
        for unit, found, seconds in parallel(
            measure(experiment.measure, unit) for unit in units_in_time
        ):
            lines.add(unit, found, seconds)
            advance(unit)


def _until(end: float, units: Iterable[Unit]) -> Iterator[Unit]:
    """As long as there is time."""
    for unit in units:
        if time.monotonic() > end:
            return
        yield unit


def _timed(measure: Measure, unit: Unit) -> tuple[Unit, dict[str, Any], float]:
    start = time.perf_counter()
    found = measure(unit)
    return unit, found, time.perf_counter() - start


@contextmanager
def _progress(name: str, n_units: int, n_done: int) -> Iterator:
    """A bar on a terminal; else a line per unit."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console) as bar:
        task = bar.add_task(name, total=n_units, completed=n_done)

        def advance(unit: Unit) -> None:
            bar.advance(task)
            if not console.is_terminal:
                console.print(f"{name}: {_words(unit)}", soft_wrap=True, highlight=False)

        yield advance


def _words(unit: Unit) -> str:
    return ", ".join(f"{name} {value}" for name, value in unit.items())
