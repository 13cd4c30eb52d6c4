import sys

import numpy as np
import pytest
from rows.sources import named, written_parquet

from vicinal import NeighborhoodComponents, open_rows


def test_labels_of_the_same_file(labeled, tmp_path):
    pq = pytest.importorskip("pyarrow.parquet", reason="the extra files is not installed")
    X, y = labeled
    words = np.array(["setosa", "versicolor", "virginica"])[y]
    pq.write_table(named(X).append_column("kind", [words]), tmp_path / "rows.parquet")
    rows = open_rows(tmp_path / "rows.parquet", target="kind")
    assert rows.columns == ("c0", "c1", "c2", "c3")
    assert rows.shape == (400, 4)
    assert rows.target.tolist() == words.tolist()
    model = NeighborhoodComponents(2).fit(rows, rows.target)
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert (model.predict(rows) == words).mean() > 0.5


def test_text_is_read_in_parts(monkeypatch, labeled, tmp_path):
    pytest.importorskip("pyarrow", reason="the extra files is not installed")
    from vicinal.rows import text

    monkeypatch.setattr(text, "_PARSED_BYTES", 1000)
    X, y = labeled
    cells = np.column_stack([X.astype(np.float64), y]).tolist()
    lines = [",".join(map(repr, row[:4])) + f",{int(row[4])}" for row in cells]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,c,d,y", *lines]) + "\n")
    rows = open_rows(tmp_path / "rows.csv", target="y")
    assert rows.shape == (400, 4)
    assert len(list(rows.chunks())) > 5
    assert np.array_equal(np.concatenate(list(rows.chunks())), X.astype(np.float64))
    assert np.array_equal(rows.target, y)
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,c,d,y", *lines, "1,2,3,x,0"]) + "\n")
    with pytest.raises(ValueError, match=r"rows\.csv' cannot be read as a table.*'x'"):
        list(open_rows(tmp_path / "rows.csv", target="y").chunks())


def test_truth_in_a_text_is_a_number(tmp_path):
    pytest.importorskip("pyarrow", reason="the extra files is not installed")
    (tmp_path / "rows.csv").write_text("a,b\n1,True\n2.5,False\n3,True\n")
    (chunk,) = open_rows(tmp_path / "rows.csv").chunks()
    assert chunk.tolist() == [[1, 1], [2.5, 0], [3, 1]]


@pytest.mark.parametrize("row", ['2,"y', '2,y"'])
def test_a_quote_that_is_not_closed(row, tmp_path):
    """Arrow takes all that follows for one field, and the rows were lost without a word."""
    pytest.importorskip("pyarrow", reason="the extra files is not installed")
    lines = ["a,k", '1,"y, z"', row, "3,x", "4,y", ""]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    with pytest.raises(ValueError, match=r"rows\.csv' has a stray quote"):
        open_rows(tmp_path / "rows.csv", target="k")


def test_a_text_whose_names_are_not_in_utf_8(tmp_path):
    pytest.importorskip("pyarrow", reason="the extra files is not installed")
    (tmp_path / "rows.csv").write_bytes("länge,b\n1,2\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"rows\.csv' has names of columns that are not in UTF-8"):
        open_rows(tmp_path / "rows.csv")


def test_a_group_of_zarr(labeled, tmp_path):
    zarr = pytest.importorskip("zarr", reason="the extra files is not installed")
    X, y = labeled
    group = zarr.create_group(tmp_path / "rows.zarr")
    group.create_array("X", data=X)
    group.create_array("y", data=y)
    rows = open_rows(tmp_path / "rows.zarr", target="y")
    assert np.array_equal(rows.target, y)
    assert np.array_equal(np.concatenate(list(rows.chunks())), X)
    group.create_array("short", data=y[1:])
    with pytest.raises(ValueError, match=r"has shape \(399,\), but there are 400 rows"):
        open_rows(tmp_path / "rows.zarr", target="short")
    with pytest.raises(ValueError, match="a group that has no array 'z'"):
        open_rows(tmp_path / "rows.zarr", target="z")


def test_files_of_a_folder_come_in_the_order_of_their_names(labeled, tmp_path):
    folder = written_parquet(labeled[0], tmp_path)
    (folder / "part0.parquet").rename(folder / "part9.parquet")
    rows = np.concatenate(list(open_rows(folder).chunks()))
    assert np.array_equal(rows, np.concatenate([labeled[0][133:], labeled[0][:133]]))


def test_a_folder_may_have_a_dot_in_its_name(labeled, tmp_path):
    folder = written_parquet(labeled[0], tmp_path).rename(tmp_path / "rows-1.2")
    assert open_rows(folder).shape == labeled[0].shape


@pytest.mark.parametrize(
    ("name", "module"), [("a.parquet", "pyarrow"), ("a.zarr", "zarr"), ("memory://a.npy", "fsspec")]
)
def test_what_is_missing_is_said(monkeypatch, name, module, tmp_path):
    for loaded in [key for key in sys.modules if key.partition(".")[0] == module]:
        monkeypatch.setitem(sys.modules, loaded, None)
    monkeypatch.setitem(sys.modules, module, None)
    path = name if "://" in name else tmp_path / name
    if "://" not in name:
        path.mkdir()
    with pytest.raises(ImportError, match=rf"needs {module}: pip install 'vicinal\[files\]'"):
        open_rows(path)


def test_whole_numbers_and_truth_become_numbers(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="the extra files is not installed")
    from vicinal.rows.arrow import TableRows

    rows = TableRows(pa.table({"a": [1, 2], "b": [True, False], "c": pa.array([1, 2], "uint8")}))
    assert np.array_equal(np.concatenate(list(rows.chunks())), [[1, 1, 1], [2, 0, 2]])
    assert rows.dtype == np.float64
    assert repr(rows) == "TableRows(X: 2 rows of 3 columns, float64)"
