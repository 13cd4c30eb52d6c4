import json
import os
import signal
import threading
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from cli.helpers import assert_one_line, done, flowers, refused, run, run_main
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import vicinal
from vicinal.nca import NeighborhoodComponents
from vicinal.saving import describe

FIT = ("fit", "train.csv", "--target", "kind", "--drop", "id")


@pytest.fixture
def train(tmp_path):
    frame = flowers(60, 0)
    frame.write_csv("train.csv")
    return frame


def numbers(frame):
    return frame.select("length", "width", "height")


@pytest.mark.parametrize("family", ["nca", "coincidence"])
def test_what_is_saved_is_a_plain_pipeline(garden, family):
    train = pl.read_csv(garden / "train.csv")
    estimator = {
        "nca": vicinal.NeighborhoodComponents(2, random_state=0),
        "coincidence": vicinal.LatentCoincidence(random_state=0),
    }[family]
    expected = make_pipeline(StandardScaler(), estimator).fit(numbers(train), train["kind"])
    found = vicinal.load(garden / f"{family}.skops")
    X = numbers(pl.read_csv(garden / "test.csv"))
    np.testing.assert_array_equal(found.transform(X), expected.transform(X))
    assert list(found.feature_names_in_) == ["length", "width", "height"]


def test_a_density_is_saved_without_a_scaler(garden):
    train = numbers(pl.read_csv(garden / "train.csv"))
    found = vicinal.load(garden / "local.skops")
    expected = vicinal.LocalComponents(random_state=0).fit(train)
    assert found.score(train) == expected.score(train)


def test_metadata_tells_where_the_model_comes_from(garden):
    header = describe(garden / "nca.skops")
    metadata = header.metadata
    assert header.steps == ["StandardScaler", "NeighborhoodComponents"]
    assert metadata["columns"] == ["length", "width", "height"]
    assert metadata["target"] == "kind"
    assert metadata["data"] == "train.csv"
    assert metadata["rows"] == 60
    assert metadata["command"].startswith("vicinal ")


def test_facts_for_people(train):
    result = done(*FIT, "-d", "2", "-o", "model.skops")
    for words in ("NeighborhoodComponents", "60", "'aster', 'rose', 'tulip'", "model.skops"):
        assert words in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert_one_line(result.stderr, "features were standardized (--no-standardize changes that)")


def test_facts_for_machines(train):
    result = done(*FIT, "-d", "2", "-o", "model.skops", "--json", "--quiet")
    assert result.stderr == ""
    facts = json.loads(result.stdout)
    model = vicinal.load("model.skops").steps[-1][1]
    assert facts["version"] == vicinal.__version__
    assert (facts["rows"], facts["n_components"], facts["standardized"]) == (60, 2, True)
    assert facts["classes"] == ["aster", "rose", "tulip"]
    assert facts["objective"] == model.objective_
    assert facts["converged"] == model.converged_
    assert facts["file"] == "model.skops"
    assert facts["test"] is None


def test_rows_held_out(train):
    result = done(*FIT, "--test-size", "0.25", "--seed", "3", "--json", "-o", "model.skops")
    facts = json.loads(result.stdout)
    assert (facts["rows"], facts["test"]["rows"]) == (45, 15)
    assert "fitted to 45 rows, 15 were held out" in result.stderr
    low, high = facts["test"]["accuracy_interval"]
    assert low < facts["test"]["accuracy"] <= high
    assert describe("model.skops").metadata["test"] == facts["test"]
    again = done(*FIT, "--test-size", "0.25", "--seed", "3", "-q", "--json", "-o", "again.skops")
    assert json.loads(again.stdout)["test"] == facts["test"]
    # Neighbors of rows held out are looked for among those fitted to.
    result = done(*FIT, "-m", "coincidence", "--test-size", "0.25", "-q", "-o", "model.skops")
    assert "3-NN learned, held out" in result.stdout


def test_options_reach_the_estimator(train):
    options = ["--set", "objective=log", "--set", "tol=1e-4", "--engine", "fused", "-j", "1"]
    done(*FIT, *options, "--seed", "7", "-d", "1", "--no-standardize", "-o", "model.skops")
    model = vicinal.load("model.skops")
    assert isinstance(model, NeighborhoodComponents)
    assert (model.objective, model.tol, model.engine, model.n_jobs) == ("log", 1e-4, "fused", 1)
    assert (model.random_state, model.n_components) == (7, 1)
    assert list(model.feature_names_in_) == ["length", "width", "height"]


