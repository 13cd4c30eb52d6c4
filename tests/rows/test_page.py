"""docs/scale.md says what happens: its code and its commands are run, one after the other."""

import re
import shlex
from pathlib import Path

import pytest
from cli.helpers import run_main

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"

pytestmark = pytest.mark.skipif(
    not PAGE.exists(), reason="docs/ is not part of an installed package"
)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_page_of_scale(capsys, monkeypatch, tmp_path):
    for module in ("pyarrow", "fsspec", "dask.array", "distributed"):
        pytest.importorskip(module, reason="the extras files and dask are not installed")
    monkeypatch.chdir(tmp_path)
    names = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL):
        exec(code, names)
    assert (names["model"].components_ == names["same"].components_).all()
    assert names["coordinates"].shape == names["Z"].shape == (20_000, 2)
    assert names["log_densities"].shape == names["predicted"].shape == (20_000,)
    for block in re.findall(r"```console\n(.*?)```", PAGE.read_text(), re.DOTALL):
        for step in block.split("$ ")[1:]:
            command, _, told = step.partition("\n")
            code, out, err = run_main(capsys, *shlex.split(command)[1:])
            assert code == 0, err
            for part in told.split("..."):
                assert part.strip() in out + err
    assert (tmp_path / "coordinates.npy").exists()
