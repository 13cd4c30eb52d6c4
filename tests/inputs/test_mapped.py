import mmap

import numpy as np
import pytest

from vicinal.inputs.mapped import _map_of, in_any_order, soon

pytestmark = pytest.mark.skipif(
    not hasattr(mmap.mmap, "madvise"), reason="this system takes no advice about files"
)


def test_memory_maps_of_numpy_are_known(tmp_path):
    np.save(tmp_path / "rows.npy", np.ones((9, 2)))
    X = np.load(tmp_path / "rows.npy", mmap_mode="r")
    assert _map_of(np.asarray(X)[2:]) is X._mmap


@pytest.fixture
def mapped(tmp_path):
    """Rows behind a page of a file, and what the system is told: advice, first byte, bytes."""
    told = []

    class Map(mmap.mmap):
        def madvise(self, *args):
            told.append(args)
            return super().madvise(*args)

    X = np.arange(60_000.0).reshape(-1, 3)
    (tmp_path / "rows").write_bytes(bytes(4096) + X.tobytes())
    with open(tmp_path / "rows", "rb") as file:
        buffer = Map(file.fileno(), 0, prot=mmap.PROT_READ)
    return np.ndarray(X.shape, X.dtype, buffer, offset=4096), told  # as np.memmap does


def test_rows_to_come(mapped):
    X, told = mapped
    soon(X, slice(1000, 2000))
    begin, end = 24_576, 4096 + 2000 * 24  # from the page that row 1000 is on
    assert told == [(mmap.MADV_WILLNEED, begin, end - begin)]
    told.clear()
    soon(X[500:], slice(500, 1500))
    assert told == [(mmap.MADV_WILLNEED, begin, end - begin)]
    told.clear()
    soon(X, slice(20_000, 30_000))
    assert told == []


def test_what_is_in_memory_needs_no_advice():
    X = np.ones((5, 2))
    soon(X, slice(0, 2))
    with in_any_order(X):
        pass


def test_columns_of_a_map_are_left_alone(mapped):
    X, told = mapped
    soon(X[:, 1:], slice(0, 10))
    assert told == []


def test_batches_from_all_over_a_file(mapped):
    X, told = mapped
    with pytest.raises(KeyboardInterrupt), in_any_order(X[1:]):
        raise KeyboardInterrupt
    assert told == [(mmap.MADV_RANDOM,), (mmap.MADV_NORMAL,)]
