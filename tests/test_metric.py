import pickle
import pickletools
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from vicinal import LatentCoincidence, LocalComponents, NeighborhoodComponents

X, Y = load_iris(return_X_y=True)
FRAME = pd.DataFrame(X, columns=list("abcd"))
MODELS = {
    "nca": NeighborhoodComponents(2),
    "coincidence": LatentCoincidence(3, random_state=0),
    "local": LocalComponents(),
    "local and gaussian": LocalComponents(gaussian="search"),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    return MODELS[request.param].fit(FRAME, Y)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16, np.int64])
def test_the_step_gives_the_same_bits(model, kind):
    points = FRAME.astype(kind)
    found, expected = model.to_sklearn().transform(points), model.transform(points)
    assert found.dtype == expected.dtype
    assert_array_equal(found, expected)


def test_a_float32_map_stays_one(model):
    single = clone(model).fit(X.astype(np.float32), Y)
    found = single.to_sklearn().transform(X.astype(np.float32))
    assert found.dtype == np.float32
    assert_array_equal(found, single.transform(X.astype(np.float32)))


def test_the_step_is_a_fitted_estimator(model):
    step = model.to_sklearn()
    check_is_fitted(step)
    assert step.n_features_in_ == 4
    assert_array_equal(step.feature_names_in_, list("abcd"))
    assert len(step.get_feature_names_out()) == len(model.components_)
    assert step.get_feature_names_out()[0] == f"{type(step).__name__.lower()}0"
    assert not hasattr(clone(model).fit(X, Y).to_sklearn(), "feature_names_in_")
    with pytest.raises(ValueError, match="feature names should match"):
        step.transform(FRAME.rename(columns={"a": "z"}))


def test_the_step_is_a_copy(model):
    before = model.components_.copy()
    model.to_sklearn().components_[:] = 0.0
    assert_array_equal(model.components_, before)


def test_the_step_works_in_a_pipeline(model):
    scaler = StandardScaler().set_output(transform="pandas").fit(FRAME)
    step = model.to_sklearn().set_output(transform="pandas")
    Z = step.transform(scaler.transform(FRAME))
    assert isinstance(Z, pd.DataFrame)
    pipeline = make_pipeline(scaler, step, KNeighborsClassifier(3).fit(Z, Y))
    expected = KNeighborsClassifier(3).fit(Z, Y).predict(Z)
    assert_array_equal(pipeline.predict(FRAME), expected)


def test_an_inverse_transform_is_one(model):
    step = model.to_sklearn()
    if hasattr(step, "inverse_transform"):
        Z = step.transform(FRAME)
        again = pd.DataFrame(step.inverse_transform(Z), columns=FRAME.columns)
        assert_allclose(step.transform(again), Z, rtol=1e-8, atol=1e-8)


def test_pickles_of_the_step_do_not_name_vicinal(model):
    written = pickle.dumps(model.to_sklearn())
    words = [str(argument) for _, argument, _ in pickletools.genops(written)]
    assert not any("vicinal" in word for word in words)


@pytest.mark.parametrize("name", ["nca", "local"])
def test_the_step_runs_where_vicinal_is_not(name, tmp_path):
    model = clone(MODELS[name]).fit(X, Y)
    (tmp_path / "step").write_bytes(pickle.dumps(model.to_sklearn()))
    np.save(tmp_path / "X.npy", X)
    code = (
        "import sys, pickle, numpy\n"
        "sys.modules['vicinal'] = None\n"
        "step = pickle.load(open('step', 'rb'))\n"
        "numpy.save('Z.npy', step.transform(numpy.load('X.npy')))\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
    assert_array_equal(np.load(tmp_path / "Z.npy"), model.transform(X))


def test_only_fitted_models_have_a_step():
    with pytest.raises(NotFittedError):
        NeighborhoodComponents().to_sklearn()


def test_the_metric_is_the_distance_of_a_pair(model):
    metric = model.get_metric()
    pairs = np.stack([X[:30], X[60:90]], axis=1)
    assert_allclose([metric(u, v) for u, v in pairs], model.pair_distance(pairs), rtol=1e-10)
    assert type(metric(X[0], X[1])) is float
    assert metric(X[0], X[0]) == 0.0
    assert metric([1, 2, 3, 4], [4, 3, 2, 1]) == metric(np.arange(1.0, 5), np.arange(4.0, 0, -1))


def test_scikit_learn_takes_the_metric(model):
    Z = model.transform(FRAME)
    by_metric = KNeighborsClassifier(3, metric=model.get_metric()).fit(X[::2], Y[::2])
    by_map = KNeighborsClassifier(3).fit(Z[::2], Y[::2])
    found, expected = by_metric.kneighbors(X[1::2])[0], by_map.kneighbors(Z[1::2])[0]
    assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


def test_the_metric_is_a_copy_that_can_be_pickled(model):
    metric, again = model.get_metric(), clone(model).fit(FRAME, Y)
    frozen = again.get_metric()
    again.components_[:] = 0.0
    copied = pickle.loads(pickle.dumps(frozen))
    assert copied(X[0], X[60]) == frozen(X[0], X[60]) == metric(X[0], X[60]) > 0.0
    assert repr(metric) == f"MahalanobisMetric(n_features=4, n_components={len(model.components_)})"


def test_wrong_points_are_named(model):
    metric = model.get_metric()
    with pytest.raises(ValueError, match=r"u has shape \(3,\) and v \(3,\), expected \(4,\)"):
        metric([1, 2, 3], [1, 2, 3])
    with pytest.raises(ValueError, match=r"u has shape \(4,\) and v \(2, 4\).*use pair_distance"):
        metric(X[0], X[:2])
    with pytest.raises(NotFittedError):
        NeighborhoodComponents().get_metric()


def test_a_distance_whose_square_is_no_number_is_one():
    model = LocalComponents().fit(X)
    model.components_ = np.eye(4)
    assert_allclose(model.get_metric()(np.full(4, 1e200), np.zeros(4)), 2e200)
    assert model.get_metric()(np.full(4, 1e-200), np.zeros(4)) > 0.0
