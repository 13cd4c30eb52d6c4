"""A fit to the same numbers has the same bits, wherever these come from."""

from functools import cache

import numpy as np
import pytest
from rows.sources import SOURCES, labeled_rows
from sklearn.base import clone

from vicinal import (
    CoincidenceClassifier,
    DivergenceEmbedding,
    DivergenceNeighbors,
    LatentCoincidence,
    LocalComponents,
    ModeClustering,
    NeighborhoodComponents,
)


def bits(model):
    """All arrays that a model has learned, but for times."""
    found = {name: value for name, value in vars(model).items() if isinstance(value, np.ndarray)}
    found.pop("feature_names_in_", None)
    return {name: value.tobytes() for name, value in found.items()}


MODELS = {
    "nca, exact": NeighborhoodComponents(2, regularization=0.01, max_iter=5, random_state=0),
    "nca, batches": NeighborhoodComponents(
        2, batching="random", batch_size=50, max_iter=8, random_state=0
    ),
    "nca, clusters": NeighborhoodComponents(
        2, batching="projection", batch_size=50, max_iter=5, regularization=0.1, random_state=0
    ),
    "coincidence": LatentCoincidence(2, max_iter=5, random_state=0, init="pca", scale="shared"),
    "one for each class": CoincidenceClassifier(2, max_iter=5),
    "local": LocalComponents(regularization=0.1, max_iter=5, random_state=0),
    "mixture": LocalComponents(n_mixture=2, regularization=0.1, max_iter=3, random_state=0),
    "modes": ModeClustering(LocalComponents(covariance=0.5), random_state=0),
    "divergences": DivergenceEmbedding(2, method="mds"),
}


@cache
def bits_of_array(name):
    """Of a fit to the rows in memory."""
    return bits(clone(MODELS[name]).fit(*labeled_rows()))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("source", SOURCES)
def test_fits_are_those_of_the_array(source, settling_place, labeled, tmp_path):
    X, y = labeled
    rows = SOURCES[source](X, tmp_path)
    for name, model in MODELS.items():
        found = clone(model).fit(rows, y)
        assert bits(found) == bits_of_array(name), name
        assert found.n_features_in_ == 4


@pytest.mark.parametrize("source", SOURCES)
def test_streams_are_those_of_the_array(source, settling_place, labeled, tmp_path):
    X, y = labeled
    rows = SOURCES[source](X, tmp_path)
    for make in (
        lambda: NeighborhoodComponents(2, batch_size=60, random_state=0, reservoir_size=100),
        lambda: LocalComponents(regularization=0.1, random_state=0, reservoir_size=100),
    ):
        expected, found = make(), make()
        for _ in range(2):
            expected.partial_fit(X, y)
            found.partial_fit(rows, y)
        assert bits(found) == bits(expected)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("source", SOURCES)
def test_answers_are_those_of_the_array(source, settling_place, labeled, tmp_path):
    X, y = labeled
    rows = SOURCES[source](X, tmp_path)
    fits = {"random_state": 0, "regularization": 0.1, "max_iter": 5}
    classifier = NeighborhoodComponents(2, **fits).fit(rows, y)
    density = LocalComponents(**fits).fit(rows)
    plain = (NeighborhoodComponents(2, **fits).fit(X, y), LocalComponents(**fits).fit(X))
    for model, alike, methods in (
        (classifier, plain[0], ("transform", "predict", "predict_proba")),
        (density, plain[1], ("transform", "score_samples", "decision_function", "predict")),
    ):
        for method in methods:
            found = np.asarray(getattr(model, method)(rows))
            expected = getattr(alike, method)(X)
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found, expected, rtol=1e-5, err_msg=method)
    assert classifier.score(rows, y) == plain[0].score(X, y)
    assert density.score(rows) == pytest.approx(plain[1].score(X))


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("n_graph_neighbors", [None, 5])
def test_divergences_are_those_of_the_array(
    source, n_graph_neighbors, settling_place, labeled, tmp_path
):
    X = labeled[0]
    model = DivergenceNeighbors(n_graph_neighbors=n_graph_neighbors).fit(X[:200])
    found, expected = model.transform(SOURCES[source](X, tmp_path)), model.transform(X)
    found = found.compute() if source == "dask_array" else found
    assert type(found) is type(expected)
    assert found.dtype == expected.dtype
    if n_graph_neighbors is not None:
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_array_equal(found.indptr, expected.indptr)
        found, expected = found.data, expected.data
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("method", ["transform", "predict_proba"])
def test_answers_do_not_depend_on_the_kind(method, settling_place, labeled, tmp_path):
    X, y = labeled
    model = NeighborhoodComponents(2, regularization=0.1, random_state=0).fit(X, y)
    answers = set()
    for make in SOURCES.values():
        folder = tmp_path / make.__name__
        folder.mkdir()
        rows = make(X, folder)
        answers.add(np.asarray(getattr(model, method)(rows)).tobytes())
    assert len(answers) == 1
