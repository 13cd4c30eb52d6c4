"""Constraints that pin every direct dependency of a project to the lower bound it declares.

    python .ci/oldest.py pyproject.toml > constraints.txt

Tools of the tests themselves (pytest and its like) stay as new as they can be: users never meet
them.
"""

import re
import sys
import tomllib
from pathlib import Path

OF_THE_TESTS = {"pytest", "pytest-xdist", "hypothesis", "playwright", "mpmath", "onnxruntime"}
BOUND = re.compile(r"^(?P<name>[\w.-]+)(\[.*\])?>=(?P<bound>[\w.]+)")


def lower_bounds(project: dict) -> dict[str, str]:
    """Name and lower bound of every dependency that `all` and `test` bring, the GPU's apart."""
    extras = project["optional-dependencies"]
    names = [*extras.keys() - {"gpu", "dev", "docs"}]
    declared = [*project["dependencies"], *(line for name in names for line in extras[name])]
    matches = [match for line in declared if (match := BOUND.match(line))]
    return {match["name"]: match["bound"] for match in matches if match["name"] not in OF_THE_TESTS}


if __name__ == "__main__":
    table = tomllib.loads(Path(sys.argv[1]).read_text())
    for name, bound in sorted(lower_bounds(table["project"]).items()):
        print(f"{name}=={bound}")
