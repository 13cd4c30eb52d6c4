import os

import pytest
from hypothesis import HealthCheck, settings

from vicinal import datasets

# Compiling and the oracle make some examples slow; that says nothing about the code under test.
_common = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.differing_executors],
}
settings.register_profile("default", max_examples=40, **_common)
settings.register_profile("ci", max_examples=40, derandomize=True, **_common)
settings.register_profile("thorough", max_examples=1000, **_common)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE", "ci" if "CI" in os.environ else "default")
)


@pytest.fixture
def load_dataset():
    """Load one of the papers' sets, or skip where it cannot be had without the network."""

    def load(name):
        if not datasets.is_available(name):
            pytest.skip(f"data set {name!r} is not here: set VICINAL_DATA to its folder")
        return datasets.load(name, download=False)

    return load
