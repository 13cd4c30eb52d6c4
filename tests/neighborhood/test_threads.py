import os
import sys
import threading
from contextlib import closing, suppress

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import NearestNeighbors  # noqa: F401, which brings OpenMP
from threadpoolctl import ThreadpoolController, threadpool_limits

from vicinal.neighborhood import gram, times
from vicinal.neighborhood.threads import (
    _libraries,
    computing,
    current_n_threads,
    on_own_threads,
    one_library_thread,
    run_in_order,
)


def library_threads():
    """Numbers of threads of BLAS and OpenMP, of the latter for the thread that asks."""
    return [found["num_threads"] for found in ThreadpoolController().info()]


@pytest.fixture
def two_threads():
    with threadpool_limits(2):
        yield


@pytest.mark.usefixtures("two_threads")
def test_the_limit_holds_until_the_last_one_leaves():
    before = library_threads()
    with one_library_thread():
        with one_library_thread():
            assert set(library_threads()) == {1}
        assert set(library_threads()) == {1}
    assert library_threads() == before


@pytest.mark.usefixtures("two_threads")
def test_limits_that_overlap_on_threads_are_lifted_in_the_end():
    before = library_threads()
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
            seen.extend(library_threads())

    threads = [threading.Thread(target=target) for target in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(seen) == {1}
    assert library_threads() == before


@pytest.mark.usefixtures("two_threads")
def test_every_thread_has_its_own_limit_of_openmp():
    """Another thread that computes nothing keeps the threads it has."""
    entered, asked = threading.Event(), threading.Event()

    def compute():
        with one_library_thread():
            entered.set()
            asked.wait(10)

    thread = threading.Thread(target=compute)
    thread.start()
    entered.wait(10)
    info = ThreadpoolController().select(user_api="openmp").info()
    asked.set()
    thread.join()
    assert {found["num_threads"] for found in info} == {2}


@pytest.mark.usefixtures("two_threads")
def test_an_error_lifts_the_limit():
    @on_own_threads
    def fail():
        raise KeyboardInterrupt(*library_threads())

    with pytest.raises(KeyboardInterrupt) as caught:
        fail()
    assert set(caught.value.args) == {1}
    assert set(library_threads()) == {2}
    with pytest.raises(ValueError, match="n_jobs=0"), computing(n_jobs=0):
        pass
    assert set(library_threads()) == {2}


@pytest.mark.usefixtures("two_threads")
def test_many_calls_at_a_time_leave_everything_as_it_was():
    seen = []

    @on_own_threads
    def compute(depth):
        seen.append(max(library_threads()))
        if depth:
            compute(depth - 1)
        elif len(seen) % 3 == 0:
            raise ValueError("a part fails")

    def work():
        for _ in range(10):
            with suppress(ValueError):
                compute(2)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 120
    assert set(seen) == {1}
    assert set(library_threads()) == {2}


def test_libraries_that_come_with_a_module_are_found(monkeypatch):
    known = _libraries(shared=True)
    assert _libraries(shared=True) is known
    monkeypatch.setitem(sys.modules, "a_module_with_a_library", sys)
    assert _libraries(shared=True) is not known


def test_cores_are_counted_only_where_somebody_asks(monkeypatch):
    counted = []
    monkeypatch.setattr(
        "vicinal.neighborhood.threads.joblib.cpu_count", lambda: counted.append(3) or 3
    )
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    with computing():
        assert counted == []
        assert current_n_threads() == current_n_threads() == 3
        assert counted == [3]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.usefixtures("two_threads")
def test_a_forked_child_is_not_limited():
    reading, writing = os.pipe()
    with one_library_thread():
        child = os.fork()
        if child == 0:
            os.write(writing, bytes([min(library_threads())]))
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
            return current_n_threads(), max(library_threads())

    assert Estimator().fit() == (3, 1)
    assert current_n_threads() == 1


def test_threads_of_a_pool_begin_with_one_thread():
    with computing(n_jobs=4):
        found = list(run_in_order(lambda _: current_n_threads(), range(3), 2))
    assert found == [1, 1, 1]


def our_threads():
    return {each for each in threading.enumerate() if each.name.startswith("vicinal")}


def meet(n):
    """A task of n that all run at the same time, each on a thread of its own."""
    barrier = threading.Barrier(n, timeout=10)
    return lambda _: barrier.wait() >= 0 and threading.current_thread()


def test_one_set_of_threads_serves_a_whole_call_and_ends_with_it():
    with computing(n_jobs=3):
        assert our_threads() == set()
        found = [set(run_in_order(meet(3), range(3), 3)) for _ in range(3)]
        assert found[0] == found[1] == found[2] == our_threads() | {threading.current_thread()}
    assert our_threads() == set()
    assert len(set(run_in_order(meet(2), range(2), 2))) == 2
    assert our_threads() == set()


def test_threads_of_a_call_may_ask_for_threads():
    with computing(n_jobs=2):
        inner = list(run_in_order(lambda _: list(run_in_order(abs, range(3), 2)), range(4), 2))
    assert inner == [[0, 1, 2]] * 4


@pytest.mark.parametrize("n_jobs", [None, 3])
def test_a_task_that_fails_is_heard_of_in_its_turn_and_ends_the_rest(n_jobs):
    begun = []

    def work(task):
        begun.append(task)
        if task == 2:
            raise ValueError("task 2")
        return task

    with computing(n_jobs):
        results = run_in_order(work, range(1000), 3)
        assert [next(results), next(results)] == [0, 1]
        with pytest.raises(ValueError, match="task 2"):
            next(results)
        n_begun = len(begun)
    assert our_threads() == set()
    assert len(begun) == n_begun


def test_nothing_is_begun_once_nobody_wants_the_results():
    begun, goes_on = [], threading.Event()

    def work(task):
        begun.append(task)
        if task:
            goes_on.wait(10)

    with computing(n_jobs=2):
        with closing(run_in_order(work, range(1000), 2)) as results:
            next(results)
            goes_on.set()
        n_begun = len(begun)
        list(run_in_order(abs, range(10), 2))
        assert len(begun) == n_begun


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own():
    with computing(n_jobs=2):
        list(run_in_order(abs, range(4), 2))
        child = os.fork()
        if child == 0:
            met = set(run_in_order(meet(2), range(2), 2))
            os._exit(len(met))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
        assert len(set(run_in_order(meet(2), range(2), 2))) == 2


@pytest.mark.usefixtures("two_threads")
def test_threads_of_ours_leave_libraries_one_thread():
    with computing(n_jobs=3):
        for _ in range(2):
            found = list(run_in_order(lambda _: library_threads(), range(9), 3))
            assert {n for numbers in found for n in numbers} == {1}


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


def test_functions_compute_on_the_threads_they_are_asked_to():
    @on_own_threads
    def threads(x, *, n_jobs=None):
        return current_n_threads()

    assert threads(1, n_jobs=3) == threads(x=1, n_jobs=3) == 3
    assert threads(1) == threads(x=1) >= 1
