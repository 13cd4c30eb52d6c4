"""Tensors in, tensors out, where scikit-learn is told to take arrays as they are."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline

from vicinal import (
    CoincidenceClassifier,
    DivergenceEmbedding,
    LatentCoincidence,
    LocalComponents,
    ModeClustering,
    NeighborhoodComponents,
    sample_pairs,
)
from vicinal.divergence import density_paths, pairwise
from vicinal.inputs.tensors import answers_in_kind, computes_in_place
from vicinal.local_components import log_density
from vicinal.nca import objective
from vicinal.neighborhood import ENGINES, Workload
from vicinal.neighborhood.arrays import device_of
from vicinal.rows.methods import check_limit

torch = pytest.importorskip("torch")

X, Y = load_iris(return_X_y=True)
X_TENSOR, Y_TENSOR = torch.tensor(X), torch.tensor(Y)

MODELS = {
    NeighborhoodComponents(2, max_iter=5): ("transform", "predict", "predict_proba"),
    LocalComponents(covariance="diag"): (
        "transform", "score_samples", "part_probabilities", "decision_function", "predict", "modes",
        "fit_predict",
    ),
    ModeClustering(random_state=0): ("predict", "fit_predict"),
    LatentCoincidence(2, max_iter=3, random_state=0): ("transform",),
    CoincidenceClassifier(max_iter=3): (
        "transform", "predict", "predict_proba", "predict_log_proba",
    ),
    DivergenceEmbedding(n_neighbors=20): ("transform", "fit_transform"),
}  # fmt: skip


@pytest.fixture
def dispatch(monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with config_context(array_api_dispatch=True):
        yield


# Updates are few, and flowers of two kinds: what is warned of is not what is tested.
pytestmark = pytest.mark.filterwarnings("ignore")


def fitted(model, *data):
    return clone(model).fit(*data)


def arrays_of(found):
    return list(found) if isinstance(found, tuple) else [found]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_methods_say_of_tensors_what_they_say_of_arrays(model, dispatch):
    expected, found = fitted(model, X, Y), fitted(model, X_TENSOR, Y_TENSOR)
    for name, value in vars(found).items():
        assert not isinstance(value, torch.Tensor), name
    for method in MODELS[model]:
        of_tensors = arrays_of(getattr(found, method)(X_TENSOR))
        of_arrays = arrays_of(getattr(expected, method)(X))
        for tensor, array in zip(of_tensors, of_arrays, strict=True):
            assert isinstance(tensor, torch.Tensor)
            assert isinstance(array, np.ndarray)
            assert_array_equal(tensor.numpy(), array)


def test_weights_pairs_and_scores(dispatch):
    weights = np.arange(len(X)) % 3.0
    model = NeighborhoodComponents(2, max_iter=3, regularization=0.0)
    expected = fitted(model, X, Y, weights)
    model.fit(X=X_TENSOR, y=Y_TENSOR, sample_weight=torch.tensor(weights))
    assert_array_equal(model.components_, expected.components_)
    pairs = np.array([[0, 1], [0, 100]])
    found = model.pair_distance(torch.tensor(pairs), X_TENSOR)
    assert_array_equal(found.numpy(), expected.pair_distance(pairs, X))
    assert isinstance(model.pair_score(pairs=X_TENSOR[torch.tensor(pairs)]), torch.Tensor)
    assert model.score(X_TENSOR, Y_TENSOR) == pytest.approx(expected.score(X, Y))


FUNCTIONS = {
    "density": lambda X, Y: log_density(X[:5], X, covariance=0.1),
    "objective": lambda X, Y: objective(X[:2], X, Y)[1],  # any map
    "pairs": lambda X, Y: sample_pairs(Y, 20, random_state=0),
    "paths": lambda X, Y: density_paths(X),
    "pairwise": lambda X, Y: pairwise(X),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_say_of_tensors_what_they_say_of_arrays(name, dispatch):
    function = FUNCTIONS[name]
    expected = arrays_of(function(X[::3], Y[::3]))
    found = arrays_of(function(X_TENSOR[::3], Y_TENSOR[::3]))
    for tensor, array in zip(found, expected, strict=True):
        assert isinstance(tensor, torch.Tensor)
        assert isinstance(array, np.ndarray)
        assert_array_equal(tensor.numpy(), array)


@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("model", [NeighborhoodComponents, LatentCoincidence])
def test_a_start_may_be_a_tensor(model, told, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    start = np.eye(4)[:2] + 0.1
    expected = model(2, init=start, max_iter=2, random_state=0).fit(X, Y)
    with config_context(array_api_dispatch=told):
        found = model(2, init=torch.tensor(start), max_iter=2, random_state=0).fit(X, Y)
    assert_array_equal(found.components_, expected.components_)


BY_NAME = {
    "density": lambda X, Y: log_density(Q=X[:5], X=X, covariance=0.1),
    "objective": lambda X, Y: objective(A=X[:2], X=X, y=Y)[1],
    "pairs": lambda X, Y: sample_pairs(n_pairs=20, y=Y, random_state=0),
    "paths": lambda X, Y: density_paths(X=X),
    "pairwise": lambda X, Y: pairwise(X=X),
}


@pytest.mark.parametrize("name", BY_NAME)
def test_arguments_by_name_are_answered_as_those_by_position(name, dispatch):
    for found in arrays_of(BY_NAME[name](X_TENSOR[::3], Y_TENSOR[::3])):
        assert isinstance(found, torch.Tensor)


def test_answers_are_of_the_kind_of_the_points_wherever_they_stand(dispatch):
    model = fitted(NeighborhoodComponents(2, max_iter=3), X, Y)
    pairs = np.array([[0, 1], [0, 100]])
    for tensors in (model.pair_distance(pairs, X_TENSOR), model.pair_distance(pairs, X=X_TENSOR)):
        assert isinstance(tensors, torch.Tensor)
    assert isinstance(model.pair_distance(torch.tensor(pairs), X), np.ndarray)
    assert isinstance(objective(model.components_, X_TENSOR, Y)[1], torch.Tensor)
    assert isinstance(log_density(X_TENSOR[:5], X, covariance=0.1), torch.Tensor)
    assert isinstance(log_density(Q=X[:5], X=X_TENSOR, covariance=0.1), np.ndarray)


def test_all_follows_the_points(dispatch):
    """As in scikit-learn: labels may be elsewhere, and of text there are no tensors."""
    model = fitted(NeighborhoodComponents(2, max_iter=3), X, Y_TENSOR)
    assert isinstance(model.predict(X), np.ndarray)
    names = np.array(["one", "two", "three"])[Y]
    model = fitted(NeighborhoodComponents(2, max_iter=3), X_TENSOR, names)
    assert isinstance(model.predict_proba(X_TENSOR), torch.Tensor)
    assert set(model.predict(X_TENSOR)) <= set(names)


def test_what_tensors_need_is_named(dispatch, monkeypatch):
    """Torch may be there without our extra: scikit-learn has its own copy of that library."""
    monkeypatch.setitem(sys.modules, "array_api_compat", None)
    with pytest.raises(ImportError, match=r"tensors need array-api-compat: .* 'vicinal\[gpu\]'"):
        NeighborhoodComponents(2, max_iter=3).fit(X_TENSOR, Y_TENSOR)


@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.int64, torch.bfloat16])
def test_tensors_may_have_a_memory_limit(dtype, told, monkeypatch):
    """It asked NumPy what a type of torch is."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    rows = torch.zeros((1000, 50), dtype=dtype)
    with config_context(array_api_dispatch=told):
        check_limit(NeighborhoodComponents(2, memory_limit="1GB"), "partial_fit", rows)
        model = NeighborhoodComponents(2, memory_limit=1000)
        with pytest.raises(ValueError, match="memory_limit=1000 is too little"):
            check_limit(model, "partial_fit", rows)


