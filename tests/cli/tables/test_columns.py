"""From tables to numbers: what is used, what is refused, and how it is told."""

from contextlib import contextmanager
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicinal.cli.tables.columns import Columns, Selection
from vicinal.cli.tables.labels import classes_of
from vicinal.cli.tables.reading import read_table
from vicinal.cli.tables.rows import prepare
from vicinal.cli.tables.table import Table
from vicinal.cli.wording import closest, plural, some

FLOWERS = """id,length,width,color,kind
f1,1.5,1,red,rose
f2,2.5,2,blue,tulip
f3,3.5,3,red,rose
f4,4.5,4,green,tulip
"""


def table(text=FLOWERS):
    Path("flowers.csv").write_text(text)
    return read_table(Path("flowers.csv"))


def chosen(a_table, *, target="kind", only=(), drop=("id",), one_hot=()):
    return Columns.chosen(a_table, Selection(only, drop, one_hot), target)


@contextmanager
def refused(*parts):
    with pytest.raises(ValueError) as told:  # noqa: PT011  (the parts are looked for below)
        yield told
    assert "\n" not in str(told.value)
    for part in parts:
        assert part in str(told.value)


def test_numbers_are_features_and_the_target_is_not():
    columns = chosen(table(), drop=("id", "color"))
    rows = prepare(table(), columns, with_target=True)
    assert columns.features == ["length", "width"]
    assert rows.X.dtypes == [pl.Float64, pl.Float64]
    assert rows.X.rows() == [(1.5, 1), (2.5, 2), (3.5, 3), (4.5, 4)]
    assert rows.y.tolist() == ["rose", "tulip", "rose", "tulip"]
    assert rows.y.dtype.kind == "U"


@pytest.mark.parametrize("only", [["length", "width"], ["length,width"], ["length, width"]])
def test_columns_can_be_named_in_several_ways(only):
    assert chosen(table(), only=only).sources == ("length", "width")


def test_a_name_with_a_comma_is_a_name():
    a_table = Table(pl.DataFrame({"a,b": [1], "a": [2], "b": [3]}), "it")
    assert chosen(a_table, target=None, drop=(), only=["a,b"]).sources == ("a,b",)
    assert chosen(a_table, target=None, drop=(), only=["a", "b"]).sources == ("a", "b")


def test_booleans_and_small_numbers_are_numbers():
    frame = pl.DataFrame({"a": [True, False], "b": pl.Series([1, 2], dtype=pl.UInt8)})
    a_table = Table(frame, "it")
    rows = prepare(a_table, chosen(a_table, target=None, drop=()))
    assert rows.X.rows() == [(1.0, 1.0), (0.0, 2.0)]


def test_single_precision_stays_single():
    a_table = Table(pl.DataFrame({"a": [0.5], "b": [1.5]}).cast(pl.Float32), "it", is_named=False)
    assert prepare(a_table, chosen(a_table, target=None, drop=())).X.dtype == np.float32


def test_words_are_refused_with_advice():
    with refused("column 'color' of 'flowers.csv' is text", "--one-hot color", "--drop color"):
        chosen(table())
    with refused("2 columns", "'id', 'color'", "--columns"):
        chosen(table(), drop=())
    with refused("text because of 'about 2' in data row 2 (line 3)"):
        chosen(table("a,b\n1,1\nabout 2,2\n3,3\n"), target=None, drop=())
    with refused("'when'", "a date or time", "--drop when"):
        chosen(Table(pl.DataFrame({"when": [date(2026, 1, 1)]}), "it"), target=None, drop=())
    with refused("'a'", "text, though it reads like numbers"):  # as Parquet can hold it
        chosen(Table(pl.DataFrame({"a": ["1", "2"]}), "it"), target=None, drop=())
    with refused("'a'", "empty"):
        chosen(table("a,b\n,1\n,2\n"), target=None, drop=())


def test_unknown_columns_are_refused_with_a_guess():
    for option in (
        {"target": "Kind"},
        {"only": ["widht"]},
        {"drop": ["ID"]},
        {"one_hot": ["colr"]},
    ):
        with refused("'flowers.csv' has no column", "Did you mean", "It has 'id', 'length'"):
            chosen(table(), **option)


