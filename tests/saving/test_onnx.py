import json
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)

import vicinal
from vicinal import (
    CoincidenceClassifier,
    DivergenceNeighbors,
    LatentCoincidence,
    LocalComponents,
    NeighborhoodComponents,
)

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5)) * [1.0, 2.0, 0.1, 5.0, 1.0] + [0.0, 3.0, 0.0, -20.0, 1.0]
Y = (X[:, 0] + X[:, 1] > 3).astype(int)
NEW = X[:11] + 0.3


def run(path, points):
    session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(["Z"], {"X": points})[0]


@pytest.fixture
def exported(tmp_path):
    def export(model, points, **options):
        path = tmp_path / "model.onnx"
        vicinal.export_onnx(model, path, **options)
        return run(path, points)

    return export


@pytest.mark.parametrize(
    "model",
    [
        NeighborhoodComponents(2),
        LatentCoincidence(3, random_state=0),
        LocalComponents(),
        LocalComponents(gaussian="em"),
        make_pipeline(StandardScaler(), NeighborhoodComponents(2)),
        make_pipeline(StandardScaler(with_mean=False), NeighborhoodComponents(2)),
        make_pipeline(StandardScaler(with_std=False), "passthrough", LocalComponents()),
        make_pipeline(MinMaxScaler((-1, 2), clip=True), NeighborhoodComponents(2)),
        make_pipeline(MinMaxScaler(), MaxAbsScaler(), NeighborhoodComponents(2)),
        make_pipeline(RobustScaler(), PCA(3), NeighborhoodComponents(2)),
        make_pipeline(RobustScaler(with_centering=False), PCA(3, whiten=True), LocalComponents()),
        make_pipeline(RobustScaler(with_scaling=False), NeighborhoodComponents(2)),
        make_pipeline(NeighborhoodComponents(2), StandardScaler()),
    ],
    ids=str,
)
def test_the_graph_gives_what_transform_gives(model, exported):
    Z = model.fit(X, Y).transform(NEW)
    scale = np.abs(Z).max()
    found = exported(model, NEW)
    assert found.dtype == np.float64
    assert_allclose(found, Z, rtol=1e-12, atol=1e-12 * scale)
    single = exported(model, NEW.astype(np.float32), dtype="float32")
    assert single.dtype == np.float32
    assert_allclose(single, Z, rtol=0, atol=1e-5 * max(scale, np.abs(NEW).max()))


@given(
    A=arrays(np.float64, (2, 3), elements=st.floats(-1e3, 1e3)),
    points=arrays(
        np.float64, st.tuples(st.integers(0, 5), st.just(3)), elements=st.floats(-1e3, 1e3)
    ),
)
def test_any_map_and_any_number_of_rows(A, points, tmp_path_factory):
    model = NeighborhoodComponents(2)
    model.components_, model.n_features_in_ = A, 3
    path = tmp_path_factory.mktemp("onnx") / "model.onnx"
    vicinal.export_onnx(model, path)
    bound = np.abs(points).max(initial=0.0) * np.abs(A).max() + 1e-300
    assert_allclose(run(path, points), points @ A.T, rtol=1e-12, atol=1e-15 * bound)


def test_a_float32_model_has_a_float32_graph(exported):
    model = NeighborhoodComponents(2).fit(X.astype(np.float32), Y)
    found = exported(model, NEW.astype(np.float32))
    assert found.dtype == np.float32
    assert_allclose(found, model.transform(NEW.astype(np.float32)), rtol=1e-5, atol=1e-4)


def test_names_and_metadata(tmp_path):
    names = ["length", "<b>", "ç", "d", "e"]
    model = make_pipeline(StandardScaler(), NeighborhoodComponents(2))
    model.fit(pd.DataFrame(X, columns=names), Y)
    vicinal.export_onnx(model, tmp_path / "model")
    graph = onnx.load(tmp_path / "model")
    properties = {entry.key: entry.value for entry in graph.metadata_props}
    assert properties["vicinal"] == vicinal.__version__
    assert properties["model"] == "NeighborhoodComponents"
    assert json.loads(properties["feature_names"]) == names
    session = runtime.InferenceSession(tmp_path / "model")
    assert [(i.name, i.shape) for i in session.get_inputs()] == [("X", ["n", 5])]
    assert [(o.name, o.shape) for o in session.get_outputs()] == [("Z", ["n", 2])]
    assert [file.name for file in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize(
    "model",
    [
        CoincidenceClassifier(),
        DivergenceNeighbors(),
        StandardScaler(),
        make_pipeline(Normalizer(), NeighborhoodComponents(2)),
        make_pipeline(NeighborhoodComponents(2), LogisticRegression()),
        make_pipeline(NeighborhoodComponents(3), NeighborhoodComponents(2)),
        make_pipeline(StandardScaler(), PCA(2)),
    ],
    ids=str,
)
def test_what_has_no_linear_map_is_refused(model, tmp_path):
    model.fit(X, Y)
    with pytest.raises(
        (TypeError, ValueError), match=r"cannot be exported|must have one linear model"
    ):
        vicinal.export_onnx(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_wrong_arguments(tmp_path):
    model = NeighborhoodComponents(2)
    with pytest.raises(NotFittedError):
        vicinal.export_onnx(model, tmp_path / "model")
    with pytest.raises(ValueError, match="dtype='float16' is not one of"):
        vicinal.export_onnx(model.fit(X, Y), tmp_path / "model", dtype="float16")
    with pytest.raises(FileNotFoundError, match=r"the folder .* does not exist"):
        vicinal.export_onnx(model, tmp_path / "none" / "model")


def test_without_onnx(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'vicinal\[onnx\]'"):
        vicinal.export_onnx(NeighborhoodComponents(2).fit(X, Y), tmp_path / "model")
