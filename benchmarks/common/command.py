"""Options that many benchmarks have, and the command line as a page shows it."""

import argparse
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

# What a page shows in place of the values of these options, which belong to one machine.
STAND_INS = {
    "--metric-learn": "PYTHON",
    "--torch": "PYTHON",
    "--peers": "PYTHON",
    "--raw": "FILE",
    "--folder": "FOLDER",
}


def arguments(description: str | None) -> argparse.ArgumentParser:
    """A parser with the option that writes the page; the description is a module's docstring."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {module_run()}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--save", action="store_true", help="write the page in results/, too")
    return parser


def add_interpreter(parser: argparse.ArgumentParser, option: str, of: str) -> None:
    """An option that names the Python of another environment.

    Processes start in another folder, so the path is made absolute; a link is not followed, because
    it is what makes an environment.
    """
    parser.add_argument(option, metavar="PYTHON", type=os.path.abspath, help=of)


def module_run() -> str:
    """Name of the module that was started with `python -m`."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    return Path(sys.argv[0]).stem if spec is None else spec.name.removesuffix(".__main__")


def shown_command(module: str, words: Sequence[str]) -> str:
    """The command line of a page: without `--save` and without folders of this machine."""
    shown = (word for word in without_paths(words) if word != "--save")
    return f"python -m {module} {shlex.join(shown)}".rstrip()


def without_paths(words: Sequence[str]) -> Iterator[str]:
    """Words with stand-ins for what `STAND_INS` lists; other full paths by their names."""
    before = ""
    for word in words:
        if word.startswith("--"):
            option, equals, value = word.partition("=")
            yield f"{option}{equals}{_shown(option, value)}"
        else:
            yield _shown(before, word)
        before = word


def _shown(option: str, value: str) -> str:
    if value and option in STAND_INS:
        return STAND_INS[option]
    return Path(value).name if value.startswith("/") else value
