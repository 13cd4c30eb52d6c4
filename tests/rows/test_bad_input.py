"""What is wrong with rows is told by the name of the file, before any work if it can be."""

import numpy as np
import pytest
from rows.sources import CHUNK, named, written_parquet

from vicinal import DivergenceNeighbors, LocalComponents, NeighborhoodComponents, open_rows
from vicinal.report import compare
from vicinal.rows import settling


@pytest.fixture
def nothing_is_read(monkeypatch):
    """Fails where rows are read before an error."""

    def read(*args):
        raise AssertionError("rows were read")

    monkeypatch.setattr(settling, "blocks", read)


def test_labels_that_do_not_align(nothing_is_read, labeled, tmp_path):
    X, y = labeled
    np.save(tmp_path / "rows.npy", X.astype(np.int64))
    rows = open_rows(tmp_path / "rows.npy")
    with pytest.raises(ValueError, match=r"y has 399 values, but .*rows\.npy' has 400 rows"):
        NeighborhoodComponents().fit(rows, y[1:])
    with pytest.raises(ValueError, match="NeighborhoodComponents requires y to be passed"):
        NeighborhoodComponents().fit(rows, None)
    with pytest.raises(ValueError, match="sample_weight has 7 values"):
        NeighborhoodComponents().fit(rows, y, sample_weight=np.ones(7))
    with pytest.raises(ValueError, match="y has 399 values"):
        NeighborhoodComponents().partial_fit(rows, y=y[1:])


def test_labels_in_chunks_that_do_not_align_are_not_computed(nothing_is_read, labeled):
    da = pytest.importorskip("dask.array", reason="the extra dask is not installed")
    X, y = labeled

    def computed(block):
        raise AssertionError("labels were computed")

    rows = da.from_array(X, chunks=(50, 4))
    labels = da.from_array(y[1:], chunks=50).map_blocks(computed, dtype=y.dtype)
    for model in (NeighborhoodComponents(), LocalComponents()):
        with pytest.raises(ValueError, match="y has 399 values, but X has 400 rows"):
            model.partial_fit(rows, labels)
    with pytest.raises(ValueError, match="sample_weight has 399 values"):
        NeighborhoodComponents().fit(rows, y, sample_weight=labels)
    with pytest.raises(ValueError, match="y has 399 values"):
        NeighborhoodComponents().fit(X, y).score(rows, labels)


def test_chunks_of_unknown_sizes(labeled):
    da = pytest.importorskip("dask.array", reason="the extra dask is not installed")
    X, y = labeled
    chunked = da.from_array(X, chunks=(50, 4))
    unknown = chunked[chunked[:, 0] > -100]
    with pytest.raises(ValueError, match=r"X has chunks of unknown sizes: call X.compute_chunk"):
        NeighborhoodComponents().fit(unknown, y)
    labels = da.from_array(y, chunks=50)
    with pytest.raises(ValueError, match="y has chunks of unknown sizes"):
        NeighborhoodComponents().fit(chunked, labels[labels >= 0])
    model = NeighborhoodComponents(2).fit(chunked, labels)
    with pytest.raises(ValueError, match="unknown sizes"):
        model.transform(unknown)


def test_a_data_frame_of_dask(labeled):
    pytest.importorskip("dask.array", reason="the extra dask is not installed")
    DataFrame = type("DataFrame", (), {"__module__": "dask.dataframe.core"})
    with pytest.raises(TypeError, match=r"to_dask_array\(lengths=True\)"):
        LocalComponents().fit(DataFrame())


def test_a_masked_array(labeled):
    da = pytest.importorskip("dask.array", reason="the extra dask is not installed")
    masked = da.ma.masked_less(da.from_array(labeled[0], chunks=(50, 4)), 0)
    with pytest.raises(TypeError, match=r"X is a masked array.*dask\.array\.ma\.filled\(X, value"):
        LocalComponents().fit(masked)


def test_chunks_of_other_sizes_than_dask_believes(labeled):
    da = pytest.importorskip("dask.array", reason="the extra dask is not installed")
    X, _ = labeled
    wrong = da.from_array(X, chunks=(50, 4)).map_blocks(lambda block: block[:3], dtype=X.dtype)
    with pytest.raises(ValueError, match=r"rows 0 to 49 of X, chunk 0 of dask, came as 3 rows"):
        LocalComponents().fit(wrong)
    narrow = da.from_array(X, chunks=(50, 4)).map_blocks(lambda block: block[:, :3], dtype=X.dtype)
    with pytest.raises(ValueError, match=r"chunk of shape \(50, 3\) among chunks of 4 columns"):
        LocalComponents().fit(narrow)


