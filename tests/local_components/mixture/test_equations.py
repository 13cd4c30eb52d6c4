"""One step of EM against its definition, and the laws of a mixture."""

import numpy as np
from effort import examples
from hypothesis import given
from local_components.mixture.reference import densities, problems, random_covariance
from numpy.testing import assert_allclose

from vicinal.fitting import EM
from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.equations import Form, expected_scatter
from vicinal.local_components.mixture.equations import _NOBODY, Parts, Prior, part_shape
from vicinal.local_components.mixture.learning import MixtureProblem
from vicinal.neighborhood.blocked import BlockedEngine


def naive_step(problem, parts):
    """Shares of all kernels, then every mean as it is defined."""
    X, prior = problem.points.X, problem.prior
    terms = densities(parts, X, X, leave_out=True)
    rho = terms / terms.sum(axis=(1, 2), keepdims=True)
    totals = rho.sum(axis=0)
    r = rho.sum(axis=1)
    R = r.sum(axis=0) + prior.points + _NOBODY
    means = (r.T @ X) / r.sum(axis=0)[:, None]
    wide, near = prior.wide.copy(), prior.near.copy()
    gaps = X[:, None, :] - X[None, :, :]
    for k in range(len(means)):
        apart = X - means[k]
        wide[k] += (r[:, k, None] * apart).T @ apart
        near[k] += np.einsum("ij,ijd,ije->de", rho[:, :, k], gaps, gaps)
    log_p = np.log(terms.sum(axis=(1, 2)))
    return (
        log_p.mean(),
        totals / totals.sum(axis=1, keepdims=True),
        means,
        wide / R[:, None, None],
        near / R[:, None, None],
    )


@given(problems())
@examples(30)
def test_a_step_is_its_definition(case):
    problem, parts = case
    log_p, memberships, means, wide, near = naive_step(problem, parts)
    assert_allclose(problem.log_likelihood(parts), log_p, rtol=1e-9)
    found = problem.parts(problem.step(parts.packed())[1])
    assert_allclose(found.memberships, memberships, rtol=1e-7, atol=1e-12)
    assert_allclose(found.means, means, rtol=1e-7, atol=1e-9)
    assert_allclose(found.wide, wide, rtol=1e-7, atol=1e-9)
    for k, shape in enumerate(parts.shapes):
        # Where a part is all Gaussian nobody has neighbors, and it stays Gaussian.
        expected = near[k] if shape.n_local else 2.0 * wide[k]
        assert_allclose(found.near[k], expected, rtol=1e-6, atol=1e-9)


@given(problems(weighted=True))
@examples(30)
def test_the_penalized_likelihood_never_falls(case):
    problem, parts = case
    solver = EM(problem.step)
    state = solver.start(parts.packed())
    for _ in range(8):
        following = solver.step(state)
        assert following.objective >= state.objective - 1e-9 * max(1.0, abs(state.objective))
        state = following


@given(problems(weighted=True))
@examples(30)
def test_weights_are_copies(case):
    problem, parts = case
    copies = np.repeat(np.arange(len(problem.points)), problem.points.weights.astype(int))
    apart = MixtureProblem(
        WeightedPoints(problem.points.X[copies]), problem.prior, BlockedEngine(1)
    )
    many = Parts(parts.memberships[copies], parts.means, parts.wide, parts.near)
    objective, packed = problem.step(parts.packed())
    expected, packed_apart = apart.step(many.packed())
    assert_allclose(objective, expected, rtol=1e-9)
    found, other = problem.parts(packed), apart.parts(packed_apart)
    assert_allclose(found.memberships[copies], other.memberships, rtol=1e-6, atol=1e-12)
    assert_allclose(found.near, other.near, rtol=1e-6, atol=1e-9)
    assert_allclose(found.wide, other.wide, rtol=1e-6, atol=1e-9)


@given(problems())
@examples(20)
def test_the_order_of_parts_does_not_matter(case):
    problem, parts = case
    order = np.arange(len(parts.means))[::-1]
    turned = MixtureProblem(problem.points, problem.prior.some(order), problem.engine)
    objective, packed = problem.step(parts.packed())
    other, packed_turned = turned.step(parts.some(order).packed())
    assert_allclose(objective, other, rtol=1e-10)
    expected = problem.parts(packed).some(order).packed()
    assert_allclose(packed_turned, expected, rtol=1e-7, atol=1e-10)


def test_a_step_is_affine_equivariant():
    rng = np.random.default_rng(0)
    X, A = rng.normal(size=(20, 3)), random_covariance(rng, 3)
    q = rng.dirichlet(np.ones(2), size=20)
    none = np.zeros((2, 3, 3))

    def step(outer):
        problem = MixtureProblem(
            WeightedPoints(X @ outer.T), Prior(0.0, none, none), BlockedEngine(1)
        )
        means = np.zeros((2, 3))
        moved = outer @ np.stack([np.eye(3), 0.5 * np.eye(3)]) @ outer.T
        objective, packed = problem.step(Parts(q, means, moved, 0.4 * moved).packed())
        return objective, problem.parts(packed)

    plain, moved = step(np.eye(3)), step(A)
    assert_allclose(moved[0], plain[0] - np.linalg.slogdet(A)[1])
    assert_allclose(moved[1].memberships, plain[1].memberships, atol=1e-10)
    assert_allclose(moved[1].near, A @ plain[1].near @ A.T, rtol=1e-8)


def test_one_part_takes_the_steps_of_the_plain_model():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 3))
    X -= X.mean(axis=0)
    M, C, none = X.T @ X / 30, random_covariance(rng, 3) * 0.2, np.zeros((1, 3, 3))
    problem = MixtureProblem(WeightedPoints(X), Prior(0.0, none, none), BlockedEngine(1))
    objective, packed = problem.step(
        Parts(np.ones((30, 1)), np.zeros((1, 3)), M[None], C[None]).packed()
    )
    shape = part_shape(M, C)
    plain = expected_scatter(shape, BlockedEngine(1), WeightedPoints(X))
    found = problem.parts(packed)
    assert_allclose(objective, plain.log_likelihood)
    assert_allclose(found.near[0], plain.scatter, rtol=1e-8)
    assert_allclose(found.wide[0], M, rtol=1e-8)
    factor = np.linalg.cholesky(M)
    white = np.linalg.solve(factor, np.linalg.solve(factor, C).T)
    assert shape.n_local == Form(gaussian=True).shape(white).n_local
