"""Progress of fits on the terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from vicinal.interrupts import Interrupts

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from vicinal.fitting.update import Update
    from vicinal.report.comparing.progress import Progress as ComparisonProgress

__all__ = ["progress_of_comparison", "progress_of_fits"]


@contextmanager
def progress_of_fits(
    interrupts: Interrupts,
    first: str = "Preparing",
    *,
    quiet: bool = False,
    console: "Console | None" = None,
) -> Iterator[None]:
    """Show how the fits in the block are doing, on a terminal; let Ctrl-C end them.

    Parameters
    ----------
    interrupts : Interrupts
    first : str, default="Preparing"
        What is done before any update.
    quiet : bool, default=False
        Show nothing.
    console : rich.console.Console, optional
        Where to. None: standard error.
    """
    from rich.console import Console

    from vicinal.fitting.progress import shown_by

    console = console or Console(stderr=True)
    if quiet or not console.is_terminal:
        with shown_by(lambda name, max_iter: _Watch(interrupts)):
            yield
        return
    with _bars(console) as bars:
        task = bars.add_task(first, total=None, facts="")
        with shown_by(lambda name, max_iter: _Line(interrupts, bars, task, max_iter)):
            yield


@contextmanager
def progress_of_comparison(
    interrupts: Interrupts, *, quiet: bool = False, console: "Console | None" = None
) -> Iterator[None]:
    """Show how the comparison in the block is doing, on a terminal: a line for each method.

    Parameters
    ----------
    interrupts : Interrupts
    quiet : bool, default=False
        Show nothing.
    console : rich.console.Console, optional
        Where to. None: standard error.
    """
    from rich.console import Console

    from vicinal.report.comparing.progress import show_nothing, watched_by

    console = console or Console(stderr=True)
    if quiet or not console.is_terminal:
        with watched_by(show_nothing, interrupts):
            yield
        return
    with _bars(console) as bars, watched_by(_Lines(bars), interrupts):
        yield


class _Lines:
    """A line for each method, and one for all of them with the time left.

    Parameters
    ----------
    bars : rich.progress.Progress
    """

    def __init__(self, bars: "Progress") -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, progress: "ComparisonProgress") -> None:
        """Show how far it is."""
        for label in self._tasks.keys() - progress.accuracies.keys():
            self._show(label, total=1, facts="left out")
        for label, found in progress.accuracies.items():
            mean = f"{sum(found) / len(found):.1%}" if found else ""
            now = "fitting" if label == progress.label else ""
            facts = f"{len(found)}/{progress.n_folds}  {mean:>6}  {now}"
            self._show(label, total=progress.n_folds, completed=len(found), facts=facts)
        n_done = sum(map(len, progress.accuracies.values()))
        total = progress.n_folds * len(progress.accuracies)
        self._show(
            "All", total=total, completed=n_done, facts=progress
        )  # its text is that of the moment

    def _show(self, label: str, **state: Any) -> None:
        if label not in self._tasks:
            self._tasks[label] = self._bars.add_task(label, **state)
        self._bars.update(self._tasks[label], **state)


def _bars(console: "Console") -> "Progress":
    from rich.progress import BarColumn, Progress, TextColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=10),
        TextColumn("{task.fields[facts]}"),
        console=console,
        transient=True,
    )


class _Watch:
    """Shows nothing, but lets Ctrl-C end a fit.

    Parameters
    ----------
    interrupts : Interrupts
    """

    def __init__(self, interrupts: Interrupts) -> None:
        self._interrupts = interrupts

    def __call__(self, update: "Update") -> None:
        """There was an update."""
        self._interrupts.check()

    def close(self, message: str) -> None:
        """The fit has ended."""


class _Line(_Watch):
    """The line of a fit; there is one line for all of them, one after the other.

    Parameters
    ----------
    interrupts : Interrupts
    bars : rich.progress.Progress
    task : rich.progress.TaskID
    max_iter : int
    """

    def __init__(
        self, interrupts: Interrupts, bars: "Progress", task: "TaskID", max_iter: int
    ) -> None:
        super().__init__(interrupts)
        self._max_iter = max_iter
        self._show: Callable[..., None] = partial(bars.update, task)
        self._show(description="Fitting", total=max_iter, completed=0, facts="")

    def __call__(self, update: "Update") -> None:
        """Show an update."""
        from vicinal.fitting.progress import standing

        super().__call__(update)
        self._show(completed=update.iteration, facts=standing(update, self._max_iter))

    def close(self, message: str) -> None:
        """A fit has ended, not necessarily all work."""
        self._show(description="Finishing", completed=self._max_iter, facts="")
