"""Neighborhood components by trees: the same answers, within the tolerance that was asked for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from vicinal import NeighborhoodComponents
from vicinal.nca import objective

# Some fits are short on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    X = X / 16.0
    first = NeighborhoodComponents(2, solver="lbfgs", max_iter=10, random_state=0)
    return X, y, first.fit(X, y).components_


SETTINGS = [
    ({"objective": "accuracy"}, "tree"),
    ({"objective": "log"}, "tree"),
    ({"prior": "uniform"}, "tree"),
    ({"kernel": "compact"}, "tree"),
    ({"kernel": "compact"}, "radius"),
    ({"kernel": "compact", "background": 0.1}, "radius"),
]


@pytest.mark.parametrize(("settings", "engine"), SETTINGS)
@pytest.mark.parametrize("tolerance", [0.0, 1e-3])
def test_objective_and_gradient(digits, settings, engine, tolerance):
    X, y, A = digits
    if settings.get("kernel") == "compact":
        A = 0.5 * A
    value, gradient = objective(A, X, y, engine="fused", **settings)
    found, slope = objective(A, X, y, engine=engine, tolerance=tolerance, **settings)
    assert found == pytest.approx(value, rel=max(tolerance, 1e-9))
    assert_allclose(slope, gradient, atol=max(10 * tolerance, 1e-8) * np.abs(gradient).max())


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize("regularization", [0.0, 1e-3])
def test_fits_reach_the_exact_objective(load, regularization):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    found = []
    for engine, tolerance in (("fused", 0.0), ("tree", 1e-3)):
        model = NeighborhoodComponents(
            2, solver="lbfgs", regularization=regularization, engine=engine, tolerance=tolerance
        ).fit(X, y)
        assert model.engine_ == engine
        value, _ = objective(
            model.components_, X, y, regularization=regularization * len(y), engine="fused"
        )
        found.append(value / len(y))
    assert found[1] == pytest.approx(found[0], abs=1e-3)


def test_no_fit_leaves_an_optimum_by_more_than_the_tolerance(digits):
    """From a poor start the two may find different optima; from one of them neither gets lost."""
    X, y, A = digits
    exact = NeighborhoodComponents(2, init=A, solver="lbfgs", engine="fused").fit(X, y)
    found = NeighborhoodComponents(
        2, init=exact.components_, solver="lbfgs", engine="tree", tolerance=1e-3
    ).fit(X, y)
    values = [objective(model.components_, X, y)[0] for model in (exact, found)]
    assert values[1] >= (1 - 1e-3) * values[0]


def test_predictions(digits):
    X, y, A = digits
    exact = NeighborhoodComponents(2, init=A, solver="lbfgs", max_iter=1, engine="fused").fit(X, y)
    expected = exact.predict_proba(X)
    exact.set_params(engine="tree", tolerance=1e-3)
    assert_allclose(exact.predict_proba(X), expected, rtol=2e-3, atol=1e-12)
    exact.set_params(tolerance=0.0)
    assert_allclose(exact.predict_proba(X), expected, rtol=1e-9, atol=1e-12)


def test_bad_tolerance_is_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"tolerance=-1 must be at least 0"):
        NeighborhoodComponents(2, tolerance=-1).fit(X, y)


def test_radius_needs_compact_support():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r'engine="radius"'):
        NeighborhoodComponents(2, engine="radius").fit(X, y)
