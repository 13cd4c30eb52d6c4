"""For doctests: those that need torch skip where it is not installed."""

from importlib.util import find_spec

import pytest

HAS_TORCH = all(find_spec(name) for name in ("torch", "array_api_compat"))
HAS_TRITON = HAS_TORCH and find_spec("triton") is not None
WITHOUT_TORCH = pytest.mark.skip(reason="the extra gpu is not installed")

# What cannot be imported.
collect_ignore_glob = [] if HAS_TORCH else ["vicinal/torch/*"]
collect_ignore_glob += [] if HAS_TRITON else ["vicinal/neighborhood/cuda/*"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Found by their import, so that examples need no word that means nothing to their readers."""
    for item in items:
        if not HAS_TORCH and isinstance(item, pytest.DoctestItem) and _imports_torch(item):
            item.add_marker(WITHOUT_TORCH)


def _imports_torch(item: pytest.DoctestItem) -> bool:
    return any("import torch" in example.source for example in item.dtest.examples)
