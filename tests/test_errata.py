"""docs/errata.md: the evidence is run, paper by paper."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "errata.md"

pytestmark = pytest.mark.skipif(
    not PAGE.exists(), reason="docs/ is not part of an installed package"
)


def papers():
    if not PAGE.exists():
        return {}
    _, *parts = re.split(r"^## (.*)\n", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


@pytest.mark.parametrize("paper", papers())
def test_the_evidence_holds(paper, load_dataset):
    names, n_asserted = {}, 0
    missing = None
    for code in re.findall(r"```python\n(.*?)```", papers()[paper], re.DOTALL):
        try:
            for name in re.findall(r'datasets\.load\("(.*?)"\)', code):
                load_dataset(name)
        except pytest.skip.Exception as skip:  # the blocks that need no data are run all the same
            missing = skip
            continue
        exec(code, names)
        n_asserted += code.count("assert ")
    assert n_asserted
    if missing:
        raise missing
