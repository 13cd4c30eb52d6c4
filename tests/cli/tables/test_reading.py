import gzip
import io
import os
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from vicinal.cli.tables.kinds import Kind
from vicinal.cli.tables.reading import read_table
from vicinal.cli.tables.table import some_columns
from vicinal.cli.tables.writing import Destination

FRAME = pl.DataFrame(
    {
        "length": [5.1, 1 / 3, -1e-300],
        "count": [1, 2, 3],
        "open": [True, False, True],
        "kind": ["a", 'say "b"', "c,d"],
    }
)
SUFFIXES = ("csv", "tsv", "parquet", "arrow", "feather", "csv.gz")


def read(text, name="data.csv", **options):
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_table(Path(name), **options)


def refused(*parts, text=None, name="data.csv", **options):
    with pytest.raises((ValueError, OSError)) as told:
        read(text, name, **options) if text is not None else read_table(Path(name), **options)
    message = str(told.value)
    assert "\n" not in message
    for part in (name, *parts):
        assert part in message


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_table_comes_back_as_it_was_written(suffix):
    path = Path(f"data.{suffix}")
    Destination.of(path, None).write(FRAME)
    assert_frame_equal(read_table(path).frame, FRAME)
    assert os.listdir() == [path.name]  # no draft is left


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", ">f8", "float16"])
def test_matrices_come_back(dtype):
    array = np.arange(6).reshape(3, 2).astype(dtype)
    np.save("data.npy", array)
    table = read_table(Path("data.npy"))
    assert not table.is_named
    assert table.frame.columns == ["x1", "x2"]
    np.testing.assert_array_equal(table.frame.to_numpy(), array)
    Destination.of(Path("again.npy"), None).write(table.frame)
    again = np.load("again.npy")
    assert again.dtype == (np.float32 if dtype == "float16" else np.dtype(dtype).newbyteorder("="))
    np.testing.assert_array_equal(again, array)


@pytest.mark.parametrize("y", [[0, 1, 1], ["a", "b", "b"], [True, False, True]])
def test_arrays_with_classes_come_back(y):
    X = np.eye(3, 2)
    np.savez("data.npz", X=X, y=np.array(y))
    table = read_table(Path("data.npz"))
    assert table.target == "y"
    Destination.of(Path("again.npz"), None).write(table.frame, target="y")
    again = np.load("again.npz")
    np.testing.assert_array_equal(again["X"], X)
    np.testing.assert_array_equal(again["y"], y)


def test_a_vector_is_one_column():
    np.save("data.npy", np.arange(3.0))
    assert read_table(Path("data.npy")).frame.shape == (3, 1)


@pytest.mark.parametrize("kind", list(Kind))
def test_standard_output_and_input(kind, monkeypatch):
    frame = pl.DataFrame({"x1": [0.1, 0.2], "x2": [1.0, 2.0]})
    out = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr(sys, "stdout", out)
    Destination.of(None, kind).write(frame)
    content = out.buffer.getvalue()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    table = read_table(Path("-"))  # by its first bytes
    assert_frame_equal(table.frame, frame)
    assert table.name == "standard input"


def test_a_stream_of_arrow_is_told_by_its_first_bytes():
    stream = io.BytesIO()
    FRAME.write_ipc_stream(stream)
    assert_frame_equal(read(stream.getvalue(), "data").frame, FRAME)


def test_content_counts_more_than_the_name():
    FRAME.write_parquet("data.csv")
    assert_frame_equal(read_table(Path("data.csv")).frame, FRAME)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_named_pipe(tmp_path):
    import threading

    os.mkfifo("pipe")
    writer = threading.Thread(target=lambda: Path("pipe").write_text("a,b\n1,2\n"))
    writer.start()
    assert read_table(Path("pipe")).frame.rows() == [(1, 2)]
    writer.join()


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_keep_every_digit_in_text(values):
    frame = pl.DataFrame({"a": values, "b": values})
    Destination.of(Path("data.csv"), None).write(frame)
    again = read_table(Path("data.csv")).frame
    assert again.cast(pl.Float64).equals(frame)


