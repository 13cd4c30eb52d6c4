import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from cli.helpers import assert_one_line, done, refused, run
from report.comparing.made import comparison, ours, scores

import vicinal
from vicinal import report
from vicinal.report.comparing.methods import NAMES
from vicinal.report.comparing.progress import audience

QUICK = ("--methods", "raw,lda", "--folds", "3", "--repeats", "1")
TARGET = ("-t", "kind", "--drop", "id")
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def asked(monkeypatch):
    """What would be compared; the comparison itself has tests of its own."""
    calls = []

    def compare(X, y, **options):
        calls.append({"X": X, "y": y, **options})
        return comparison(scores("k-NN raw", [0.8, 0.81, 0.8]), ours([0.95, 0.96, 0.95]))

    monkeypatch.setattr(report, "compare", compare)
    return calls


@pytest.fixture
def data(garden):
    return garden / "train.csv"


def test_what_is_compared(data, asked):
    done("compare", data, *TARGET, "-d", "3", "--seed", "7", "-j", "1", "--max-samples", "0")
    (call,) = asked
    frame = pl.read_csv(data)
    assert call.pop("X").equals(frame.select("length", "width", "height"))
    np.testing.assert_array_equal(call.pop("y"), frame["kind"])
    assert call == {
        "n_components": 3,
        "cv": 5,
        "n_repeats": None,
        "methods": None,
        "max_samples": None,
        "random_state": 7,
        "n_jobs": 1,
    }


def test_methods_may_be_named_in_both_ways(data, asked):
    done("compare", data, *TARGET, "--methods", "raw, nca", "--methods", "lda")
    assert asked[0]["methods"] == ["raw", "nca", "lda"]


def test_screen(data, asked):
    result = done("compare", data, *TARGET)
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    said = " ".join(result.stdout.split())
    for part in (
        "500 rows, 9 features, 3 classes; 5 folds",
        "Method Dim. Accuracy Interval Log-loss Fit",
        "NeighborhoodComponents * 9 95.3%",
        "Learning a metric helps on this table: 95.3% (± 0.4) with NeighborhoodComponents against",
        "The probabilities of NeighborhoodComponents are not clearly better or worse",
        "- Log-loss counts a probability of 0",
    ):
        assert part in said


def test_json(data, asked):
    told = json.loads(done("compare", data, *TARGET, "--json").stdout)
    assert (told["version"], told["data"]) == (vicinal.__version__, str(data))
    assert (told["rows"], told["features"], told["classes"]) == (500, 9, 3)
    assert [one["method"] for one in told["methods"]] == ["k-NN raw", "NeighborhoodComponents"]
    assert told["differences"]["accuracy"]["conclusion"] == "better"
    assert told["differences"]["accuracy_small"] is None
    assert told["findings"][0] == told["verdict"]
    assert told["interrupted"] is False


def test_files(data, asked):
    result = done("compare", data, *TARGET, "-o", "methods.csv", "--picture", "methods.png")
    assert "Learning a metric helps" in result.stdout
    frame = pl.read_csv("methods.csv")
    assert frame["method"].to_list() == ["k-NN raw", "NeighborhoodComponents"]
    assert frame["accuracy"].to_list() == pytest.approx([2.41 / 3, 2.86 / 3])
    assert Path("methods.png").read_bytes().startswith(PNG)


def test_table_on_standard_output(data, asked):
    result = done("compare", data, *TARGET, "-o", "-")
    assert result.stdout.startswith("method,role,n_components,accuracy,")
    assert result.stdout.count("\n") == 3
    assert "vicinal: Learning a metric helps on this table" in result.stderr
    assert done("compare", data, *TARGET, "-o", "-", "-q").stderr == ""


def test_interrupted(data, monkeypatch):
    """What is done is shown, nothing is written, and the exit code tells."""

    def compare(X, y, **options):
        with audience(verbose=0) as (_, interrupts):
            interrupts.happened = True
        one = scores("k-NN raw", [0.8, 0.81])
        return comparison(one, interrupted=True, notes=("interrupted after 2 of 5 folds",))

    monkeypatch.setattr(report, "compare", compare)
    result = run("compare", data, *TARGET, "-o", "methods.csv")
    assert result.exit_code == 130
    assert "- Interrupted after 2 of 5 folds." in result.stdout
    assert_one_line(result.stderr, "interrupted")
    assert not Path("methods.csv").exists()


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["-o", "no/methods.csv"], 1, "'no' does not exist"),
        (["-o", "methods.html"], 1, "has no suffix of a table"),
        (["-o", "methods.npy"], 2, "npy holds numbers, and methods have names"),
        (["--picture", "methods.xyz"], 1, ".png, .pdf or .svg"),
        (["--picture", "-"], 2, "a picture goes to a file"),
        (["-o", "a.csv", "--picture", "a.csv"], 2, "name the same file"),
        (["--to", "csv"], 2, "use --output, too"),
        (["-o", "-", "--json"], 2, "choose one"),
        (["--methods", "nac"], 2, "--methods 'nac' is unknown. Did you mean 'nca'?"),
    ],
)
def test_what_cannot_be_meant(data, asked, options, code, said):
    refused(said, args=["compare", data, *TARGET, *options], code=code)
    assert asked == []


def test_tables_that_cannot_be_compared_on(data, asked):
    frame = pl.read_csv(data)
    refused("name their column by --target", args=["compare", data], code=2)
    refused("no column 'sort'", args=["compare", data, "-t", "sort"])
    refused("column 'id' of", "is text", args=["compare", data, "-t", "kind"])
    refused("numbers with fractions", args=["compare", data, "-t", "height", "--drop", "id,kind"])
    frame.with_columns(kind=pl.lit("rose")).write_csv("one.csv")
    refused("one class only", args=["compare", "one.csv", *TARGET])
    frame.with_columns(pl.when(pl.col("id") != "f3").then("width").alias("width")).write_csv(
        "g.csv"
    )
    refused("missing value", "--drop-missing", args=["compare", "g.csv", *TARGET])
    assert asked == []
    done("compare", "g.csv", *TARGET, "--drop-missing")
    assert len(asked[0]["y"]) == 59


def test_a_real_comparison(data):
    told = json.loads(done("compare", data, *TARGET, *QUICK, "--json").stdout)
    accuracy = {one["method"]: one["accuracy"] for one in told["methods"]}
    assert list(accuracy) == ["k-NN raw", "k-NN after LDA", "LDA"]
    assert accuracy["LDA"] > accuracy["k-NN raw"] + 0.2  # one feature is large and noisy
    again = json.loads(done("compare", data, *TARGET, *QUICK, "--json").stdout)
    assert [one["accuracy"] for one in again["methods"]] == list(accuracy.values())


def test_help_names_every_method():
    help_text = " ".join(done("compare", "--help").stdout.split())
    assert all(name in help_text for name in NAMES)
