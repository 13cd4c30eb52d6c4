import pytest
from effort import load_profile

from vicinal import datasets

load_profile()


@pytest.fixture
def load_dataset():
    """Load one of the papers' sets, or skip where it cannot be had without the network."""

    def load(name):
        if not datasets.is_available(name):
            pytest.skip(f"data set {name!r} is not here: set VICINAL_DATA to its folder")
        return datasets.load(name, download=False)

    return load