def test_a_chunk_that_cannot_be_computed(labeled):
    da = pytest.importorskip("dask.array", reason="the extra dask is not installed")

    def fails(block, block_info=None):
        if block_info[None]["chunk-location"][0] == 3:
            raise RuntimeError("the disk is gone")
        return block

    X = da.from_array(labeled[0], chunks=(50, 4)).map_blocks(fails, dtype=np.float32)
    with pytest.raises(OSError, match=r"rows 150 to 199 of X, chunk 3 .*the disk is gone"):
        LocalComponents().fit(X)


def test_a_damaged_parquet_file(nothing_is_read, labeled, tmp_path):
    folder = written_parquet(labeled[0], tmp_path)
    (folder / "part1.parquet").write_bytes(b"no Parquet at all")
    with pytest.raises(OSError, match=r"part1\.parquet.*cannot be read"):
        open_rows(folder)


def test_a_damaged_group_of_rows(labeled, tmp_path):
    folder = written_parquet(labeled[0], tmp_path)
    damaged = bytearray((folder / "part1.parquet").read_bytes())
    damaged[4:400] = bytes(396)
    (folder / "part1.parquet").write_bytes(bytes(damaged))
    with pytest.raises(OSError, match=r"part1\.parquet cannot be read"):
        LocalComponents().fit(open_rows(folder))


def test_files_of_different_columns(labeled, tmp_path):
    pq = pytest.importorskip("pyarrow.parquet", reason="the extra files is not installed")
    folder = written_parquet(labeled[0], tmp_path)
    pq.write_table(named(labeled[0][:, :3]), folder / "part2.parquet")
    with pytest.raises(ValueError, match=r"part2\.parquet lacks the column 'c3'"):
        open_rows(folder)
    pq.write_table(named(labeled[0].astype(np.int64)), folder / "part2.parquet")
    with pytest.raises(ValueError, match=r"column 'c0' of .*part2\.parquet is of type int64"):
        open_rows(folder)


def test_a_damaged_chunk_of_zarr(labeled, tmp_path):
    zarr = pytest.importorskip("zarr", reason="the extra files is not installed")
    zarr.create_array(tmp_path / "rows.zarr", data=labeled[0], chunks=(CHUNK, 4))
    (tmp_path / "rows.zarr" / "c" / "2" / "0").write_bytes(b"no chunk")
    with pytest.raises(OSError, match=r"rows 0 to .* of .*rows\.zarr' cannot be read"):
        LocalComponents().fit(open_rows(tmp_path / "rows.zarr"))


def test_a_file_that_ends_too_early(labeled, tmp_path):
    fsspec = pytest.importorskip("fsspec", reason="the extra files is not installed")
    np.save(tmp_path / "rows.npy", labeled[0])
    content = (tmp_path / "rows.npy").read_bytes()
    with fsspec.open("memory://short/rows.npy", "wb") as stream:
        stream.write(content[:-100])
    with pytest.raises(OSError, match=r"rows 0 to 399 of 'memory://short/rows\.npy' cannot be"):
        LocalComponents().fit(open_rows("memory://short/rows.npy"))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_no_numbers(value, labeled, tmp_path):
    X = labeled[0].copy()
    X[123, 2] = value
    with pytest.raises(ValueError, match=rf"contains {value}.* in row 123, column 'c2'"):
        LocalComponents().fit(named(X))


def test_gaps_words_and_unknown_columns(labeled, tmp_path):
    pa = pytest.importorskip("pyarrow", reason="the extra files is not installed")
    table = pa.table({"a": [1.0, None, 3.0], "b": ["x", "y", "z"]})
    with pytest.raises(ValueError, match=r"column 'b' of X is of type string.*open_rows"):
        LocalComponents().fit(table)
    with pytest.raises(ValueError, match=r"nan \(or a gap\) in row 1, column 'a'"):
        LocalComponents().fit(table.select(["a"]))
    np.save(tmp_path / "rows.npy", labeled[0])
    with pytest.raises(ValueError, match="no column 'a': choose columns and target by their pos"):
        open_rows(tmp_path / "rows.npy", columns=["a"])
    with pytest.raises(ValueError, match="has no column 'z': it has c0, c1"):
        open_rows(written_parquet(labeled[0], tmp_path), target="z")


def test_columns_that_are_there_twice_or_not_at_all(labeled, tmp_path):
    pa = pytest.importorskip("pyarrow", reason="the extra files is not installed")
    X, _ = labeled
    twice = pa.table([X[:, 0], X[:, 1]], names=["a", "a"])
    with pytest.raises(ValueError, match="more than one column 'a'"):
        LocalComponents().fit(twice)
    with pytest.raises(ValueError, match="more than one column 'c1', or it was chosen twice"):
        open_rows(written_parquet(X, tmp_path), columns=["c1", "c0", "c1"])
    np.save(tmp_path / "rows.npy", X)
    with pytest.raises(ValueError, match="no columns left to learn from"):
        open_rows(tmp_path / "rows.npy", columns=[])
    with pytest.raises(ValueError, match="no column True: choose columns and target by their pos"):
        open_rows(tmp_path / "rows.npy", columns=[True])


