"""Tables that are read in parts, as those larger than memory are."""

import gzip
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from cli.helpers import done, run

import vicinal
from vicinal.rows import blocks
from vicinal.saving import describe

pytest.importorskip("pyarrow", reason="the extra files is not installed")

LIMIT = ("--memory-limit", "500MB")
LEARN = ("--drop", "id", "--target", "kind", "-d", "2", "--seed", "0")
SUFFIXES = [".csv", ".tsv", ".csv.gz", ".arrow", ".parquet", ""]


def refused(*args):
    """What is said on one line where a command does not do it."""
    result = run(*args)
    assert result.exit_code in (1, 2), result.output
    assert result.stderr.count("\n") == 1, result.stderr
    return result.stderr


@pytest.fixture
def train(garden, monkeypatch):
    """The training rows, of which a part holds few."""
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 500)
    return pl.read_csv(garden / "train.csv")


@pytest.fixture
def gappy(train):
    """The training rows with words to count as categories, and with gaps."""
    n = train.height
    color = pl.Series("color", ["red", "blue", "green", "red", "blue"] * (n // 5))
    width = train["width"].set(pl.Series([i in (3, 40) for i in range(n)]), None)
    kind = train["kind"].set(pl.Series([i == 21 for i in range(n)]), None)
    return train.with_columns(width, kind, color)


def written(frame, suffix=".parquet", name="train"):
    """The rows in a file of a kind; of a folder, in two."""
    path = Path(f"{name}{suffix}")
    if suffix == ".csv":
        frame.write_csv(path)
    elif suffix == ".csv.gz":
        path.write_bytes(gzip.compress(frame.write_csv().encode()))
    elif suffix == ".tsv":
        frame.write_csv(path, separator="\t")
    elif suffix == ".arrow":
        frame.write_ipc(path)
    elif suffix == "":
        path.mkdir()
        frame[:50].write_parquet(path / "a.parquet")
        frame[50:].write_parquet(path / "b.parquet")
    else:
        frame.write_parquet(path)
    return path


def table_in(path):
    path = Path(path)
    if path.suffix == ".parquet":
        return pl.read_parquet(path)
    if path.suffix == ".arrow":
        return pl.read_ipc(path)
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            return pl.DataFrame(arrays["X"]).with_columns(y=pl.Series(arrays["y"].tolist()))
    if path.suffix == ".npy":
        return pl.DataFrame(np.load(path))
    return pl.read_csv(path, separator="\t" if path.suffix == ".tsv" else ",")


def assert_same_tables(one, other):
    found, expected = table_in(one), table_in(other)
    assert found.columns == expected.columns
    assert found.dtypes == expected.dtypes
    for column in expected:
        if column.dtype.is_float():
            np.testing.assert_allclose(found[column.name], column, rtol=1e-9)
        else:
            assert found[column.name].to_list() == column.to_list()


def assert_same_models(one, other):
    """Both saved with the same words about their table, and alike to rounding."""
    found, expected = vicinal.load(one), vicinal.load(other)
    assert type(found) is type(expected)
    about = [describe(path).metadata for path in (one, other)]
    for key in ("columns", "named", "categories", "target", "n_candidates", "rows"):
        assert about[0][key] == about[1][key]
    inner, wanted = (getattr(m, "steps", [(0, m)])[-1][1] for m in (found, expected))
    np.testing.assert_allclose(inner.components_, wanted.components_, rtol=1e-5, atol=1e-8)
    names = [getattr(model, "feature_names_in_", None) for model in (found, expected)]
    np.testing.assert_array_equal(*names)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_fit_is_that_of_the_whole_table(train, suffix):
    table = written(train, suffix)
    done("fit", table, *LEARN, "--no-standardize", *LIMIT, "-o", "parts.skops")
    found = vicinal.load("parts.skops")
    expected = vicinal.NeighborhoodComponents(2, random_state=0)
    # Row by row: sums over rows that lie column by column are rounded otherwise.
    X = np.ascontiguousarray(train.select("length", "width", "height").to_numpy())
    expected.fit(X, train["kind"].to_numpy().astype(str))
    np.testing.assert_array_equal(found.components_, expected.components_)
    assert found.feature_names_in_.tolist() == ["length", "width", "height"]
    assert found.memory_limit == "500MB"
    assert "length" in done("info", "parts.skops").stdout


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--standardize",),
        ("--no-standardize",),
        ("--one-hot", "color"),
        ("--one-hot", "all", "--drop-missing"),
        ("--test-size", "0.3"),
        ("--columns", "width,length", "--test-size", "0.3", "--drop-missing"),
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_fits_with_options_are_those_of_the_whole_table(train, gappy, suffix, options):
    frame = gappy if "--drop-missing" in options else gappy.with_columns(*train)
    table = written(frame if "--one-hot" in options else frame.drop("color"), suffix)
    learn = ["fit", table, *LEARN, *options]
    in_parts = done(*learn, *LIMIT, "-o", "parts.skops")
    whole = done(*learn, "-o", "whole.skops")
    assert_same_models("parts.skops", "whole.skops")
    assert in_parts.stderr == whole.stderr  # what was done, and what was left out
    if "--test-size" in options:
        parts, all_rows = (describe(f"{name}.skops").metadata for name in ("parts", "whole"))
        assert parts["test"] == all_rows["test"]


@pytest.mark.parametrize(
    "options",
    [
        ("--model", "local", "--drop", "id,kind", "--test-size", "0.2"),
        ("--model", "coincidence", "--drop", "id", "--target", "kind"),
    ],
)
def test_other_models_are_those_of_the_whole_table(train, options):
    table, options = written(train), (*options, "--seed", "0")
    done("fit", table, *options, *LIMIT, "-o", "parts.skops")
    done("fit", table, *options, "-o", "whole.skops")
    assert_same_models("parts.skops", "whole.skops")


@pytest.mark.parametrize("out", [".csv", ".tsv", ".csv.gz", ".parquet", ".arrow", ".npy", ".npz"])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_results_are_written_in_parts(train, garden, suffix, out):
    """With what is passed on; the model is a pipeline that standardizes."""
    table = written(train.with_columns(pl.int_range(pl.len()).alias("number")), suffix)
    keep = ("--keep", "number") if out in (".npy", ".npz") else ("--keep", "id,number")
    for command in ("transform", "predict"):
        if command == "predict" and out in (".npy", ".npz"):
            continue
        asked = (command, garden / "nca.skops", table, *keep)
        in_parts = done(*asked, *LIMIT, "-o", f"parts{out}")
        whole = done(*asked, "-o", f"whole{out}")
        assert_same_tables(f"parts{out}", f"whole{out}")
        assert in_parts.stderr == whole.stderr


def test_words_stay_as_they_are_written(garden, train):
    """007 is no number, in all parts, though it is one in some."""
    zeros = pl.Series("code", [str(i) for i in range(59)] + ["007"])
    table = written(train.with_columns(zeros, note=pl.lit(" x ")), ".csv")
    asked = ("transform", garden / "nca.skops", table, "--keep-all")
    for out in (".csv", ".parquet"):
        done(*asked, *LIMIT, "-o", f"parts{out}")
        done(*asked, "-o", f"whole{out}")
        assert_same_tables(f"parts{out}", f"whole{out}")
    assert table_in("parts.parquet")["code"][-1] == "007"


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("out", [".csv", ".npy"])
def test_rows_with_gaps_are_left_out(gappy, garden, suffix, out):
    table = written(gappy.drop("kind"), suffix)
    asked = ("transform", garden / "nca.skops", table)
    in_parts = done(*asked, "--drop-missing", *LIMIT, "-o", f"parts{out}")
    whole = done(*asked, "--drop-missing", "-o", f"whole{out}")
    assert in_parts.stderr == "vicinal: 2 rows with missing values left out, 58 remain\n"
    assert in_parts.stderr == whole.stderr
    assert_same_tables(f"parts{out}", f"whole{out}")
    assert "'width' in row 4." in refused(*asked, *LIMIT)
    none = pl.DataFrame({"length": [None, 1.0], "width": [1.0, None], "height": [1.0, 2.0]})
    none.write_parquet("none.parquet")
    told = refused("transform", garden / "nca.skops", "none.parquet", "--drop-missing", *LIMIT)
    assert "every row of 'none.parquet' lacks something" in told


def test_categories_are_known_again(train, gappy):
    table = written(gappy.with_columns(train))
    done("fit", table, *LEARN, "--one-hot", "color", *LIMIT, "-o", "parts.skops")
    done("transform", "parts.skops", table, *LIMIT, "-o", "parts.csv")
    done("transform", "parts.skops", table, "-o", "whole.csv")
    assert_same_tables("parts.csv", "whole.csv")
    other = written(
        gappy.with_columns(*train, color=pl.Series(["red"] * 55 + ["pink"] * 5)), name="other"
    )
    told = refused("transform", "parts.skops", other, *LIMIT)
    assert "'pink' in row 56, a category that the model has not seen" in told
    done("transform", "parts.skops", other, *LIMIT, "--ignore-unknown", "-o", "other.csv")
    told = refused("fit", table, *LEARN[2:], "--one-hot", "id", *LIMIT, "-o", "a.skops")
    assert "60 different values in 60 rows are no categories" in told


@pytest.mark.parametrize("family", ["nca", "local"])
def test_scores_are_those_of_the_whole_table(train, gappy, garden, family):
    model = garden / f"{family}.skops"
    table = written(gappy)
    asked = ("score", model, table, "--drop-missing")
    assert (
        done(*asked, *LIMIT, "--json").stdout.splitlines()[0]
        == done(*asked, "--json").stdout.splitlines()[0]
    )
    done(*asked, *LIMIT, "--per-row", "--keep", "id", "-o", "parts.csv")
    done(*asked, "--per-row", "--keep", "id", "-o", "whole.csv")
    assert_same_tables("parts.csv", "whole.csv")


def test_arrays_have_columns_by_their_places(train):
    X = np.ascontiguousarray(train.select("length", "width", "height").to_numpy())
    y = train["kind"].rank("dense").to_numpy()
    np.save("train.npy", np.column_stack([X, y]))
    learn = ("--target", "x4", "-d", "2", "--seed", "0", "--no-standardize")
    done("fit", "train.npy", *learn, *LIMIT, "-o", "a.skops")
    expected = vicinal.NeighborhoodComponents(2, random_state=0).fit(X, y)
    np.testing.assert_array_equal(vicinal.load("a.skops").components_, expected.components_)
    done("transform", "a.skops", "train.npy", *LIMIT, "-o", "parts.npz")
    done("transform", "a.skops", "train.npy", "-o", "whole.npz")
    assert_same_tables("parts.npz", "whole.npz")
    zarr = pytest.importorskip("zarr", reason="the extra files is not installed")
    zarr.create_array("train.zarr", data=np.column_stack([X, y]), chunks=(7, 4))
    done("fit", "train.zarr", *learn, "-o", "b.skops")
    np.testing.assert_array_equal(vicinal.load("b.skops").components_, expected.components_)
    done("fit", "train.npy", *learn[:-1], "--standardize", *LIMIT, "-o", "a.skops")
    done("fit", "train.npy", *learn[:-1], "--standardize", "-o", "b.skops")
    assert_same_models("a.skops", "b.skops")


@pytest.mark.parametrize("dtype", ["f2", ">f4", ">f8", "g"])
def test_fits_to_arrays_of_any_numbers_are_those_of_the_whole_table(train, dtype):
    X = train.select("length", "width", "height").to_numpy()
    y = train["kind"].rank("dense").to_numpy() > 1
    np.save("train.npy", np.column_stack([X, y]).astype(dtype))
    learn = ("fit", "train.npy", "--target", "x4", "-d", "1", "--seed", "0", "--no-standardize")
    done(*learn, *LIMIT, "-o", "parts.skops")
    done(*learn, "-o", "whole.skops")
    assert_same_models("parts.skops", "whole.skops")
    assert_same_precision("parts.skops", "whole.skops")


def assert_same_precision(*paths):
    first, second = (vicinal.load(path).components_.dtype for path in paths)
    assert first == second


@pytest.fixture
def store():
    """Objects in memory, by their URLs."""
    fsspec = pytest.importorskip("fsspec", reason="the extra files is not installed")
    found = fsspec.filesystem("memory")
    yield found
    found.store.clear()
    found.pseudo_dirs[:] = [""]


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet", ".npy"])
def test_tables_of_a_store(train, store, suffix):
    if suffix == ".npy":
        table = Path("train.npy")
        numbers = train.select("length", "width", "height").to_numpy()
        labeled = np.column_stack([numbers, train["kind"].rank("dense")])
        np.save(table, np.ascontiguousarray(labeled))
        learn = ("--target", "x4", "--seed", "0")
    else:
        table, learn = written(train, suffix), LEARN
    url = f"memory://a//b/train{suffix}"  # two slashes are a name, too
    store.pipe(f"/a//b/train{suffix}", table.read_bytes())
    done("fit", url, *learn, "-o", "store.skops")
    done("fit", table, *learn, "-o", "file.skops")
    assert_same_models("store.skops", "file.skops")
    assert describe("store.skops").metadata["data"] == table.name
    done("transform", "store.skops", url, "-o", "memory://results/out.csv")
    done("transform", "store.skops", table, "-o", "file.csv")
    Path("store.csv").write_bytes(store.cat("/results/out.csv"))
    assert_same_tables("store.csv", "file.csv")
    done("score", "store.skops", url)


def test_what_a_store_does_not_have(train, store, garden):
    told = refused("fit", "memory://nowhere.csv", *LEARN, "-o", "a.skops")
    assert "there is no file 'memory://nowhere.csv'" in told
    assert "is a URL" in refused("compare", "memory://nowhere.csv", "-t", "kind")
    store.pipe("/out.csv", b"before")
    bad = train.with_columns(width=pl.Series([1.0] * 59 + [None])).drop("kind")
    refused("transform", garden / "nca.skops", written(bad), *LIMIT, "-o", "memory://out.csv")
    assert store.cat("/out.csv") == b"before"


@pytest.mark.parametrize(
    "text",
    [
        "a,b,kind\n1,2,x\n3,NA,y\n5, 6 ,x\n-1,2.5,y\n2,2,x\n0,1,y\n",
        "\n\na;b;kind\n1;2;x\n3;4;y\n5;6;x\n2;1;y\n",
        "\ufeffa,b,kind\n1,true,7\n2,false,007\n3,true,7\n4,true,007\n",
        ",a,kind\n0,1.5,x\n1,2,y\n2,2.5,x\n3,3,y\n",
        '"a\nb", c ,kind\n1,2,"x, y"\n3,4,z\n5,6,"x, y"\n2,1,z\n',
        "a,kind\n1e3,1\n2,2\n3.5,1\n,2\n7,1\n8,2\n",
        "a,b,kind\n1,True,x\n2,False,y\n3,TRUE,x\n4,FALSE,y\n5,true,x\n",
        "a,kind\n1,True\n2,False\n3,True\n4,False\n5,True\n",
    ],
)
def test_texts_are_understood_as_whole_ones(text, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 40)
    Path("text.csv").write_text(text, encoding="utf-8")
    learn = ("fit", "text.csv", "-t", "kind", "--drop-missing", "--seed", "0", "-d", "1")
    in_parts = done(*learn, *LIMIT, "-o", "parts.skops")
    whole = done(*learn, "-o", "whole.skops")
    assert_same_models("parts.skops", "whole.skops")
    classes = [vicinal.load(f"{name}.skops").classes_ for name in ("parts", "whole")]
    np.testing.assert_array_equal(*classes)
    assert {*in_parts.stderr.splitlines()} == {*whole.stderr.splitlines()}
    for out in (".csv", ".parquet"):
        asked = ("predict", "whole.skops", "text.csv", "--keep-all", "--drop-missing")
        done(*asked, *LIMIT, "-o", f"parts{out}")
        done(*asked, "-o", f"whole{out}")
        assert_same_tables(f"parts{out}", f"whole{out}")


def test_a_quote_that_is_not_closed():
    lines = ["a,kind", "1,x", '2,"y', "3,x", "4,y", "5,x", ""]
    Path("text.csv").write_text("\n".join(lines))
    for limit in ((), LIMIT):
        said = refused("fit", "text.csv", "-t", "kind", *limit, "-o", "a.skops")
        assert "'text.csv' has a stray quote" in said


def test_a_text_without_names(train):
    table = Path("bare.csv")
    train.drop("id").write_csv(table, include_header=False)
    assert "looks like data" in refused("fit", table, "-t", "x4", *LIMIT, "-o", "a.skops")
    learn = ("fit", table, "--no-header", "-t", "x4", "--seed", "0")
    done(*learn, *LIMIT, "-o", "parts.skops")
    done(*learn, "-o", "whole.skops")
    assert_same_models("parts.skops", "whole.skops")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--model", "coincidence", "--test-size", "0.2"), "--test-size: this model is judged by"),
        (("--memory-limit", "much"), "memory_limit='much' is no size"),
        (("--memory-limit", "1MB"), "raise the limit"),
        (("--set", "memory_limit=1GB"), "--set memory_limit: --memory-limit has set it already"),
        (("--memory-limit", "200MB", "--set", "batching=full"), None),
    ],
)
def test_what_cannot_be_done_in_parts(train, options, why):
    table = written(train)
    learn = [one for one in LEARN if one not in ("-d", "2")]
    limit = () if "--memory-limit" in options else LIMIT
    if why is None:
        done("fit", table, *learn, *options, "-o", "a.skops")  # so few rows have room
    else:
        assert why in refused("fit", table, *learn, *limit, *options, "-o", "a.skops")


