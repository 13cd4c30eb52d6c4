"""Local components' equations over tensors: what NumPy gives, points staying where they are."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.equations import (
    each_left_out,
    expected_scatter,
    leave_one_out,
    log_density,
)
from vicinal.local_components.low_rank import LowRankShape
from vicinal.local_components.mixture.equations import (
    look_around,
    responsibilities,
    wide_moments,
)
from vicinal.local_components.shapes import DiagonalShape, Shape
from vicinal.neighborhood import GAUSSIAN, Student
from vicinal.neighborhood.blocked import BlockedEngine

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("array_api_compat", reason="array-api-compat is not installed")

ENGINE = BlockedEngine(1, compiled=False)
LAWS = (GAUSSIAN, Student(3.0))


def some_points(weighted, seed=0, n=40):
    rng = np.random.default_rng(seed)
    weights = rng.choice([0.5, 1.0, 3.0], n) if weighted else None
    return WeightedPoints(rng.normal(size=(n, 3)), weights)


def there(points, dtype=torch.float64):
    weights = None if points.weights is None else torch.tensor(points.weights)
    return WeightedPoints(torch.tensor(points.X, dtype=dtype), weights)


def shapes(law):
    rng = np.random.default_rng(1)
    factor = np.eye(3) + 0.1 * rng.normal(size=(3, 3))
    directions = np.linalg.qr(rng.normal(size=(3, 3)))[0][:1]
    return {
        "full": Shape(factor, 3, law),
        "gaussian": Shape(factor, 2, law),
        "diagonal": DiagonalShape(np.array([0.5, 1.0, 2.0]), law),
        "low rank": LowRankShape(directions, np.array([2.0]), 0.5, law),
    }


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("kind", ["full", "gaussian", "diagonal", "low rank"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("copies_count", [False, True])
def test_an_e_step_is_that_of_numpy(law, kind, weighted, copies_count):
    shape, points = shapes(law)[kind], some_points(weighted)
    keys, own = some_points(weighted, seed=2, n=30), np.where(np.arange(40) < 30, np.arange(40), -1)
    for others in ((None, None), (keys, None), (keys, own)):
        expected = expected_scatter(shape, ENGINE, points, *others, copies_count)
        others = tuple(each if each is None else _there(each) for each in others)
        found = expected_scatter(shape, ENGINE, there(points), *others, copies_count)
        assert type(found.log_likelihood) is type(expected.log_likelihood) is float
        assert isinstance(found.scatter, np.ndarray)  # the M-step is done on the host
        assert_allclose(found.log_likelihood, expected.log_likelihood, rtol=1e-12)
        assert_allclose(found.scatter, expected.scatter, rtol=1e-10, atol=1e-12)


def _there(value):
    return torch.tensor(value) if isinstance(value, np.ndarray) else there(value)


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("kind", ["full", "gaussian", "diagonal", "low rank"])
@pytest.mark.parametrize("weighted", [False, True])
def test_densities_are_those_of_numpy(law, kind, weighted):
    shape, points, queries = shapes(law)[kind], some_points(weighted), some_points(False, 3, 7).X
    found = log_density(shape, ENGINE, torch.tensor(queries), there(points))
    assert isinstance(found, torch.Tensor)
    assert_allclose(found, log_density(shape, ENGINE, queries, points), rtol=1e-12)
    found = each_left_out(shape, ENGINE, there(points))
    assert_allclose(found, each_left_out(shape, ENGINE, points), rtol=1e-12)
    own = np.arange(len(points))
    found = leave_one_out(shape, ENGINE, there(points), there(points), torch.tensor(own))
    assert_allclose(found, leave_one_out(shape, ENGINE, points, points, own), rtol=1e-12)


def test_one_gaussian_is_that_of_numpy():
    shape, points = Shape(np.eye(3), 0), some_points(True)
    found = log_density(shape, ENGINE, there(points).X, there(points))
    assert_allclose(found, log_density(shape, ENGINE, points.X, points), rtol=1e-12)


@pytest.mark.parametrize("kind", ["full", "gaussian", "diagonal", "low rank"])
def test_single_precision_stays_single(kind):
    shape, points = shapes(GAUSSIAN)[kind], some_points(True)
    single = there(points, torch.float32)
    assert shape.coordinates(single.X).dtype == shape.for_law(single.X).dtype == torch.float32
    found = expected_scatter(shape, ENGINE, single)
    assert_allclose(found.scatter, expected_scatter(shape, ENGINE, points).scatter, rtol=1e-4)


@pytest.mark.parametrize("n_local", [0, 2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("copies_count", [False, True])
@pytest.mark.parametrize(("dtype", "error"), [(torch.float64, 1e-10), (torch.float32, 1e-3)])
def test_a_part_of_a_mixture_is_that_of_numpy(n_local, weighted, copies_count, dtype, error):
    rng = np.random.default_rng(0)
    points, mean, shares = some_points(weighted), np.array([0.1, 0.2, 0.3]), rng.uniform(size=40)
    shape = Shape(np.eye(3) + 0.1 * rng.normal(size=(3, 3)), n_local)
    q = np.where(rng.random(40) < 0.3, 0.0, rng.uniform(size=40))
    options = {"moments": True, "copies_count": copies_count}
    expected = look_around(shape, ENGINE, points, mean, q, **options)
    found = look_around(shape, ENGINE, there(points, dtype), mean, torch.tensor(q), **options)
    assert isinstance(found.log_mass, torch.Tensor)
    assert_allclose(found.log_mass, expected.log_mass, rtol=error, atol=error)
    keys, scatter = found.gathered(ENGINE, torch.tensor(shares))
    expected_keys, expected_scatter = expected.gathered(ENGINE, shares)
    assert isinstance(keys, torch.Tensor)
    assert_allclose(keys, expected_keys, rtol=error, atol=error)
    if expected_scatter is None:
        assert scatter is None
    else:
        assert_allclose(scatter, expected_scatter, rtol=error, atol=error)


def test_moments_and_responsibilities_are_those_of_numpy():
    rng = np.random.default_rng(0)
    points, shares, log_mass = some_points(True), rng.uniform(size=40), rng.normal(size=(40, 2))
    found = wide_moments(there(points), torch.tensor(shares))
    for one, other in zip(found, wide_moments(points, shares), strict=True):
        assert not isinstance(one, torch.Tensor)
        assert_allclose(one, other, rtol=1e-12)
    assert_allclose(responsibilities(torch.tensor(log_mass)), responsibilities(log_mass))
