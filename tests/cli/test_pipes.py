"""Real processes, joined by real pipes."""

import os
import shutil
import subprocess
import sys

import polars as pl
import pytest

import vicinal

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs a shell")


def shell(script, **more):
    """Run a script in which `vicinal` is this package, and a failing part of a pipe fails it."""
    head = f'set -o pipefail; vicinal() {{ "{sys.executable}" -m vicinal.cli "$@"; }}\n'
    return subprocess.run(
        ["bash", "-c", head + script], capture_output=True, text=True, check=False, **more
    )


def test_commands_join():
    done = shell(
        "vicinal datasets iris -q | vicinal fit - -q --target species -d 2 -o iris.skops >/dev/null"
        " && vicinal datasets iris -q | vicinal transform iris.skops - > coordinates.csv"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    frame = pl.read_csv("coordinates.csv")
    assert frame.shape == (150, 3)
    assert frame.columns == ["species", "component1", "component2"]
    command = vicinal.saving.describe("iris.skops").metadata["command"]
    assert command == "vicinal fit - -q --target species -d 2 -o iris.skops"


def test_a_closed_pipe_ends_quietly(garden):
    frame = pl.read_csv(garden / "test.csv")
    pl.concat([frame] * 4000).write_csv("large.csv")  # more than a pipe holds
    done = shell(
        f"vicinal transform {garden}/nca.skops large.csv | head -1; exit ${{PIPESTATUS[0]}}"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "kind,component1,component2\n", "")


def test_a_failing_command_fails_the_pipe(garden):
    done = shell(f"cat {garden}/test.csv | vicinal transform nowhere.skops - | head -1")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "vicinal: there is no model file 'nowhere.skops'\n"


def test_completion():
    complete = {**os.environ, "_VICINAL_COMPLETE": "complete_bash", "COMP_CWORD": "1"}
    complete["COMP_WORDS"] = "vicinal tr"
    done = shell("vicinal", env=complete)
    assert done.stdout.split() == ["transform"]
    complete |= {"COMP_WORDS": "vicinal datasets ir", "COMP_CWORD": "2"}
    assert shell("vicinal", env=complete).stdout.split() == ["iris"]
    shown = shell("vicinal --show-completion bash", env={**os.environ, "SHELL": "/bin/bash"})
    assert "_vicinal_completion" in shown.stdout + shown.stderr
