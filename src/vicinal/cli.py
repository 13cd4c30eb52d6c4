"""The command line.

typer and rich come with an extra, so they are imported when the command runs,
not when this module is.
"""

import json
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from math import sqrt
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

from vicinal import __version__

if TYPE_CHECKING:
    import typer
    from rich.console import Console
    from rich.table import Table

    from vicinal.demo import Comparison, Score

__all__ = ["build_app", "main"]

INTERRUPTED = 130  # what shells report for a command stopped by Ctrl-C


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line and exit.

    Parameters
    ----------
    args : sequence of str, optional
        Arguments. None: those of the process.
    """
    try:
        sys.exit(_run(args))
    except KeyboardInterrupt:  # before a command has begun
        sys.exit(INTERRUPTED)


def _run(args: Sequence[str] | None) -> int | str:
    """Exit code, or what to say instead of running."""
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError:
        return "vicinal's command line needs the extra 'cli': pip install 'vicinal[cli]'"
    try:
        return build_app()(args=args, prog_name="vicinal", standalone_mode=False) or 0
    except Exception as error:
        if not hasattr(error, "format_message"):  # typer's own errors, about the arguments
            raise
        _say(_usage(error))
        return getattr(error, "exit_code", 2)


def build_app() -> "typer.Typer":
    """The commands, as a typer application.

    Returns
    -------
    typer.Typer

    Examples
    --------
    >>> from typer.testing import CliRunner
    >>> from vicinal.cli import build_app
    >>> print(CliRunner().invoke(build_app(), ["--version"]).stdout)
    vicinal ...
    """
    import typer

    app = typer.Typer(
        help='Learn what "near" means for a data set.',
        epilog="Example: vicinal demo",
        add_completion=False,
        pretty_exceptions_enable=False,  # --debug shows Python's own traceback
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback(invoke_without_command=True)
    def vicinal(
        context: typer.Context,
        version: Annotated[
            bool, typer.Option("--version", is_eager=True, help="Show the version and exit.")
        ] = False,
    ) -> None:
        if version:
            typer.echo(f"vicinal {__version__}")
            raise typer.Exit
        if context.invoked_subcommand is None:
            typer.echo(context.get_help())

    @app.command(epilog="Example: vicinal demo --seed 1 --output digits.png")
    def demo(
        output: Annotated[
            Path, typer.Option("--output", "-o", help="Picture to write: .png, .pdf or .svg.")
        ] = Path("vicinal-demo.png"),
        seed: Annotated[int, typer.Option(help="Which split into training and test.")] = 0,
        as_json: Annotated[
            bool, typer.Option("--json", help="Write the numbers to standard output as JSON.")
        ] = False,
        debug: Annotated[
            bool, typer.Option("--debug", help="Show a traceback where something fails.")
        ] = False,
    ) -> None:
        """Fit NCA to images of digits and compare it with PCA, LDA and the raw pixels.

        Prints a table of accuracies and saves a picture of the projections.
        Needs no network and takes a few seconds.
        """
        with _errors_in_one_line(debug), _Interrupts() as interrupts:
            _demo(output, seed, as_json, interrupts)

    return app


def _demo(output: Path, seed: int, as_json: bool, interrupts: "_Interrupts") -> None:
    """Compare, save the picture, then show: numbers on stdout, all else on stderr."""
    from rich.console import Console

    from vicinal.report.support import check_picture_path, require_matplotlib, save_figure

    require_matplotlib("vicinal demo")
    check_picture_path(output)
    with _progress(Console(stderr=True), interrupts) as on_step:
        from vicinal import demo  # scikit-learn takes a second to import

        result = demo.compare(demo.load_split(seed=seed), on_step)
        figure = demo.draw(result.projections)
        interrupts.check()
        save_figure(figure, output)
    if as_json:
        about = {"version": __version__, "seed": seed, "picture": str(output)}
        print(json.dumps(about | result.as_dict(), indent=2))
    else:
        _show(Console(), result, seed, output)
    sys.stdout.flush()  # here, where a closed pipe is handled, not at exit


def _show(console: "Console", result: "Comparison", seed: int, output: Path) -> None:
    console.print(_table(result, seed))
    console.print(
        f"Picture: {output}\n"
        "Next: another --seed, or your own data with vicinal.NeighborhoodComponents",
        markup=False,  # a path may hold brackets
        highlight=False,
        soft_wrap=True,  # and must stay in one piece to be copied
    )


def _table(result: "Comparison", seed: int) -> "Table":
    from rich import box
    from rich.table import Table

    error = max(sqrt(s.accuracy * (1 - s.accuracy) / result.n_test) for s in result.scores)
    table = Table(
        title=f"Digits: {result.n_train} training and {result.n_test} test images, seed {seed}",
        caption=f"One split: the standard error of an accuracy is up to {error:.1%}.",
        box=box.SIMPLE_HEAD,
    )
    for heading in ("Projection", "Classifier"):
        table.add_column(heading)
    for heading in ("Dimensions", "Test accuracy", "Fit time"):
        table.add_column(heading, justify="right")
    for _, group in groupby(result.scores, key=lambda score: score.n_components):
        _add_group(table, list(group))
    return table


def _add_group(table: "Table", scores: "list[Score]") -> None:
    """Rows of one dimension, the best of several in bold."""
    best = max(score.accuracy for score in scores)
    for score in scores:
        leads = score.accuracy == best and len(scores) > 1
        table.add_row(*_cells(score), style="bold" if leads else "")
    table.add_section()


def _cells(score: "Score") -> tuple[str, ...]:
    accuracy, seconds = f"{score.accuracy:.1%}", _duration(score.fit_seconds)
    return score.method, score.rule, str(score.n_components), accuracy, seconds


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{seconds:.2f} s" if seconds >= 0.01 else "< 0.01 s"


@contextmanager
def _progress(
    console: "Console", interrupts: "_Interrupts"
) -> Iterator[Callable[[str, int, int], None]]:
    """A line on the terminal that says what is being done; silent elsewhere."""
    with console.status("Starting", spinner="line") as status:

        def on_step(text: str, step: int, n_steps: int) -> None:
            interrupts.check()
            status.update(f"{text} ({step} of {n_steps})")

        yield on_step


class _Interrupted(BaseException):
    """Ctrl-C, where a fit would take a KeyboardInterrupt as a wish to keep the best so far."""


class _Interrupts:
    """Lets Ctrl-C end the command, even inside a fit.

    An exception that a signal raises inside a finalizer or a callback from C
    (numba has both) is lost, but for a traceback. So it is remembered, and the
    traceback is not shown.
    """

    def __init__(self) -> None:
        self.happened = False

    def __enter__(self) -> "_Interrupts":
        usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        self._installed = usual and threading.current_thread() is threading.main_thread()
        if self._installed:
            signal.signal(signal.SIGINT, self._stop)
            self._show, sys.unraisablehook = sys.unraisablehook, self._unraisable
        return self

    def __exit__(self, *error: object) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            sys.unraisablehook = self._show
        self.check()  # an error that came after it came of it

    def _stop(self, signum: int, frame: FrameType | None) -> None:
        self.happened = True
        self.check()

    def _unraisable(self, lost: Any) -> None:
        if not isinstance(lost.exc_value, _Interrupted):
            self._show(lost)

    def check(self) -> None:
        """Stop here if Ctrl-C was pressed."""
        if self.happened:
            raise _Interrupted


@contextmanager
def _errors_in_one_line(debug: bool) -> Iterator[None]:
    """Turn errors and warnings into a line on stderr, and errors into an exit code."""
    import typer

    with warnings.catch_warnings():
        warnings.showwarning = _warn
        try:
            yield
        except (KeyboardInterrupt, _Interrupted):
            _say("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:  # the reader of our output has left; typer ends quietly
            raise
        except Exception as error:
            if debug:
                raise
            _say(_message(error))
            raise typer.Exit(1) from None


def _message(error: Exception) -> str:
    """The error in one line; one that was not foreseen also says how to learn more."""
    line = " ".join(str(error).split())
    if isinstance(error, OSError | ValueError | ImportError) and line:
        return line
    return f"{type(error).__name__}: {line} (run again with --debug to see where)"


def _warn(message: Warning | str, *details: Any, **more: Any) -> None:
    _say("warning: " + " ".join(str(message).split()))


def _usage(error: Any) -> str:
    """What is wrong with the arguments, and where to read about them."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "vicinal"
    return f"{error.format_message().rstrip('.')}. See '{command} --help'."


def _say(line: str) -> None:
    print(f"vicinal: {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
