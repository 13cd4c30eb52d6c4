"""`partial_fit` of rows that stay on the workers, by Dask's scheduler of one thread."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

dask = pytest.importorskip("dask", reason="the extra dask is not installed")
da = pytest.importorskip("dask.array", reason="the extra dask is not installed")

from vicinal import LocalComponents, NeighborhoodComponents  # noqa: E402
from vicinal.neighborhood.cluster import rows as on_workers  # noqa: E402
from vicinal.neighborhood.cluster import running  # noqa: E402


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    monkeypatch.setattr("vicinal.neighborhood.cluster.blocks.LEAST_ROWS", 150)
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def taken(monkeypatch):
    """Numbers of rows that come here at a time; whoever wants all of them is refused."""
    numbers, picked_rows = [], on_workers.picked_rows

    def noted(rows, which):
        found = picked_rows(rows, which)
        numbers.append(len(found))
        return found

    def refuse(*args):
        raise AssertionError("all rows come here")

    def one_value_a_column(collection):
        assert collection.ndim == 1
        return gathered(collection)

    gathered = running.gathered
    monkeypatch.setattr(on_workers, "picked_rows", noted)
    monkeypatch.setattr(running, "gathered", one_value_a_column)
    monkeypatch.setattr("vicinal.rows.methods.settled", refuse)
    return numbers


@pytest.fixture(scope="module")
def labeled():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 600)
    X = rng.normal(size=(600, 5)) * [1, 2, 3, 4, 50]
    X[:, :2] += 2.5 * np.stack([y == 1, y == 2], axis=1) * [1, 2]
    return X, y


def nca(**parameters):
    return NeighborhoodComponents(
        2, batch_size=80, reservoir_size=200, random_state=0, **parameters
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("first", [20, 300])
def test_neighborhood_components(labeled, taken, weighted, first):
    """In two calls; after few rows the second one begins anew, with all of them."""
    X, y = labeled
    weights = np.random.default_rng(1).integers(0, 3, len(y)) if weighted else np.ones(len(y))
    parts = [slice(0, first), slice(first, 600)]
    expected, models = nca(), [nca(), nca(engine="dask")]
    for part in parts:
        classes = {"classes": [0, 1, 2]} if part.start == 0 else {}
        expected.partial_fit(X[part], y[part], sample_weight=weights[part], **classes)
        for model, chunks in zip(models, ((70, 2), (600, 5)), strict=True):
            rows = da.from_array(X[part], chunks=chunks)
            model.partial_fit(rows, y[part], sample_weight=weights[part], **classes)
            assert model.engine_ == "dask"
    assert max(taken) <= 80
    for model in models:
        assert_allclose(model.components_, expected.components_, rtol=1e-9)
        assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=1e-9)
    assert_array_equal(models[0].components_, models[1].components_)


DENSITIES = {
    "penalty by folds": {},
    "given": {"regularization": 0.01},
    "none": {"regularization": 0.0, "covariance": "diag"},
}


@pytest.mark.parametrize("recipe", DENSITIES)
def test_local_components(labeled, taken, recipe, monkeypatch):
    X, _ = labeled
    monkeypatch.setattr("vicinal.local_components.stream.MOST_TO_CHOOSE_FROM", 150)
    weights = np.random.default_rng(1).integers(0, 3, len(X))
    parameters = {"reservoir_size": 150, "random_state": 0, **DENSITIES[recipe]}
    expected = LocalComponents(**parameters)
    models = [LocalComponents(**parameters) for _ in range(2)]
    for part in (slice(0, 250), slice(250, 600)):
        expected.partial_fit(X[part], sample_weight=weights[part])
        for model, chunks in zip(models, ((70, 2), (600, 5)), strict=True):
            rows = da.from_array(X[part], chunks=chunks)
            model.partial_fit(rows, sample_weight=weights[part])
    assert 0 < max(taken) <= 150
    for model in models:
        assert_allclose(model.covariance_, expected.covariance_, rtol=1e-6)
        assert_allclose(model.score_samples(X), expected.score_samples(X), rtol=1e-6)
    assert_array_equal(models[0].covariance_, models[1].covariance_)


def test_few_rows_of_a_stream(labeled):
    """So few that the penalty is chosen by all of them, which come here for that."""
    X, _ = labeled
    expected = LocalComponents(random_state=0).partial_fit(X[:50])
    model = LocalComponents(random_state=0).partial_fit(da.from_array(X[:50], chunks=(20, 5)))
    assert_allclose(model.covariance_, expected.covariance_, rtol=1e-6)


def test_what_is_wrong_is_told(labeled):
    X, y = labeled
    rows = da.from_array(X, chunks=(100, 5))
    model, density = nca().partial_fit(X, y), LocalComponents(reservoir_size=50).partial_fit(X)
    narrow = rows[:, :4]
    with pytest.raises(ValueError, match="X has 4 features, but NeighborhoodComponents is exp"):
        model.partial_fit(narrow, y)
    with pytest.raises(ValueError, match="X has 4 features, but LocalComponents is expecting 5"):
        density.partial_fit(narrow)
    with pytest.raises(ValueError, match="X reaches 1e\\+200, too large"):
        density.partial_fit(da.where(rows > 3, 1e200, rows))
    with pytest.raises(ValueError, match=r"column 1.*constant|constant.*column 1"):
        LocalComponents(regularization=0.0).partial_fit(rows * np.array([1.0, 0, 1, 1, 1]))
    with pytest.raises(ValueError, match=r"1 sample\(s\).* minimum of 2 is required by Loc"):
        LocalComponents().partial_fit(rows[:1])
