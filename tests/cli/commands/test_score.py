import io
import json

import numpy as np
import polars as pl
import pytest
from cli.helpers import assert_one_line, done, refused
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

import vicinal
from vicinal.report.numbers.calibration import wilson_interval


@pytest.fixture(scope="module")
def fresh(garden):
    return pl.read_csv(garden / "test.csv")


def numbers(frame):
    return frame.select("length", "width", "height")


def score(garden, family, *options):
    return done("score", garden / f"{family}.skops", garden / "test.csv", *options)


def test_accuracy(garden, fresh):
    model = vicinal.load(garden / "nca.skops")
    facts = json.loads(score(garden, "nca", "--json").stdout)
    assert facts["accuracy"] == model.score(numbers(fresh), fresh["kind"])
    assert facts["class"] == "NeighborhoodComponents"
    assert facts["rows"] == 30
    result = score(garden, "nca")
    assert f"Accuracy   {facts['accuracy']:.1%} right" in result.stdout
    assert result.stderr == ""


def test_accuracy_of_every_row(garden, fresh):
    model = vicinal.load(garden / "nca.skops")
    result = score(garden, "nca", "--per-row", "--keep", "id", "-o", "rows.parquet")
    assert result.stdout == ""
    assert_one_line(result.stderr, "Accuracy: ")
    frame = pl.read_parquet("rows.parquet")
    assert frame.columns == ["id", "kind", "predicted", "probability_of_own"]
    assert frame["predicted"].to_list() == model.predict(numbers(fresh)).tolist()
    shares = model.predict_proba(numbers(fresh))
    own = shares[np.arange(30), np.searchsorted(model.classes_, fresh["kind"])]
    np.testing.assert_array_equal(frame["probability_of_own"], own)


def test_log_density(garden, fresh):
    model = vicinal.load(garden / "local.skops")
    values = model.score_samples(numbers(fresh))
    facts = json.loads(score(garden, "local", "--json").stdout)
    assert facts["mean_log_density"] == pytest.approx(model.score(numbers(fresh)))
    assert facts["standard_error"] == pytest.approx(values.std(ddof=1) / np.sqrt(30))
    out = score(garden, "local", "--per-row", "--keep", "id", "-q")
    frame = pl.read_csv(io.StringIO(out.stdout))
    assert frame.columns == ["id", "kind", "log_density"]
    np.testing.assert_array_equal(frame["log_density"], values)
    assert out.stderr == ""


def test_a_density_needs_no_target(garden, fresh):
    numbers(fresh).write_csv("new.csv")
    told = json.loads(done("score", garden / "local.skops", "new.csv", "--json").stdout)
    assert (
        told["mean_log_density"]
        == json.loads(score(garden, "local", "--json").stdout)["mean_log_density"]
    )
    done("score", garden / "local.skops", "new.csv", "--per-row", "-o", "rows.npy")
    assert np.load("rows.npy").shape == (30,)


def test_neighbors_are_those_of_every_row_left_out_in_turn(garden, fresh):
    model = vicinal.load(garden / "coincidence.skops")
    facts = json.loads(score(garden, "coincidence", "-k", "5", "--json").stdout)
    X, y = numbers(fresh).to_numpy(), fresh["kind"].to_numpy()
    scaled = model[0].transform(numbers(fresh))
    spaces = {
        "raw": X,
        "standardized": scaled,
        "learned": model.transform(numbers(fresh)),
    }
    for name, Z in spaces.items():
        predicted = cross_val_predict(KNeighborsClassifier(5), Z, y, cv=LeaveOneOut())
        assert facts[name]["accuracy"] == (predicted == y).mean()
    # What such a metric is for: height is noise, and its numbers are large.
    assert facts["learned"]["accuracy"] > facts["raw"]["accuracy"]
    frame = pl.read_csv(io.StringIO(score(garden, "coincidence", "-k", "5", "--per-row").stdout))
    assert frame["predicted"].to_list() == predicted.tolist()
    assert "3-NN learned" in score(garden, "coincidence").stdout


def test_the_rows_fitted_to_are_known_again(garden):
    result = done("score", garden / "nca.skops", garden / "train.csv")
    assert_one_line(result.stderr, "warning", "fitted to these very rows")


def test_classes_that_the_model_does_not_know(garden, fresh):
    some = pl.when(pl.col("id") == "f0").then(pl.lit("lily")).otherwise("kind")
    fresh.with_columns(kind=some).write_csv("new.csv")
    result = done("score", garden / "nca.skops", "new.csv")
    assert_one_line(result.stderr, "warning: 1 row has a class", "'lily'")
    fresh.with_columns(kind=pl.lit("lily")).write_csv("new.csv")
    refused("knows none of these classes ('lily')", args=["score", garden / "nca.skops", "new.csv"])


def test_another_target(garden, fresh):
    plain = score(garden, "nca", "--json").stdout
    fresh.rename({"kind": "sort"}).write_csv("new.csv")
    model = garden / "nca.skops"
    refused("no column 'kind'", args=["score", model, "new.csv"])
    result = done("score", model, "new.csv", "--target", "sort", "--json")
    assert json.loads(result.stdout)["accuracy"] == json.loads(plain)["accuracy"]
    vicinal.save(vicinal.load(model), "bare.skops")
    refused("name it by --target", args=["score", "bare.skops", "new.csv"], code=2)
    done("score", "bare.skops", "new.csv", "-t", "sort")


def test_score_refuses(garden):
    model, data = garden / "nca.skops", garden / "test.csv"
    refused("--neighbors has no meaning", args=["score", model, data, "-k", "3"], code=2)
    refused("use --per-row", args=["score", model, data, "-o", "x.csv"], code=2)
    refused("use --per-row", args=["score", model, data, "--keep", "id"], code=2)
    refused("--per-row", args=["score", model, data, "--per-row", "--json"], code=2)
    args = ["score", garden / "coincidence.skops", data, "-k", "30"]
    refused("30 neighbors cannot be found among 29 rows", "--neighbors", args=args)


@given(st.integers(1, 10**6), st.floats(0, 1))
def test_the_interval_holds_the_share(n, share):
    low, high = wilson_interval(share, n)
    assert 0 <= low <= share + 1e-12
    assert share - 1e-12 <= high <= 1
