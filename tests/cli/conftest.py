import signal
import threading

import pytest
from cli.helpers import done, flowers


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture(autouse=True)
def usual_interrupts():
    """A job in the background of a script has Ctrl-C switched off."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def garden(tmp_path_factory):
    """Folder with train.csv, test.csv and a model of each family, fitted to train.csv."""
    folder = tmp_path_factory.mktemp("garden")
    flowers(60, 0).write_csv(folder / "train.csv")
    flowers(30, 1).write_csv(folder / "test.csv")
    for family in ("nca", "local", "coincidence"):
        options = ["-d", "2"] if family == "nca" else []
        options += ["--seed", "0", "--drop", "id", "--target", "kind", "--model", family]
        done("fit", folder / "train.csv", *options, "-o", folder / f"{family}.skops")
    return folder
