"""docs/extending.md says what the tests beside this one do."""

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "extending.md"


def lines(text):
    """Lines of code, without comments and blank ones."""
    stripped = [line.rstrip() for line in text.splitlines()]
    return [line for line in stripped if line and not line.lstrip().startswith("#")]


@pytest.fixture(scope="module")
def tests():
    return {path.name: lines(path.read_text("utf-8")) for path in HERE.glob("test_*.py")}


@pytest.mark.skipif(not PAGE.exists(), reason="the pages are not part of an installed package")
def test_every_block_of_code_stands_in_a_test(tests):
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), flags=re.S)
    assert len(blocks) == 6
    for block in blocks:
        wanted = [line for line in lines(block) if not line.startswith(("import ", "from "))]
        assert any(_holds(code, wanted) for code in tests.values()), block


def _holds(code, wanted):
    """Whether the wanted lines follow each other."""
    starts = range(len(code) - len(wanted) + 1)
    return any(code[start : start + len(wanted)] == wanted for start in starts)
