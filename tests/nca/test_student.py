"""NeighborhoodComponents with Student's kernels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from vicinal import NeighborhoodComponents
from vicinal.nca import objective


def naive(A, X, y, nu):
    """Σ p_i by the definition."""
    Z, d = X @ A.T, len(A)
    s = np.square(Z[:, None] - Z[None]).sum(axis=-1)
    k = (1 + s / nu) ** (-(nu + d) / 2)
    np.fill_diagonal(k, 0.0)
    return ((k * (y[:, None] == y)).sum(axis=1) / k.sum(axis=1)).sum()


@pytest.mark.parametrize("engine", ["blocked", "fused", "tree", "adaptive"])
@given(seed=st.integers(0, 2**32 - 1), nu=st.sampled_from([0.5, 1.0, 3.0, 100.0]))
def test_value_by_the_definition_and_gradient_by_differences(engine, seed, nu):
    rng = np.random.default_rng(seed)
    X, y, A = rng.normal(size=(30, 3)), rng.integers(0, 3, 30), rng.normal(size=(2, 3))
    y[:6] = [0, 0, 1, 1, 2, 2]
    options = {"kernel": "student", "degrees_of_freedom": nu, "engine": engine}
    value, gradient = objective(A, X, y, **options)
    assert_allclose(value, naive(A, X, y, nu), rtol=1e-10)
    step = 1e-5 * rng.normal(size=A.shape)
    numeric = naive(A + step, X, y, nu) - naive(A - step, X, y, nu)
    assert_allclose(numeric, 2 * np.sum(gradient * step), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("objective_name", ["accuracy", "log"])
@pytest.mark.parametrize("settings", [{}, {"batching": "random"}, {"prior": "uniform"}], ids=str)
def test_fits_classify(objective_name, settings):
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = NeighborhoodComponents(
        2, kernel="student", objective=objective_name, random_state=0, **settings
    ).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.9
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_probabilities_by_the_definition_and_after_set_params():
    X, y = load_iris(return_X_y=True)
    settings = {"kernel": "student", "degrees_of_freedom": 2.0, "regularization": 1e-3}
    model = NeighborhoodComponents(2, max_iter=5, tol=0.0, **settings)
    with pytest.warns(UserWarning, match="max_iter=5"):
        model.fit(X, y)
    Q = X[::7] + 0.1
    s = np.square((model.transform(Q))[:, None] - model.transform(X)[None]).sum(axis=-1)
    k = (1 + s / 2.0) ** -2.0
    masses = np.stack([k[:, y == c].sum(axis=1) for c in range(3)], axis=1)
    found = model.predict_proba(Q)
    assert_allclose(found, masses / masses.sum(axis=1, keepdims=True), rtol=1e-9)
    model.set_params(kernel="gaussian", degrees_of_freedom=9.0)
    assert_array_equal(model.predict_proba(Q), found)


def test_a_few_nearest_neighbors_by_the_law():
    X, y = load_iris(return_X_y=True)
    options = {"kernel": "student", "degrees_of_freedom": 1.0}
    every = NeighborhoodComponents(2, n_neighbors=len(X), **options).fit(X, y)
    exact = NeighborhoodComponents(2, **options).fit(X, y)
    assert_allclose(every.predict_proba(X), exact.predict_proba(X), atol=1e-9)


def test_far_classes_keep_a_say():
    """Where a Gaussian is certain, heavy tails leave doubt."""
    X = np.array([[0.0], [0.1], [10.0], [10.1]])
    y = [0, 0, 1, 1]
    settings = {"init": np.eye(1), "max_iter": 1, "tol": 1e9}
    student = NeighborhoodComponents(1, kernel="student", **settings).fit(X, y)
    gaussian = NeighborhoodComponents(1, **settings).fit(X, y)
    at = [[3.0]]
    assert gaussian.predict_proba(at)[0, 1] < student.predict_proba(at)[0, 1]


def test_degrees_of_freedom_are_checked_where_they_count():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"degrees_of_freedom=-1\.0 must lie between"):
        NeighborhoodComponents(kernel="student", degrees_of_freedom=-1.0).fit(X, y)
    with pytest.raises(ValueError, match="kernel='compact'"):
        NeighborhoodComponents(kernel="student", background=0.5).fit(X, y)
