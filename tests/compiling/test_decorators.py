"""Kernels in processes of their own: where nothing can be written, and where nothing compiles."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vicinal
from vicinal import DivergenceNeighbors, compiling
from vicinal.compiling import CompilingWarning
from vicinal.compiling.decorators import kernel
from vicinal.divergence.divergences import DIVERGENCES

PACKAGE = Path(vicinal.__file__).parent

RESCALE = """
from vicinal.neighborhood.kernels.weights import rescale
print(rescale(1.0, 2.0))
"""


def start(code, **variables):
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **variables}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-c", code], env=environment, stdout=pipe, stderr=pipe, text=True
    )


def output(process):
    out, err = process.communicate()
    assert process.returncode == 0, err
    return out.strip(), err


@pytest.fixture
def copy(tmp_path):
    """A copy of the package; in its environment nothing else is writable."""
    target = tmp_path / "place" / "vicinal"
    shutil.copytree(PACKAGE, target, ignore=shutil.ignore_patterns("__pycache__"))
    return target


def nowhere(copy):
    """Variables of a process for which no folder is writable, not even if it is root's."""
    for folder in (copy / "neighborhood" / "kernels", copy / "divergence"):
        (folder / "__pycache__").write_text("not a folder")
    home = "/dev/null"
    return {"PYTHONPATH": str(copy.parent), "HOME": home, "XDG_CACHE_HOME": f"{home}/cache"}


def test_without_a_writable_folder_every_process_compiles_and_says_so_once(copy, tmp_path):
    code = "from vicinal import DivergenceNeighbors\n" + RESCALE
    out, err = output(start(code, **nowhere(copy)))
    assert out == "0.5"
    assert err.count("CompilingWarning") == 1
    assert "Set NUMBA_CACHE_DIR to a folder" in err
    # Where it is set, nothing is to be said.
    out, err = output(start(code, **nowhere(copy), NUMBA_CACHE_DIR=str(tmp_path / "kernels")))
    assert (out, err) == ("0.5", "")
    assert any((tmp_path / "kernels").rglob("*weights.rescale*"))


def test_an_upgrade_never_runs_an_old_inner_kernel(copy):
    """`rescale`, in a file that does not change, calls what does."""
    variables = {"PYTHONPATH": str(copy.parent)}
    assert output(start(RESCALE, **variables)) == ("0.5", "")
    source = copy / "neighborhood" / "kernels" / "arithmetic.py"
    before, after = "return power if y > CUT_DOUBLE", "return 2.0 * power if y > CUT_DOUBLE"
    assert before in source.read_text()
    source.write_text(source.read_text().replace(before, after))
    assert output(start(RESCALE, **variables)) == ("1.0", "")


def test_two_processes_that_compile_at_once(tmp_path):
    processes = [start(RESCALE, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2)]
    assert [output(process) for process in processes] == [("0.5", "")] * 2
    assert not any(tmp_path.rglob("*.tmp"))


def test_a_numba_without_our_interface_compiles_in_every_process(monkeypatch):
    assert kernel()(lambda x: x)(3) == 3  # numba itself has loaded what it needs
    monkeypatch.setattr(compiling, "_said", set())
    monkeypatch.delitem(sys.modules, "vicinal.compiling.cache")
    monkeypatch.delattr("numba.core.caching.NullCache")
    with pytest.warns(CompilingWarning, match="are not kept: cannot import name 'NullCache'"):
        assert kernel()(lambda x: 2 * x)(3) == 6


IN_PYTHON = """
import sys
import numpy as np
from neighborhood.cases import Case
from neighborhood.conformance import (
    ORACLE, assert_columns_agree, assert_rows_agree, draw_coefficients,
)
from vicinal import DivergenceNeighbors
from vicinal.divergence.divergences import DIVERGENCES
from vicinal.neighborhood import COMPACT, GAUSSIAN, Pairs, Student
from vicinal.neighborhood.blocked import BlockedEngine
from vicinal.neighborhood.fused import FusedEngine
from vicinal.neighborhood.tree import TreeEngine

rng = np.random.default_rng(0)
X = rng.normal(size=(24, 3))
for engine in (BlockedEngine(1), FusedEngine(1), TreeEngine(1, leaf=4)):
    for dtype in (np.float64, np.float32):
        for law in (GAUSSIAN, COMPACT, Student(3.0)):
            pairs = Pairs.among(X.astype(dtype), np.arange(24) % 3)
            case, expected = Case(pairs, law, rng), ORACLE.rows(pairs, law)
            ulps = engine.can.ulps
            assert_rows_agree(engine.rows(pairs, law), expected, case, ulps)
            rows = expected.finish()
            given = pairs, law, rows.log_slope, draw_coefficients(case, rows)
            found, true = engine.columns(*given), ORACLE.columns(*given)
            assert_columns_agree(found, true, case, given[-1], ulps)
for name in DIVERGENCES:
    np.save(sys.stdout.buffer, DivergenceNeighbors(5, divergence=name).fit_transform(X))
"""


def test_without_a_compiler_kernels_run_as_they_are(tmp_path):
    environment = {
        **os.environ,
        "NUMBA_DISABLE_JIT": "1",
        "PYTHONPATH": os.pathsep.join([str(PACKAGE.parent), str(Path(__file__).parents[1])]),
    }
    done = subprocess.run(
        [sys.executable, "-c", IN_PYTHON], env=environment, capture_output=True, check=False
    )
    err = done.stderr.decode()
    assert done.returncode == 0, err
    assert err.count("CompilingWarning") == 1
    assert "NUMBA_DISABLE_JIT is set" in err
    (tmp_path / "arrays").write_bytes(done.stdout)
    X = np.random.default_rng(0).normal(size=(24, 3))
    with (tmp_path / "arrays").open("rb") as stream:
        for name in DIVERGENCES:
            expected = DivergenceNeighbors(5, divergence=name).fit_transform(X)
            assert_allclose(np.load(stream), expected, rtol=1e-9, atol=1e-12)
