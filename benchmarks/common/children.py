"""Work in a fresh process: its time and memory are nobody else's, and it may be limited."""

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.common.command import module_run
from benchmarks.common.leash import tied

ROOT = Path(__file__).parents[2]


class OverLimit(Exception):  # noqa: N818  (the message is what a table says in its place)
    """A process needed more time or memory than it may have."""


def in_fresh_process(
    code: str,
    environment: Mapping[str, str] | None = None,
    *,
    python: str = sys.executable,
    seconds: float | None = None,
    gigabytes: float | None = None,
) -> Any:
    """Run code that prints one line of JSON last, and return that.

    It can import `benchmarks` in any environment. `OverLimit` is raised where it takes more seconds
    or more address space than given. It is killed with all it has started when it takes too long
    and when the benchmark itself is interrupted or killed.
    """
    out = _run(
        [python, "-W", "ignore", "-c", textwrap.dedent(code)],
        {**os.environ, **(environment or {})},
        seconds,
        None if gigabytes is None else partial(_limit_memory, gigabytes),
    )
    if out.returncode == 0:
        return json.loads(out.stdout.strip().splitlines()[-1])
    if gigabytes is not None and _ran_out_of_memory(out):
        raise OverLimit("out of memory")
    raise RuntimeError(out.stderr)


def call_apart(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Result of a function of a module, called in a fresh process.

    Arguments must be what `repr` writes as Python, the result what JSON can say; `options` are
    those of `in_fresh_process`.
    """
    module = module_run() if function.__module__ == "__main__" else function.__module__
    call = f"{function.__name__}(*{arguments!r})"
    code = f"import json\nfrom {module} import {function.__name__}\nprint(json.dumps({call}))"
    return in_fresh_process(code, **options)


def last_line(error: Exception) -> str:
    """What an error says in the end, for a cell of a table."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[-1].replace("|", "/")[:80]


def _run(
    command: list[str],
    environment: dict[str, str],
    seconds: float | None,
    prepare: Callable[[], None] | None,
) -> subprocess.CompletedProcess:
    """In the folder from which `benchmarks` can be imported."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with tied(command, prepare, text=True, env=environment, cwd=ROOT, **pipes) as child:
        try:
            written = child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired as error:
            raise OverLimit(f"over {seconds:g} s") from error
        return subprocess.CompletedProcess(command, child.returncode, *written)


def _limit_memory(gigabytes: float) -> None:
    import resource

    limit = int(gigabytes * 1e9)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _ran_out_of_memory(out: subprocess.CompletedProcess) -> bool:
    words = ("MemoryError", "Cannot allocate memory", "allocation still failed")
    return out.returncode == -9 or any(word in out.stderr for word in words)
