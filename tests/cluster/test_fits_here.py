"""Fits by Dask's scheduler of one thread: the same models as without a cluster."""

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

dask = pytest.importorskip("dask", reason="the extra dask is not installed")
da = pytest.importorskip("dask.array", reason="the extra dask is not installed")

from vicinal import LocalComponents, NeighborhoodComponents  # noqa: E402


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    """Small problems are sent, too, in small blocks."""
    monkeypatch.setattr("vicinal.neighborhood.cluster.engine.FEW_PAIRS", 300_000)
    monkeypatch.setattr("vicinal.neighborhood.cluster.blocks.LEAST_ROWS", 150)
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def labeled():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 600)
    X = rng.normal(size=(600, 5)) * [1, 2, 3, 4, 50]
    X[:, :2] += 2.5 * np.stack([y == 1, y == 2], axis=1) * [1, 2]
    return X, y


RECIPES = {
    "full": {"batching": "full", "max_iter": 8, "regularization": 0.01},
    "chosen": {"batching": "full", "max_iter": 5},
    "bold-driver": {"solver": "bold-driver", "max_iter": 5},
    "random": {"batching": "random", "batch_size": 100, "max_iter": 20, "regularization": 0.01},
    "stochastic": {"batching": "stochastic", "batch_size": 60, "max_iter": 12},
    "weights of classes": {
        "batching": "stochastic",
        "batch_size": 60,
        "max_iter": 6,
        "prior": "uniform",
        "regularization": 0.01,
    },
    "projection": {"batching": "projection", "batch_size": 100, "max_iter": 8},
    "farthest": {"batching": "farthest", "batch_size": 100, "max_iter": 8},
    "subsample": {"batching": "subsample", "batch_size": 200, "max_iter": 5, "regularization": 0.1},
    "held back": {"batching": "full", "early_stopping": True, "max_iter": 5},
    "compact": {"kernel": "compact", "batching": "full", "max_iter": 4, "regularization": 0.01},
    "background": {
        "kernel": "compact",
        "background": True,
        "batching": "full",
        "max_iter": 4,
        "regularization": 0.01,
    },
    "background, stochastic": {
        "kernel": "compact",
        "background": 0.1,
        "batching": "stochastic",
        "batch_size": 60,
        "max_iter": 4,
        "regularization": 0.01,
    },
    "annealed": {"annealing": True, "batching": "full", "max_iter": 4, "regularization": 0.01},
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("recipe", RECIPES)
def test_neighborhood_components(labeled, recipe, weighted):
    X, y = labeled
    weights = np.random.default_rng(1).integers(0, 3, len(y)) if weighted else None
    parameters = {"n_components": 2, "random_state": 0, **RECIPES[recipe]}
    expected = NeighborhoodComponents(**parameters).fit(X, y, weights)
    arrays = [X, da.from_array(X, chunks=(70, 2)), da.from_array(X, chunks=(600, 5))]
    make = NeighborhoodComponents
    models = [make(**parameters, engine="dask").fit(rows, y, weights) for rows in arrays]
    for model in models:
        scale = np.abs(expected.components_).max()
        assert_allclose(model.components_, expected.components_, rtol=0, atol=1e-5 * scale)
        assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=1e-4)
        assert model.engine_ == "dask"
    assert_array_equal(models[1].components_, models[2].components_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_rows_in_single_precision(labeled):
    """What the columns pass finds out is in double precision, and meets rows that are not."""
    X, y = labeled
    parameters = {"n_components": 2, "random_state": 0, **RECIPES["weights of classes"]}
    rows = X.astype(np.float32)
    expected = NeighborhoodComponents(**parameters).fit(rows, y)
    found = NeighborhoodComponents(**parameters).fit(da.from_array(rows, chunks=(70, 2)), y)
    assert found.engine_ == "dask"
    assert found.components_.dtype == expected.components_.dtype == np.float32
    assert_allclose(found.components_, expected.components_, rtol=1e-3, atol=1e-4)


DENSITIES = {
    "full": {"max_iter": 4},
    "diagonal": {"covariance": "diag", "max_iter": 4, "regularization": 0.01},
    "search": {"gaussian": "search", "max_iter": 3, "regularization": 0.01},
    "stochastic": {"batch_size": 550, "n_neighbors": 580, "max_iter": 4, "regularization": 0.01},
    "mixture": {"n_mixture": 2, "max_iter": 3},
    "local": {"covariance": "local", "max_iter": 3},
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("recipe", DENSITIES)
def test_local_components(labeled, recipe, monkeypatch):
    X, _ = labeled
    expected = LocalComponents(**DENSITIES[recipe], random_state=0).fit(X)
    sent = []
    from vicinal.neighborhood.cluster import engine, running

    monkeypatch.setattr(engine, "kept", lambda *what: sent.append(what) or running.kept(*what))
    model = LocalComponents(**DENSITIES[recipe], random_state=0, engine="dask").fit(X)
    assert_allclose(model.covariance_, expected.covariance_, rtol=1e-6, atol=1e-8)
    assert_allclose(model.score_samples(X), expected.score_samples(X), rtol=1e-6)
    assert sent  # or nothing of it was computed by workers


def test_settings_of_distributed_survive_a_fit_before_it_is_loaded():
    """In a process of its own: here it may be loaded already."""
    code = """
import dask, dask.array as da, numpy as np, sys
import vicinal.neighborhood.cluster.engine as engine
from vicinal import NeighborhoodComponents
engine.FEW_PAIRS = 1000
X = np.random.default_rng(0).normal(size=(300, 3)); y = (X[:, 0] > 0).astype(int)
with dask.config.set(scheduler="synchronous"):
    NeighborhoodComponents(2, engine="dask", max_iter=2, regularization=0.01).fit(X, y)
import distributed
print(dask.config.get("distributed.comm.timeouts.connect"))
"""
    options = {"capture_output": True, "text": True, "check": False}
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], **options)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def narrowed(block, block_info=None):
    return block[:, :3] if block_info[None]["chunk-location"][0] == 2 else block


WRONG_CHUNKS = {
    "one is narrow": (narrowed, r"rows 100 to 149 .* shape \(50, 3\), not \(50, 5\)"),
    "all are narrow": (lambda block: block[:, :3], r"rows 0 to 149 .* shape \(150, 3\), not"),
    "all are short": (lambda block: block[:9], r"rows 0 to 149 .* shape \(27, 5\), not \(150, 5\)"),
    "rows are numbers": (lambda block: block[:, 0], r"rows 0 to 49 .* shape \(50,\), not"),
}


@pytest.mark.parametrize("wrong", WRONG_CHUNKS)
def test_chunks_of_other_shapes_than_dask_believes(labeled, wrong):
    X, y = labeled
    change, told = WRONG_CHUNKS[wrong]
    rows = da.from_array(X, chunks=(50, 5)).map_blocks(change, dtype=X.dtype, chunks=(50, 5))
    model = NeighborhoodComponents(2)
    with pytest.raises(ValueError, match=told):
        model.fit(rows, y)
    assert not vars(model).keys() & {"components_", "n_features_in_"}
