from dataclasses import replace

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp

from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.density import ParzenDensity, gradient_widening
from vicinal.local_components.equations import Shape
from vicinal.local_components.mixture.density import MixtureDensity
from vicinal.local_components.per_point import PerPointDensity
from vicinal.local_components.significance import Boundary, boundary_of, log_floors, merge
from vicinal.neighborhood import GAUSSIAN
from vicinal.neighborhood.blocked import BlockedEngine
from vicinal.neighborhood.laws import Student

ENGINE = BlockedEngine(1, compiled=False)


def parzen(rng, n_local=3, law=GAUSSIAN, weights=None):
    X = rng.normal(size=(12, 3))
    shape = Shape(rng.normal(size=(3, 3)) + 2 * np.eye(3), n_local, law)
    return ParzenDensity(WeightedPoints(X, weights), X.mean(axis=0), shape)


def local(rng):
    plain = parzen(rng)
    factors = rng.normal(size=(12, 3, 3)) + 2 * np.eye(3)
    covariances = factors @ factors.transpose(0, 2, 1)
    return PerPointDensity(plain.points, plain.mean, plain.shape, covariances)


def each_alone(density):
    """A density for every point by itself: what it adds, times the number of points."""
    for i in range(len(density.points)):
        one = slice(i, i + 1)
        alone = replace(density, points=WeightedPoints(density.points.X[one]))
        if isinstance(density, PerPointDensity):
            alone = replace(alone, covariances=density.covariances[one])
        yield alone


DENSITIES = {
    "gaussian": parzen,
    "gaussian directions": lambda rng: parzen(rng, n_local=1),
    "student": lambda rng: parzen(rng, law=Student(2.5)),
    "weights": lambda rng: parzen(rng, weights=rng.uniform(0.5, 3, 12)),
    "local": local,
}


@pytest.mark.parametrize("kind", DENSITIES)
@given(seed=st.integers(0, 2**32 - 1))
@examples(5)
def test_squares_are_those_of_what_points_add(kind, seed):
    rng = np.random.default_rng(seed)
    density, queries = DENSITIES[kind](rng), rng.normal(size=(5, 3))
    counts, total = density.points.counts, density.points.total
    added = np.stack([one.log_density(queries, ENGINE) for one in each_alone(density)])
    shares = counts[:, None] / total
    expected = logsumexp(added, axis=0, b=shares)
    assert_allclose(density.log_density(queries, ENGINE), expected, rtol=1e-8)
    squares = logsumexp(2 * added, axis=0, b=shares / total)
    assert_allclose(density.log_squares(queries, ENGINE), squares, rtol=1e-8)


def test_a_gaussian_is_made_of_all_points_alike():
    density = parzen(np.random.default_rng(0), n_local=0)
    queries = np.random.default_rng(1).normal(size=(5, 3))
    log_n = 2 * density.log_density(queries, ENGINE) - density.log_squares(queries, ENGINE)
    assert_allclose(np.exp(log_n), 12.0)


def test_parts_of_a_mixture_add_their_squares():
    rng = np.random.default_rng(0)
    one, other, behind = parzen(rng), parzen(rng, n_local=2), parzen(rng, n_local=0)
    parts, weights = [one, other], np.array([0.3, 0.7])
    mixture = MixtureDensity(
        one.points, one.mean, one.shape, parts, weights, np.ones((12, 2)), behind, 0.01
    )
    queries = rng.normal(size=(5, 3))
    shares, all_parts = [0.297, 0.693, 0.01], [one, other, behind]
    squares = [
        share**2 * np.exp(part.log_squares(queries, ENGINE))
        for share, part in zip(shares, all_parts, strict=True)
    ]
    assert_allclose(mixture.log_squares(queries, ENGINE), np.log(np.sum(squares, axis=0)))
    wide = mixture.for_gradients()
    assert_allclose(wide.parts[1].shape.factor, other.for_gradients().shape.factor)


@pytest.mark.parametrize("law", [GAUSSIAN, Student(0.7), Student(1e6)], ids=str)
def test_squared_laws(law):
    s, (square, factor) = np.geomspace(1e-3, 30, 20), law.squared(4)
    assert_allclose(square.log_mass(factor * s, 4), 2 * law.log_mass(s, 4), rtol=1e-3)


def test_kernels_are_widened_in_local_directions():
    density = parzen(np.random.default_rng(0), n_local=1)
    factor = gradient_widening(12, 1)
    assert_allclose(factor, 12 ** (1 / 5 - 1 / 7))
    wide = density.for_gradients().shape.factor
    assert_allclose(wide / density.shape.factor, np.tile([factor, 1, 1], (3, 1)))
    each = local(np.random.default_rng(0))
    factor = gradient_widening(12, 3)
    assert_allclose(each.for_gradients().covariances, factor**2 * each.covariances)


def test_floors_are_heights_less_standard_errors():
    density = parzen(np.random.default_rng(0))
    queries = np.random.default_rng(1).normal(size=(4, 3))
    p = np.exp(density.log_density(queries, ENGINE))
    error = np.sqrt(np.exp(density.log_squares(queries, ENGINE)))
    heights, floors = log_floors(density, queries, 0.5, ENGINE)
    assert_allclose(np.exp(heights), p)
    assert_allclose(np.exp(floors), np.maximum(p - 0.5 * error, 0.0))
    assert (log_floors(density, queries, 100.0, ENGINE)[1] == -np.inf).all()


def test_modes_merge_unless_both_rise_above_the_saddle():
    # Modes 0 and 2 rise above every saddle, mode 1 over none of its own.
    floors = np.log([5.0, 0.5, 4.0])
    boundary = Boundary(np.array([[0, 1], [1, 2], [0, 2]]), np.log([1.0, 2.0, 0.1]))
    assert_array_equal(merge(floors, boundary), [0, 1, 1])
    # A saddle above the floor of one of them joins those, too.
    higher = replace(boundary, log_heights=np.log([1.0, 2.0, 4.5]))
    assert_array_equal(merge(floors, higher), [0, 0, 0])
    nothing = Boundary(np.empty((0, 2), dtype=int), np.empty(0))
    assert_array_equal(merge(floors, nothing), [0, 1, 2])


def test_saddles_are_as_low_as_the_way():
    X = np.array([[-1.0], [1.0]])
    density = ParzenDensity(WeightedPoints(X), np.zeros(1), Shape(np.array([[0.3]]), 1))
    boundary = boundary_of(density, X, X, np.array([0, 1]), ENGINE)
    assert_array_equal(boundary.modes, [[0, 1], [1, 0]])
    assert_allclose(boundary.log_heights, density.log_density(np.zeros((2, 1)), ENGINE))
