"""Work in fresh processes, none of which may outlive the benchmark that started it."""

import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

children = pytest.importorskip("benchmarks.common.children", reason="benchmarks/ is not here")

from benchmarks.common import leash  # noqa: E402

# Starts a process of its own, says which two there are, and waits.
CHILD = """
import os, subprocess, sys, time
own = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"])
with open("{path}.part", "w") as file:
    file.write(f"{{os.getpid()}} {{own.pid}}")
os.replace("{path}.part", "{path}")
time.sleep(600)
"""

BENCHMARK = """
import signal
from benchmarks.common import leash
from benchmarks.common.children import in_fresh_process
signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored where tests run
{change}
in_fresh_process({child!r})
"""

# What is left when the kernel cannot be asked, and when there is no guard.
WITHOUT_KERNEL = "leash.dies_with = lambda parent: None"
WITHOUT_GUARD = "leash.Guard.watch = lambda guard, group: None"


def pids_in(path):
    """Waits until a child has written them."""
    wait_for(path.exists)
    return [int(word) for word in path.read_text().split()]


def wait_for(condition):
    """For ten minutes at most: how long it takes is not what is tested."""
    end = time.monotonic() + 600
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def is_running(pid):
    """A process that has ended counts as such, also where nobody asks for its exit code."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")


def killed_benchmark(path, change, number):
    """Pids of the child and of its own child, after the benchmark was killed."""
    code = BENCHMARK.format(change=change, child=CHILD.format(path=path))
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, "-c", code], cwd=children.ROOT, **quiet) as benchmark:
        pids = pids_in(path)
        benchmark.send_signal(number)
    return pids


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("change", ["", WITHOUT_KERNEL], ids=["kernel and guard", "guard"])
def test_no_process_is_left_when_a_benchmark_is_killed(tmp_path, number, change):
    pids = killed_benchmark(tmp_path / "pids", change, number)
    wait_for(lambda: not any(map(is_running, pids)))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux kills children of the dead")
def test_the_kernel_alone_kills_the_child(tmp_path):
    child, own = killed_benchmark(tmp_path / "pids", WITHOUT_GUARD, signal.SIGKILL)
    wait_for(lambda: not is_running(child))
    leash.kill_group(child)
    wait_for(lambda: not is_running(own))


def test_what_a_child_has_started_ends_with_the_block(tmp_path):
    path = tmp_path / "pids"
    with leash.tied([sys.executable, "-c", CHILD.format(path=path)]):
        pids = pids_in(path)
        assert all(map(is_running, pids))
    wait_for(lambda: not any(map(is_running, pids)))


def test_code_returns_its_last_line():
    assert children.in_fresh_process("print('before')\nprint('[1, 2]')") == [1, 2]


def test_code_sees_the_environment_it_is_given():
    code = "import json, os\nprint(json.dumps(os.environ['OF_THE_TEST']))"
    assert children.in_fresh_process(code, {"OF_THE_TEST": "yes"}) == "yes"


def test_a_function_is_called_in_another_process():
    assert children.call_apart(math.hypot, 3.0, 4.0) == 5.0
    assert children.call_apart(os.getpid) != os.getpid()


def test_too_many_seconds_are_said():
    with pytest.raises(children.OverLimit, match=r"over 0\.1 s"):
        children.in_fresh_process("import time\ntime.sleep(600)", seconds=0.1)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit address space")
def test_too_much_memory_is_said():
    with pytest.raises(children.OverLimit, match="out of memory"):
        children.in_fresh_process("bytearray(4 * 10**9)", gigabytes=1)


def test_an_error_of_the_code_is_passed_on():
    with pytest.raises(RuntimeError, match="broken") as caught:
        children.in_fresh_process("raise ValueError('broken | pipe')")
    assert children.last_line(caught.value) == "ValueError: broken / pipe"
