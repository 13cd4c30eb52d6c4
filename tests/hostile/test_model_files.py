import pytest

pytest.importorskip("skops")
pytest.importorskip("resource")  # POSIX: how much memory was used

from tests.hostile.model_files import check

CHUNK = 50


@pytest.mark.parametrize("first", range(0, 8 * CHUNK, CHUNK))
def test_damaged_and_tampered_files(first):
    found = [text for case in range(first, first + CHUNK) for text in check(case)]
    assert not found, "\n".join(found)