def test_a_density_can_be_standardized(train):
    done(*FIT, "-m", "local", "--standardize", "-o", "model.skops")
    assert describe("model.skops").steps == ["StandardScaler", "LocalComponents"]


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "tsv"])
def test_the_kind_of_file_does_not_matter(train, suffix):
    from vicinal.cli.tables.writing import Destination

    done(*FIT, "-d", "2", "-o", "csv.skops")
    Destination.of(Path(f"train.{suffix}"), None).write(train)
    done("fit", f"train.{suffix}", *FIT[2:], "-d", "2", "-o", "other.skops")
    X = numbers(train)
    np.testing.assert_array_equal(
        vicinal.load("csv.skops").transform(X), vicinal.load("other.skops").transform(X)
    )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_arrays_need_no_target(train, dtype):
    X, y = numbers(train).to_numpy().astype(dtype), train["kind"].to_numpy().astype(str)
    np.savez("train.npz", X=X, y=y)
    done("fit", "train.npz", "-o", "model.skops")
    model = vicinal.load("model.skops")
    expected = make_pipeline(StandardScaler(), NeighborhoodComponents()).fit(X, y)
    np.testing.assert_array_equal(model.transform(X), expected.transform(X))
    assert model.transform(X).dtype == dtype
    assert not hasattr(model, "feature_names_in_")


def test_standard_input(train):
    result = done("fit", "-", *FIT[2:], "-o", "model.skops", stdin=Path("train.csv").read_text())
    assert "Saved" in result.stdout
    assert describe("model.skops").metadata["data"] == "-"


@pytest.mark.parametrize(
    ("target", "dtype"), [([1, 2, 3], "i"), ([True, False, True], "b"), (["1", "a", "b"], "U")]
)
def test_kinds_of_classes(train, target, dtype):
    train.with_columns(kind=pl.Series(target * 20)).write_csv("train.csv")
    done(*FIT, "-o", "model.skops")
    classes = vicinal.load("model.skops").classes_
    assert classes.dtype.kind == dtype
    assert classes.tolist() == sorted(set(target))


def test_categories_are_learned_from(train):
    train.with_columns(color=pl.Series(["red", "blue"] * 30)).write_csv("train.csv")
    result = done(*FIT, "--one-hot", "color", "-o", "model.skops")
    assert "5, from 4: 'length'" in result.stdout
    assert list(vicinal.load("model.skops").feature_names_in_)[-2:] == ["color=blue", "color=red"]
    assert describe("model.skops").metadata["categories"] == {"color": ["blue", "red"]}


# ---------------------------------------------------------------------------------------- refused


def refuses(*parts, args=(), code=1, base=FIT):
    refused(*parts, args=[*base, *args, "-o", "model.skops"], code=code)
    assert not Path("model.skops").exists()


def test_wrong_usage(train):
    refuses("--target", "'id', 'length'", "--model local", "See 'vicinal", base=FIT[:2], code=2)
    refuses("--components has no meaning", args=["-m", "local", "-d", "2"], code=2)
    refuses("Did you mean 'regularization'", args=["--set", "regularisation=1"], code=2)
    refuses("name=value", args=["--set", "regularization"], code=2)
    refuses("between 0 and 1", args=["--test-size", "2"], code=2)
    refused("a model goes to a file", args=[*FIT, "-o", "-"], code=2)


def test_wrong_arguments_are_one_line(capsys, train):
    for args, said in [
        (["fit", "train.csv"], "--output"),
        (["fit", "train.csv", "-m", "svm", "-o", "x"], "coincidence"),
        (["fit"], "DATA"),
    ]:
        code, out, err = run_main(capsys, *args)
        assert (code, out) == (2, "")
        assert_one_line(err, said, "See 'vicinal fit --help'.")


def test_wrong_data(train):
    refuses("no column 'knid'", "'kind'", base=["fit", "train.csv", "-t", "knid"])
    refuses("'id' of 'train.csv' is text", base=["fit", "train.csv", "-t", "kind"])
    refuses(
        "60 different values in 60 rows",
        base=["fit", "train.csv", "-t", "id"],
        args=["--drop", "kind"],
    )
    refuses(
        "numbers with fractions",
        base=["fit", "train.csv", "-t", "width"],
        args=["--drop", "id,kind"],
    )
    refuses("there is no file 'nowhere.csv'", base=["fit", "nowhere.csv", "-t", "kind"])
    train.with_columns(kind=pl.lit("rose")).write_csv("train.csv")
    refuses("'kind' of 'train.csv' has one class only, rose")