@pytest.mark.parametrize(
    ("dtype", "device", "held"),
    [(torch.float32, "cpu", 0), (torch.float32, "meta", 4), (torch.int64, "cpu", 8)],
)
def test_memory_is_needed_for_tensors_that_are_no_arrays_of_the_host(dtype, device, held, dispatch):
    rows, model = torch.zeros((10_000, 100), dtype=dtype, device=device), NeighborhoodComponents(2)
    precision = np.dtype(np.float64 if dtype == torch.int64 else np.float32)
    needs = model._memory_needs("partial_fit", rows.shape, precision)
    needed = sum(need.n_bytes for need in needs) + held * 1_000_000
    check_limit(model.set_params(memory_limit=needed + 1), "partial_fit", rows)
    with pytest.raises(ValueError, match="is too little"):
        check_limit(model.set_params(memory_limit=0.99 * needed), "partial_fit", rows)


def test_single_precision_stays(dispatch):
    model = fitted(NeighborhoodComponents(2, max_iter=3), X_TENSOR.float(), Y_TENSOR)
    assert model.components_.dtype == np.float32
    assert model.transform(X_TENSOR.float()).dtype == torch.float32


def test_pipelines_pass_tensors_on(dispatch):
    steps = make_pipeline(NeighborhoodComponents(2, max_iter=3), LocalComponents(covariance="diag"))
    found = fitted(steps, X_TENSOR, Y_TENSOR).score_samples(X_TENSOR)
    assert isinstance(found, torch.Tensor)