WORD = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1)


@given(st.lists(st.tuples(WORD, WORD), min_size=1))
def test_words_come_back_from_text(rows):
    frame = pl.DataFrame(rows, schema=["a,b", 'c"d'], orient="row")
    Destination.of(Path("data.csv"), None).write(frame)
    again = read_table(Path("data.csv")).frame
    assert again.columns == frame.columns
    for name in frame.columns:
        words, known = frame[name].to_list(), again[name]
        if known.dtype == pl.String:
            assert known.to_list() == words
        else:  # all were numbers, or stood for missing ones
            assert len(known) == len(words)


# ------------------------------------------------------------------------------------------- text


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,x\n2,y\n",
        "a,b\n1,x\n2,y",
        "a,b\r\n1,x\r\n2,y\r\n\r\n",
        "a,b\r1,x\r2,y\r",
        "\ufeffa,b\n1,x\n2,y\n",
        " a , b\n1, x\n2, y\n",
        "a;b\n1;x\n2;y\n",
        "a\tb\n1\tx\n2\ty\n",
        "a|b\n1|x\n2|y\n",
        '"a","b"\n"1","x"\n"2","y"\n',
    ],
)
def test_dialects(text):
    frame = read(text).frame
    assert frame.columns == ["a", "b"]
    assert [(int(a), b) for a, b in frame.rows()] == [(1, "x"), (2, "y")]


def test_empty_lines_before_the_names():
    table = read("\n\r\na,b\n1,x\n2,y\n")
    assert table.frame.shape == (2, 2)
    assert table.where(1) == "data row 2 (line 5)"
    refused("3 fields in line 4", text="\n\na,b\n1,2,3\n")


def test_decimal_commas():
    assert read("a;b\n1,5;2\n-0,25;3\n").frame["a"].to_list() == [1.5, -0.25]


@pytest.mark.parametrize("gap", ["", "NA", "?", "nan", " ", "n/a"])
def test_gaps_in_numbers(gap):
    column = read(f"a,b\n1.5,1\n{gap},2\n").frame["a"]
    assert column.dtype == pl.Float64
    assert column.fill_nan(None).to_list() == [1.5, None]


def test_words_for_gaps_are_words_among_words():
    assert read("a,b\nNA,1\nEU,2\n,3\n").frame["a"].to_list() == ["NA", "EU", None]


def test_a_column_that_counts_rows_is_left_out(capsys):
    assert read(",a,b\n0,5,6\n1,7,8\n").frame.columns == ["a", "b"]
    assert "counts rows: left out" in capsys.readouterr().err
    assert read(",a\n3,5\n1,7\n").frame.columns == ["column1", "a"]
    assert read("column1,a\n0,5\n1,7\n").frame.columns == ["column1", "a"]  # has a name


def test_without_a_header():
    refused("looks like data ('5.1')", "--no-header", "--header", text="5.1,3.5,a\n4.9,3.0,b\n")
    assert read("5.1,3.5,a\n4.9,3.0,b\n", header=False).frame.rows() == [
        (5.1, 3.5, "a"),
        (4.9, 3.0, "b"),
    ]
    assert read("400.5,401.5\n1,2\n", header=True).frame.columns == ["400.5", "401.5"]
    assert read("0,1\n1,2\n").frame.columns == ["0", "1"]  # pixels, years


def test_rows_are_counted_as_in_the_file():
    table = read('a,b\n1,"x\ny"\n\n2,z\n')
    assert [table.where(i) for i in range(3)] == [
        "data row 1 (line 2)",
        "data row 2 (line 4)",
        "data row 3 (line 5)",
    ]
    assert read("1,2\n3,4\n", header=False).where(1) == "data row 2 (line 2)"
    FRAME.write_parquet("data.parquet")
    assert read_table(Path("data.parquet")).where(1) == "row 2"


# ------------------------------------------------------------------------------------- bad files


