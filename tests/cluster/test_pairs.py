"""Pairs that labels make, by Dask's scheduler of one thread: those of one machine."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

dask = pytest.importorskip("dask", reason="the extra dask is not installed")
da = pytest.importorskip("dask.array", reason="the extra dask is not installed")

from vicinal import CoincidenceClassifier, LatentCoincidence  # noqa: E402
from vicinal.coincidence import neighbors, sample  # noqa: E402
from vicinal.coincidence.neighbors import LabeledPoints, labeled_pairs  # noqa: E402
from vicinal.inputs import nearest  # noqa: E402
from vicinal.neighborhood.cluster import sharing  # noqa: E402
from vicinal.neighborhood.cluster.presence import asking_workers, asks_workers  # noqa: E402
from vicinal.neighborhood.threads import computing  # noqa: E402


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    """Small problems are sent, too."""
    monkeypatch.setattr(nearest, "_is_for_workers", lambda keys, queries: asks_workers())
    monkeypatch.setattr(nearest, "_queries_per_share", lambda *sizes: 30)
    monkeypatch.setattr(neighbors, "_MUCH", 0)
    monkeypatch.setattr(neighbors, "_TILE", 40)
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def sent(monkeypatch):
    """What goes to the workers, by its name."""
    names, kept = [], sharing.kept
    monkeypatch.setattr(
        sharing, "kept", lambda value, what: names.append(what) or kept(value, what)
    )
    return names


@pytest.fixture(scope="module")
def labeled():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    X = rng.normal(size=(400, 5))
    X[:, 0] += 1.5 * y
    X[7] = X[3]
    return X, np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize("kind", ["impostors", "all"])
@pytest.mark.parametrize("some", [False, True])
def test_pairs(labeled, kind, some, sent):
    X, labels = labeled[0], np.unique(labeled[1], return_inverse=True)[1]
    few = {"anchors": np.arange(0, 400, 3), "most_impostors": 4} if some else {}
    points = LabeledPoints(X, labels, **few)
    with computing(1):
        expected = labeled_pairs(points, 3, kind)
        assert not sent
        with asking_workers():
            found = labeled_pairs(points, 3, kind)
    assert set(sent) == ({"neighbors", "impostors"} if kind == "impostors" else {"neighbors"})
    for one, other in zip(found, expected, strict=True):
        assert_array_equal(one, other)


def coincidence(**parameters):
    return LatentCoincidence(2, random_state=0, max_iter=20, **parameters)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_model_of_one_machine(labeled, sent):
    X, y = labeled
    expected = coincidence().fit(X, y)
    assert not sent
    rows = [X, da.from_array(X, chunks=(70, 2)), da.from_array(X, chunks=(400, 5))]
    for each, engine in zip(rows, ("dask", "auto", "dask"), strict=True):
        sent.clear()
        model = coincidence(engine=engine).fit(each, da.from_array(y, chunks=100))
        assert "neighbors" in sent
        assert_array_equal(model.components_, expected.components_)
        assert model.n_pairs_ == expected.n_pairs_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_no_more_rows_come_here_than_are_learned_from(labeled, monkeypatch):
    """A sample of a table that is large, gathered from where the rows are."""
    X, y = labeled
    monkeypatch.setattr(sample, "MOST_ROWS", 150)
    monkeypatch.setattr(sample, "_LEAST_OF_CLASS", 10)
    expected = coincidence().fit(X, y)
    from vicinal.neighborhood.cluster import rows as on_workers

    taken, picked_rows = [], on_workers.picked_rows

    def noted(rows, which):
        found = picked_rows(rows, which)
        taken.append(len(found))
        return found

    def refuse(collection):
        raise AssertionError("all rows come here")

    monkeypatch.setattr(on_workers, "picked_rows", noted)
    monkeypatch.setattr("vicinal.neighborhood.cluster.running.gathered", refuse)
    model = coincidence().fit(da.from_array(X, chunks=(70, 5)), y)
    assert taken == [150]
    assert model.recipe_["n_rows"] == 150
    assert_array_equal(model.components_, expected.components_)


@pytest.mark.parametrize("most", [150, 1000])
def test_a_classifier(labeled, most, monkeypatch):
    """The means of its classes are those of all rows, which stay where they are."""
    X, y = labeled
    monkeypatch.setattr(sample, "MOST_ROWS", most)
    monkeypatch.setattr(sample, "_LEAST_OF_CLASS", 10)
    expected = CoincidenceClassifier(2, random_state=0).fit(X, y)
    models = [
        CoincidenceClassifier(2, random_state=0).fit(da.from_array(X, chunks=chunks), y)
        for chunks in ((70, 2), (400, 5))
    ]
    for model in models:
        assert model.recipe_ == expected.recipe_
        assert_allclose(model.means_, expected.means_, rtol=1e-12)
        assert_allclose(model.predict_proba(X), expected.predict_proba(X), rtol=1e-5, atol=1e-9)
    assert_array_equal(models[0].components_, models[1].components_)


def test_what_is_wrong_is_told(labeled):
    X, y = labeled
    rows = da.from_array(X, chunks=(70, 5))
    with pytest.raises(ValueError, match="y has 399 values, but X has 400 rows"):
        coincidence().fit(rows, y[1:])
    holes = X.copy()
    holes[77, 3] = np.nan
    with pytest.raises(ValueError, match=r"X contains nan .* in row 77, column 3"):
        coincidence().fit(da.from_array(holes, chunks=(70, 5)), y)
    for model in (coincidence(), CoincidenceClassifier()):
        with pytest.raises(ValueError, match="X reaches 1e\\+200, too large"):
            model.fit(da.from_array(np.where(X > 3, 1e200, X), chunks=(70, 5)), y)
        with pytest.raises(ValueError, match=r"0 feature\(s\).* minimum of 1 is required by"):
            model.fit(rows[:, :0], y)
        with pytest.raises(ValueError, match="requires y to be passed"):
            model.fit(rows)
    with pytest.raises(ValueError, match="engine='blocked'"):
        coincidence(engine="blocked").fit(X, y)
    with (
        dask.config.set(scheduler=None),
        pytest.raises(ValueError, match=r"dask.distributed.Client\(\)"),
    ):
        coincidence(engine="dask").fit(X, y)