def test_unless_it_is_told_scikit_learn_makes_arrays_of_them():
    model = fitted(NeighborhoodComponents(2, max_iter=3), X_TENSOR, Y_TENSOR)
    assert isinstance(model.transform(X_TENSOR), np.ndarray)


def test_engines_are_chosen_for_the_device_of_the_points(dispatch, monkeypatch):
    class Asks:
        @answers_in_kind
        def fit(self, X):
            return Workload(1, 1, 1).device, device_of(X)

    assert Asks().fit(X_TENSOR) == ("cpu", "cpu")
    monkeypatch.setattr("vicinal.inputs.tensors.device_of", lambda tensor: "cuda")
    assert Asks().fit(X_TENSOR) == ("cuda", "cpu")
    assert Asks().fit(X) == ("cpu", "cpu")
    with pytest.raises(ValueError, match='engine="blocked" runs on cpu, and the data are on cuda'):
        NeighborhoodComponents(2, engine="blocked").fit(X_TENSOR, Y_TENSOR)


@pytest.fixture
def elsewhere(monkeypatch):
    """Tensors that say they are on another device, and an engine there."""
    from elsewhere import Elsewhere

    monkeypatch.setitem(ENGINES, "elsewhere", lambda work, tolerance, n_jobs: Elsewhere(n_jobs))
    monkeypatch.setattr("vicinal.inputs.tensors.device_of", lambda tensor: "cuda")


@pytest.mark.parametrize(
    "model",
    [
        NeighborhoodComponents(2, max_iter=5, engine="elsewhere"),
        LocalComponents(covariance="diag", engine="elsewhere"),
        LocalComponents(gaussian="search", engine="elsewhere"),
        LatentCoincidence(2, max_iter=3, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_points_on_a_device_are_mapped_there(model, dispatch, elsewhere):
    expected, found = fitted(model, X, Y), fitted(model, X_TENSOR, Y_TENSOR)
    assert_array_equal(found.components_, expected.components_)
    for tensor in (X_TENSOR, X_TENSOR.float()):
        mapped = found.transform(tensor)
        assert (type(mapped), mapped.dtype) == (torch.Tensor, tensor.dtype)
        assert_allclose(mapped.numpy(), expected.transform(X), rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="contains NaN"):
        found.transform(X_TENSOR * torch.nan)
    with pytest.raises(ValueError, match=r"X reaches .* too far"):
        found.transform(X_TENSOR * 1e307)


def test_classes_of_points_on_a_device(dispatch, elsewhere):
    model = fitted(NeighborhoodComponents(2, max_iter=5, engine="elsewhere"), X, Y)
    found = model.predict_proba(X_TENSOR)
    assert isinstance(found, torch.Tensor)
    assert_allclose(found.numpy(), model.predict_proba(X), rtol=1e-10)
    assert_array_equal(model.predict(X_TENSOR).numpy(), model.predict(X))


def test_points_of_the_host_are_arrays_to_every_method(dispatch):
    class Asks:
        @computes_in_place
        def transform(self, X):
            return type(X).__name__

    assert Asks().transform(X_TENSOR) == "ndarray"