def test_columns_that_cannot_be_meant():
    with refused("no columns left"):
        chosen(table(), only=["id"], drop=["id"])
    with refused("'kind' is the target"):
        chosen(table(), only=["kind"])
    with refused("--one-hot color", "not learned from"):
        chosen(table(), one_hot=["color"], drop=["id", "color"])
    with refused("--one-hot id", "30 different values in 30 rows", "--drop id"):
        many = "id,x\n" + "".join(f"r{i},{i}\n" for i in range(30))
        chosen(table(many), target=None, one_hot=["id"], drop=())


# ------------------------------------------------------------------------------------ categories


@pytest.mark.parametrize("one_hot", [["color"], ["all"]])
def test_categories_become_columns(one_hot):
    columns = chosen(table(), one_hot=one_hot)
    assert columns.categories == {"color": ["blue", "green", "red"]}
    assert columns.features == ["length", "width", "color=blue", "color=green", "color=red"]
    rows = prepare(table(), columns)
    assert rows.X["color=red"].to_list() == [1, 0, 1, 0]
    assert rows.X[:, 2:].sum_horizontal().to_list() == [1, 1, 1, 1]


def test_whole_numbers_can_be_categories():
    columns = chosen(table(), one_hot=["width"], drop=["id", "color"])
    assert columns.features == ["length", "width=1", "width=2", "width=3", "width=4"]
    floats = Table(table().frame.with_columns(pl.col("width").cast(pl.Float64)), "it")
    assert prepare(floats, columns).X["width=2"].to_list() == [0, 1, 0, 0]


def test_an_unknown_category_is_told_or_counts_as_none():
    columns = chosen(table(), one_hot=["color"])
    new = table(FLOWERS.replace("green", "white"))
    with refused("'color' of 'flowers.csv' has 'white' in data row 4 (line 5)", "--ignore-unknown"):
        prepare(new, columns)
    assert prepare(new, columns, ignore_unknown=True).X.rows()[3] == (4.5, 4, 0, 0, 0)


def test_a_category_must_not_make_a_column_twice():
    text = "color,color=red,x\nred,1,2\nblue,0,3\n"
    with refused("has a column 'color=red', and --one-hot would make another"):
        chosen(table(text), target=None, drop=(), one_hot=["color"])


def test_a_target_named_by_the_user_comes_first():
    np.savez("new.npz", X=np.array([[0.5, 1], [1.5, 2]]), y=np.array([3, 4]))
    a_table = read_table(Path("new.npz"))
    named = Columns.chosen(a_table, Selection(drop=["y"]), "x2")
    assert prepare(a_table, named, with_target=True).y.tolist() == [1, 2]
    own = Columns.chosen(a_table, Selection(), None)
    assert prepare(a_table, own, with_target=True).y.tolist() == [3, 4]
    other = Columns(("a", "b"), target="kind")  # of a model that was fitted to another table
    assert prepare(a_table, other, with_target=True).y.tolist() == [3, 4]


def test_columns_are_remembered():
    columns = chosen(table(), one_hot=["color"])
    assert Columns.remembered(None, columns.as_metadata()) == columns


# --------------------------------------------------------------------------------------- new data


def test_columns_are_found_by_name_in_any_order():
    columns = chosen(table(), drop=["id", "color"])
    new = table("more,width,length\nx,1,1.5\n")
    assert prepare(new, columns).X.rows() == [(1.5, 1)]


def test_lacking_columns_are_told():
    columns = chosen(table(), drop=["id", "color"])
    with refused("'flowers.csv' lacks 1 column", "'width'. Did you mean 'Width'?"):
        prepare(table("length,Width\n1,2\n"), columns)
    with refused("lacks 2 columns", "'length', 'width'"):
        prepare(table("a,b\n1,2\n"), columns)
    with refused("column 'width' of 'flowers.csv' is text, but the model needs numbers"):
        prepare(table("length,width\n1,x\n2,y\n"), columns)
    with refused("text because of 'x' in data row 2 (line 3), but the model needs numbers"):
        prepare(table("length,width\n1,1\n2,x\n3,3\n"), columns, drop_missing=True)


def test_matrices_are_matched_by_their_number_of_columns():
    columns = chosen(table(), drop=["id", "color"])
    np.save("new.npy", np.ones((2, 2)))
    assert prepare(read_table(Path("new.npy")), columns).X.columns == ["length", "width"]
    np.save("new.npy", np.ones((2, 3)))
    with refused("fitted with 2 features, 'new.npy' has 3"):
        prepare(read_table(Path("new.npy")), columns)


