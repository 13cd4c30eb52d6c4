import os

import pytest
from effort import load_profile

from vicinal import datasets

MOST_WORKERS = 4  # each takes 1 to 2 GiB, and a few seconds to find the tests

load_profile()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """What ``-n auto`` means."""
    return min(os.cpu_count() or 1, MOST_WORKERS)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes():
    """Workers share the cores: the libraries beneath NumPy and scikit-learn take one each."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def pytest_collection_modifyitems(items):
    """What is slow to compile stands together, so that of several workers one compiles it."""
    items.sort(key=lambda item: item.get_closest_marker("descent") is None)


@pytest.fixture
def load_dataset():
    """Load one of the papers' sets, or skip where it cannot be had without the network."""

    def load(name):
        if not datasets.is_available(name):
            pytest.skip(f"data set {name!r} is not here: set VICINAL_DATA to its folder")
        return datasets.load(name, download=False)

    return load
