"""Cells that a spreadsheet would run."""

import csv
from pathlib import Path

import polars as pl
import pytest
from cli.helpers import done, refused

FORMULAS = ["=1+1", "+cmd|x", "-2+3", "@SUM(A1)", "\tx", "\rx", "=\n1"]
PLAIN = ["a=1", "-5", "+5.5e3", "-.5", "", "'=1", "x-1", "é"]


def kept(*options, suffix="csv"):
    with Path(f"out.{suffix}").open(newline="") as file:
        rows = list(csv.reader(file, delimiter="\t" if suffix == "tsv" else ","))
    return rows[0], [row[0] for row in rows[1:]]


@pytest.fixture
def table(garden):
    cells = [*FORMULAS, *PLAIN]
    frame = pl.read_csv(garden / "test.csv")[: len(cells)].with_columns(id=pl.Series(cells))
    frame.rename({"id": "=id"}).write_csv("new.csv")
    return cells


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_formulas_are_kept_or_defused(garden, table, suffix):
    args = ["transform", garden / "nca.skops", "new.csv", "--keep", "=id", "-o", f"out.{suffix}"]
    done(*args)
    names, cells = kept(suffix=suffix)
    assert (names[0], cells) == ("=id", table)
    done(*args, "--defuse-formulas")
    names, cells = kept(suffix=suffix)
    assert names[0] == "'=id"
    assert cells == [f"'{cell}" for cell in FORMULAS] + PLAIN
    components = pl.read_csv(f"out.{suffix}", separator="\t" if suffix == "tsv" else ",")
    assert components["component1"].dtype == pl.Float64  # negative ones are numbers


def test_classes_are_defused_too(garden):
    frame = pl.read_csv(garden / "train.csv").with_columns(kind="=" + pl.col("kind"))
    frame.write_csv("train.csv")
    done("fit", "train.csv", "-t", "kind", "--drop", "id", "-q", "-o", "m.skops")
    out = done("predict", "m.skops", "train.csv", "-p", "--defuse-formulas").stdout
    assert out.splitlines()[1].startswith("'=aster,'=aster,")
    out = done("score", "m.skops", "train.csv", "-q", "--per-row", "--defuse-formulas").stdout
    assert out.splitlines()[1].startswith("'=aster,'=aster,")


def test_defusing_is_for_text(garden):
    args = [garden / "nca.skops", garden / "test.csv", "--defuse-formulas"]
    refused("is for text", args=["transform", *args, "-o", "out.parquet"], code=2)
    refused("use --per-row", args=["score", *args], code=2)
