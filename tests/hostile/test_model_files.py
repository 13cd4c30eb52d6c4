import pytest
from effort import scaled

pytest.importorskip("skops")
pytest.importorskip("resource")  # POSIX: how much memory was used

from tests.hostile.model_files import check

N_CASES, N_CHUNKS = scaled(400), 8


@pytest.mark.parametrize("chunk", range(N_CHUNKS))
def test_damaged_and_tampered_files(chunk):
    found = [text for case in range(chunk, N_CASES, N_CHUNKS) for text in check(case)]
    assert not found, "\n".join(found)
