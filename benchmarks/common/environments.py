"""Interpreters that have packages which this one does not have."""

from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.common.children import in_fresh_process

VERSIONS = """
import importlib.metadata, json
{imports}
def version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
print(json.dumps({{name: version(name) for name in {names!r}}}))
"""


def versions_in(python: str, names: Sequence[str], imports: str = "") -> dict[str, str]:
    """Of the packages that an interpreter has; `imports` must work there, or there is an error."""
    code = VERSIONS.format(imports=imports, names=tuple(names))
    found = in_fresh_process(code, python=python)
    return {name: version for name, version in found.items() if version}


def in_words(versions: dict[str, str]) -> str:
    """Names and versions."""
    return ", ".join(f"{name} {version}" for name, version in versions.items())


class Environment(NamedTuple):
    """What an interpreter must be able to import, and the packages whose versions a page tells."""

    name: str
    imports: str
    packages: tuple[str, ...]

    def line(self, python: str) -> str:
        """What the page says of it."""
        versions = in_words(versions_in(python, self.packages, self.imports))
        return f"{self.name}'s environment: {versions}.\n"


METRIC_LEARN = Environment(
    "metric-learn", "import metric_learn", ("metric-learn", "scikit-learn", "numpy", "scipy")
)
TORCH = Environment(
    "torch",
    "import torch, pytorch_metric_learning",
    ("torch", "pytorch-metric-learning", "numpy"),
)
