"""What is not installed is asked for by the name of the extra that brings it."""

import subprocess
import sys

import pytest

# As where they were never installed: neither an import nor `find_spec` finds them.
WITHOUT = """
import sys
from importlib.machinery import PathFinder

class Without:
    find_distributions = PathFinder.find_distributions

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] not in {missing!r}:
            return PathFinder.find_spec(name, path, target)

sys.meta_path[:] = [Without if finder is PathFinder else finder for finder in sys.meta_path]
import numpy as np
import vicinal
X = np.random.default_rng(0).normal(size=(30, 3))
y = np.arange(30) % 2
try:
    {asks}
except ImportError as error:
    print(error)
"""

NCA = "vicinal.NeighborhoodComponents(1, engine={!r}).fit(X, y)"
GRAPH = "vicinal.DivergenceNeighbors(5, engine={!r}).fit(X)"
GPU = """engine="cuda" needs torch, triton and array-api-compat: pip install "vicinal[gpu]\""""
LOSS = "vicinal.torch needs torch and array-api-compat: pip install 'vicinal[gpu]'"
DASK = """engine="dask" needs {}: pip install "vicinal[dask]\""""


@pytest.mark.parametrize(
    ("missing", "asks", "told"),
    [
        (["torch"], NCA.format("cuda"), GPU),
        (["triton"], NCA.format("cuda"), GPU),
        (["torch", "triton"], GRAPH.format("cuda"), GPU),
        (["torch"], "vicinal.torch", LOSS),
        (["array_api_compat"], "vicinal.torch", LOSS),
        (["dask", "distributed"], NCA.format("dask"), DASK.format("dask")),
        (["distributed"], NCA.format("dask"), DASK.format("distributed")),
        (["dask", "distributed"], GRAPH.format("dask"), DASK.format("dask")),
        (
            ["umap"],
            "vicinal.DivergenceEmbedding(method='umap').fit(X)",
            "method=\"umap\" needs umap-learn: pip install 'vicinal[umap]'.",
        ),
    ],
)
def test_the_extra_is_named(missing, asks, told):
    program = WITHOUT.format(missing=set(missing), asks=asks)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout.strip(), done.returncode) == (told, 0), done.stderr
