"""Examples do what they say, on less than they show."""

import importlib.util
from pathlib import Path

import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture
def nonlinear_nca():
    for library in ("torch", "umap", "matplotlib"):
        pytest.importorskip(library, reason=f"{library} is not installed")
    path = EXAMPLES / "scale" / "nonlinear_nca.py"
    if not path.exists():
        pytest.skip("examples/ is not part of an installed package")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_network_learns_by_the_objective(nonlinear_nca, tmp_path):
    X, y = load_digits(n_class=4, return_X_y=True)
    split = train_test_split(X / 16, y, random_state=0, stratify=y)
    learned = [
        nonlinear_nca.placed("digits", "network", nonlinear_nca.NonlinearNca(n_epochs), split)
        for n_epochs in (1, 15)
    ]
    assert learned[1].accuracy > 0.95
    assert learned[1].accuracy >= learned[0].accuracy
    assert learned[0].Z.shape == (len(split[1]), 2)
    nonlinear_nca.draw([*learned, learned[1]], tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000
