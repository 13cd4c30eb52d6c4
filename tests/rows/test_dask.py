"""Arrays of dask are answered by arrays of dask."""

import numpy as np
import pytest

from vicinal import (
    CoincidenceClassifier,
    DivergenceNeighbors,
    LocalComponents,
    NeighborhoodComponents,
)

da = pytest.importorskip("dask.array", reason="the extra dask is not installed")


def test_answers_are_computed_when_they_are_asked_for(labeled, monkeypatch):
    from vicinal.rows import blocks

    monkeypatch.setattr(blocks, "BLOCK_BYTES", 5000)
    X, y = labeled
    asked = []

    def watched(block):
        asked.append(len(block))
        return block

    chunked = da.from_array(X, chunks=(90, 3))
    lazy = chunked.map_blocks(watched, dtype=X.dtype, meta=np.empty((0, 0), X.dtype))
    classifier = NeighborhoodComponents(2, regularization=0.1).fit(chunked, y)
    density = LocalComponents(covariance=1.0).fit(chunked)
    answers = {
        "transform": classifier.transform(lazy),
        "predict": classifier.predict(lazy),
        "predict_proba": classifier.predict_proba(lazy),
        "score_samples": density.score_samples(lazy),
    }
    assert asked == []
    for method, answer in answers.items():
        model = density if method == "score_samples" else classifier
        expected = getattr(model, method)(X)
        assert isinstance(answer, da.Array)
        assert answer.shape == expected.shape
        assert answer.dtype == expected.dtype
        np.testing.assert_allclose(answer.compute(), expected, rtol=1e-4, atol=1e-7)
        assert answer.chunks[0][0] == 156  # blocks, not chunks


@pytest.mark.parametrize(("n_graph_neighbors", "n_rows"), [(None, 6), (4, 125)])
def test_blocks_have_room_for_what_is_said(labeled, monkeypatch, n_graph_neighbors, n_rows):
    """Of each row a hundred divergences, or the five nearest, and never all of them at once."""
    from vicinal.rows import blocks

    monkeypatch.setattr(blocks, "BLOCK_BYTES", 5000)
    X, _ = labeled
    model = DivergenceNeighbors(n_graph_neighbors=n_graph_neighbors).fit(X[:100])
    found = model.transform(da.from_array(X, chunks=(400, 4)))
    assert found.shape == (400, 100)
    assert found.chunks[0][0] == n_rows
    rows = da.from_array(X, chunks=(50, 4))
    with pytest.raises(ValueError, match="X has chunks of unknown sizes"):
        model.transform(rows[rows[:, 0] > 0])


def test_chunks_that_dask_is_mistaken_about(labeled):
    """Answers would belong to other rows than the user believes."""
    X, y = labeled
    model = NeighborhoodComponents(2, regularization=0.1).fit(X, y)
    rows = da.from_array(X, chunks=(90, 4))
    short = rows.map_blocks(lambda block: block[:-1], dtype=X.dtype, meta=X[:0])
    for answer in (model.transform, model.predict):
        with pytest.raises(
            ValueError, match=r"rows 0 to 399 of X came in the shape \(395, 4\), not"
        ):
            answer(short).compute()
    with pytest.raises(ValueError, match="chunks must be as large as dask believes"):
        model.score(short, y)


def test_labels_in_chunks(labeled):
    X, y = labeled
    labels, weights = da.from_array(y, chunks=77), da.from_array(np.ones(400), chunks=91)
    chunked = da.from_array(X, chunks=(90, 3))
    model = NeighborhoodComponents(2, regularization=0.1)
    found = model.fit(chunked, labels, sample_weight=weights).components_
    assert np.array_equal(found, model.fit(X, y).components_)
    assert model.score(chunked, labels) == model.score(X, y)
    with pytest.raises(ValueError, match=r"y has shape \(400, 2\)"):
        model.fit(chunked, da.zeros((400, 2)))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scores_are_of_answers_where_rows_are(labeled, monkeypatch):
    """No chunk of the rows is asked for here."""
    from vicinal.rows.chunked import DaskRows

    X, y = labeled
    models = (
        NeighborhoodComponents(2, regularization=0.1).fit(X, y),
        CoincidenceClassifier(2, max_iter=3).fit(X, y),
        LocalComponents(covariance=1.0).fit(X),
    )
    monkeypatch.setattr(DaskRows, "chunks", None)
    rows, labels = da.from_array(X, chunks=(90, 3)), da.from_array(y, chunks=77)
    for model in models:
        assert model.score(rows, labels) == pytest.approx(model.score(X, y), rel=1e-5)
    for model in models[:2]:
        with pytest.raises(ValueError, match="y has 399 values, but X has 400 rows"):
            model.score(rows, labels[1:])


def test_other_kinds_of_labels(labeled):
    X, y = labeled
    pa = pytest.importorskip("pyarrow", reason="the extra files is not installed")
    model = NeighborhoodComponents(2, regularization=0.1)
    expected = model.fit(X, y).components_
    words = np.array(["a", "b", "c"])[y]
    assert np.array_equal(model.fit(X, pa.chunked_array([y[:50], y[50:]])).components_, expected)
    assert np.array_equal(model.fit(X, pa.array(y)).components_, expected)
    assert np.array_equal(model.fit(X, pa.array(words)).components_, expected)
    assert model.classes_.tolist() == ["a", "b", "c"]
