import json
import subprocess
import sys

import pytest

import vicinal

EXTRAS = (
    "typer",
    "rich",
    "matplotlib",
    "pandas",
    "faiss",
    "usearch",
    "torch",
    "triton",
    "array_api_compat",
    "pyarrow",
    "zarr",
    "fsspec",
    "dask",
)


def modules_after(statement):
    code = f"{statement}\nimport sys, json\nprint(json.dumps(sorted(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return set(json.loads(out.stdout))


def test_import_loads_nothing_heavy():
    modules = modules_after("import vicinal")
    assert not {name for name in modules if name.split(".")[0] in ("numba", "llvmlite", *EXTRAS)}
    ours = {name for name in modules if name.startswith("vicinal")}
    assert ours == {"vicinal"}
    # Fewer than scikit-learn's own neighbors: the benchmark of import times follows from this.
    assert len(modules) < len(modules_after("import sklearn.neighbors"))


SCIKIT_LEARN_ALONE = """
import sklearn.datasets, sklearn.neighbors
try:
    import sklearn.callback  # loads rich and pandas where they are installed
except ImportError:
    pass
"""


def test_the_estimator_loads_neither_the_compiler_nor_an_extra_of_ours():
    modules = modules_after("from vicinal import NeighborhoodComponents, datasets")
    ours = {name.split(".")[0] for name in modules - modules_after(SCIKIT_LEARN_ALONE)}
    assert not ours.intersection(("numba", "llvmlite", *EXTRAS))


def test_the_loss_for_networks_loads_no_compiler():
    pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("array_api_compat", reason="array-api-compat is not installed")
    batch = "torch.randn(50, 3).requires_grad_(), torch.arange(50) % 2"
    step = f"import torch, vicinal; vicinal.torch.NeighborhoodLoss()({batch}).backward()"
    assert not {"numba", "llvmlite"} & {name.split(".")[0] for name in modules_after(step)}


def test_public_names():
    for name in vicinal.__all__:
        assert getattr(vicinal, name) is not None
    assert set(dir(vicinal)) == set(vicinal.__all__)
    with pytest.raises(AttributeError, match="module 'vicinal' has no attribute 'NeighbourhoodC"):
        _ = vicinal.NeighbourhoodComponents


def test_version_is_that_of_the_distribution():
    from importlib.metadata import version

    assert vicinal.__version__ == version("vicinal")
