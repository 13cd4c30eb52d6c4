import io
import json

import numpy as np
import polars as pl
import pytest
from cli.helpers import assert_one_line, done, refused, run_main

from vicinal import datasets


@pytest.fixture(autouse=True)
def only_what_comes_along(monkeypatch, tmp_path):
    monkeypatch.delenv("VICINAL_DATA", raising=False)
    monkeypatch.setenv("VICINAL_CACHE", str(tmp_path / "cache"))


def test_the_list_for_people():
    out = done("datasets").stdout
    for name in datasets.names():
        assert f" {name} " in out
    assert max(map(len, out.splitlines())) <= 80


def test_the_list_for_machines():
    sets = {one["name"]: one for one in json.loads(done("datasets", "--json").stdout)["datasets"]}
    assert list(sets) == datasets.names()
    assert (sets["iris"]["rows"], sets["iris"]["features"], sets["iris"]["classes"]) == (150, 4, 3)
    places = {one["where"] for one in sets.values()}
    assert places == {"scikit-learn", "OpenML", "not available"}
    assert [name for name in sets if sets[name]["where"] == "scikit-learn"] == [
        name for name in datasets.names() if datasets.is_available(name)
    ]


def test_sets_in_folders(tmp_path, monkeypatch):
    def place_of(name):
        sets = json.loads(done("datasets", "--json").stdout)["datasets"]
        return next(one["where"] for one in sets if one["name"] == name)

    (tmp_path / "cache" / "datasets").mkdir(parents=True)
    (tmp_path / "cache" / "datasets" / "glass.npz").touch()
    assert place_of("glass") == "cache"
    (tmp_path / "glass.npz").touch()
    monkeypatch.setenv("VICINAL_DATA", str(tmp_path))
    assert place_of("glass") == "VICINAL_DATA"
    monkeypatch.setenv("VICINAL_DATA", "nowhere")
    refused("'nowhere', which does not exist", args=["datasets"])


@pytest.mark.parametrize(
    ("name", "target", "first"),
    [
        ("iris", "species", "sepal length (cm)"),
        ("wine", "cultivar", "alcohol"),
        ("wdbc", "diagnosis", "mean radius"),
    ],
)
def test_a_set_as_a_table(name, target, first):
    bunch = datasets.load(name)
    result = done("datasets", name)
    frame = pl.read_csv(io.StringIO(result.stdout))
    assert (frame.columns[0], frame.columns[-1]) == (first, target)
    np.testing.assert_array_equal(frame[:, :-1].to_numpy(), bunch.data)
    assert frame[target].to_list() == [bunch.target_names[c] for c in bunch.target]
    assert_one_line(result.stderr, f"classes in {target!r}")
    done("datasets", name, "-q", "-o", "set.npz")
    np.testing.assert_array_equal(np.load("set.npz")["X"], bunch.data)


def test_parts_of_a_set(monkeypatch):
    bunch = datasets.load("iris")
    bunch.train = np.arange(150) < 100
    monkeypatch.setattr(datasets, "load", lambda name, download: bunch)
    heights = {}
    for part in ("all", "train", "test"):
        done("datasets", "iris", "--part", part, "-o", f"{part}.parquet")
        heights[part] = pl.read_parquet(f"{part}.parquet").height
    assert heights == {"all": 150, "train": 100, "test": 50}


def test_datasets_refuses(capsys):
    refused("'irsi' is not a data set", "'iris'", args=["datasets", "irsi"])
    refused("no customary split", args=["datasets", "iris", "--part", "train"])
    refused("not available", "VICINAL_DATA", args=["datasets", "glass", "--no-download"])
    refused("need the name", args=["datasets", "-o", "x.csv"], code=2)
    refused("--json is for the list", args=["datasets", "iris", "--json"], code=2)
    code, _, err = run_main(capsys, "datasets", "iris", "--part", "half")
    assert code == 2
    assert_one_line(err, "--part", "test")