def test_columns_of_a_matrix_can_be_chosen_by_their_place():
    np.save("all.npy", np.arange(6.0).reshape(2, 3))
    np.save("two.npy", np.array([[0.0, 2], [3, 5]]))
    np.save("four.npy", np.ones((2, 4)))
    columns = chosen(read_table(Path("all.npy")), target=None, drop=["x2"])
    for name in ("all.npy", "two.npy"):  # as a whole, or without what was left out
        assert prepare(read_table(Path(name)), columns).X.tolist() == [[0, 2], [3, 5]]
    with refused("fitted with 2 features, 'four.npy' has 4"):
        prepare(read_table(Path("four.npy")), columns)


def test_a_model_without_names_takes_columns_in_their_order():
    unnamed = Columns(("x1", "x2"), is_named=False)
    rows = prepare(table("b,a\n1,2\n"), unnamed)
    assert rows.X.tolist() == [[1, 2]]
    assert prepare(table("x2,x1\n1,2\n"), unnamed).X.tolist() == [[2, 1]]  # here they have names
    with refused("fitted with 2 features, 'flowers.csv' has 3"):
        prepare(table("a,b,c\n1,2,3\n"), unnamed)


# ----------------------------------------------------------------------------------- missing values


def test_gaps_are_told_by_row_and_column():
    text = "a,b,c\n1,2,3\n,2,3\n1,nan,3\n1,2,inf\n1,2,\n"
    a_table = table(text)
    columns = chosen(a_table, target=None, drop=())
    with refused(
        "'flowers.csv' has 4 missing values",
        "'a' in data row 2 (line 3)",
        "'b' in data row 3 (line 4)",
        "'c' in data row 4 (line 5) (it is inf)",
        ", ...",
        "--drop-missing",
        "--drop a,b,c",
    ):
        prepare(a_table, columns, can_choose=True)
    with refused("leave out the rows (--drop-missing)") as told:
        prepare(a_table, columns)
    assert "--drop a" not in str(told.value)


def test_rows_with_gaps_can_be_left_out(capsys):
    a_table = table("a,b,kind\n1,2,x\n,2,x\n1,2,\n3,4,y\n")
    columns = chosen(a_table, drop=())
    rows = prepare(a_table, columns, with_target=True, drop_missing=True)
    assert rows.X.rows() == [(1, 2), (3, 4)]
    assert rows.y.tolist() == ["x", "y"]
    assert len(rows) == 2
    assert "2 rows with missing values left out, 2 remain" in capsys.readouterr().err
    assert len(prepare(a_table, columns, drop_missing=True).X) == 3  # the target is not needed
    with refused("1 missing value", "'kind' in data row 3"):
        prepare(table("a,b,kind\n1,2,x\n1,2,x\n1,2,\n"), columns, with_target=True)
    with refused("every row", "'a'"):
        prepare(table("a,b\n,1\nnan,2\n"), Columns(("a", "b")), drop_missing=True)


def test_gaps_elsewhere_do_not_matter():
    a_table = table("a,b\n1,\n2,3\n")
    assert len(prepare(a_table, chosen(a_table, target=None, only=["a"], drop=())).X) == 2


# ----------------------------------------------------------------------------------------- classes


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2], "i"),
        ([1.0, 2.0], "i"),
        ([True, False], "b"),
        (["a", "b"], "U"),
        (pl.Series(["a", "b"], dtype=pl.Categorical), "U"),
    ],
)
def test_what_classes_can_be(values, kind):
    classes = of_column(values)
    assert classes.dtype.kind == kind
    assert classes.tolist() == list(values)


def of_column(values):
    frame = pl.DataFrame({"y": values})
    return classes_of(Table(frame, "it"), "y", frame["y"].is_not_null())


def test_what_classes_cannot_be():
    with refused("'y' of it", "numbers with fractions (0.5, 1.5)", "bins"):
        of_column([0.5, 1.0, 1.5, 0.5])
    with refused("'y' of it is Date"):
        of_column([date(2026, 1, 1)])


# ------------------------------------------------------------------------------------------ wording


def test_wording():
    assert some(range(3), most=2) == "0, 1, ... (3 in all)"
    assert plural(0, "row") == "0 rows"


@given(st.text(min_size=1), st.lists(st.text(), max_size=5))
def test_a_guess_is_one_of_the_names(name, known):
    guess = closest(name, known)
    assert guess == "" or any(repr(one) in guess for one in known)
