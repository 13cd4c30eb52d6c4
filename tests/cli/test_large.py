"""Tables that are read in parts, as those larger than memory are."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from cli.helpers import done, run

import vicinal
from vicinal.rows import blocks

pytest.importorskip("pyarrow", reason="the extra files is not installed")

LIMIT = ("--memory-limit", "500MB")
LEARN = ("--drop", "id", "--target", "kind", "-d", "2", "--seed", "0", *LIMIT)


def refused(*args):
    """What is said on one line where a command does not do it."""
    result = run(*args)
    assert result.exit_code in (1, 2), result.output
    assert result.stderr.count("\n") == 1, result.stderr
    return result.stderr


@pytest.fixture
def train(garden, monkeypatch):
    """The training rows, of which a block holds few."""
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 500)
    return pl.read_csv(garden / "train.csv")


def written(frame, suffix):
    """The rows in a file of a kind; of a folder, in two."""
    path = Path(f"train{suffix}")
    if suffix == ".csv":
        frame.write_csv(path)
    elif suffix == ".tsv":
        frame.write_csv(path, separator="\t")
    elif suffix == ".arrow":
        frame.write_ipc(path)
    elif suffix == "":
        path.mkdir()
        frame[:50].write_parquet(path / "a.parquet")
        frame[50:].write_parquet(path / "b.parquet")
    else:
        frame.write_parquet(path)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".arrow", ".parquet", ""])
def test_a_fit_is_that_of_the_whole_table(train, suffix):
    table = written(train, suffix)
    done("fit", table, *LEARN, "-o", "parts.skops")
    found = vicinal.load("parts.skops")
    expected = vicinal.NeighborhoodComponents(2, random_state=0)
    # Row by row: sums over rows that lie column by column are rounded otherwise.
    X = np.ascontiguousarray(train.select("length", "width", "height").to_numpy())
    expected.fit(X, train["kind"].to_numpy().astype(str))
    np.testing.assert_array_equal(found.components_, expected.components_)
    assert found.feature_names_in_.tolist() == ["length", "width", "height"]
    assert found.memory_limit == "500MB"
    assert "length" in done("info", "parts.skops").stdout


def test_results_are_written_in_parts(train):
    table = written(train, ".parquet")
    done("fit", table, *LEARN, "-o", "parts.skops")
    model = vicinal.load("parts.skops")
    X = train.select("length", "width", "height")
    expected = model.transform(X)
    for suffix, read in (
        (".csv", lambda path: pl.read_csv(path).to_numpy()),
        (".tsv", lambda path: pl.read_csv(path, separator="\t").to_numpy()),
        (".parquet", lambda path: pl.read_parquet(path).to_numpy()),
        (".arrow", lambda path: pl.read_ipc(path).to_numpy()),
        (".npy", np.load),
        (".csv.gz", lambda path: pl.read_csv(path).to_numpy()),
    ):
        done("transform", "parts.skops", table, *LIMIT, "-o", f"out{suffix}")
        np.testing.assert_allclose(read(f"out{suffix}"), expected, rtol=1e-12)
    text = done("predict", "parts.skops", table, *LIMIT, "-p").stdout
    found = pl.read_csv(text.encode())
    assert found["predicted"].to_list() == model.predict(X).tolist()
    assert found.width == 1 + len(model.classes_)
    refusal = refused("transform", "parts.skops", table, *LIMIT, "-o", "out.npz")
    assert "npz cannot be written in parts" in refusal


def test_scores_are_those_of_the_whole_table(train, garden):
    table = written(train, ".parquet")
    done("fit", table, *LEARN, "-o", "parts.skops")
    in_parts = done("score", "parts.skops", table, *LIMIT, "--json").stdout
    assert in_parts == done("score", "parts.skops", table, "--json").stdout
    done("score", "parts.skops", table, *LIMIT, "--per-row", "-o", "rows.csv")
    assert pl.read_csv("rows.csv").height == train.height
    refusal = refused("score", garden / "nca.skops", table, *LIMIT)
    assert "needs the whole table: fit one with --memory-limit" in refusal


def test_models_of_whole_tables_answer_in_parts(train, garden):
    """Here a pipeline that standardizes."""
    table = written(train, ".csv")
    done("transform", garden / "nca.skops", table, *LIMIT, "-o", "parts.npy")
    done("transform", garden / "nca.skops", table, "-o", "whole.csv")
    whole = pl.read_csv("whole.csv").drop("kind").to_numpy()
    np.testing.assert_allclose(np.load("parts.npy"), whole, rtol=1e-12)


def test_arrays_have_columns_by_their_places(train):
    X = np.ascontiguousarray(train.select("length", "width", "height").to_numpy())
    y = train["kind"].rank("dense").to_numpy()
    np.save("train.npy", np.column_stack([X, y]))
    done("fit", "train.npy", "--target", "x4", "-d", "2", "--seed", "0", *LIMIT, "-o", "a.skops")
    expected = vicinal.NeighborhoodComponents(2, random_state=0).fit(X, y)
    np.testing.assert_array_equal(vicinal.load("a.skops").components_, expected.components_)
    zarr = pytest.importorskip("zarr", reason="the extra files is not installed")
    zarr.create_array("train.zarr", data=np.column_stack([X, y]), chunks=(7, 4))
    done("fit", "train.zarr", "--target", "x4", "-d", "2", "--seed", "0", "-o", "b.skops")
    np.testing.assert_array_equal(vicinal.load("b.skops").components_, expected.components_)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--test-size", "0.2"), "--test-size needs the whole table"),
        (("--standardize",), "--standardize needs the whole table"),
        (("--drop-missing",), "--drop-missing needs the whole table"),
        (("--one-hot", "kind"), "--one-hot needs the whole table"),
        (("--model", "coincidence"), "learns from a table in memory"),
        (("--memory-limit", "much"), "memory_limit='much' is no size"),
        (("--memory-limit", "1MB"), "raise the limit"),
        (("--memory-limit", "200MB", "--set", "batching=full"), None),
    ],
)
def test_what_cannot_be_done_in_parts(train, options, why):
    table = written(train, ".parquet")
    learn = [one for one in LEARN if one not in ("-d", "2")]
    if why is None:
        done("fit", table, *learn, *options, "-o", "a.skops")  # so few rows have room
    else:
        assert why in refused("fit", table, *learn, *options, "-o", "a.skops")


def test_errors_name_the_file(train):
    Path("bad.parquet").write_bytes(b"nothing of the kind")
    assert "bad.parquet' cannot be read" in refused("fit", "bad.parquet", *LEARN, "-o", "a.skops")
    train.with_columns(pl.lit("x").alias("width")).write_csv("words.csv")
    told = refused("fit", "words.csv", *LEARN, "-o", "a.skops")
    assert "column 'width' of 'words.csv' is of type string" in told
    assert "standard input cannot be read twice" in refused("fit", "-", *LEARN, "-o", "a.skops")
    assert "cannot be read in parts" in refused("fit", "a.npz", *LEARN, "-o", "a.skops")
