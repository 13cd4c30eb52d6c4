from pathlib import Path

import numpy as np
import polars as pl
import pytest
from cli.helpers import assert_one_line, done, refused
from sklearn.neighbors import KNeighborsClassifier

import vicinal
from vicinal import report

TWO = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2


@pytest.fixture
def told(monkeypatch):
    """What the page would be about; the page itself has tests of its own."""
    calls = []

    def write_report(model, X, y, path, **about):
        calls.append({"model": model, "X": X, "y": y, "path": path, **about})
        Path(path).write_text("<html>")

    monkeypatch.setattr(report, "write_report", write_report)
    return calls


def test_what_the_page_is_about(garden, told):
    fresh = pl.read_csv(garden / "test.csv")
    result = done("report", garden / "nca.skops", garden / "test.csv", "--title", "<Flowers>")
    assert_one_line(result.stderr, "vicinal-report.html (6 bytes)", "browser")
    (call,) = told
    assert call["X"].equals(fresh.select("length", "width", "height"))
    np.testing.assert_array_equal(call["y"], fresh["kind"])
    assert call["feature_names"] == ["length", "width", "height"]
    assert (call["title"], call["data_name"]) == ("<Flowers>", "test.csv")
    assert call["command"].count("vicinal ") == 2  # the fit and the report
    assert call["X_test"] is call["y_test"] is None


def test_rows_to_judge_by(garden, told):
    files = garden / "train.csv", "--test", garden / "test.csv"
    done("report", garden / "coincidence.skops", *files, "-o", "page.html", "-q")
    assert (len(told[0]["X"]), len(told[0]["X_test"]), len(told[0]["y_test"])) == (60, 30, 30)


def test_rows_without_classes(garden, told):
    pl.read_csv(garden / "test.csv").drop("kind").write_csv("new.csv")
    done("report", garden / "local.skops", "new.csv")
    assert told[0]["y"] is None


def test_report_refuses(garden, told):
    model, data = garden / "nca.skops", garden / "test.csv"
    refused("'no' does not exist", args=["report", model, data, "-o", "no/page.html"])
    refused("no column 'sort'", args=["report", model, data, "-t", "sort"])
    refused("there is no model file", args=["report", "no.skops", data])
    classifier = KNeighborsClassifier(algorithm="brute").fit(*TWO)
    vicinal.save(classifier, "classifier.skops")
    refused("has no coordinates", args=["report", "classifier.skops", data])
    assert told == []


def test_a_real_page(garden):
    done("report", garden / "nca.skops", garden / "train.csv", "-o", "page.html")
    assert "<html" in Path("page.html").read_text()
