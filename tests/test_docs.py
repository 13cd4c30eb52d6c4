"""The site: its code is run, its pictures are those of the source, and it has every public name.

A block of a page that cannot be run has a line above it that says why, for readers, too:
``*Not run here: needs a GPU.*`` in italics, or a comment, ``<!-- not run: needs a GPU -->``.
"""

import ast
import doctest
import importlib
import inspect
import re
import runpy
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"

pytestmark = pytest.mark.skipif(
    not (DOCS / "conf.py").exists(), reason="docs/ is not part of an installed package"
)

# Pages with a test of their own, which runs their blocks or holds them against tests.
TESTED_ELSEWHERE = {
    "README.md": "pyproject.toml",  # a doctest of pytest's own
    "command-line.md": "tests/cli/test_guide.py",
    "errata.md": "tests/test_errata.py",
    "extending.md": "tests/extending/test_page.py",
    "scale.md": "tests/rows/test_page.py",
}
WRITTEN = ("_build", "auto_examples", "elsewhere", "generated")  # by a build of the site

BLOCK = re.compile(
    r"(?P<above>[^\n]*)\n+(?P<indent>[ \t]*)```python[^\n]*\n(?P<code>.*?)^(?P=indent)```",
    re.MULTILINE | re.DOTALL,
)
NOT_RUN = re.compile(r"(<!--|%|\*)\s*not run(?: here)?: \w.{4,}", re.IGNORECASE)
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def pages():
    paths = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
    return [path for path in paths if path.exists() and not set(path.parts) & set(WRITTEN)]


def blocks(path):
    """Code, its line, and whether it is run, of every block of a page."""
    text = "\n" + path.read_text("utf-8")
    for match in BLOCK.finditer(text):
        line = text[: match.start("code")].count("\n") - 1
        code = re.sub(rf"^{match['indent']}", "", match["code"], flags=re.MULTILINE)
        yield code, line, not NOT_RUN.search(match["above"])


def name_of(path):
    return path.relative_to(DOCS).as_posix() if path.is_relative_to(DOCS) else path.name


PAGES = [path for path in pages() if any(True for _ in blocks(path))]
RUN_HERE = [path for path in PAGES if name_of(path) not in TESTED_ELSEWHERE]


@pytest.mark.parametrize("path", RUN_HERE, ids=map(name_of, RUN_HERE))
def test_the_blocks_of_a_page_run_one_after_the_other(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plt = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed")
    plt.switch_backend("agg")
    names = {"__name__": "__main__"}
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        for code, line, is_run in blocks(path):
            if is_run:
                run_block(code, names, path, line)
    plt.close("all")


def run_block(code, names, path, line):
    """A doctest, or a script, in the names of the blocks before it."""
    if not code.lstrip().startswith(">>>"):
        exec(compile("\n" * line + code, str(path), "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(code, names, path.name, str(path), line)
    told = []
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    outcome = runner.run(test, out=told.append, clear_globs=False)
    names.update(test.globs)  # the test has a copy
    if outcome.failed and "ModuleNotFoundError: No module named 'torch'" in "".join(told):
        pytest.skip("torch is not installed")
    assert not outcome.failed, "".join(told)


@pytest.mark.parametrize(("page", "test"), TESTED_ELSEWHERE.items())
def test_pages_tested_elsewhere_are(page, test):
    assert page in (ROOT / test).read_text("utf-8")


def test_the_front_page_has_doctests_only():
    assert all(code.startswith(">>>") for code, _, _ in blocks(ROOT / "README.md"))


def test_every_fence_is_closed():
    for path in pages():
        fences = re.findall(r"^[ \t]*```", path.read_text("utf-8"), re.MULTILINE)
        assert len(fences) % 2 == 0, path


def test_the_rule_of_blocks_that_are_not_run(tmp_path):
    page = tmp_path / "page.md"
    fence = "```python\n1 / 0\n```\n"
    page.write_text(
        f"{fence}\n*Not run here: needs a GPU.*\n\n{fence}<!-- not run: needs a GPU -->\n{fence}"
    )
    assert [is_run for _, _, is_run in blocks(page)] == [True, False, False]


def test_decision_pictures_have_the_numbers_of_the_source():
    pictures = runpy.run_path(str(DOCS / "start" / "draw.py"))["PICTURES"]
    for name, picture in pictures.items():
        assert (DOCS / "start" / name).read_text("utf-8") == picture, "run docs/start/draw.py"


# The reference.

MODULES = ("coincidence", "datasets", "divergence", "local_components", "metrics", "nca", "report")
MODULES += ("rows", "saving", "torch")


def test_modules_of_the_reference_are_found_without_an_import_of_their_own():
    import vicinal

    assert set(MODULES) - set(vicinal.__all__) == {"torch"}  # that needs an extra


def public_names():
    """Where a name is documented: at the top where it is there, else in its module."""
    import vicinal

    top = [name for name in vicinal.__all__ if name not in MODULES and name != "__version__"]
    yield from (f"vicinal.{name}" for name in top)
    for module in MODULES:
        names = exported(module)
        yield from (f"vicinal.{module}.{name}" for name in names if name not in top)
    yield from ("vicinal.datasets.load", "vicinal.compiling.CompilingWarning")


def exported(module):
    """__all__, read and not imported: vicinal.torch needs an extra."""
    import vicinal

    folder = Path(vicinal.__file__).parent
    file = folder / module / "__init__.py"
    tree = ast.parse((file if file.exists() else folder / f"{module}.py").read_text("utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__":
            return ast.literal_eval(node.value)
    raise AssertionError(f"{module} has no __all__")


NAMES = sorted(set(public_names())) if DOCS.exists() else []


def documented():
    for page in (DOCS / "reference").glob("*.md"):
        text = page.read_text("utf-8")
        for module, listed in re.findall(
            r"currentmodule:: (\S+)\n+\.\. autosummary::\n   :toctree: generated/\n\n(.*?)```",
            text,
            re.DOTALL,
        ):
            yield from (f"{module}.{name}" for name in listed.split())


def test_every_public_name_is_in_the_reference():
    assert sorted(documented()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_has_an_example(name):
    module, _, attribute = name.rpartition(".")
    try:
        thing = getattr(importlib.import_module(module), attribute)
    except ImportError as error:
        pytest.skip(str(error))
    assert re.search(r"Examples\n-{8}\n(.*\n)*?>>> ", inspect.getdoc(thing)), name


# The gallery.

OPTIONAL = {"torch", "triton"}  # not in the extra docs


def test_examples_of_the_gallery_import_what_may_be_absent_with_care():
    for path in sorted((ROOT / "examples").rglob("plot_*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:  # not within try, if or def
            modules = (
                {alias.name for alias in node.names} if isinstance(node, ast.Import) else set()
            )
            modules |= {node.module} if isinstance(node, ast.ImportFrom) else set()
            assert not {module.split(".")[0] for module in modules} & OPTIONAL, path


# Links.


def test_links_that_lead_nowhere_are_found(tmp_path):
    check = runpy.run_path(str(DOCS / "check_links.py"))
    (tmp_path / "index.html").write_text(
        '<a href="other.html#there">a</a> <a href="other.html#gone">b</a> <a href="gone.html">c</a>'
        '<a href="#top">d</a> <a href="https://example.org/x">e</a> <img src="gone.png">'
    )
    (tmp_path / "other.html").write_text('<h2 id="there">x</h2> <a href="index.html">f</a>')
    assert check["broken_links"](tmp_path) == [
        ("index.html", "#top"),
        ("index.html", "gone.html"),
        ("index.html", "gone.png"),
        ("index.html", "other.html#gone"),
    ]
