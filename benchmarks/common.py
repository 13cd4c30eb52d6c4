"""What every benchmark needs: the machine in words, fair timing, memory of a fresh process."""

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import shlex
import subprocess
import sys
import textwrap
import threading
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
        options = shlex.join(word for word in sys.argv[1:] if word != "--save")
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


class OverLimit(Exception):  # noqa: N818  (the message is what a table says in its place)
    """A process needed more time or memory than it may have."""


def in_fresh_process(
    code: str,
    environment: dict[str, str] | None = None,
    *,
    python: str = sys.executable,
    seconds: float | None = None,
    gigabytes: float | None = None,
) -> dict:
    """Run code that prints one line of JSON last, and return that.

    Raises `OverLimit` where it takes more seconds or more address space than given.
    """
    try:
        out = subprocess.run(
            [python, "-W", "ignore", "-c", textwrap.dedent(code)],
            capture_output=True,
            text=True,
            env={**os.environ, **(environment or {})},
            cwd=Path(__file__).parent,
            timeout=seconds,
            preexec_fn=None if gigabytes is None else lambda: _limit_memory(gigabytes),
        )
    except subprocess.TimeoutExpired as error:
        raise OverLimit(f"over {seconds:g} s") from error
    if out.returncode:
        if gigabytes is not None and _ran_out_of_memory(out):
            raise OverLimit("out of memory")
        raise RuntimeError(out.stderr)
    return json.loads(out.stdout.strip().splitlines()[-1])


def _limit_memory(gigabytes: float) -> None:
    import resource

    limit = int(gigabytes * 1e9)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _ran_out_of_memory(out: subprocess.CompletedProcess) -> bool:
    words = ("MemoryError", "Cannot allocate memory", "allocation still failed")
    return out.returncode == -9 or any(word in out.stderr for word in words)


def last_line(error: Exception) -> str:
    """What an error says in the end, for a cell of a table."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[-1].replace("|", "/")[:80]


def peak_memory() -> float:
    """Largest resident memory of this process so far, in MB."""
    return memory_now("VmHWM")


def memory_now(field: str) -> float:
    """A field of /proc/self/status in MB: "VmHWM" (largest resident), "RssAnon" (now, no files).

    Where there is no such file, the largest resident memory the system tells of. That is only
    second best, because Linux starts a child's count at what its parent had.
    """
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        lines = []
    found = [line.split()[1] for line in lines if line.startswith(f"{field}:")]
    if found:
        return int(found[0]) / 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class MemoryWatch:
    """Largest anonymous memory while a block of code runs, in MB above its beginning.

    Pages of a memory-mapped file do not count: the system can drop them at any time.
    """

    def __init__(self, every: float = 0.05) -> None:
        self.every = every

    def __enter__(self) -> "MemoryWatch":
        self.before = self.peak = memory_now("RssAnon")
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        self._look()

    @property
    def above(self) -> float:
        """The peak less what there was before."""
        return self.peak - self.before

    def _watch(self) -> None:
        while not self._done.wait(self.every):
            self._look()

    def _look(self) -> None:
        self.peak = max(self.peak, memory_now("RssAnon"))


def nca_rule_accuracy(Z, y, Z_test, y_test) -> float:
    """Share of test points whose class has most of the soft neighborhood exp(-|z - z'|²)."""
    import numpy as np
    from scipy.spatial.distance import cdist

    classes, labels = np.unique(y, return_inverse=True)
    member = np.eye(len(classes))[labels]
    right = 0
    for start in range(0, len(Z_test), 100):  # 100 × n at a time
        rows = slice(start, start + 100)
        s = cdist(Z_test[rows], Z, "sqeuclidean")
        mass = np.exp(s.min(axis=1, keepdims=True) - s) @ member
        right += int((classes[mass.argmax(axis=1)] == y_test[rows]).sum())
    return right / len(Z_test)
