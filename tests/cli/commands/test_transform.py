import io
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from cli.helpers import done, refused

import vicinal


@pytest.fixture(scope="module")
def fresh(garden):
    return pl.read_csv(garden / "test.csv")


def numbers(frame):
    return frame.select("length", "width", "height")


def read_csv(text):
    return pl.read_csv(io.StringIO(text))


@pytest.mark.parametrize("family", ["nca", "local", "coincidence"])
def test_coordinates_are_those_of_the_model(garden, fresh, family):
    expected = vicinal.load(garden / f"{family}.skops").transform(numbers(fresh))
    for suffix, read in (
        ("parquet", pl.read_parquet),
        ("csv", pl.read_csv),
        ("arrow", pl.read_ipc),
    ):
        path = Path(f"out.{suffix}")
        done("transform", garden / f"{family}.skops", garden / "test.csv", "-o", path)
        frame = read(path)
        d = expected.shape[1]
        assert frame.columns == ["kind", *(f"component{i + 1}" for i in range(d))]
        assert frame["kind"].to_list() == fresh["kind"].to_list()
        np.testing.assert_array_equal(frame[:, 1:].to_numpy(), expected)  # to the last digit


def test_coordinates_as_arrays(garden, fresh):
    expected = vicinal.load(garden / "nca.skops").transform(numbers(fresh))
    done("transform", garden / "nca.skops", garden / "test.csv", "-o", "out.npz")
    np.testing.assert_array_equal(np.load("out.npz")["X"], expected)
    assert np.load("out.npz")["y"].tolist() == fresh["kind"].to_list()
    done("transform", garden / "nca.skops", garden / "test.csv", "-o", "out.npy")
    np.testing.assert_array_equal(np.load("out.npy"), expected)


def test_a_pipe(garden):
    text = (garden / "test.csv").read_text()
    piped = done("transform", garden / "nca.skops", "-", stdin=text)
    plain = done("transform", garden / "nca.skops", garden / "test.csv", "-o", "-")
    assert piped.stdout == plain.stdout
    assert piped.stderr == ""
    assert read_csv(piped.stdout).height == 30


def test_other_columns_are_passed_on(garden, fresh):
    def columns(*options):
        out = done("transform", garden / "nca.skops", garden / "test.csv", *options).stdout
        return read_csv(out).columns

    results = ["component1", "component2"]
    assert columns("--keep", "id") == ["id", "kind", *results]
    assert columns("--keep", "id,length", "--keep", "kind") == ["id", "length", "kind", *results]
    assert columns("--keep-all") == [*fresh.columns, *results]


def test_columns_in_another_order_and_more_of_them(garden, fresh):
    plain = done("transform", garden / "nca.skops", garden / "test.csv").stdout
    fresh.select(pl.lit("x").alias("more"), *reversed(fresh.columns)).write_csv("new.csv")
    assert done("transform", garden / "nca.skops", "new.csv").stdout == plain


def test_a_matrix_without_names(garden, fresh):
    plain = done("transform", garden / "nca.skops", garden / "test.csv", "-o", "plain.npy")
    assert "classes are left out" in plain.stderr
    np.save("new.npy", numbers(fresh).to_numpy())
    done("transform", garden / "nca.skops", "new.npy", "-o", "out.npy")
    np.testing.assert_array_equal(np.load("out.npy"), np.load("plain.npy"))


def test_a_model_from_python(garden, fresh):
    X, y = numbers(fresh), fresh["kind"].to_list()
    model = vicinal.NeighborhoodComponents(1).fit(X.to_numpy(), y)
    vicinal.save(model, "plain.skops")
    X.write_csv("new.csv")
    frame = read_csv(done("transform", "plain.skops", "new.csv").stdout)
    np.testing.assert_array_equal(frame.to_numpy(), model.transform(X.to_numpy()))
    vicinal.save(vicinal.NeighborhoodComponents(1).fit(X, y), "named.skops")
    assert read_csv(done("transform", "named.skops", garden / "test.csv").stdout).equals(frame)


def test_rows_with_gaps(garden, fresh):
    fresh.with_columns(width=pl.when(pl.col("id") == "f2").then(None).otherwise("width")).write_csv(
        "new.csv"
    )
    args = ["transform", garden / "nca.skops", "new.csv"]
    refused("'width' in data row 3 (line 4)", "--drop-missing", args=args)
    result = done(*args, "--drop-missing", "--keep", "id")
    assert "f2" not in read_csv(result.stdout)["id"].to_list()
    assert "1 row with missing values left out, 29 remain" in result.stderr


def test_transform_refuses(garden, fresh):
    model = garden / "nca.skops"
    refused("there is no model file 'no.skops'", args=["transform", "no.skops", "x.csv"])
    refused("not a vicinal model", args=["transform", garden / "test.csv", garden / "test.csv"])
    refused("there is no file 'x.csv'", args=["transform", model, "x.csv"])
    refused(
        "no column 'ID'", "'id'", args=["transform", model, garden / "test.csv", "--keep", "ID"]
    )
    refused(".csv, .tsv", args=["transform", model, garden / "test.csv", "-o", "out.doc"])
    fresh.rename({"width": "breadth"}).write_csv("new.csv")
    refused("lacks 1 column", "'width'", args=["transform", model, "new.csv"])
    np.save("new.npy", np.ones((4, 5)))
    refused("fitted with 3 features, 'new.npy' has 5", args=["transform", model, "new.npy"])
    fresh.with_columns(component1=0).write_csv("new.csv")
    refused("'component1'", "a result", args=["transform", model, "new.csv", "--keep-all"])


def test_embeddings_of_new_rows(garden, fresh):
    train = garden / "train.csv"
    options = ["-t", "kind", "--drop", "id", "--seed", "0", "--set", "gamma=0.1"]
    done("embed", train, *options, "--save", "map.skops", "-o", "map.csv")
    out = done("transform", "map.skops", garden / "test.csv").stdout
    expected = vicinal.load("map.skops").transform(numbers(fresh))
    np.testing.assert_array_equal(read_csv(out)[:, 1:].to_numpy(), expected)