def test_wrong_values_are_told_by_the_estimator(train):
    refuses("engine='tree' is unknown", args=["-m", "coincidence", "--engine", "tree"])
    refuses("solver='newton' is unknown", args=["--set", "solver=newton"])
    refuses("max_iter='many' must be a whole number", args=["--set", "max_iter=many"])
    refuses("n_components=9 must be a whole number from 1 to 3", args=["-d", "9"])
    refuses("engine='gpu'", args=["--engine", "gpu"])
    refuses("init={'a': 1} is neither a name nor an array", args=["--set", 'init={"a": 1}'])
    refuses("random_state=-1 must lie", args=["--set", "random_state=-1"], code=2)


def test_too_few_rows_to_hold_out(train):
    train[:9].write_csv("train.csv")
    refuses(
        "--test-size 0.1 of 9 rows holds 1 out, but there are 3 classes",
        args=["--test-size", "0.1"],
    )
    local = ["fit", "train.csv", "-m", "local", "--drop", "id,kind"]
    refuses("leaves none to learn from", base=local, args=["--test-size", "0.99"])
    rare = pl.Series(["rose"] * 58 + ["aster", "tulip"])
    flowers(60, 0).with_columns(kind=rare).write_csv("train.csv")
    refuses("class 'aster' has one row only", args=["--test-size", "0.5"])


def test_messages_name_columns_as_the_table_does(train):
    train.with_columns(width=pl.lit(3.0)).write_csv("train.csv")
    local = ["fit", "train.csv", "-m", "local", "--drop", "id,kind"]
    refuses("column 'width' of X is constant", base=[*local, "--set", "regularization=0"])


@pytest.mark.parametrize("family", ["nca", "local", "coincidence"])
def test_a_cell_that_is_too_large(train, family):
    huge = pl.when(pl.col("id") == "f3").then(1e308).otherwise("length")
    train.with_columns(length=huge).write_csv("train.csv")
    said = "column 'length' of 'train.csv' has 1e+308 in data row 4 (line 5)"
    refuses(said, "beyond 1e+150 overflow", args=["-m", family])


def test_one_row(train):
    train[:1].write_csv("train.csv")
    refuses("one class only", args=[])
    local = ["fit", "train.csv", "-m", "local", "--drop", "id,kind"]
    refuses("there is one row to learn from only", base=local)


def test_an_error_stands_alone(train, monkeypatch):
    def fit(self, X, y):
        warnings.warn("it will not go well", stacklevel=1)
        raise ValueError("it did not go well")

    monkeypatch.setattr(NeighborhoodComponents, "fit", fit)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        refuses("it did not go well")


def test_nothing_is_read_where_nothing_can_be_written():
    refused(
        "'no' does not exist", args=["fit", "nowhere.csv", "-t", "kind", "-o", "no/model.skops"]
    )


def test_without_polars(train, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "polars", None)
    refuses("pip install 'vicinal[cli]'")


def test_an_early_end_is_a_warning(train):
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        learned = ("--set", "regularization=0.01", "--set", "max_iter=1")
        result = done(*FIT, *learned, "-q", "-o", "model.skops")
    assert_one_line(result.stderr, "vicinal: warning:", "stopped before convergence")


# ----------------------------------------------------------------------------------------- Ctrl-C


@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(),
    reason="signals reach the main thread only",
)
def test_ctrl_c_leaves_the_old_file(train, monkeypatch):
    from vicinal.fitting.loop import _Record

    tell = _Record.tell

    def press(self, *args):
        if len(self.updates) == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return tell(self, *args)

    monkeypatch.setattr(_Record, "tell", press)
    Path("model.skops").write_bytes(b"old")
    result = run(*FIT, "--set", "regularization=0.01", "-q", "-o", "model.skops")
    assert (result.exit_code, result.stdout) == (130, "")
    assert_one_line(result.stderr, "interrupted")
    assert Path("model.skops").read_bytes() == b"old"
    assert sorted(os.listdir()) == ["model.skops", "train.csv"]


def test_an_unforeseen_error_is_one_line_unless_debug(train, monkeypatch):
    def fit(self, X, y):
        raise ZeroDivisionError("by\nzero")

    monkeypatch.setattr(NeighborhoodComponents, "fit", fit)
    refuses("ZeroDivisionError: by zero", "--debug", args=["-q"])
    assert isinstance(run(*FIT, "--debug", "-o", "x.skops").exception, ZeroDivisionError)