def test_files_that_cannot_be_read():
    refused("there is no file", name="nowhere.csv")
    Path("folder.csv").mkdir()
    refused("is a folder", name="folder.csv")
    refused("empty", text="")
    refused("empty", text="\n\n  \n")
    refused("no rows", text="a,b\n")
    refused("no suffix of a table", "--format", text="a,b\n1,2\n", name="data.json")
    refused("not a Parquet file", text="a,b\n1,2\n", name="data.parquet")


def test_a_file_that_may_not_be_read(monkeypatch):
    # Root may read everything, so the answer of the system is made up.
    def forbid(self, *args, **more):
        raise PermissionError(13, "Permission denied")

    Path("data.csv").write_text("a\n1\n")
    monkeypatch.setattr(Path, "open", forbid)
    refused("permissions forbid it")


def test_text_that_is_no_table():
    refused("several columns named 'a'", "columns 1 and 3", text="a,b,a\n1,2,3\n")
    refused("3 fields in line 3", "2 columns", text="a,b\n1,2\n3,4,5\n6,7\n")
    refused("1 field in line 3", "2 columns", text="a,b\n1,2\n3\n6,7\n")
    refused("line 2", "is a quote not closed?", text='a,b,c\n"1,2,3\n4,5,6\n')
    refused("not in UTF-8", "byte 0xe9 in line 3", text="a,b\n1,x\n2,é\n".encode("latin-1"))
    refused("not in UTF-8", "line 1", text="é,b\n1,x\n".encode("latin-1"))
    refused("UTF-16", text="a,b\n1,2\n".encode("utf-16"))
    refused("no text", text=bytes(range(256)))


def test_quotes_that_are_no_quotes():
    said = "stray quote in line", "double those inside"
    refused(said[0] + " 1", said[1], text='a"b,c\nx,1\np,2\n')  # which would lose rows
    refused(said[0] + " 3", said[1], text='a,b\nx,1\ndisk,3.5"\ny,2\n')
    refused(said[0] + " 4", text='a,b\n"x\ny",1\ndisk,3.5"\ny,2"\n')
    assert read('a,b\nx"y"z,1\n"p""q",2\n').frame["a"].to_list() == ['x"y"z', 'p"q']
    assert read('"a\nb",c\nx,1\n').frame.columns == ["a\nb", "c"]


def test_a_null_character_anywhere():
    refused("is no text", text="a,b\n" + "1,2\n" * 30000 + "1,\0\n")


def test_names_that_are_patterns_to_polars():
    for name in ("*", "^.*$"):
        table = read(f"{name},b\n1,2\n3,4\n")
        assert table.as_written([name]).rows() == [("1",), ("3",)]
        assert some_columns(table.frame, [name]).rows() == [(1,), (3,)]


def test_columns_without_a_name():
    assert read("a,,c\n1,2,3\n").frame.columns == ["a", "column2", "c"]
    pl.DataFrame({"a": [1], "": [2]}).write_parquet("data.parquet")
    assert read_table(Path("data.parquet")).frame.columns == ["a", "column2"]
    pl.DataFrame({"column2": [1], "": [2]}).write_parquet("data.parquet")
    refused("a column without a name", name="data.parquet")


def test_digits_of_other_scripts_are_words():
    assert read("a,b\n1,2\n１,3\n").frame["a"].to_list() == ["1", "１"]


def test_a_long_cell():
    assert read(f'a,b\n{"x" * 200_000},"1"\ny,\n').frame["a"].str.len_chars()[0] == 200_000


def test_many_columns():
    n = 20_000
    names = ",".join(f"c{i}" for i in range(n))
    table = read(f"{names}\n{','.join(['01'] * n)}\n")
    assert table.frame.shape == (1, n)
    assert table.as_written(table.frame.columns).row(0)[:2] == ("01", "01")


def test_numbers_beyond_all_types():
    frame = read("a,b\n99999999999999999999,1e999\n-1,2\n").frame
    assert frame["a"].to_list() == [1e20, -1]
    assert frame["b"].to_list() == [float("inf"), 2]


