"""No test here may reach the network or the user's own cache."""

import inspect
import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import fetch_openml

from vicinal.datasets import digests
from vicinal.datasets.digests import REFERENCE, Digests
from vicinal.datasets.registry import REGISTRY, DatasetSpec


class FakeOpenML:
    """Stands in for fetch_openml: answers with what it was given, and counts."""

    signature = inspect.signature(fetch_openml)

    def __init__(self):
        self.calls = []
        self.answer = None

    def __call__(self, **kwargs):
        self.signature.bind(**kwargs)  # the real function takes these arguments, too
        self.calls.append(kwargs)
        if isinstance(self.answer, Exception):
            raise self.answer
        assert self.answer is not None, "this test must not download"
        return self.answer

    def serve(self, X, target, feature_names=None):
        if feature_names is None:
            feature_names = [f"V{j}" for j in range(X.shape[1])]
        self.answer = SimpleNamespace(data=X, target=target, feature_names=feature_names)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("VICINAL_CACHE", str(folder))
    return folder / "datasets"


@pytest.fixture(autouse=True)
def openml(monkeypatch):
    fake = FakeOpenML()
    monkeypatch.setattr("sklearn.datasets.fetch_openml", fake)
    return fake


@pytest.fixture
def reference_folder():
    folder = os.environ.get("VICINAL_DATA")
    if not folder:
        pytest.skip("needs the environment variable VICINAL_DATA: a folder of reference files")
    return Path(folder)


@pytest.fixture
def no_folder(monkeypatch):
    monkeypatch.delenv("VICINAL_DATA", raising=False)


@pytest.fixture
def tiny(monkeypatch, no_folder):
    """A made-up set on OpenML: 12 rows, classes of 5, 4 and 3, split 8 / 4."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(12, 3)).round(3)
    y = np.array([0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 0])
    X[3] = X[1]  # the same row in two classes
    spec = DatasetSpec(
        name="tiny",
        title="Made-up rows",
        n_features=3,
        class_counts=(5, 4, 3),
        class_names=("red", "green", "blue"),
        source="this test",
        dtype="float32",
        n_train=8,
        openml_id=12345,
    )
    classes = digests.class_digests(X, y)
    reference = Digests(
        file="0" * 64,
        content=digests.content_digest(classes),
        order=digests.order_digest(X, y),
        classes=" ".join(digests.class_tags(classes)),
    )
    monkeypatch.setitem(REGISTRY, "tiny", spec)
    monkeypatch.setitem(REFERENCE, "tiny", reference)
    return SimpleNamespace(X=X, y=y, spec=spec)
