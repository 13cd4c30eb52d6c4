import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from vicinal.inputs import features as module
from vicinal.inputs.features import class_covariances, class_units, moments, standard_units


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 70)
    return rng.normal(size=(70, 4)) * 700 + 1e4, labels, rng.integers(1, 4, 70).astype(float)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_standard_units_center_and_scale_by_a_power_of_two(data, dtype):
    X = data[0].astype(dtype)
    features = standard_units(X)
    assert features[:].dtype == features.dtype == dtype
    assert 1.0 <= np.abs(features[:]).max() < 2.0
    assert np.log2(features.unit) == np.round(np.log2(features.unit))
    assert_allclose(features[:] * features.unit, X - X.mean(axis=0), atol=1e-2)
    assert_array_equal(features[np.array([5, 2])], features[:][[5, 2]])
    assert features.take(slice(0, 3), np.float32).dtype == np.float32


def test_moments_are_those_of_the_rows(data, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_BYTES", 4 * 8 * 9)  # blocks of nine rows
    X, labels, _ = data
    features = standard_units(X)
    known = moments(features, labels, 3)
    F = features[:]
    assert_array_equal(known.counts, np.bincount(labels))
    assert_allclose(known.total, F.T @ F / len(F), atol=1e-12)
    covariances = class_covariances(features, labels, known)
    for c in range(3):
        assert_allclose(known.means[c], F[labels == c].mean(axis=0))
        assert_allclose(covariances[c], np.cov(F[labels == c].T, bias=True))
    assert_allclose(np.tensordot(known.counts, covariances, 1) / len(F), known.within)
    A = np.arange(8.0).reshape(2, 4)
    assert_allclose(features.project(A), F @ A.T)


def test_weights_count_copies(data):
    X, labels, weights = data
    copies = np.repeat(np.arange(70), weights.astype(int))
    weighted, repeated = standard_units(X, weights), standard_units(X[copies])
    assert_allclose(weighted.center, repeated.center)
    ours = moments(weighted, labels, 3, weights)
    theirs = moments(repeated, labels[copies], 3)
    for name in ("counts", "means", "within", "total", "between"):
        assert_allclose(getattr(ours, name), getattr(theirs, name), atol=1e-9)
    assert_allclose(
        class_covariances(weighted, labels, ours, weights),
        class_covariances(repeated, labels[copies], theirs),
        atol=1e-9,
    )


def test_a_class_without_members_is_harmless(data):
    X, labels, _ = data
    features = standard_units(X)
    known = moments(features, labels, 5)
    assert_array_equal(known.counts[3:], 0)
    assert np.isfinite(known.means).all()
    assert np.isfinite(class_covariances(features, labels, known)).all()


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_rows_in_single_precision_are_scaled_first(scale):
    X = np.random.default_rng(0).normal(size=(20, 3))
    rows = standard_units(scale * X).take(slice(None), np.float32)
    assert rows.dtype == np.float32
    assert_allclose(rows, standard_units(scale * X)[:], rtol=1e-6)


def test_columns_are_measured_by_their_deviation_within_classes():
    rng = np.random.default_rng(0)
    labels = np.arange(90) % 3
    X = rng.normal(size=(90, 4)) * [1.0, 1e-150, 1e150, 3.0] + 5.0
    X[:, 3] = 7.0
    features = class_units(X, labels, 3)
    means = np.stack([X[labels == c].mean(axis=0) for c in range(3)])
    relative = (X - means[labels]) / features.unit
    assert_allclose(np.square(relative[:, [0, 2]]).mean(axis=0), 1.0, rtol=0.01)
    assert (features[:][:, 3] == 0).all()


def test_a_column_that_is_the_label_keeps_a_finite_unit():
    labels = np.arange(20) % 2
    X = np.column_stack([labels, np.random.default_rng(0).normal(size=20)])
    features = class_units(X.astype(float), labels, 2)
    assert_allclose(features.unit[0], np.sqrt(1e-3) * 0.5, rtol=1e-9)


def test_weights_of_units_count_copies():
    rng = np.random.default_rng(0)
    X, labels, weights = rng.normal(size=(30, 3)), np.arange(30) % 2, rng.integers(1, 4, 30)
    copies = np.repeat(np.arange(30), weights)
    weighted = class_units(X, labels, 2, weights.astype(float))
    assert_allclose(weighted.unit, class_units(X[copies], labels[copies], 2).unit, rtol=1e-12)


def test_a_column_too_small_to_invert_counts_as_constant():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(30, 2)) * [1.0, 1e-310], np.arange(30) % 2
    features = class_units(X, labels, 2)
    assert np.isfinite(features.outward(np.eye(2))).all()
    assert np.abs(features[:][:, 1]).max() < 1e-300
