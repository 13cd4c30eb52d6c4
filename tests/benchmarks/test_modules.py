"""All benchmarks: they can be imported, and say how they are run, as do the pages they wrote."""

import importlib
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

benchmarks = pytest.importorskip("benchmarks.common", reason="benchmarks/ is not here")

FOLDER = Path(benchmarks.__file__).parents[1]
PATHS = [path.relative_to(FOLDER.parent).with_suffix("") for path in FOLDER.rglob("*.py")]
MODULES = sorted(".".join(path.parts).removesuffix(".__init__") for path in PATHS)
PACKAGES_RUN = {path.parent.name for path in FOLDER.glob("*/__main__.py")}
FILES_RUN = {path.stem for path in FOLDER.glob("*.py")} - {"__init__"}
# The page on hostile input is that of tests/hostile.
PAGES = [path for path in (FOLDER / "results").glob("*.md") if path.stem != "hostile"]


@pytest.mark.parametrize("module", MODULES)
def test_every_module_finds_what_it_imports(module):
    if "gpu" in module and not all(find_spec(name) for name in ("torch", "triton")):
        pytest.skip("the extra gpu is not installed")
    importlib.import_module(module)


@pytest.mark.parametrize("name", sorted(PACKAGES_RUN | FILES_RUN))
def test_every_benchmark_says_its_command(name):
    path = FOLDER / name / "__main__.py" if name in PACKAGES_RUN else FOLDER / f"{name}.py"
    assert f"python -m benchmarks.{name} " in path.read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_command_of_every_page_can_be_run(page):
    name = re.search(r"- command: `python -m benchmarks\.(\w+)", page.read_text())[1]
    assert name in PACKAGES_RUN | FILES_RUN
