import os
import subprocess
import sys

import pytest

from vicinal.neighborhood import Workload, choose_engine
from vicinal.neighborhood.threads import effective_n_threads, run_in_order


@pytest.mark.parametrize(
    ("work", "name", "reason"),
    [
        (Workload(150, 150, 4, 200), "blocked", "before a compiler would start"),
        (Workload(20_000, 20_000, 2), "fused", "at most 32 dimensions"),
        (Workload(20_000, 20_000, 2, 100), "adaptive", "trees where a probe"),
        (Workload(10_000, 100_000, 5), "adaptive", "trees where a probe"),
        (Workload(1000, 10_000_000, 2), "fused", "at most 32 dimensions"),
        (Workload(20_000, 20_000, 9, 100), "fused", "at most 32 dimensions"),
        (Workload(20_000, 20_000, 32), "fused", "at most 32 dimensions"),
        (Workload(20_000, 20_000, 33), "blocked", "more than 32 dimensions"),
    ],
)
def test_auto_says_what_and_why(work, name, reason):
    engine, why = choose_engine("auto", work)
    assert engine.name == name
    assert reason in why


@pytest.mark.parametrize(
    ("work", "name"),
    [
        (Workload(10_000, 10_000, 3), "adaptive"),
        (Workload(10_000, 10_000, 4), "fused"),
        (Workload(9_000, 9_000, 1), "fused"),
        (Workload(1000, 1_000_000, 1), "fused"),
        (Workload(5_000, 5_000, 1), "blocked"),
    ],
)
def test_a_tolerance_asks_for_trees_earlier(work, name):
    engine, why = choose_engine("auto", work, tolerance=1e-3)
    assert engine.name == name
    assert ("a tolerance" in why) == (name == "adaptive")
    assert choose_engine("auto", work)[0].name == ("blocked" if name == "blocked" else "fused")


def test_by_name():
    engine, why = choose_engine("fused", Workload(10, 10, 100))
    assert (engine.name, why) == ("fused", "asked for by name")
    assert not choose_engine("blocked", Workload(10, 10, 100))[0].compiled
    assert choose_engine("blocked", Workload(10**5, 10**5, 100))[0].compiled


def test_unknown_engine():
    with pytest.raises(ValueError, match="engine='gpu' is unknown: use 'auto', 'blocked' or "):
        choose_engine("gpu", Workload(1, 1, 1))


@pytest.mark.parametrize("tolerance", [-1e-3, 1.0, float("nan")])
def test_tolerance_must_be_a_share(tolerance):
    with pytest.raises(ValueError, match=r"tolerance=.* must be at least 0 and less than 1"):
        choose_engine("auto", Workload(1, 1, 1), tolerance=tolerance)


def test_small_problems_never_load_the_compiler():
    code = (
        "import sys, numpy as np\n"
        "from vicinal import NeighborhoodComponents\n"
        "X = np.random.default_rng(0).normal(size=(60, 4)); y = (X[:, 0] > 0).astype(int)\n"
        "NeighborhoodComponents(2).fit(X, y).predict(X)\n"
        "assert 'numba' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ)


def test_n_jobs(monkeypatch):
    monkeypatch.setattr("vicinal.neighborhood.threads.joblib.cpu_count", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert effective_n_threads(None) == 8
    assert effective_n_threads(3) == 3
    assert effective_n_threads(-1) == 8
    assert effective_n_threads(-3) == 6
    assert effective_n_threads(-100) == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert effective_n_threads(None) == 2
    with pytest.raises(ValueError, match="n_jobs=0"):
        effective_n_threads(0)


@pytest.mark.parametrize("n_threads", [1, 4])
def test_results_come_in_order_and_errors_come_through(n_threads):
    assert list(run_in_order(lambda t: t * t, range(50), n_threads)) == [t * t for t in range(50)]
    with pytest.raises(ZeroDivisionError):
        list(run_in_order(lambda t: 1 // (t - 20), range(50), n_threads))


def test_without_a_compiler_auto_takes_numpy(monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    engine, why = choose_engine("auto", Workload(20_000, 20_000, 2, 100))
    assert engine.name == "blocked"
    assert not engine.compiled
    assert "NUMBA_DISABLE_JIT" in why
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "0")
    assert choose_engine("auto", Workload(20_000, 20_000, 9, 100))[0].name == "fused"
