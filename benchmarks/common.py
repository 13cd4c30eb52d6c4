"""What every benchmark needs: the machine in words, fair timing, memory of a fresh process."""

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def arguments(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--save", action="store_true", help="write the page in results/, too")
    return parser


class Page:
    """Lines printed as they come, and kept for a page of results."""

    def __init__(self, title: str, packages: Sequence[str] = ()) -> None:
        self.lines: list[str] = []
        script = Path(sys.argv[0]).name
        options = " ".join(word for word in sys.argv[1:] if word != "--save")
        self.say(f"# {title}\n")
        self.say(f"- command: `python benchmarks/{script} {options}".rstrip() + "`")
        self.say(f"- date: {datetime.date.today().isoformat()}")
        self.say(f"- machine: {processor()}, {os.cpu_count()} cores, {platform.system()}")
        names = ("vicinal", "numpy", "scipy", "scikit-learn", "numba", *packages)
        versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)
        self.say(f"- versions: Python {platform.python_version()}, {versions}\n")

    def say(self, line: str = "") -> None:
        """Print a line and keep it."""
        print(line, flush=True)
        self.lines.append(line)

    def table(self, header: Sequence[str]) -> Callable[..., None]:
        """Print a header; the function returned prints a row."""
        self.say("| " + " | ".join(header) + " |")
        self.say("|" + "---|" * len(header))

        def row(*cells: object) -> None:
            self.say("| " + " | ".join(str(cell) for cell in cells) + " |")

        return row

    def save(self, name: str) -> None:
        """Write the page to results/."""
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"{name}.md").write_text("\n".join(self.lines).rstrip() + "\n")


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


def best_time(work: Callable[[], object], repeats: int = 3) -> float:
    """Shortest of several runs, after one that does not count: noise only ever adds."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def in_fresh_process(code: str, environment: dict[str, str] | None = None) -> dict:
    """Run code that prints one line of JSON last, and return that."""
    out = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        env={**os.environ, **(environment or {})},
        cwd=Path(__file__).parent,
    )
    if out.returncode:
        raise RuntimeError(out.stderr)
    return json.loads(out.stdout.strip().splitlines()[-1])


def peak_memory() -> float:
    """Largest resident memory of this process so far, in MB."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