def test_decimal_commas_are_told(capsys):
    read("a;b\n1,234;2\n")
    assert "commas in 'data.csv' are decimal: 1,234 is 1.234" in capsys.readouterr().err
    read("a;b\nx 1,2;1.5\n")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"PAR1 and no more", "Parquet"),
        (b"ARROW1 and no more", "Arrow"),
        (b"\xff\xff\xff\xff and no more", "Arrow"),
        (b"\x93NUMPY and no more", "NumPy"),
        (b"PK\x03\x04 and no more", "NumPy"),
    ],
)
def test_damaged_files(content, name):
    refused("cannot be read", name, text=content, name="data")


def test_damaged_gzip():
    refused("gzip", text=gzip.compress(b"a,b\n1,2\n" * 99)[:-12], name="data.csv.gz")


def test_arrays_that_are_no_tables():
    np.save("data.npy", np.zeros((2, 2, 2)))
    refused("shape (2, 2, 2)", name="data.npy")
    np.save("data.npy", np.zeros(2, dtype=complex))
    refused("complex128", "numbers", name="data.npy")
    np.save("data.npy", np.array([{}, {}]), allow_pickle=True)
    refused("cannot be read", name="data.npy")
    np.savez("data.npz", A=np.eye(2))
    refused("no array 'X'", "'A'", name="data.npz")
    np.savez("data.npz", X=np.eye(2), y=np.zeros(3))
    refused("y has shape (3,)", "2 rows", name="data.npz")
    np.save("data.npy", np.zeros((0, 3)))
    refused("no rows", name="data.npy")


def test_a_zip_of_something_else():
    import zipfile

    with zipfile.ZipFile("book.xlsx", "w") as archive:
        archive.writestr("sheet.xml", "<sheet/>")
    refused("save a sheet as CSV", name="book.xlsx")


def test_the_kind_asked_for():
    assert read("a,b\n1,2\n", "data.json", kind=Kind.csv).frame.width == 2
    assert read("a,b\tc\n1,2\t3\n", "data", kind=Kind.tsv).frame.columns == ["a,b", "c"]
    refused("not a Parquet file", text="a,b\n1,2\n", kind=Kind.parquet)
    FRAME.write_parquet("data.parquet")
    refused("begins like a Parquet file", name="data.parquet", kind=Kind.csv)
    refused("--no-header are for text", name="data.parquet", header=False)


# ---------------------------------------------------------------------------------------- output


def test_outputs_that_cannot_be():
    for path, said in [("x.xlsx", ".csv, .tsv"), ("no/x.csv", "'no' does not exist")]:
        with pytest.raises((ValueError, OSError), match=said):
            Destination.of(Path(path), None)
    with pytest.raises(ValueError, match="'kind' is text: write"):
        Destination.of(Path("x.npy"), None).write(FRAME)
    assert os.listdir() == []


def test_binary_is_not_written_to_a_terminal(monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stdout", terminal)
    with pytest.raises(ValueError, match="parquet is nothing for a terminal"):
        Destination.of(None, Kind.parquet)
    assert Destination.of(None, None).kind is Kind.csv


def test_classes_have_no_place_in_npy(capsys):
    frame = pl.DataFrame({"class": ["a", "b"], "x": [1.0, 2.0]})
    Destination.of(Path("x.npy"), None).write(frame, target="class")
    assert np.load("x.npy").tolist() == [[1.0], [2.0]]
    assert ".npz has room" in capsys.readouterr().err
    Destination.of(Path("x.npy"), None).write(frame[:, :1], target="class", is_matrix=False)
    assert np.load("x.npy").tolist() == ["a", "b"]


def test_types_that_text_cannot_hold():
    for column in (pl.Series([[1, 2]]), pl.Series([b"x"])):
        with pytest.raises(ValueError, match=r"column 'a' is of type .*: write .parquet"):
            Destination.of(Path("x.csv"), None).write(pl.DataFrame({"a": column}))
    assert os.listdir() == []


def test_gzip_is_the_same_every_time():
    for name in ("a.csv.gz", "b.csv.gz"):
        Destination.of(Path(name), None).write(FRAME)
    assert Path("a.csv.gz").read_bytes() == Path("b.csv.gz").read_bytes()
