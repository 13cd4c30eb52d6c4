"""Tables of names for those who come from elsewhere: what they say is ours, or theirs, is."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

import vicinal

PAGES = Path(__file__).parents[1] / "docs" / "coming-from"

pytestmark = pytest.mark.skipif(
    not PAGES.exists(), reason="docs/ is not part of an installed package"
)

# Their class, and ours, of a table.
TABLES = {
    "sklearn-nca": ("sklearn.neighbors.NeighborhoodComponentsAnalysis", ["NeighborhoodComponents"]),
    "kernel-density": ("sklearn.neighbors.KernelDensity", ["LocalComponents"]),
    "gaussian-mixture": ("sklearn.mixture.GaussianMixture", ["LocalComponents", "ModeClustering"]),
    "umap": ("umap.UMAP", ["DivergenceEmbedding", "NeighborhoodComponents"]),
    "metric-learn": (
        None,  # nothing here depends on it
        ["LatentCoincidence", "NeighborhoodComponents", "LocalComponents"],
    ),
}
FITTED_BY_UMAP = {"embedding_", "graph_"}
NEWER = {"lower_bounds_"}  # than the oldest scikit-learn that we take
ELSEWHERE = {"GridSearchCV", "KNeighborsClassifier", "PCA", "roc_auc_score", "sample_weight"}
ELSEWHERE |= {"set_callbacks", "sklearn"}  # scikit-learn 1.9's; tests/nca/test_callbacks.py
NAME = re.compile(r"`(?:model\.|vicinal\.)?([A-Za-z]\w*)")
SETTING = re.compile(r"`(\w+)=([^`]+)`")


def rows(page):
    """Cells of the rows of all tables of a page, their heads apart."""
    lines = (PAGES / f"{page}.md").read_text("utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "|" in line]
    return [row for row in cells if len(row) == 3 and not row[0].startswith(("-", "you use"))]


def parameters(cls):
    return {name: p.default for name, p in inspect.signature(cls.__init__).parameters.items()}


def names_of(cls):
    """Parameters, methods, and attributes that the docstring has."""
    documented = re.findall(r"^ *(\w+_) : ", inspect.getdoc(cls) or "", re.MULTILINE)
    return {*parameters(cls), *dir(cls), *documented, cls.__name__}


def theirs_of(page):
    if TABLES[page][0] is None:
        pytest.skip("it is not a dependency")
    module, _, name = TABLES[page][0].rpartition(".")
    pytest.importorskip(module, reason=f"{module} is not installed")
    return getattr(importlib.import_module(module), name)


@pytest.mark.parametrize("page", TABLES)
def test_what_is_said_to_be_ours_is(page):
    ours = [getattr(vicinal, name) for name in TABLES[page][1]]
    known = set().union(ELSEWHERE, vicinal.__all__, *map(names_of, ours))
    said = {name for row in rows(page) for cell in row[1:] for name in NAME.findall(cell)}
    assert len(said) > 10
    assert said - known == set()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", TABLES)
def test_what_is_said_to_be_theirs_is_and_nothing_is_left_out(page):
    theirs = theirs_of(page)
    said = {name for row in rows(page) for name in re.findall(r"`(\w{2,})", row[0])}
    said |= {name for row in rows(page) for name in re.findall(r"\b(\w+)=", row[0])}
    known = names_of(theirs) | ELSEWHERE | (FITTED_BY_UMAP if page == "umap" else set())
    assert said - known - NEWER == set()
    single = {"a", "b", "self"}  # UMAP's, and Python's
    assert set(parameters(theirs)) - said - single == set()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", sorted(TABLES.keys() - {"metric-learn"}))
def test_defaults_that_stand_side_by_side_are_defaults(page):
    """`max_iter=50` beside `max_iter=None`: a row that names both sides' values of a number."""
    theirs, ours = parameters(theirs_of(page)), parameters(getattr(vicinal, TABLES[page][1][0]))
    for left, right, _ in rows(page):
        for known, cell in ((theirs, left), (ours, right)):
            for name, value in SETTING.findall(cell):
                if re.fullmatch(r"[\d.e-]+|None", value):
                    told = None if value == "None" else float(value)
                    assert known[name] == told, (page, name, value)
