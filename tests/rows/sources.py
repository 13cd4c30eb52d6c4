"""The same numbers from every kind of source; a new kind is one more function here."""

import numpy as np
import pytest

from vicinal import open_rows

# Heights of chunks that divide neither the rows nor each other.
CHUNK = 37


def labeled_rows():
    """Rows of three classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    X = rng.normal(size=(400, 4)) * [1, 10, 0.1, 3] + y[:, None]
    return X.astype(np.float32), y


def named(X):
    """A table of Arrow, a column each."""
    pa = pytest.importorskip("pyarrow", reason="the extra files is not installed")
    return pa.table({f"c{place}": column for place, column in enumerate(X.T)})


def store(folder):
    """A place of its own in the memory of the process."""
    return f"memory://{folder.parent.name}-{folder.name}"


def memory_map(X, folder):
    np.save(folder / "rows.npy", X)
    return np.load(folder / "rows.npy", mmap_mode="r")


def opened_npy(X, folder):
    np.save(folder / "rows.npy", X)
    return open_rows(folder / "rows.npy")


def npy_in_a_store(X, folder):
    fsspec = pytest.importorskip("fsspec", reason="the extra files is not installed")
    url = f"{store(folder)}/rows.npy"
    with fsspec.open(url, "wb") as stream:
        np.save(stream, X)
    return open_rows(url)


def whole_numbers_apart(X, folder):
    """Columns chosen among others, of an array that is not at hand."""
    np.save(folder / "rows.npy", np.column_stack([np.arange(len(X), dtype=X.dtype), X]))
    return open_rows(folder / "rows.npy", columns=range(1, X.shape[1] + 1))


def table(X, folder):
    return named(X)


def parquet_files(X, folder):
    return open_rows(written_parquet(X, folder))


def dataset(X, folder):
    pads = pytest.importorskip("pyarrow.dataset", reason="the extra files is not installed")
    return pads.dataset(written_parquet(X, folder))


def parquet_in_a_store(X, folder):
    pq = pytest.importorskip("pyarrow.parquet", reason="the extra files is not installed")
    fsspec = pytest.importorskip("fsspec", reason="the extra files is not installed")
    url = f"{store(folder)}/rows.parquet"
    with fsspec.open(url, "wb") as stream:
        pq.write_table(named(X), stream, row_group_size=CHUNK)
    return open_rows(url)


def written_parquet(X, folder):
    """A folder of files, their rows in groups."""
    pq = pytest.importorskip("pyarrow.parquet", reason="the extra files is not installed")
    place = folder / "rows"
    place.mkdir()
    third = len(X) // 3
    for part, start in enumerate((0, third, 2 * third)):
        rows = X[start : None if part == 2 else start + third]
        pq.write_table(named(rows), place / f"part{part}.parquet", row_group_size=CHUNK)
    return place


def zarr_array(X, folder):
    zarr = pytest.importorskip("zarr", reason="the extra files is not installed")
    zarr.create_array(folder / "rows.zarr", data=X, chunks=(CHUNK, 2))
    return zarr.open(folder / "rows.zarr", mode="r")


def zarr_in_a_store(X, folder):
    zarr = pytest.importorskip("zarr", reason="the extra files is not installed")
    url = f"{store(folder)}/rows.zarr"
    zarr.create_array(url, data=X, chunks=(CHUNK, 2))
    return open_rows(url)


def dask_array(X, folder):
    da = pytest.importorskip("dask.array", reason="the extra dask is not installed")
    return da.from_array(X, chunks=(CHUNK, 2))


SOURCES = {
    make.__name__: make
    for make in (
        memory_map,
        opened_npy,
        npy_in_a_store,
        whole_numbers_apart,
        table,
        parquet_files,
        dataset,
        parquet_in_a_store,
        zarr_array,
        zarr_in_a_store,
        dask_array,
    )
}
