"""What estimators promise of threads: the same bits on any number, and BLAS on one of them."""

import dis
import inspect
import sys
import threading
from functools import cache
from pathlib import Path

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_digits, load_wine
from threadpoolctl import ThreadpoolController, threadpool_limits

import vicinal
from vicinal import (
    CoincidenceClassifier,
    DivergenceEmbedding,
    DivergenceNeighbors,
    LatentCoincidence,
    LocalComponents,
    NeighborhoodComponents,
)
from vicinal.neighborhood.threads import computing

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SOURCE = str(Path(vicinal.__file__).parent)

MODELS = [
    NeighborhoodComponents(5, regularization=0.1, max_iter=2, random_state=0),
    NeighborhoodComponents(5, regularization=0.1, max_iter=1, n_neighbors=5, random_state=0),
    LocalComponents(regularization=1.0, max_iter=2, random_state=0),
    LatentCoincidence(5, max_iter=5, random_state=0),
    CoincidenceClassifier(5, max_iter=2, random_state=0),
]
# What they cost grows faster than the number of rows.
MODELS_OF_FEW = [
    NeighborhoodComponents(max_iter=2, random_state=0),
    LocalComponents(covariance="local", regularization=1.0, max_iter=1, random_state=0),
    DivergenceNeighbors(),
    DivergenceEmbedding(random_state=0),
    DivergenceEmbedding(method="tsne", method_params={"max_iter": 250}, random_state=0),
]
# Of scikit-learn's own.
NO_COMPUTATION = ("get_params", "get_metadata_routing", "get_feature_names_out")


def few():
    X, y = load_wine(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def many():
    """So many that products, sums over pairs and searches are cut into tiles; with ties."""
    X, y = load_digits(return_X_y=True)
    return np.vstack([X, X + 1.0])[:2500], np.tile(y, 2)[:2500]


def results(model, X, y):
    """What is fitted, and what is said of the points."""
    model = clone(model).fit(X, y)
    found = [getattr(model, name) for name in ("components_", "embedding_") if hasattr(model, name)]
    for name in ("transform", "predict_proba", "score_samples"):
        if hasattr(model, name):
            answer = getattr(model, name)(X[:1000])
            found.append(answer.toarray() if issparse(answer) else answer)
    return found


def with_jobs(model, n_jobs):
    """A copy on so many threads, where it can be told."""
    model = clone(model)
    return model.set_params(n_jobs=n_jobs) if "n_jobs" in model.get_params() else model


def assert_all_equal(found, expected):
    assert len(found) == len(expected) > 0
    for one, other in zip(found, expected, strict=True):
        assert_array_equal(one, other)


def named(value):
    return type(value).__name__ if isinstance(value, BaseEstimator) else value.__name__


CASES = [(model, many) for model in MODELS] + [(model, few) for model in MODELS + MODELS_OF_FEW]


@pytest.mark.parametrize(("model", "data"), CASES, ids=named)
def test_any_number_of_threads_gives_the_same_bits(model, data):
    X, y = data()
    with threadpool_limits(1):
        expected = results(with_jobs(model, 1), X, y)
    with threadpool_limits(2):
        for n_jobs in (1, 2, None):
            assert_all_equal(results(with_jobs(model, n_jobs), X, y), expected)


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_joblib_gives_the_same_bits(backend):
    models, (X, y) = MODELS + MODELS_OF_FEW, few()
    expected = [results(model, X, y) for model in models]
    work = (joblib.delayed(results)(model, X, y) for model in models)
    with threadpool_limits(2):
        found = joblib.Parallel(n_jobs=2, backend=backend)(work)
    for one, other in zip(found, expected, strict=True):
        assert_all_equal(one, other)


@pytest.mark.parametrize("model", [m for m in MODELS if hasattr(m, "n_jobs")], ids=named)
def test_one_job_starts_no_thread(model, monkeypatch):
    X, y = many()

    def refuse(thread):
        raise AssertionError(f"{thread} starts")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    results(with_jobs(model, 1), X, y)
    with pytest.raises(AssertionError, match="starts"):
        results(with_jobs(model, 2), X, y)


# --------------------------------------------------------------------- BLAS has one thread inside


@cache
def multiplies(code):
    """Whether a function asks BLAS, LAPACK or a search for neighbors itself."""
    names = {"linalg", "matmul", "dot", "eigh", "svd", "times", "gram", "kneighbors", "cho_solve"}
    operators = {instruction.argrepr for instruction in dis.get_instructions(code)}
    return bool(operators & {"@", "@="} or names & set(code.co_names))


class Watch:
    """Functions of ours that multiply, and those of them that ran while a library had threads."""

    def __init__(self):
        self.libraries = ThreadpoolController().lib_controllers
        self.multiply, self.on_several = set(), set()

    def __enter__(self):
        sys.setprofile(self.look)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)

    def look(self, frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(SOURCE) and multiplies(code):
            self.multiply.add(code.co_qualname)
            if max(library.get_num_threads() for library in self.libraries) > 1:
                self.on_several.add(code.co_qualname)


def arguments(method):
    """Points and labels, or pairs and whether they coincide, as far as a method takes them."""
    X, y = few()
    given = {"X": X, "y": y}
    names = inspect.signature(method).parameters
    if "pairs" in names:
        given = {"pairs": np.stack([X[:-1], X[1:]], axis=1), "y": (y[:-1] == y[1:]).astype(int)}
    return {name: given[name] for name in names if name in given}


def methods(model):
    for name in dir(model):
        if name.startswith(("_", "set_", "to_")) or name in NO_COMPUTATION:
            continue
        method = getattr(model, name, None)  # None: not for this model (available_if)
        if inspect.ismethod(method):
            yield name, method


@pytest.mark.parametrize("model", MODELS + MODELS_OF_FEW, ids=named)
def test_no_method_multiplies_on_threads_of_blas_or_openmp(model):
    X, y = few()
    with threadpool_limits(2), Watch() as watch:
        fitted = clone(model).fit(X, y)
        for name, method in list(methods(fitted)):
            if name.startswith(("fit", "partial_fit")):
                method = getattr(clone(model), name)
            method(**arguments(method))
    assert watch.multiply
    assert watch.on_several == set()


def test_the_watch_sees_what_multiplies_on_several_threads():
    from vicinal.neighborhood import times

    with threadpool_limits(2), Watch() as watch:
        times(np.ones((2, 2)), np.ones((2, 2)))
    assert watch.on_several == {"times"}
    with threadpool_limits(2), Watch() as watch, computing():
        times(np.ones((2, 2)), np.ones((2, 2)))
    assert (watch.multiply, watch.on_several) == ({"times"}, set())
