import pytest
from rows.sources import labeled_rows

from vicinal.rows import blocks, settling


@pytest.fixture(params=["in memory", "in a scratch file"])
def settling_place(request, monkeypatch, tmp_path):
    """Where rows go that are not at hand; blocks are small, so that there are many."""
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 5000)
    monkeypatch.setenv(settling.SCRATCH, str(tmp_path))
    if request.param == "in a scratch file":
        monkeypatch.setattr(settling, "HELD_BYTES", 0)
    return request.param


@pytest.fixture
def labeled():
    """Rows of three classes, and these."""
    return labeled_rows()
