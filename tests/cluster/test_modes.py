"""Clusters of rows that stay on the workers, by Dask's scheduler of one thread."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

dask = pytest.importorskip("dask", reason="the extra dask is not installed")
da = pytest.importorskip("dask.array", reason="the extra dask is not installed")

from vicinal import LocalComponents, ModeClustering, NeighborhoodComponents  # noqa: E402
from vicinal.neighborhood.cluster import engine, running  # noqa: E402


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    """Small problems are sent, too, in small blocks."""
    monkeypatch.setattr(engine, "FEW_PAIRS", 8000)
    monkeypatch.setattr("vicinal.neighborhood.cluster.blocks.LEAST_ROWS", 100)
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def sent(monkeypatch):
    """Sides of pairs that go to the workers."""
    sides = []
    monkeypatch.setattr(engine, "kept", lambda *what: sides.append(what) or running.kept(*what))
    return sides


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(0)
    return rng.normal(size=(200, 3)) + 8.0 * rng.integers(0, 3, (200, 1))


def density(**parameters):
    """One that is fitted soon."""
    return LocalComponents(covariance="diag", regularization=0.01, max_iter=4, **parameters)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("max_samples", "weighted"), [(120, True), (None, False)])
def test_clusters(points, max_samples, weighted, sent, monkeypatch):
    weights = np.random.default_rng(1).integers(0, 3, len(points)) if weighted else None
    parameters = {"density": density(), "max_samples": max_samples, "random_state": 0}
    expected = ModeClustering(**parameters).fit(points, sample_weight=weights)
    assert expected.n_clusters_ == 3
    assert not sent

    def refuse(*args):
        raise AssertionError("all rows come here")

    monkeypatch.setattr("vicinal.rows.methods.settled", refuse)
    models = [
        ModeClustering(**parameters).fit(da.from_array(points, chunks=chunks), None, weights)
        for chunks in ((70, 2), (200, 3))
    ]
    assert sent
    for model in models:
        assert_array_equal(model.labels_, expected.labels_)
        assert_allclose(model.cluster_centers_, expected.cluster_centers_, rtol=1e-3, atol=1e-3)
        assert_array_equal(model.predict(points[:50]), expected.labels_[:50])
    assert_array_equal(models[0].cluster_centers_, models[1].cluster_centers_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_density_that_was_given_an_engine(points, sent):
    model = ModeClustering(density(engine="dask")).fit(points)
    assert sent
    expected = ModeClustering(density()).fit(points)
    assert_array_equal(model.labels_, expected.labels_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_checkpoint_knows_its_rows(points, tmp_path):
    """They are looked at where they are: an array of Dask by the same name may be another."""
    y = (points[:, 0] > 8).astype(int)
    path = tmp_path / "fit"
    model = NeighborhoodComponents(
        1, max_iter=3, regularization=0.01, checkpoint=path, random_state=0
    )
    before = model.fit(da.from_array(points, chunks=(100, 3)), y).components_
    again = model.fit(da.from_array(points, chunks=(90, 2)), y).components_
    assert_array_equal(before, again)
    with pytest.raises(ValueError, match="of a fit to other data: X is another"):
        model.fit(da.from_array(points + 1.0, chunks=(100, 3)), y)
