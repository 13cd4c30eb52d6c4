"""Pages of results: machine, versions, date and command, then Markdown tables."""

import datetime
import importlib.metadata
import os
import platform
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.common.command import module_run, shown_command

RESULTS = Path(__file__).parents[1] / "results"
PACKAGES = ("vicinal", "numpy", "scipy", "scikit-learn", "numba")


class Page:
    """Lines printed as they come, and kept for a page of results.

    `packages` are further ones whose versions the header tells. A section has its place on a page
    that another program writes.
    """

    def __init__(
        self, title: str, packages: Sequence[str] = (), *, is_section: bool = False
    ) -> None:
        self.lines: list[str] = []
        self.heading = f"{'##' if is_section else '#'} {title}"
        self.say(f"{self.heading}\n")
        for name, value in header(packages).items():
            self.say(f"- {name}: {value}")
        self.say()

    def say(self, line: str = "") -> None:
        """Print a line and keep it."""
        print(line, flush=True)
        self.lines.append(line)

    def table(self, columns: Sequence[str]) -> Callable[..., None]:
        """Print the head of a table; the function returned prints a row."""
        self.say("| " + " | ".join(columns) + " |")
        self.say("|" + "---|" * len(columns))

        def row(*cells: object) -> None:
            self.say("| " + " | ".join(str(cell) for cell in cells) + " |")

        return row

    def save(self, name: str, *, keep: Sequence[str] = ()) -> None:
        """Write the page to results/; sections of these titles stay, which other programs wrote."""
        kept = [_parted(name, f"## {title}")[1] for title in keep]
        _write(name, [self.lines, *kept])

    def save_as_section(self, name: str) -> None:
        """Write the section to a page of results/, in place of the one that is there."""
        before, _, after = _parted(name, self.heading)
        _write(name, [before, self.lines, after])


def _parted(name: str, heading: str) -> tuple[list[str], list[str], list[str]]:
    """Lines of a page that stand before a section, in it, and behind it."""
    path = RESULTS / f"{name}.md"
    lines = path.read_text().splitlines() if path.exists() else []
    start = lines.index(heading) if heading in lines else len(lines)
    others = (i for i in range(start + 1, len(lines)) if lines[i].startswith("## "))
    end = next(others, len(lines))
    return lines[:start], lines[start:end], lines[end:]


def _write(name: str, parts: Sequence[Sequence[str]]) -> None:
    """Write a page to results/, its parts with a line between them."""
    texts = ["\n".join(part).strip() for part in parts]
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text("\n\n".join(filter(None, texts)) + "\n")


def header(packages: Sequence[str] = ()) -> dict[str, str]:
    """What a reader needs in order to measure the same again."""
    return {
        "command": f"`{shown_command(module_run(), sys.argv[1:])}`",
        "date": datetime.date.today().isoformat(),
        "machine": f"{processor()}, {os.cpu_count()} cores, {platform.system()}",
        "versions": f"Python {platform.python_version()}, {versions((*PACKAGES, *packages))}",
    }


def versions(names: Sequence[str]) -> str:
    """Of installed packages, in words."""
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)


def processor() -> str:
    """Name of the processor and the vector instructions it has."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    fields = {key.strip(): value.strip() for key, value in fields.items()}
    vectors = [name for name in ("avx2", "avx512f") if name in fields.get("flags", "")]
    return f"{fields.get('model name', platform.machine())} ({', '.join(vectors) or 'no AVX2'})"