def test_columns_in_another_order(labeled, tmp_path):
    X, y = labeled
    model = NeighborhoodComponents(2).fit(named(X), y)
    assert model.feature_names_in_.tolist() == ["c0", "c1", "c2", "c3"]
    other = open_rows(written_parquet(X, tmp_path), columns=["c1", "c0", "c2", "c3"])
    with pytest.raises(ValueError, match=r"has the columns c1, c0, .*columns=model.feature_names"):
        model.transform(other)
    with pytest.raises(ValueError, match="has the columns c1, c0"):
        model.partial_fit(other, y)
    right = open_rows(tmp_path / "rows", columns=model.feature_names_in_)
    assert np.array_equal(model.transform(right), model.transform(named(X)))
    model.partial_fit(right, y)
    assert model.feature_names_in_.tolist() == ["c0", "c1", "c2", "c3"]


def test_no_room_for_a_scratch_file(monkeypatch, labeled, tmp_path):
    pytest.importorskip("pyarrow", reason="the extra files is not installed")
    monkeypatch.setattr(settling, "HELD_BYTES", 0)
    monkeypatch.setattr(settling.shutil, "disk_usage", lambda folder: type("Free", (), {"free": 9}))
    with pytest.raises(OSError, match=r"6\.4 kB in a scratch file.*VICINAL_SCRATCH"):
        LocalComponents().fit(named(labeled[0]))
    monkeypatch.undo()
    monkeypatch.setattr(settling, "HELD_BYTES", 0)
    monkeypatch.setenv(settling.SCRATCH, str(tmp_path / "nowhere"))
    with pytest.raises(OSError, match=r"VICINAL_SCRATCH=.*nowhere' is no folder"):
        LocalComponents().fit(named(labeled[0]))


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*rows\.npy"):
        open_rows(tmp_path / "rows.npy")
    (tmp_path / "rows.xls").write_bytes(b"")
    with pytest.raises(ValueError, match=r"no suffix that tells what it is: use one of \.npy"):
        open_rows(tmp_path / "rows.xls")


@pytest.mark.parametrize("path", [None, 3, b"rows.npy"])
def test_what_is_no_path(path):
    with pytest.raises(TypeError, match=r"path=.* must be the path of a file or a folder, or a U"):
        open_rows(path)


@pytest.mark.parametrize("columns", ["c0", 1])
def test_one_column_that_is_not_in_a_list(columns, labeled, tmp_path):
    np.save(tmp_path / "rows.npy", labeled[0])
    with pytest.raises(TypeError, match=rf"columns={columns!r} must be a list: write columns=\["):
        open_rows(tmp_path / "rows.npy", columns=columns)


def test_no_rows_at_all(labeled):
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        LocalComponents().fit(named(labeled[0][:0]))
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        LocalComponents(covariance=1.0).fit(labeled[0]).score_samples(named(labeled[0][:0]))


def test_rows_where_an_array_is_expected(labeled, tmp_path):
    model = LocalComponents(covariance=1.0).fit(labeled[0])
    np.save(tmp_path / "rows.npy", labeled[0])
    for ask in (model.modes, lambda rows: compare(rows, labeled[1])):
        with pytest.raises(TypeError, match=r"rows\.npy' is read in parts, and an array is expect"):
            ask(open_rows(tmp_path / "rows.npy"))


def test_a_path_is_to_be_opened(labeled, tmp_path):
    np.save(tmp_path / "rows.npy", labeled[0])
    model = LocalComponents(covariance=1.0).fit(labeled[0])
    told = r"X is a path, .*rows\.npy': open it by vicinal\.open_rows"
    for method in (model.fit, model.score_samples, LocalComponents().partial_fit):
        for path in (tmp_path / "rows.npy", str(tmp_path / "rows.npy")):
            with pytest.raises(TypeError, match=told):
                method(path)


def test_divergences_of_more_rows_than_have_room(nothing_is_read, labeled, monkeypatch, tmp_path):
    model = DivergenceNeighbors().fit(labeled[0])
    monkeypatch.setattr("vicinal.divergence.limits.MOST_BYTES", 8 * 400 * 400 - 1)
    monkeypatch.setattr("vicinal.rows.methods.blocks", None)
    np.save(tmp_path / "rows.npy", labeled[0])
    with pytest.raises(ValueError, match="set n_graph_neighbors, for a sparse graph"):
        model.transform(open_rows(tmp_path / "rows.npy"))
