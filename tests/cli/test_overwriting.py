"""No command replaces what it reads."""

import os
import shutil
from pathlib import Path

import pytest
from cli.helpers import done, refused, run

COMMANDS = {
    "fit": ["fit", "data.csv", "-t", "kind", "--drop", "id"],
    "transform": ["transform", "model.skops", "data.csv", "--to", "csv"],
    "predict": ["predict", "model.skops", "data.csv", "--to", "csv"],
    "score": ["score", "model.skops", "data.csv", "--per-row", "--to", "csv"],
    "embed": ["embed", "data.csv", "-t", "kind", "--drop", "id", "--to", "csv"],
    "report": ["report", "model.skops", "data.csv"],
    "compare": ["compare", "data.csv", "-t", "kind", "--drop", "id"],
}


@pytest.fixture
def files(garden):
    shutil.copy(garden / "train.csv", "data.csv")
    shutil.copy(garden / "nca.skops", "model.skops")
    Path("link.csv").symlink_to("data.csv")
    os.link("data.csv", "hard.csv")
    before = {name: Path(name).read_bytes() for name in ("data.csv", "model.skops")}
    yield
    assert {name: Path(name).read_bytes() for name in before} == before
    assert sorted(os.listdir()) == ["data.csv", "hard.csv", "link.csv", "model.skops"]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", ["data.csv", "./data.csv", "link.csv", "hard.csv"])
def test_data_stay_as_they_are(files, command, name):
    args = [*COMMANDS[command], "-o", name]
    refused(f"--output '{Path(name)}'", "would replace 'data.csv'", args=args, code=2)


@pytest.mark.parametrize("command", ["transform", "predict", "score", "report"])
def test_models_stay_as_they_are(files, command):
    args = [*COMMANDS[command], "-o", "model.skops"]
    refused("would replace 'model.skops', which is read", args=args, code=2)


def test_other_files(files, garden):
    args = [*COMMANDS["embed"], "--save", "hard.csv"]
    refused("--save 'hard.csv' would replace 'data.csv'", args=args, code=2)
    args = [*COMMANDS["embed"], "-o", "new.csv", "--save", "./new.csv"]
    refused("--output and --save name the same file", args=args, code=2)
    args = ["report", "model.skops", garden / "test.csv", "--test", "data.csv", "-o", "data.csv"]
    refused("would replace 'data.csv'", args=args, code=2)
    args = ["demo", "-o", "new.svg", "--picture", "new.svg"]
    refused("--output and --picture name the same file", args=args, code=2)


def test_a_data_set_does_not_replace_its_source(monkeypatch, tmp_path):
    monkeypatch.setenv("VICINAL_DATA", str(tmp_path))
    done("datasets", "iris", "-o", "iris.npz", "-q")  # from scikit-learn
    before = Path("iris.npz").read_bytes()
    refused("would replace", args=["datasets", "iris", "-o", "iris.npz"], code=2)
    assert Path("iris.npz").read_bytes() == before


def test_what_is_no_table_goes_to_a_file(garden):
    model, data = garden / "nca.skops", garden / "test.csv"
    for args in (
        ["fit", data, "-t", "kind", "--drop", "id", "-o", "-"],
        ["report", model, data, "-o", "-"],
        ["embed", data, "-t", "kind", "--drop", "id", "--save", "-"],
        ["demo", "-o", "-"],
        ["demo", "--picture", "-"],
    ):
        refused("goes to a file", args=args, code=2)
    assert os.listdir() == []


def test_standard_input_is_read_once(garden):
    text = (garden / "test.csv").read_text()
    args = ["report", garden / "nca.skops", "-", "--test", "-"]
    refused("standard input can be read once", args=args, stdin=text, code=2)


def test_files_that_are_not_read_are_replaced(garden):
    Path("out.csv").write_text("old")
    assert run("transform", garden / "nca.skops", garden / "test.csv", "-o", "out.csv").stdout == ""
    assert Path("out.csv").read_text().startswith("kind,component1")
