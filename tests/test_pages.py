"""Pages that name files and classes name those that are there."""

import ast
import re
from pathlib import Path

import pytest

import vicinal

SOURCE = Path(vicinal.__file__).parent
DOCS = Path(__file__).parents[1] / "docs"

pytestmark = pytest.mark.skipif(
    not DOCS.exists(), reason="docs/ is not part of an installed package"
)


def classes():
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                yield node.name


def test_the_drawing_names_classes_that_are_there():
    drawing = re.search(r"## Who calls whom.*?```\n(.*?)```", (DOCS / "flow.md").read_text(), re.S)
    named = set(re.findall(r"\b(?:[A-Z][a-z]+|EM|SQUAREM)(?:[A-Z][a-z]+)*\b", drawing[1]))
    assert {"NeighborhoodComponents", "Engine", "Law", "Solver", "EM"} <= named
    assert named - set(classes()) - {"NumPy"} == set()


@pytest.mark.parametrize("page", ["flow.md", "extending.md"])
def test_every_file_that_a_page_names_is_there(page):
    text = (DOCS / page).read_text("utf-8")
    named = set(re.findall(r"[*`]((?:[a-z_]+/)*[a-z_]+\.(?:py|md))[*`,]", text))
    there = {f"src/vicinal/{p.relative_to(SOURCE).as_posix()}" for p in SOURCE.rglob("*.py")}
    there |= {path.relative_to(DOCS.parent).as_posix() for path in DOCS.rglob("*.md")}
    there |= {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    for folder in ("tests", "benchmarks"):
        root = DOCS.parent / folder
        there |= {path.relative_to(DOCS.parent).as_posix() for path in root.rglob("*.py")}
    toys = {"src/vicinal/cli/commands/count.py", "tests/cli/commands/test_count.py"}
    toys |= {"tests/neighborhood/test_halves.py"}
    ends = {"/".join(path.split("/")[i:]) for path in there for i in range(path.count("/") + 1)}
    assert named - ends - toys == set()


def test_names_beside_files_are_in_these_files():
    """Of `loop.py`, `run`: what stands behind a file is a name that it has."""
    text = (DOCS / "flow.md").read_text("utf-8")
    named = re.findall(r"\*\*`((?:[a-z_]+/)*[a-z_]+\.py)`, `(\w+)`\*\*", text)
    assert len(named) > 20
    files = {path.relative_to(SOURCE).as_posix(): path for path in SOURCE.rglob("*.py")}
    for file, name in named:
        found = [path for where, path in files.items() if f"/{where}".endswith(f"/{file}")]
        defined = rf"^ *(?:def|class) {name}\b"
        assert any(re.search(defined, path.read_text("utf-8"), re.M) for path in found), name
