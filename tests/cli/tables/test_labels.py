"""Labels and kept cells travel as they are written, from the file to the result."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from cli.helpers import assert_one_line, done, flowers, refused
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import vicinal
from vicinal.cli.tables.labels import recognized
from vicinal.saving import describe

FIT = ("fit", "train.csv", "--target", "kind", "--drop", "id", "-d", "2", "-q")


def write(path, *, ids=None, kinds=None, n=60):
    """A table of flowers with these cells, as they are; the separator is that of the name."""
    frame = flowers(n, 0)
    columns = [
        ids or frame["id"].to_list(),
        *(frame[name].to_list() for name in ("length", "width", "height")),
        kinds or frame["kind"].to_list(),
    ]
    with Path(path).open("w", newline="") as file:
        writer = csv.writer(file, delimiter="\t" if str(path).endswith("tsv") else ",")
        writer.writerow(frame.columns)
        writer.writerows(zip(*columns, strict=True))


def cells(text, separator=","):
    names, *rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    return dict(zip(names, zip(*rows, strict=True), strict=True))


ODD = ["001", "1", "1e2", "100", "+5", "5.0", " 7 ", "12345678901234567890", "0x1F", "NA"]
ODD += ["1,5", '"q"', "a\nb", "", "TRUE", "True", "1_000", "nan", "-0", "2024-01-02", "٣", "=1+1"]


@pytest.mark.parametrize("ids", [ODD, [str(i).zfill(3) for i in range(30)], ["1e2", "NA"] * 10])
@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_kept_cells_are_those_of_the_file(garden, ids, suffix):
    ids = (ids * 60)[:60]
    write(f"new.{suffix}", ids=ids)
    for command in ("transform", "predict"):
        out = done(command, garden / "nca.skops", f"new.{suffix}", "--keep", "id", "-q").stdout
        assert cells(out)["id"] == tuple(ids)
    done("transform", garden / "nca.skops", f"new.{suffix}", "--keep-all", "-o", f"out.{suffix}")
    kept = cells(Path(f"out.{suffix}").read_text(), "\t" if suffix == "tsv" else ",")
    assert kept["id"] == tuple(ids)
    read = cells(Path(f"new.{suffix}").read_text(), "\t" if suffix == "tsv" else ",")
    assert {name: kept[name] for name in read} == read


def test_blanks_at_the_end_of_the_file_are_part_of_the_last_cell(garden):
    text = (garden / "test.csv").read_text()
    Path("new.csv").write_text(text.rstrip("\n") + "  \n\n")
    kept = cells(done("transform", garden / "nca.skops", "new.csv").stdout)["kind"]
    assert (kept[-2][-1], kept[-1][-2:]) == ("e", "  ")


def test_text_becomes_numbers_in_other_files_only_where_nothing_is_lost(garden):
    write("new.csv", ids=[str(i).zfill(3) for i in range(60)], kinds=["1", "2", "3"] * 20)
    done("transform", garden / "nca.skops", "new.csv", "--keep-all", "-o", "out.parquet")
    frame = pl.read_parquet("out.parquet")
    types = frame.select("id", "length", "kind", "component1").dtypes
    assert types == [pl.String, pl.Float64, pl.Int64, pl.Float64]
    assert frame["id"][7] == "007"
    # What the model takes for numbers are numbers, however they are written.
    text = Path("new.csv").read_text().splitlines()
    first = text[1].split(",")
    Path("new.csv").write_text("\n".join([text[0], ",".join([*first[:2], "1.50", *first[3:]])]))
    done("transform", garden / "nca.skops", "new.csv", "--keep-all", "-o", "out.parquet")
    assert pl.read_parquet("out.parquet")["width"].to_list() == [1.5]


LARGE = 2**53


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
def test_whole_numbers_beside_gaps_keep_their_digits(garden, suffix):
    ids = [LARGE + 1, None, LARGE] * 20
    flowers(60, 0).with_columns(id=pl.Series(ids)).write_parquet("new.parquet")
    args = ["transform", garden / "nca.skops", "new.parquet", "--keep", "id"]
    done(*args, "-o", f"out.{suffix}")
    read = {"csv": pl.read_csv, "parquet": pl.read_parquet, "arrow": pl.read_ipc}[suffix]
    assert read(f"out.{suffix}")["id"].to_list() == ids


def test_arrays_of_numbers_refuse_what_they_would_change(garden):
    args = ["transform", garden / "nca.skops", "new.parquet", "--keep", "id", "-o", "out.npz"]
    table = flowers(60, 0)
    table.with_columns(id=pl.Series([LARGE + 1, None, 3] * 20)).write_parquet("new.parquet")
    refused("'id' has gaps", ".parquet", args=args)
    table.with_columns(id=pl.Series([LARGE + 1, 2, 3] * 20)).write_parquet("new.parquet")
    refused("'id' has more digits", ".parquet", args=args)
    table.with_columns(kind=pl.Series(["a", None, "b"] * 20)).write_parquet("new.parquet")
    refused("'kind' has gaps", args=[*args[:3], "-o", "out.npz"])
    table.with_columns(id=pl.Series([LARGE, 2, 3] * 20)).write_parquet("new.parquet")
    done(*args)
    assert np.load("out.npz")["X"][0, 0] == LARGE


# ----------------------------------------------------------------------------------------- classes


def predicted(model="model.skops", data="train.csv"):
    return set(cells(done("predict", model, data).stdout)["predicted"])


@pytest.mark.parametrize(
    "kinds",
    [["007", "7", "8"], ["1.0", "2.0", "3.0"], ["1e2", "100", "x"], ["1e300", "2e300", "0"]],
)
def test_classes_are_told_apart_and_written_as_they_were(kinds):
    write("train.csv", kinds=kinds * 20)
    result = done(*FIT, "-o", "model.skops")
    assert vicinal.load("model.skops").classes_.tolist() == sorted(kinds)
    assert predicted() == set(kinds)
    facts = json.loads(done("score", "model.skops", "train.csv", "--json", "-q").stdout)
    assert facts["accuracy"] > 0.8
    if kinds[0] in ("007", "1e2"):
        assert_one_line(result.stderr, "warning", "are two classes", repr(kinds[0]))
    else:
        assert result.stderr == ""


@pytest.mark.parametrize("gap", ["", "NA"])
def test_large_whole_numbers_beside_a_gap_stay_different_classes(gap):
    kinds = [str(LARGE), str(LARGE + 1), "5"]
    write("train.csv", kinds=[gap, *(kinds * 20)[1:]])
    done(*FIT, "--drop-missing", "-o", "model.skops")
    assert vicinal.load("model.skops").classes_.tolist() == [5, LARGE, LARGE + 1]
    assert predicted() == set(kinds)


def test_whole_numbers_in_parquet_beside_a_gap_stay_different_classes():
    kinds = pl.Series([None, *([LARGE, LARGE + 1, 5] * 20)[1:]])
    flowers(60, 0).with_columns(kind=kinds).write_parquet("train.parquet")
    done("fit", "train.parquet", *FIT[2:], "--drop-missing", "-o", "model.skops")
    assert vicinal.load("model.skops").classes_.tolist() == [5, LARGE, LARGE + 1]


def test_numbers_too_large_for_a_class():
    kinds = pl.Series([1e300, 2e300, 3e300] * 20)
    flowers(60, 0).with_columns(kind=kinds).write_parquet("train.parquet")
    args = ["fit", "train.parquet", *FIT[2:], "-o", "model.skops"]
    refused("the target 'kind' of 'train.parquet' has 1e+300, too large", args=args)


def test_true_and_false_of_other_programs_are_words():
    write("train.csv", kinds=["True", "False"] * 30)
    done(*FIT, "-o", "model.skops")
    assert predicted() == {"True", "False"}


def test_categories_are_told_apart_as_they_are_written():
    write("train.csv", ids=["007", "7", "8"] * 20)
    fit = ["fit", "train.csv", "-t", "kind", "--one-hot", "id", "-q", "-o", "model.skops"]
    done(*fit)
    assert describe("model.skops").metadata["categories"] == {"id": ["007", "7", "8"]}
    write("new.csv", ids=["7.0", "8", "007"] * 20)  # whole numbers as written beside gaps
    same = done("predict", "model.skops", "new.csv").stdout
    write("new.csv", ids=["7", "8", "007"] * 20)
    assert done("predict", "model.skops", "new.csv").stdout == same
    write("new.csv", ids=["08", "8", "007"] * 20)
    refused("has '08' in data row 1 (line 2)", args=["predict", "model.skops", "new.csv"])


# ------------------------------------------------------------------ labels and the model's classes


@pytest.fixture
def of_numbers():
    """A model from Python with the classes 0, 1 and 2."""
    frame = flowers(60, 0)
    X, y = frame.select("length", "width", "height"), np.arange(60) % 3
    model = make_pipeline(StandardScaler(), vicinal.NeighborhoodComponents(2)).fit(X, y)
    vicinal.save(model, "numbers.skops")
    return model.score(X, y)


@pytest.mark.parametrize(
    "kinds", [["0", "1", "2"], ["0.0", "1.0", "2.0"], ["00", "01", "02"], ["0", "1.0", "2e0"]]
)
def test_a_model_of_numbers_knows_numbers_in_text(of_numbers, kinds):
    write("new.csv", kinds=kinds * 20)
    args = ["numbers.skops", "new.csv", "-t", "kind"]
    result = done("score", *args, "--json")
    assert json.loads(result.stdout)["accuracy"] == of_numbers
    assert result.stderr == ""
    rows = cells(done("score", *args, "--per-row", "-q").stdout)
    assert set(rows["predicted"]) == {"0", "1", "2"}
    assert np.mean(np.array(rows["probability_of_own"], dtype=float)) > 0.8


def test_words_that_a_model_of_numbers_does_not_know(of_numbers):
    write("new.csv", kinds=["0", "1", "x"] * 20)
    args = ["score", "numbers.skops", "new.csv", "-t", "kind", "--json"]
    result = done(*args)
    assert_one_line(result.stderr, "warning: 20 rows have classes", "('x')")
    assert 0 < json.loads(result.stdout)["accuracy"] < 0.7
    write("new.csv", kinds=["a", "b"] * 30)
    refused("knows none of these classes ('a', 'b')", "fitted to 0, 1, 2", args=args)
    write("new.csv", kinds=["0", "1", "x"] * 20)
    refused("'x' is none of the classes", args=["report", *args[1:-1], "-o", "page.html"])


def test_a_model_of_words_knows_numbers_that_are_written_so():
    write("train.csv", kinds=["1", "2", "x"] * 20)
    done(*FIT, "-o", "model.skops")
    numbers = pl.read_csv("train.csv").filter(pl.col("kind") != "x").cast({"kind": pl.Int64})
    numbers.write_parquet("new.parquet")
    result = done("score", "model.skops", "new.parquet", "--json")
    assert json.loads(result.stdout)["accuracy"] > 0.8
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("labels", "classes", "meant"),
    [
        (["7", "007"], ["7", "8"], ["7", "007"]),  # two words
        (["7.0"], ["7", "8"], ["7"]),
        (["7"], ["7.0", "8.0"], ["7.0"]),
        (["7.0", "7"], ["7", "7.0"], ["7.0", "7"]),
        (["7.5"], [7, 8], ["7.5"]),
        ([7], ["007", "8"], [7]),
        ([True, False], ["true", "false"], ["true", "false"]),
        (["True", "false"], [False, True], [True, False]),
        ([0, 1], [False, True], [False, True]),
        ([2.0, 1.0], [1, 2], [2, 1]),
        (["9007199254740993"], [LARGE, LARGE + 1], [LARGE + 1]),
        (["1_0", "１０"], [10, 11], ["1_0", "１０"]),
    ],
)
def test_what_labels_mean(labels, classes, meant):
    found = recognized(np.array(labels), np.array(classes))
    assert found.tolist() == meant
    assert [type(one) for one in found.tolist()] == [type(one) for one in meant]
