"""Fits on a device: their state is written from the host, and put back where it was."""

import subprocess
import sys
import warnings
from importlib.util import find_spec

import numpy as np
import pytest
from checkpoints.cases import X_IRIS, Y_IRIS, bits
from checkpoints.mortal import Killed

torch = pytest.importorskip("torch")

from elsewhere import Elsewhere, counted_waits  # noqa: E402

import vicinal.files  # noqa: E402
from vicinal import LocalComponents, NeighborhoodComponents  # noqa: E402
from vicinal.fitting import Adam, cosine, run  # noqa: E402
from vicinal.fitting.checkpoints import journal as journal_module  # noqa: E402
from vicinal.fitting.checkpoints.identity import Identity  # noqa: E402
from vicinal.fitting.checkpoints.journal import Journal, written_by  # noqa: E402
from vicinal.fitting.checkpoints.packing import pack, unpack  # noqa: E402
from vicinal.fitting.checkpoints.storage import load  # noqa: E402
from vicinal.neighborhood import ENGINES  # noqa: E402

WHO = Identity("Nobody.fit", {}, {}, {})


@pytest.fixture(autouse=True)
def often(monkeypatch):
    monkeypatch.setitem(ENGINES, "elsewhere", lambda work, tolerance, n_jobs: Elsewhere(n_jobs))
    monkeypatch.setattr(journal_module, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(journal_module, "LARGEST_SHARE", np.inf)
    monkeypatch.setattr(vicinal.files, "_sync", lambda file: None)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64])
def test_tensors_come_back_where_they_belong(dtype):
    tensor = torch.arange(6, dtype=dtype).reshape(2, 3)
    data = b"".join(pack({"tensor": tensor, "array": np.ones(2)}))
    found = unpack(data, like=torch.zeros(1))
    assert isinstance(found["tensor"], torch.Tensor)
    assert isinstance(found["array"], np.ndarray)
    assert found["tensor"].dtype == dtype
    assert torch.equal(found["tensor"], tensor)
    assert isinstance(unpack(data)["tensor"], np.ndarray)


def test_a_run_goes_on_with_tensors(tmp_path):
    def value_and_gradient(x):
        return -(x**2).sum(), -2.0 * x

    def process(stops):
        content = load(tmp_path / "fit")
        journal = Journal(tmp_path / "fit", WHO, {} if content is None else content["entries"])

        def killing(update):
            if update.iteration == stops:
                raise Killed

        start = torch.ones(3, dtype=torch.float64)
        with written_by(journal):
            return run(
                *(Adam(value_and_gradient, cosine(0.1, 9)), start),
                **{"max_iter": 9, "tol": None, "scheduled": True, "callbacks": [killing]},
            )

    with pytest.raises(Killed):
        process(5)
    found = process(None)
    assert isinstance(found.parameters, torch.Tensor)
    (tmp_path / "fit").unlink()
    assert torch.equal(found.parameters, process(None).parameters)


def fit(checkpoint, name, monkeypatch=None):
    given = {"checkpoint": checkpoint, "random_state": 0, "engine": "elsewhere"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name == "em":
            return LocalComponents(max_iter=12, regularization=1e-3, **given).fit(X_IRIS)
        if name == "stochastic em":
            return LocalComponents(max_iter=12, batch_size=40, **given).fit(X_IRIS)
        if name in ("lbfgs", "cg", "bold-driver"):
            return NeighborhoodComponents(2, solver=name, max_iter=12, **given).fit(X_IRIS, Y_IRIS)
        given |= {"solver": name, "batching": "random", "batch_size": 40, "max_iter": 12}
        return NeighborhoodComponents(2, regularization=1e-3, **given).fit(X_IRIS, Y_IRIS)


@pytest.mark.parametrize(
    "name", ["lbfgs", "cg", "bold-driver", "adam", "sgd", "em", "stochastic em"]
)
def test_a_fit_elsewhere_goes_on(tmp_path, monkeypatch, name):
    whole, store = bits(fit(None, name)), journal_module.store
    for after in (3, 4, 6):
        n = []

        def mortal(*args, n=n, after=after):
            if len(n) == after:
                raise Killed
            n.append(store(*args))

        monkeypatch.setattr(journal_module, "store", mortal)
        with pytest.raises(Killed):
            fit(tmp_path / "fit", name)
    monkeypatch.setattr(journal_module, "store", store)
    assert bits(fit(tmp_path / "fit", name)) == whole


def test_between_two_writings_nothing_is_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(journal_module, "LEAST_SECONDS", 1e6)
    with counted_waits(monkeypatch) as without:
        fit(None, "adam")
    with counted_waits(monkeypatch) as waits:
        fit(tmp_path / "fit", "adam")
    in_the_end = len(waits) - len(without)
    assert in_the_end < 30  # a state has so many arrays and numbers, and is written once
    monkeypatch.setattr(journal_module, "LEAST_SECONDS", 0.0)
    with counted_waits(monkeypatch) as often:
        fit(tmp_path / "often", "adam")
    assert len(often) - len(without) > 2 * in_the_end


INTERPRETED = """
import sys, warnings
import vicinal.fitting.checkpoints.journal as journal
from checkpoints.cases import X_IRIS, Y_IRIS, bits
from checkpoints.mortal import Killed
from vicinal import NeighborhoodComponents

warnings.simplefilter("ignore")
journal.LEAST_SECONDS, journal.LARGEST_SHARE = 0.0, float("inf")
store, n = journal.store, []


def mortal(*args):
    if len(n) == 4:
        raise Killed
    n.append(store(*args))


def fit(checkpoint):
    given = {"solver": "adam", "batching": "random", "batch_size": 16, "max_iter": 6}
    model = NeighborhoodComponents(2, regularization=1e-3, engine="cuda", random_state=0, **given)
    return bits(model.set_params(checkpoint=checkpoint).fit(X_IRIS[::4], Y_IRIS[::4]))


journal.store = mortal
try:
    fit(sys.argv[1])
except Killed:
    journal.store = store
    assert fit(sys.argv[1]) == fit(None)
    print("went on")
"""


@pytest.mark.skipif(find_spec("triton") is None, reason="needs triton: the extra gpu")
def test_kernels_for_a_gpu_go_on(tmp_path):
    """Interpreted where there is none, in a process of its own: Triton reads its switch once."""
    import os

    switch = {} if torch.cuda.is_available() else {"TRITON_INTERPRET": "1"}
    paths = os.pathsep.join(["tests", *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", INTERPRETED, str(tmp_path / "fit")],
        env={**os.environ, **switch, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "went on\n", done.stderr
