"""Headers of model files that say what cannot be."""

import json
import zipfile
from pathlib import Path

import pytest
from cli.helpers import done, refused

import vicinal
from vicinal.saving.archive import _checksum


def edited(source, **entries):
    """A copy of a model with another header, sealed as the original was."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile("edited.skops", "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "vicinal.json":
                header = json.loads(content)
                header["metadata"] |= entries.pop("metadata", {})
                header |= entries
            else:
                new.writestr(name, content)
    with Path("edited.skops").open("rb") as file:
        header["checksum"] = entries.get("checksum") or _checksum(file, json.dumps(header).encode())
    with zipfile.ZipFile("edited.skops", "a") as new:
        new.writestr("vicinal.json", json.dumps(header))
    return "edited.skops"


@pytest.mark.parametrize(
    "entries",
    [
        {"versions": ["1.0"]},
        {"versions": {"numpy": 2}},
        {"steps": "StandardScaler"},
        {"steps": [1, 2]},
        {"created": 20260101},
        {"model": None},
        {"vicinal": {}},
        {"metadata": {"columns": 3}},
        {"metadata": {"columns": ["length", 2, "height"]}},
        {"metadata": {"columns": ["length", "length", "height"]}},
        {"metadata": {"categories": []}},
        {"metadata": {"categories": {"length": "abc"}}},
        {"metadata": {"named": "no"}},
        {"metadata": {"target": 7}},
        {"metadata": {"n_candidates": "3"}},
        {"metadata": {"rows": "sixty"}},
        {"metadata": {"rows": -1}},
        {"metadata": {"data": 1}},
        {"metadata": {"command": ["vicinal"]}},
    ],
)
def test_entries_of_a_wrong_type(garden, entries):
    model = edited(garden / "nca.skops", **dict(entries))
    for args in (["info", model], ["info", model, "--json"], ["predict", model, "x.csv"]):
        refused("'edited.skops'", args=args)


def test_columns_that_are_not_those_of_the_model(garden):
    model = edited(garden / "nca.skops", metadata={"columns": ["length", "width"]})
    refused(
        "its header names 2 features, and its model takes 3",
        args=["predict", model, garden / "test.csv"],
    )


def test_metadata_of_users(garden):
    model = vicinal.load(garden / "nca.skops")
    vicinal.save(model, "own.skops", metadata={"rows": 60, "unit": {"cm": [1, None]}})
    assert "60 rows" in done("info", "own.skops").stdout


def test_a_model_that_was_never_fitted(garden):
    vicinal.save(vicinal.NeighborhoodComponents(), "bare.skops")
    for command in ("transform", "predict", "score", "report"):
        refused("never fitted", args=[command, "bare.skops", garden / "test.csv"])
