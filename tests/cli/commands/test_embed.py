import io
import os

import numpy as np
import polars as pl
import pytest
from cli.helpers import assert_one_line, done, refused
from sklearn.preprocessing import StandardScaler

from vicinal import DivergenceEmbedding

OPTIONS = ("-t", "kind", "--drop", "id", "--seed", "0", "--set", "gamma=0.1")


def embedded(garden, standardize=True, **parameters):
    X = pl.read_csv(garden / "train.csv").select("length", "width", "height").to_numpy()
    X = StandardScaler().fit_transform(X) if standardize else X
    return DivergenceEmbedding(random_state=0, gamma=0.1, **parameters).fit_transform(X)


def test_coordinates_are_those_of_the_estimator(garden):
    result = done("embed", garden / "train.csv", *OPTIONS)
    frame = pl.read_csv(io.StringIO(result.stdout))
    assert frame.columns == ["kind", "component1", "component2"]
    np.testing.assert_array_equal(frame[:, 1:].to_numpy(), embedded(garden))
    assert result.stderr == ""


@pytest.mark.parametrize("method", ["laplacian", "mds"])
def test_options_reach_the_estimator(garden, method):
    options = [
        "--method",
        method,
        "--divergence",
        "bhattacharyya",
        "-d",
        "1",
        "-k",
        "12",
        "-j",
        "1",
    ]
    done("embed", garden / "train.csv", *OPTIONS, *options, "--no-standardize", "-o", "out.npy")
    expected = embedded(
        garden,
        standardize=False,
        method=method,
        divergence="bhattacharyya",
        n_components=1,
        n_neighbors=12,
    )
    np.testing.assert_array_equal(np.load("out.npy"), expected)


def test_every_choice_on_the_command_line_is_one_of_the_estimator():
    from vicinal.cli.commands.embed import Divergence, Method
    from vicinal.divergence.divergences import DIVERGENCES
    from vicinal.divergence.learners import LEARNERS

    assert {method.value for method in Method} == set(LEARNERS)
    assert {divergence.value for divergence in Divergence} == set(DIVERGENCES)


def test_a_table_without_classes_and_columns_to_pass_on(garden):
    args = ["embed", garden / "train.csv", "--columns", "length,width,height", "--keep", "id"]
    result = done(*args, "--set", "gamma=0.1", "-o", "out.parquet")
    assert result.stdout == ""
    assert pl.read_parquet("out.parquet").columns == ["id", "component1", "component2"]


def test_embed_refuses(garden):
    data = garden / "train.csv"
    refused("is text", "--drop id", args=["embed", data, "-t", "kind"])
    refused("--method has set it", args=["embed", data, *OPTIONS, "--set", "method=lle"], code=2)
    refused("n_neighbors=", args=["embed", data, *OPTIONS, "-k", "0"])
    refused("gamma='much'", args=["embed", data, *OPTIONS[:-1], "gamma=much"])
    refused("'no' does not", args=["embed", data, *OPTIONS, "--save", "no/m.skops"])
    assert os.listdir() == []


def test_a_graph_in_pieces_is_one_warning(garden):
    import warnings

    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(20, 2)), rng.normal(size=(20, 2)) + 1e4])
    np.save("far.npy", X)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        options = ["--set", "n_graph_neighbors=5", "--set", "gamma=0.1", "-k", "5"]
        result = done("embed", "far.npy", *options, "-o", "out.npy")
    assert_one_line(result.stderr, "vicinal: warning: ")
