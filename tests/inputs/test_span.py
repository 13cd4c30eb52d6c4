from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from vicinal import (
    CoincidenceClassifier,
    LatentCoincidence,
    LocalComponents,
    NeighborhoodComponents,
)
from vicinal.inputs.features import standard_units
from vicinal.inputs.span import WIDE, span_of
from vicinal.nca import preparation


def in_one_unit(X, *_, **__):
    return replace(standard_units(X), unit=1.0)


@pytest.fixture(scope="module")
def wide():
    """40 rows of 3 classes in 2 * WIDE columns, which differ in 30 of them."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 3
    X = rng.normal(size=(40, 2 * WIDE))
    X[:, :30] += 2 * y[:, None]
    return X, y


def test_the_span_keeps_all_distances(wide):
    X = wide[0] - wide[0].mean(axis=0)
    basis = span_of(X)
    assert basis.shape == (39, 2 * WIDE)
    assert_allclose(basis @ basis.T, np.eye(39), atol=1e-12)
    assert_allclose(X @ basis.T @ basis, X, atol=1e-12)


def test_narrow_tables_are_left_alone(wide):
    assert span_of(wide[0][:, : WIDE - 1]) is None
    assert span_of(np.zeros((WIDE, WIDE))) is None
    assert standard_units(wide[0], is_whole=False).basis is None


def test_features_in_the_span_are_coordinates_along_its_basis(wide):
    features = standard_units(wide[0])
    assert features.shape == (40, 39)
    rows = np.array([3, 1])
    assert_array_equal(features[:][rows], features[rows])
    assert_array_equal(features.take(rows, np.float32), features[rows].astype(np.float32))
    A = np.random.default_rng(1).normal(size=(2, 39))
    assert_allclose(features.inward(features.outward(A)), A)
    assert_allclose((wide[0] - features.center) @ features.outward(A).T, features[:] @ A.T)


@pytest.mark.parametrize(
    "model",
    [
        NeighborhoodComponents(2, max_iter=20, regularization=1e-3),
        # One update: at an edge of the support rounding may settle how far the next one goes.
        NeighborhoodComponents(
            2, kernel="compact", background=True, max_iter=1, regularization=1e-3
        ),
        # Starts that stay as they are; those of standard deviation 1 are not for the span.
        LatentCoincidence(2, pairs="all", init="pca", early_stopping=False, max_iter=20),
        CoincidenceClassifier(2, init="pca", max_iter=20),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_is_that_of_the_rows_in_their_span(model, wide, monkeypatch):
    # Units of columns are not those of coordinates in the span: here one is for all.
    monkeypatch.setattr(
        preparation, "class_units", lambda X, *_, **__: replace(standard_units(X), unit=1.0)
    )
    X, y = wide
    mean = X.mean(axis=0)
    basis = span_of(X - mean)
    inside = (X - mean) @ basis.T
    model.fit(X, y)
    across, within = model.components_, model.fit(inside, y).components_
    assert across.shape == (*within.shape[:-1], X.shape[1])
    # Signs and turns of the basis are those of this very decomposition; the rest is rounding.
    assert_allclose(across @ basis.T, within, rtol=1e-5, atol=1e-7)
    if hasattr(model, "predict_proba"):
        new = X + 0.1
        expected = model.predict_proba((new - mean) @ basis.T)
        assert_allclose(model.fit(X, y).predict_proba(new), expected, rtol=1e-4, atol=1e-6)
        assert model.n_features_in_ == X.shape[1]


def test_maps_given_for_all_columns_are_taken(wide):
    X, y = wide
    given = np.random.default_rng(2).normal(size=(2, X.shape[1])) / 50
    for model in (NeighborhoodComponents, LatentCoincidence):
        fitted = model(2, init=given, random_state=0).fit(X, y)
        assert fitted.components_.shape == given.shape
        assert fitted.transform(X).shape == (40, 2)
    warm = NeighborhoodComponents(2, warm_start=True).fit(X, y)
    assert warm.fit(X, y).objective_ >= warm.objective_ - 1e-12


def test_by_default_there_are_as_many_components_as_directions(wide):
    X, y = wide
    assert NeighborhoodComponents().fit(X, y).components_.shape == (39, X.shape[1])
    with pytest.raises(ValueError, match="n_components=40 is more than 39"):
        NeighborhoodComponents(40).fit(X, y)
    with pytest.raises(ValueError, match="n_components=40 is more than 39"):
        LatentCoincidence(40).fit(X, y)


def test_what_would_take_gigabytes_is_refused_at_once():
    X, y = np.zeros((60, 20_000)), np.arange(60) % 3
    X[:, 0] = np.arange(60)
    with pytest.raises(ValueError, match=r"20000 columns.*3\.2 GB.*PCA"):
        LocalComponents().fit(X)
    with pytest.raises(ValueError, match=r"20000 columns.*partial_fit"):
        NeighborhoodComponents().partial_fit(X, y)
