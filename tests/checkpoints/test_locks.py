"""A checkpoint is for one fit at a time; whoever is killed does not keep it."""

import errno
import os
import sys
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from checkpoints.cases import X_IRIS, Y_IRIS, bits

from vicinal import NeighborhoodComponents
from vicinal.fitting.checkpoints import locking

# A fit in another process, which says that it has begun and then waits.
FIT = """
import sys
from sklearn.datasets import load_iris
from vicinal import NeighborhoodComponents
from vicinal.nca.fits import ScikitLearnCallbacks

def wait(self, update):
    print("begun", flush=True)
    sys.stdin.read()

ScikitLearnCallbacks.__call__ = wait
NeighborhoodComponents(2, random_state=0, checkpoint=sys.argv[1]).fit(*load_iris(return_X_y=True))
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "fit"


def model(path, **others):
    chosen = {"solver": "lbfgs", "max_iter": 5, "random_state": 0, **others}
    return NeighborhoodComponents(2, checkpoint=path, **chosen)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_another_process_has_it(path):
    with Popen([sys.executable, "-c", FIT, path], stdin=PIPE, stdout=PIPE) as other:
        try:
            assert other.stdout.readline() == b"begun\n"
            with pytest.raises(BlockingIOError, match=f"{path}.*process {other.pid} on"):
                model(path).fit(X_IRIS, Y_IRIS)
        finally:
            other.kill()
    assert Path(f"{path}.lock").exists()  # but nobody has it any more
    path.unlink(missing_ok=True)
    Path(f"{path}.part").unlink(missing_ok=True)
    alone = model(None).fit(X_IRIS, Y_IRIS)
    assert bits(model(path).fit(X_IRIS, Y_IRIS)) == bits(alone)
    assert not Path(f"{path}.lock").exists()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_another_fit_of_this_process_has_it(path, monkeypatch):
    told = []

    def fit_again(self, update):
        with pytest.raises(BlockingIOError, match=f"in use by another fit .process {os.getpid()}"):
            model(path).fit(X_IRIS, Y_IRIS)
        told.append(update)

    with monkeypatch.context() as patch:
        patch.setattr("vicinal.nca.fits.ScikitLearnCallbacks.__call__", fit_again)
        model(path).fit(X_IRIS, Y_IRIS)
    assert told
    model(path).fit(X_IRIS, Y_IRIS)  # free again


def test_a_lock_that_is_removed_meanwhile_is_made_again(path, monkeypatch):
    lock, removed = locking._lock, []

    def late(file):
        if not removed:
            removed.append(Path(f"{path}.lock").unlink())
        lock(file)

    monkeypatch.setattr(locking, "_lock", late)
    with locking.locked(path):
        assert Path(f"{path}.lock").read_text().startswith(f"process {os.getpid()} on ")
        with pytest.raises(BlockingIOError), locking.locked(path):
            pass
    assert removed
    assert not Path(f"{path}.lock").exists()


def test_a_disk_without_locks_is_told(path, monkeypatch):
    def no_locks(file):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(locking, "_lock", no_locks)
    told = pytest.warns(UserWarning, match="cannot be locked .*No locks available")
    with told, locking.locked(path):
        pass


@pytest.mark.parametrize("content", [b"lock file of a package manager", b"{}"])
def test_a_file_of_somebody_else_is_not_taken_for_a_lock(path, content):
    Path(f"{path}.lock").write_bytes(content)
    with pytest.raises(FileExistsError, match=rf"checkpoint='{path}' needs '{path}\.lock' for"):
        model(path).fit(X_IRIS, Y_IRIS)
    assert Path(f"{path}.lock").read_bytes() == content
    assert not path.exists()


@pytest.mark.parametrize("content", [b"", b"proc", b"process 7 on another", bytes(30)])
def test_a_lock_that_was_left_is_taken_over(path, content):
    """Also one that was not yet on the disk when the machine crashed."""
    Path(f"{path}.lock").write_bytes(content)
    with locking.locked(path):
        assert Path(f"{path}.lock").read_text().startswith(f"process {os.getpid()} on ")
    assert not Path(f"{path}.lock").exists()
