import threading

import numpy as np
import pytest

from vicinal import LocalComponents
from vicinal.rows import RowSource, blocks


class Toy(RowSource):
    """Rows in chunks of given heights, some of which cannot be read."""

    def __init__(self, heights, fails_at=None, says=None):
        self.name, self.dtype = "toy", np.dtype(np.float64)
        self.shape = (says or sum(heights), 3)
        self._heights, self._fails_at = heights, fails_at

    def chunks(self):
        before = 0
        for number, height in enumerate(self._heights):
            if number == self._fails_at:
                raise OSError("chunk.bin cannot be read")
            yield np.arange(3 * before, 3 * (before + height), dtype=float).reshape(height, 3)
            before += height


@pytest.mark.parametrize("heights", [[7], [1] * 7, [3, 4], [0, 5, 0, 2], [100, 1, 99]])
def test_blocks_do_not_depend_on_chunks(monkeypatch, heights):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 3 * 8 * 4)
    found = list(blocks.blocks(Toy(heights)))
    n = sum(heights)
    assert [rows.start for rows, _ in found] == list(range(0, n, 4))
    assert np.array_equal(np.concatenate([block for _, block in found]).ravel(), np.arange(3 * n))


def test_rows_that_are_missing():
    with pytest.raises(ValueError, match="toy has 7 rows in its chunks, but says that it has 9"):
        list(blocks.blocks(Toy([7], says=9)))


def test_errors_and_interrupts_end_the_reading(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 24)
    with pytest.raises(OSError, match=r"chunk\.bin"):
        LocalComponents().fit(Toy([3, 3, 3], fails_at=2))
    reading = blocks.blocks(Toy([5] * 10))
    next(reading)
    with pytest.raises(KeyboardInterrupt):
        reading.throw(KeyboardInterrupt())
    assert not [t for t in threading.enumerate() if t.name.startswith("vicinal-reading")]


def test_the_next_item_is_made_while_one_is_used():
    made = threading.Event()

    def items():
        yield 1
        made.set()
        yield 2

    ahead = blocks.read_ahead(items())
    assert next(ahead) == 1
    assert made.wait(10)  # nobody has asked for it
    assert list(ahead) == [2]


def test_long_readings_are_shown(monkeypatch, capsys):
    from vicinal.fitting import progress

    monkeypatch.setattr(progress, "_SECONDS_BEFORE_SHOWN", -1.0)
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 240)
    LocalComponents(verbose=1, covariance=1.0).fit(Toy([50, 50])).score_samples(Toy([50, 50]))
    shown = capsys.readouterr().err
    assert "LocalComponents, reading" in shown
    assert "LocalComponents, score_samples" in shown
