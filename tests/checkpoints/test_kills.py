"""SIGKILL at any moment, run again with the same arguments: the same model, to the bit."""

import signal
import sys
import time

import numpy as np
import pytest
from checkpoints.cases import FITS
from checkpoints.mortal import ANSWER, in_new_interpreter, nursery
from effort import scaled

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is neither fork nor SIGKILL")

# Random moments in all, and kills of one fit before it may come to its end.
N_BY_CLOCK, N_BY_CALL, KILLS_OF_A_FIT = 138, 46, 4
N_INTERPRETERS = 16


@pytest.fixture(scope="module")
def ask():
    with nursery() as ask:
        yield ask


def answer(folder):
    return (folder / ANSWER).read_text()


def kill_and_go_on(ask, folder, name, moments):
    """Kills that came in time; at last the fit is left alone."""
    kills = sum(ask(folder=folder, name=name, **moment) for moment in moments)
    while not (folder / ANSWER).exists():
        ask(folder=folder, name=name, seconds=None, kill_at=0)
    return kills


@pytest.mark.parametrize("name", FITS)
def test_killed_by_the_clock(ask, tmp_path, name):
    seconds, whole = ask(name=name)
    rng = np.random.default_rng(len(name))
    kills, fits = 0, 0
    while kills < max(2, round(scaled(N_BY_CLOCK) / len(FITS))):
        (folder := tmp_path / str(fits)).mkdir()
        after = rng.uniform(0, seconds, KILLS_OF_A_FIT)
        moments = [{"seconds": each, "kill_at": 0} for each in after]
        kills += kill_and_go_on(ask, folder, name, moments)
        assert answer(folder) == whole
        fits += 1


@pytest.mark.parametrize("name", FITS)
def test_killed_while_it_writes(ask, tmp_path, name):
    _, whole = ask(name=name)
    rng = np.random.default_rng(len(name))
    n_kills = max(1, round(scaled(N_BY_CALL) / len(FITS)))
    moments = [{"seconds": None, "kill_at": int(rng.integers(1, 60))} for _ in range(n_kills)]
    assert kill_and_go_on(ask, tmp_path, name, moments) > 0
    assert answer(tmp_path) == whole


def test_killed_before_every_call_of_a_writing(ask, tmp_path):
    """One writing after the other: no call between two of them is left out."""
    name = "bold driver, random start"
    _, whole = ask(name=name)
    for kill_at in range(1, 45):
        (folder := tmp_path / str(kill_at)).mkdir()
        moment = {"seconds": None, "kill_at": kill_at}
        assert kill_and_go_on(ask, folder, name, [moment]) == 1
        assert answer(folder) == whole
        files = {file.name for file in folder.iterdir()}
        assert files == {ANSWER, "checkpoint", "checkpoint.before"}


@pytest.mark.parametrize("name", ["folds, lbfgs", "adam, stochastic", "mixture", "coincidence"])
def test_a_new_interpreter_goes_on(ask, tmp_path, name):
    _, whole = ask(name=name)
    rng, kills, fits = np.random.default_rng(0), 0, 0
    (folder := tmp_path / "0").mkdir()
    while kills < scaled(N_INTERPRETERS) // 4:
        process = in_new_interpreter(folder, name)
        wait_for_progress(process, folder / "checkpoint")
        time.sleep(float(rng.uniform(0, 0.05)))
        process.kill()
        kills += process.wait() == -signal.SIGKILL
        if (folder / ANSWER).exists():  # it was faster
            assert answer(folder) == whole
            fits += 1
            (folder := tmp_path / str(fits)).mkdir()
    assert in_new_interpreter(folder, name).wait() == 0
    assert answer(folder) == whole


def wait_for_progress(process, checkpoint):
    """Until some more was written, which is much later than the start of an interpreter."""
    before = written_at(checkpoint)
    while process.poll() is None and written_at(checkpoint) in (before, None):
        time.sleep(0.001)


def written_at(checkpoint):
    try:
        return checkpoint.stat().st_mtime_ns
    except FileNotFoundError:  # not yet, or between two renames
        return None
