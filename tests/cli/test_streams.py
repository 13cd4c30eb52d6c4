"""Standard streams that are closed, full, left by their reader, or poor in characters."""

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from cli.helpers import assert_one_line, done
from cli.test_pipes import shell

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a shell of Unix")
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")


@pytest.mark.parametrize(
    "command", ["transform {0}/nca.skops {0}/test.csv", "info {0}/nca.skops --json", "--help"]
)
@pytest.mark.parametrize(
    ("where", "reason"),
    [
        (">&-", "Bad file descriptor"),
        pytest.param("> /dev/full", "No space left", marks=needs_full),
    ],
)
def test_standard_output_that_takes_nothing(garden, command, where, reason):
    result = shell(f"vicinal {command.format(garden)} {where}")
    assert (result.returncode, result.stdout) == (1, "")
    assert_one_line(result.stderr, "vicinal: standard output cannot be written: ", reason)


@pytest.mark.parametrize("where", ["2>&-", pytest.param("2>/dev/full", marks=needs_full)])
def test_standard_error_that_takes_nothing(garden, where):
    result = shell(f"vicinal transform {garden}/nca.skops nowhere.csv {where}")
    assert (result.returncode, result.stdout, result.stderr) == (1, "", "")
    result = shell(f"vicinal score {garden}/nca.skops {garden}/train.csv --json {where}")
    assert result.returncode == 0
    assert result.stdout.startswith("{")  # and the warning is not in it


def test_closed_streams_do_not_lend_their_numbers_to_files(garden):
    result = shell(
        f"vicinal transform {garden}/nca.skops {garden}/test.csv -o out.csv >&- 2>&- <&-"
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert pl.read_csv("out.csv").shape == (30, 3)
    result = shell(f"vicinal transform {garden}/nca.skops - <&-")
    assert result.returncode == 1
    assert_one_line(result.stderr, "there is no standard input to read from")


@pytest.mark.parametrize("command", ["info {0}/nca.skops", "--help"])
def test_a_reader_that_leaves_is_no_error(garden, command):
    result = shell(f"vicinal {command.format(garden)} | true; exit ${{PIPESTATUS[0]}}")
    assert (result.returncode, result.stderr) == (0, "")


def test_characters_that_a_terminal_does_not_have(garden):
    frame = pl.read_csv(garden / "train.csv").rename({"length": "длина"})
    frame.with_columns(kind=pl.col("kind") + "é☃").write_csv("train.csv")
    done("fit", "train.csv", "-q", "-t", "kind", "--drop", "id", "-o", "m.skops")
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C", "COLUMNS": "1000"}
    result = shell("vicinal info m.skops; vicinal transform m.skops train.csv --keep ☃", env=env)
    assert result.returncode == 1
    assert r"aster\xe9\u2603" in result.stdout
    assert_one_line(result.stderr, "has no column", r"\u2603")


@pytest.mark.parametrize("columns", ["1", "0", "-5", "many"])
def test_screens_of_any_width(garden, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    done("info", garden / "nca.skops")


def damaged(name, read):
    """The bytes of a file that makes polars panic."""
    whole = np.frombuffer(Path(name).read_bytes(), dtype=np.uint8)
    rng = np.random.default_rng(0)
    for _ in range(2000):
        part = whole.copy()
        part[rng.integers(8, len(part) - 8, 3)] = rng.integers(0, 256, 3)
        Path(f"damaged-{name}").write_bytes(part.tobytes())
        try:
            read(f"damaged-{name}")
        except Exception:
            continue
        except BaseException as panic:
            if type(panic).__name__ == "PanicException":
                return
            raise
    pytest.skip("this polars does not panic")


@pytest.mark.parametrize("name", ["data.parquet", "data.arrow"])
def test_a_panic_of_the_reader_is_one_line(garden, capfd, name):
    frame = pl.read_csv(garden / "train.csv")
    frame.write_parquet(name) if name.endswith("parquet") else frame.write_ipc(name)
    damaged(name, pl.read_parquet if name.endswith("parquet") else pl.read_ipc)
    capfd.readouterr()
    result = shell(f"vicinal transform {garden}/nca.skops damaged-{name}")
    assert (result.returncode, result.stdout) == (1, "")
    assert_one_line(result.stderr, f"'damaged-{name}' cannot be read", "it is damaged")
