"""``--checkpoint`` of ``vicinal fit`` and ``vicinal embed``: a fit that was killed goes on."""

import signal
import subprocess
import sys

import numpy as np
import pytest
from cli.helpers import done, flowers, refused

import vicinal

# A process that writes after every update, and kills itself after so many writings.
MORTAL = """
import os, signal, sys
import vicinal.fitting.checkpoints.journal as journal
from vicinal.cli import main

journal.LEAST_SECONDS, journal.LARGEST_SHARE = 0.0, float("inf")
store, left = journal.store, [int(sys.argv[1])]


def mortal(*args):
    store(*args)
    left[0] -= 1
    if left[0] == 0:
        os.kill(os.getpid(), {signal})


journal.store = mortal
main(sys.argv[2:])
"""


@pytest.fixture
def train(tmp_path):
    flowers(90, 0).write_csv(tmp_path / "train.csv")
    return tmp_path / "train.csv"


def command(train, output, *more, model="nca"):
    words = ["fit", train, "-t", "kind", "--drop", "id", "-m", model, "-o", output, *more]
    return [str(word) for word in words]


def process(after, words, signal="signal.SIGKILL"):
    code = MORTAL.replace("{signal}", signal)
    return subprocess.run(
        [sys.executable, "-c", code, str(after), *words],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize(
    ("model", "kills"), [("nca", (4, 6)), ("local", (9,)), ("coincidence", (5,))]
)
def test_a_process_that_is_killed_goes_on(train, tmp_path, model, kills):
    whole, output = tmp_path / "whole.skops", tmp_path / "model.skops"
    done(*command(train, whole, "--seed", 3, model=model))
    words = command(train, output, "--seed", 3, "--checkpoint", tmp_path / "fit", model=model)
    for after in kills:
        assert process(after, words).returncode == -signal.SIGKILL
        assert not output.exists()
    found = process(0, words)
    assert found.returncode == 0, found.stderr
    one, other = (vicinal.load(path)[-1] if model != "local" else vicinal.load(path)
                  for path in (whole, output))  # fmt: skip
    np.testing.assert_array_equal(one.components_, other.components_)
    assert one.n_iter_ == other.n_iter_
    np.testing.assert_array_equal(one.history_["objective"], other.history_["objective"])


def test_ctrl_c_leaves_a_checkpoint(train, tmp_path):
    words = command(train, tmp_path / "model.skops", "--checkpoint", tmp_path / "fit")
    stopped = process(5, words, "signal.SIGINT")
    assert stopped.returncode == 130, stopped.stderr
    assert not (tmp_path / "model.skops").exists()
    assert (tmp_path / "fit").exists()
    assert process(0, words).returncode == 0  # without a seed: the checkpoint has it
    assert (tmp_path / "model.skops").exists()


def test_other_settings_are_refused_in_one_line(train, tmp_path):
    keep = ("--checkpoint", tmp_path / "fit")
    done(*command(train, tmp_path / "model.skops", *keep))
    args = command(train, tmp_path / "model.skops", *keep, "--set", "max_iter=7")
    refused("with max_iter=None, and not max_iter=7: delete it to begin anew", args=args)


def test_files_that_would_be_lost_are_refused(train, tmp_path):
    output = tmp_path / "model.skops"
    refused("--checkpoint", args=command(train, output, "--checkpoint", train), code=2)
    refused("--checkpoint", args=command(train, output, "--checkpoint", output), code=2)
    refused("--checkpoint -", args=command(train, output, "--checkpoint", "-"), code=2)
    other = tmp_path / "other.csv"
    other.write_text("a,b\n")
    refused("no checkpoint: name another", args=command(train, output, "--checkpoint", other))
    assert other.read_text() == "a,b\n"


def test_rows_held_out_at_random_need_a_seed(train, tmp_path):
    words = ("--checkpoint", tmp_path / "fit", "--test-size", 0.2)
    refused("needs a --seed", args=command(train, tmp_path / "m.skops", *words), code=2)
    done(*command(train, tmp_path / "m.skops", *words, "--seed", 0))
    done(*command(train, tmp_path / "m.skops", *words, "--seed", 0))


def test_it_may_be_set_as_any_parameter(train, tmp_path):
    done(*command(train, tmp_path / "m.skops", "--set", f"checkpoint={tmp_path / 'fit'}"))
    assert (tmp_path / "fit").exists()
    args = command(train, tmp_path / "m.skops", "--set", "checkpoint=5")
    refused("checkpoint=5 must be the path of a file", args=args)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_an_embedding_that_is_killed_goes_on(train, tmp_path):
    words = ["embed", train, "-t", "kind", "--drop", "id", "-k", "7", "--seed", "3", "-o"]
    words = [str(word) for word in words]
    done(*words, tmp_path / "whole.csv")
    kept = [str(tmp_path / "coordinates.csv"), "--checkpoint", str(tmp_path / "fit")]
    assert process(2, [*words, *kept]).returncode == -signal.SIGKILL
    assert not (tmp_path / "coordinates.csv").exists()
    found = process(0, [*words, *kept])
    assert found.returncode == 0, found.stderr
    assert (tmp_path / "coordinates.csv").read_text() == (tmp_path / "whole.csv").read_text()
    assert (tmp_path / "fit").exists()
    refused("is of a fit with n_neighbors=7, and not", args=[*words, *kept, "-k", "8"])
    refused("would replace", args=[*words, "x.csv", "--checkpoint", str(train)], code=2)
