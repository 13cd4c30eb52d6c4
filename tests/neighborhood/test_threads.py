import os
import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import ThreadpoolController, threadpool_limits

from vicinal import (
    CoincidenceClassifier,
    LatentCoincidence,
    LocalComponents,
    NeighborhoodComponents,
)
from vicinal.neighborhood import gram, times
from vicinal.neighborhood.threads import (
    computing,
    current_n_threads,
    on_own_threads,
    one_library_thread,
    run_in_order,
)

MODELS = [
    NeighborhoodComponents(5, max_iter=5, random_state=0),
    LocalComponents(regularization=1.0, max_iter=5, random_state=0),
    LatentCoincidence(5, max_iter=5, early_stopping=False, random_state=0),
    CoincidenceClassifier(5, max_iter=3, random_state=0),
]


def blas_threads():
    """Of NumPy and SciPy: where other tests have loaded faiss, its own BLAS is none of ours."""
    libraries = ThreadpoolController().select(user_api="blas").info()
    return [found["num_threads"] for found in libraries if "faiss" not in found["filepath"]]


@pytest.fixture
def two_blas_threads():
    with threadpool_limits(2, user_api="blas"):
        yield


@pytest.mark.usefixtures("two_blas_threads")
def test_the_limit_holds_until_the_last_one_leaves():
    before = blas_threads()
    with one_library_thread():
        with one_library_thread():
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


@pytest.mark.usefixtures("two_blas_threads")
def test_limits_that_overlap_on_threads_are_lifted_in_the_end():
    before = blas_threads()
    first_is_in, second_is_in, first_is_out = (threading.Event() for _ in range(3))
    seen = []

    def first():
        with one_library_thread():
            first_is_in.set()
            second_is_in.wait(10)
        first_is_out.set()

    def second():
        first_is_in.wait(10)
        with one_library_thread():
            second_is_in.set()
            first_is_out.wait(10)
            seen.extend(blas_threads())

    threads = [threading.Thread(target=target) for target in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(seen) == {1}
    assert blas_threads() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.usefixtures("two_blas_threads")
def test_a_forked_child_is_not_limited():
    reading, writing = os.pipe()
    with one_library_thread():
        child = os.fork()
        if child == 0:
            os.write(writing, bytes([max(blas_threads())]))
            with one_library_thread():
                pass
            os._exit(0)
        os.waitpid(child, 0)
    assert os.read(reading, 1) == bytes([2])
    os.close(reading)
    os.close(writing)


def test_methods_compute_on_their_own_number_of_threads():
    class Estimator:
        n_jobs = 3

        @on_own_threads
        def fit(self):
            return current_n_threads(), max(blas_threads())

    assert Estimator().fit() == (3, 1)
    assert current_n_threads() == 1


def test_threads_of_a_pool_begin_with_one_thread():
    with computing(n_jobs=4):
        found = list(run_in_order(lambda _: current_n_threads(), range(3), 2))
    assert found == [1, 1, 1]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_have_the_same_bits_at_any_number_of_threads(dtype):
    rng = np.random.default_rng(0)
    X, Y, M = (rng.normal(size=size).astype(dtype) for size in ((9000, 60), (9000, 50), (60, 40)))
    found = []
    for n_jobs in (1, 2, 5):
        with computing(n_jobs):
            found.append((times(X, M), gram(X, Y)))
    for product, inner in found:
        assert_array_equal(product, found[0][0])
        assert_array_equal(inner, found[0][1])
        assert product.dtype == inner.dtype == dtype
    rtol = 1e-10 if dtype == np.float64 else 1e-2
    assert_allclose(found[0][0], X @ M, rtol=rtol, atol=1e-4)
    assert_allclose(found[0][1], X.T @ Y, rtol=rtol, atol=1e-2)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_fits_have_the_same_bits_at_any_number_of_threads(model):
    X, y = load_digits(return_X_y=True)
    found = []
    for n_jobs, n_blas in ((1, 2), (2, 2), (2, 1)):
        if hasattr(model, "n_jobs"):
            model.set_params(n_jobs=n_jobs)
        with threadpool_limits(n_blas, user_api="blas"):
            with pytest.warns(ConvergenceWarning):
                model.fit(X, y)
            found.append((model.components_, model.score(X, y) if hasattr(model, "score") else 0))
            assert set(blas_threads()) == {n_blas}
    for components, score in found:
        assert_array_equal(components, found[0][0])
        assert score == found[0][1]


def test_functions_compute_on_the_threads_they_are_asked_to():
    @on_own_threads
    def threads(x, *, n_jobs=None):
        return current_n_threads()

    assert threads(1, n_jobs=3) == threads(x=1, n_jobs=3) == 3
    assert threads(1) == threads(x=1) >= 1
