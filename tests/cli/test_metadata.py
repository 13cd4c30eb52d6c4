"""Models that say of their table what cannot be."""

import pytest
from cli.helpers import done, refused

import vicinal
from vicinal.saving import describe


def edited(source, **metadata):
    """A copy of a model that says something else about its table."""
    known = describe(source).metadata
    vicinal.save(vicinal.load(source), "edited.skops", metadata=known | metadata)
    return "edited.skops"


@pytest.mark.parametrize(
    "entries",
    [
        {"columns": 3},
        {"columns": ["length", 2, "height"]},
        {"columns": ["length", "length", "height"]},
        {"categories": []},
        {"categories": {"length": "abc"}},
        {"named": "no"},
        {"target": 7},
        {"n_candidates": "3"},
    ],
)
def test_entries_of_a_wrong_type(garden, entries):
    model = edited(garden / "nca.skops", **entries)
    for args in (["info", model], ["info", model, "--json"], ["predict", model, "x.csv"]):
        refused("'edited.skops'", args=args)


def test_columns_that_are_not_those_of_the_model(garden):
    model = edited(garden / "nca.skops", columns=["length", "width"])
    refused(
        "its header names 2 features, and its model takes 3",
        args=["predict", model, garden / "test.csv"],
    )


def test_metadata_of_users(garden):
    model = vicinal.load(garden / "nca.skops")
    metadata = {"rows": "sixty", "data": {"of": 1}, "command": ["x"], "unit": {"cm": [1, None]}}
    vicinal.save(model, "own.skops", metadata=metadata)
    assert "sixty rows of {'of': 1}" in done("info", "own.skops").stdout
    done("report", "own.skops", garden / "test.csv", "-o", "page.html")
    vicinal.save(model, "own.skops", metadata={"rows": 60})
    assert "60 rows" in done("info", "own.skops").stdout


def test_a_model_that_was_never_fitted(garden):
    vicinal.save(vicinal.NeighborhoodComponents(), "bare.skops")
    for command in ("transform", "predict", "score", "report"):
        refused("never fitted", args=[command, "bare.skops", garden / "test.csv"])
