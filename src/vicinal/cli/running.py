"""Running a command: errors in one line, exit codes, Ctrl-C, closed pipes."""

import shlex
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from vicinal.cli.streams import abandon, writing_results
from vicinal.cli.wording import printable
from vicinal.interrupts import Interrupted, Interrupts

if TYPE_CHECKING:
    import typer

__all__ = [
    "INTERRUPTED",
    "WRONG_USAGE",
    "WrongUsage",
    "command_line",
    "note",
    "remark",
    "run_app",
    "running",
    "say_held_back",
    "warn",
]

WRONG_USAGE = 2
INTERRUPTED = 130  # what shells report for a command stopped by Ctrl-C

_arguments: ContextVar[Sequence[str] | None] = ContextVar("arguments", default=None)
_quiet: ContextVar[bool] = ContextVar("quiet", default=False)
_held_back: ContextVar[list[str] | None] = ContextVar("held_back", default=None)


def run_app(app: "typer.Typer", args: Sequence[str] | None) -> int:
    """Exit code of the application; wrong arguments are told in one line.

    Parameters
    ----------
    app : typer.Typer
    args : sequence of str or None
        None: those of the process.
    """
    token = _arguments.set(args)
    try:
        # What --help writes; a command tells its own errors, but for --debug.
        with nullcontext() if _is_debug() else writing_results():
            return app(args=args, prog_name="vicinal", standalone_mode=False) or 0
    except SystemExit:  # typer's answer where the reader of --help has left
        return 0
    except Exception as error:
        return _failed(error)
    finally:
        _arguments.reset(token)


def _failed(error: Exception) -> int:
    """Say what went wrong; the exit code."""
    if hasattr(error, "format_message"):  # typer's own errors, about the arguments
        context = getattr(error, "ctx", None)
        note(_with_help(error.format_message(), context.command_path if context else "vicinal"))
        return getattr(error, "exit_code", WRONG_USAGE)
    if _is_debug():
        _say("".join(traceback.format_exception(error)).rstrip())
    else:
        note(_message(error))
    return 1


def command_line() -> str:
    """What was typed, so that it could be typed again."""
    return shlex.join(["vicinal", *_given()])


def _given() -> Sequence[str]:
    arguments = _arguments.get()
    return sys.argv[1:] if arguments is None else arguments


def _is_debug() -> bool:
    return "--debug" in _given()


def note(line: str) -> None:
    """Say what has to be said beside the results, now: on standard error."""
    _say(f"vicinal: {' '.join(line.split())}")


def _say(text: str) -> None:
    """Lines to standard error; what would steer a terminal is shown instead."""
    try:
        print(printable(text, keep="\n"), file=sys.stderr, flush=True)
    except OSError:  # nobody can be told; the exit code has to do
        abandon(sys.stderr)


def warn(line: str) -> None:
    """Say what may be wrong, once the work is done: an error stands alone."""
    held_back = _held_back.get()
    if held_back is None:
        note(line)
    else:
        held_back.append(line)


def remark(line: str) -> None:
    """Say what is good to know, once the work is done, unless the command is to be quiet."""
    if not _quiet.get():
        warn(line)


def say_held_back() -> None:
    """Say what had to wait: the results are there."""
    held_back = _held_back.get() or []
    for line in held_back:
        note(line)
    held_back.clear()


@contextmanager
def running(debug: bool, quiet: bool = False) -> Iterator["Interrupts"]:
    """The context of the work of a command.

    Parameters
    ----------
    debug : bool
        Let errors through, with their traceback.
    quiet : bool, default=False
        Make no remarks.

    Yields
    ------
    Interrupts
    """
    tokens = _quiet.set(quiet), _held_back.set([])
    try:
        with _errors_in_one_line(debug), Interrupts() as interrupts:
            yield interrupts
            say_held_back()
    finally:
        _quiet.reset(tokens[0])
        _held_back.reset(tokens[1])


class WrongUsage(Exception):  # noqa: N818  (a name of what happened, as Interrupted)
    """Arguments that cannot be meant."""


@contextmanager
def _errors_in_one_line(debug: bool) -> Iterator[None]:
    """Turn errors and warnings into a line on stderr, and errors into an exit code."""
    import typer

    with warnings.catch_warnings():
        warnings.showwarning = _warn
        try:
            yield
        except (KeyboardInterrupt, Interrupted):
            note("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except WrongUsage as error:
            note(_with_help(str(error), " ".join(["vicinal", *_given()[:1]])))
            raise typer.Exit(WRONG_USAGE) from None
        except BrokenPipeError:  # the reader of our output has left, with what it wanted
            raise typer.Exit(0) from None
        except Exception as error:
            if debug:
                say_held_back()
                raise
            note(_message(error))
            raise typer.Exit(1) from None


def _message(error: Exception) -> str:
    """The error in one line; one that was not foreseen also says how to learn more."""
    line = " ".join(str(error).split())
    if isinstance(error, MemoryError):
        return f"there is not enough memory{': ' * bool(line)}{line}"
    if isinstance(error, OSError | ValueError | ImportError) and line:
        return line
    return f"{type(error).__name__}: {line} (run again with --debug to see where)"


def _warn(message: Warning | str, *details: Any, **more: Any) -> None:
    warn("warning: " + " ".join(str(message).split()))


def _with_help(message: str, command: str) -> str:
    """What is wrong with the arguments, and where to read about them."""
    sentence = " ".join(message.split()).rstrip(".")
    return f"{sentence}{'' if sentence.endswith('?') else '.'} See '{command} --help'."
