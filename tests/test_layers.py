"""Layers of torch with a learned map, against `transform`."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from vicinal import LatentCoincidence, LocalComponents, NeighborhoodComponents

X, Y = load_iris(return_X_y=True)
MODELS = {
    "nca": NeighborhoodComponents(2),
    "nca, all dimensions": NeighborhoodComponents(),
    "coincidence": LatentCoincidence(3, random_state=0),
    "local": LocalComponents(),
    "local and gaussian": LocalComponents(gaussian="search"),
    "local, diagonal": LocalComponents(covariance="diag"),
    "local, spherical": LocalComponents(covariance="spherical"),
    "local, low rank": LocalComponents(covariance="low_rank"),
    "local, in parts": LocalComponents(n_mixture=2, random_state=0),
}


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="the extra gpu is not installed")


@pytest.fixture(scope="module", params=MODELS)
def estimator(request):
    return MODELS[request.param]


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_layer_maps_as_the_model_does(estimator, kind, torch):
    """Far from zero, too: nothing is centered."""
    points = (X + 30).astype(kind)
    model = clone(estimator).fit(points, Y)
    layer = model.to_torch()
    assert isinstance(layer, torch.nn.Linear)
    assert layer.bias is None
    assert layer.weight.requires_grad
    assert layer.weight.dtype == getattr(torch, model.components_.dtype.name)
    expected = model.transform(points)
    found = layer(torch.from_numpy(points).to(layer.weight.dtype)).detach().numpy()
    sizes = np.abs(points) @ np.abs(model.components_).T
    assert_allclose(found, expected, rtol=0, atol=8 * np.finfo(kind).eps * sizes.max())


@pytest.fixture(scope="module")
def fitted():
    return NeighborhoodComponents(2).fit(X, Y)


def test_a_layer_is_a_copy(fitted, torch):
    before = fitted.components_.copy()
    layer = fitted.to_torch()
    with torch.no_grad():
        layer.weight.zero_()
    assert_array_equal(fitted.components_, before)


def test_a_layer_learns(fitted, torch):
    layer = fitted.to_torch()
    layer(torch.from_numpy(X)).square().sum().backward()
    assert_allclose(layer.weight.grad.numpy(), 2 * fitted.components_ @ X.T @ X)


def test_a_layer_leaves_the_seed_alone(fitted, torch):
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    fitted.to_torch()
    assert torch.equal(torch.rand(2), expected)


def test_a_map_in_any_order_of_memory_is_taken(fitted, torch):
    model = clone(fitted).fit(X, Y)
    model.components_ = model.components_[::-1, ::-1]
    assert_array_equal(model.to_torch().weight.detach().numpy(), model.components_)


def test_a_missing_library_is_named(fitted, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"to_torch needs torch: pip install 'vicinal\[gpu\]'"):
        fitted.to_torch()
    with pytest.raises(NotFittedError):
        LocalComponents().to_torch()
