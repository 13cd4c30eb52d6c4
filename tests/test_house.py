"""Rules of the house that a reader relies on: who may import whom, and how long things are."""

import ast
from itertools import pairwise
from pathlib import Path

from sklearn.base import BaseEstimator

import vicinal

ROOT = Path(vicinal.__file__).parent

# From the ground up: a room imports from rooms below, never from its own floor or above.
FLOORS = (
    ("archives", "facts", "files", "interrupts", "metrics", "pipelines", "state", "voting"),
    ("compiling",),
    ("neighborhood",),
    ("inputs",),
    ("indexes", "layers"),
    ("fitting",),
    ("rows",),
    ("metric", "datasets", "representation", "sampling"),
    ("nca", "local_components", "coincidence", "divergence"),
    ("saving", "report", "torch"),
    ("demo",),
    ("cli",),
)

FILES = sorted(ROOT.rglob("*.py"))


def room(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported_rooms(path):
    """Rooms of vicinal that a file imports from, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        modules = []
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            modules = [node.module]
            if node.module == "vicinal":
                modules = [f"vicinal.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        for module in modules:
            if module.startswith("vicinal."):
                yield module.split(".")[1]


def test_every_room_has_a_floor():
    known = {name for floor in FLOORS for name in floor}
    there = {room(path) for path in FILES} - {"__init__", "__main__"}
    assert there == known


def test_imports_point_downward():
    level = {name: number for number, floor in enumerate(FLOORS) for name in floor}
    upward = [
        f"{path.relative_to(ROOT)} imports {other}"
        for path in FILES
        if room(path) in level
        for other in imported_rooms(path)
        if other != room(path) and other in level and level[other] >= level[room(path)]
    ]
    assert not upward


def functions():
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef):
                yield path, node


def docstring_lines(node):
    first = node.body[0]
    is_docstring = (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    )
    return first.end_lineno - first.lineno + 1 if is_docstring else 0


def test_functions_are_short():
    lengths = sorted(node.end_lineno - node.lineno + 1 for _, node in functions())
    assert lengths[len(lengths) // 2] <= 10
    assert lengths[int(0.9 * len(lengths))] <= 25


def test_files_are_short():
    """Outside kernels, and not counting the docstrings of classes and functions."""
    too_long = {}
    for path in FILES:
        if "kernels" in path.stem or "kernels" in path.parts:
            continue
        text = path.read_text("utf-8")
        nodes = (ast.ClassDef, ast.FunctionDef)
        docs = sum(docstring_lines(n) for n in ast.walk(ast.parse(text)) if isinstance(n, nodes))
        if (length := len(text.splitlines()) - docs) > 350:
            too_long[str(path.relative_to(ROOT))] = length
    assert not too_long


LEANING = ("the same.", "the same", "theirs.", "likewise.", "likewise", "as above.", "ditto.")


def leaning_lines(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.Module):
            lines = [line.strip().lower() for line in (ast.get_docstring(node) or "").splitlines()]
            yield from (line for line in lines if line in LEANING)
            yield from (line for line in lines[:1] if line.startswith(("the same ", "likewise ")))


def test_docstrings_stand_alone():
    """A reader who lands on one of them should not have to look for its neighbor."""
    found = {str(path.relative_to(ROOT)): list(leaning_lines(path)) for path in FILES}
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_laws_are_asked_not_compared():
    """No branch outside the laws themselves asks which one it is, but for one refusal."""
    comparing = []
    for path in FILES:
        if path.name == "laws.py" or "kernels" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Compare):
                sides = [node.left, *node.comparators]
                names = {side.id for side in sides if isinstance(side, ast.Name)}
                if names & {"GAUSSIAN", "COMPACT", "STUDENT"}:
                    comparing.append(str(path.relative_to(ROOT)))
    assert comparing == ["local_components/checks.py"]  # what is derived for Gaussian kernels only


def test_floors_are_listed_once():
    names = sorted(name for floor in FLOORS for name in floor)
    assert all(one != other for one, other in pairwise(names))


def with_scikit_learns_checks():
    """Classes of whose instances a test makes `check_estimator`'s checks."""
    for path in Path(__file__).parent.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "parametrize_with_checks":
                made = [call for call in ast.walk(node.args[0]) if isinstance(call, ast.Call)]
                yield from (ast.unparse(call.func) for call in made)


def test_scikit_learn_checks_every_public_estimator():
    public = [getattr(vicinal, name) for name in vicinal.__all__]
    estimators = [a for a in public if isinstance(a, type) and issubclass(a, BaseEstimator)]
    assert len(estimators) >= 7
    assert {a.__name__ for a in estimators} <= set(with_scikit_learns_checks())