def test_what_is_judged_by_neighbors_has_no_parts(train, garden):
    told = refused("score", garden / "coincidence.skops", written(train), *LIMIT)
    assert "nearest neighbors" in told
    assert "among all rows at once" in told


def test_words_have_no_length_before_the_end(train, garden):
    table = written(train.drop("kind"))
    told = refused("predict", garden / "nca.skops", table, *LIMIT, "-o", "a.npy")
    assert "words of one length" in told
    assert not Path("a.npy").exists()


def test_errors_name_the_file(train):
    learn = (*LEARN, *LIMIT)
    Path("bad.parquet").write_bytes(b"nothing of the kind")
    assert "bad.parquet' cannot be read" in refused("fit", "bad.parquet", *learn, "-o", "a.skops")
    train.with_columns(pl.lit("x").alias("width")).write_csv("words.csv")
    told = refused("fit", "words.csv", *learn, "-o", "a.skops")
    assert "column 'width' of 'words.csv' is text; use --one-hot width" in told
    Path("ragged.csv").write_text("a,b\n1,2\n3\n")
    told = refused("fit", "ragged.csv", "-m", "local", *LIMIT, "-o", "a.skops")
    assert "'ragged.csv' cannot be read as a table" in told
    assert "standard input cannot be read twice" in refused("fit", "-", *learn, "-o", "a.skops")
    assert "there is no file 'a.npz'" in refused("fit", "a.npz", *learn, "-o", "a.skops")
    np.savez("a.npz", X=np.eye(3))
    assert "cannot be read in parts" in refused("fit", "a.npz", *learn, "-o", "a.skops")
    Path("empty.csv").write_text("a,b\n")
    assert "'empty.csv' has no rows" in refused("fit", "empty.csv", *learn, "-o", "a.skops")
    written(train, "")
    train.drop("width").write_parquet("train/c.parquet")
    told = refused("fit", "train", *learn, "-o", "a.skops")
    assert "c.parquet lacks the column 'width'" in told


@pytest.mark.parametrize("names", ["länge,b,kind", "a,b,kind\n1,2,früh"])
def test_a_text_that_is_not_in_utf_8(train, names):
    """Columns would be learned from under names that nobody gave them."""
    Path("old.csv").write_bytes(f"{names}\n1,2,x\n2,3,y\n".encode("latin-1"))
    told = refused("fit", "old.csv", "--target", "kind", "-o", "model.skops", *LIMIT)
    assert told.startswith("vicinal: 'old.csv' is not in UTF-8 (byte 0x")
    assert not Path("model.skops").exists()
