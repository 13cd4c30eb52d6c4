import io

import numpy as np
import polars as pl
import pytest
from cli.helpers import done, refused
from polars.testing import assert_frame_equal

import vicinal


@pytest.fixture(scope="module")
def fresh(garden):
    return pl.read_csv(garden / "test.csv")


def numbers(frame):
    return frame.select("length", "width", "height")


def read_csv(text):
    return pl.read_csv(io.StringIO(text))


def test_classes_are_those_of_the_model(garden, fresh):
    model = vicinal.load(garden / "nca.skops")
    frame = read_csv(done("predict", garden / "nca.skops", garden / "test.csv").stdout)
    assert frame.columns == ["kind", "predicted"]
    assert frame["predicted"].to_list() == model.predict(numbers(fresh)).tolist()
    done("predict", garden / "nca.skops", garden / "test.csv", "-p", "-o", "out.parquet")
    frame = pl.read_parquet("out.parquet")
    assert frame.columns == ["kind", "predicted", "p_aster", "p_rose", "p_tulip"]
    np.testing.assert_array_equal(frame[:, 2:].to_numpy(), model.predict_proba(numbers(fresh)))


def test_predictions_as_an_array(garden, fresh):
    numbers(fresh).write_csv("new.csv")
    done("predict", garden / "nca.skops", "new.csv", "-o", "out.npy")
    expected = vicinal.load(garden / "nca.skops").predict(numbers(fresh))
    np.testing.assert_array_equal(np.load("out.npy"), expected)


def test_a_classifier_from_python(garden, fresh):
    model = vicinal.CoincidenceClassifier().fit(numbers(fresh), fresh["kind"])
    vicinal.save(model, "model.skops", metadata={"target": "kind"})
    frame = read_csv(done("predict", "model.skops", garden / "test.csv").stdout)
    assert frame["predicted"].to_list() == model.predict(numbers(fresh)).tolist()


def test_outliers_of_a_density(garden, fresh):
    far = fresh.with_columns(length=pl.col("length") + pl.Series([100.0] + [0.0] * 29))
    far.write_csv("far.csv")
    frame = read_csv(done("predict", garden / "local.skops", "far.csv").stdout)
    expected = vicinal.load(garden / "local.skops").predict(numbers(far))
    assert frame["predicted"].to_list() == expected.tolist()
    assert frame["predicted"][0] == -1
    assert (frame["predicted"][1:] == 1).mean() > 0.5


def test_models_without_classes_say_what_to_use_instead(garden):
    args = garden / "test.csv"
    refused("vicinal score --per-row", args=["predict", garden / "local.skops", args, "-p"])
    refused(
        "vicinal score tells",
        "vicinal transform",
        "nca",
        args=["predict", garden / "coincidence.skops", args],
    )


def test_an_embedding_is_not_sent_to_a_score_that_it_has_not(garden):
    options = ["-t", "kind", "--drop", "id", "--set", "gamma=0.1", "--save", "map.skops"]
    done("embed", garden / "train.csv", *options, "-o", "map.csv")
    said = refused("vicinal transform", args=["predict", "map.skops", garden / "test.csv"])
    assert "vicinal score" not in said


def test_unknown_categories(garden):
    train = pl.read_csv(garden / "train.csv").with_columns(color=pl.Series(["red", "blue"] * 30))
    train.write_csv("train.csv")
    fit = ["fit", "train.csv", "-t", "kind", "--drop", "id", "--one-hot", "all", "-o", "m.skops"]
    done(*fit)
    train[:3].with_columns(color=pl.Series(["red", "pink", "blue"])).write_csv("new.csv")
    refused("'pink' in data row 2 (line 3)", args=["predict", "m.skops", "new.csv"])
    assert done("predict", "m.skops", "new.csv", "--ignore-unknown").stdout.count("\n") == 4
    assert_frame_equal(
        read_csv(done("predict", "m.skops", "train.csv").stdout).select("kind"),
        train.select("kind"),
    )
