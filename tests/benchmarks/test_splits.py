"""Splits and units of the benchmarks: pages measured at different times compare like with like."""

import hashlib

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

splits = pytest.importorskip("benchmarks.common.splits", reason="benchmarks/ is not here")

from benchmarks.common import scaling  # noqa: E402

POSITIONS = np.arange(90)
X = np.column_stack([POSITIONS, np.full(90, 7), POSITIONS % 7])
LABELS = POSITIONS % 3


def digest(*arrays):
    """Of values and shapes."""
    whole = hashlib.sha256()
    for array in arrays:
        whole.update(repr((array.shape, array.tolist())).encode())
    return whole.hexdigest()[:16]


# Of the rows that each benchmark's own code had drawn before there was one place for it.
@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (
            lambda seed: splits.random_split(X, LABELS, seed),
            ["2eabbe1a57423edc", "4c39a3f7cb8bef9c"],
        ),
        (
            lambda seed: splits.stratified_split(X, LABELS, seed, test_size=0.3),
            ["9e40c745b2d89cfe", "300d79a45885eb97"],
        ),
        (
            lambda seed: splits.stratified_split(X, LABELS, seed, train_size=0.7),
            ["0f55ca429b32d16b", "511c99674c2c7b97"],
        ),
        (
            lambda seed: splits.stratified_split(X, LABELS, seed, train_size=45, test_size=15),
            ["a82558e3f440f3f4", "2cc6fabc86c80244"],
        ),
        (
            lambda seed: splits.unlabeled_split(X, seed, 0.25)[:2],
            ["651743b530732b7f", "778e9292cf279591"],
        ),
    ],
    ids=["random", "stratified", "stratified 70 %", "stratified of some rows", "unlabeled"],
)
def test_the_rows_are_the_same_as_ever(part, expected):
    assert [digest(*part(seed)) for seed in (0, 1)] == expected


def test_rows_are_drawn_by_the_seed():
    first, again, other = (splits.random_split(X, LABELS, seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.X, again.X)
    assert not np.array_equal(first.X, other.X)


def test_standard_units_are_those_of_the_training_part_bit_by_bit():
    part = splits.random_split(X, LABELS, 0)
    scaler = StandardScaler().fit(part.X[:, [0, 2]])
    scaled = scaling.standardized(part)
    np.testing.assert_array_equal(scaled.X, scaler.transform(part.X[:, [0, 2]]), strict=True)
    np.testing.assert_array_equal(
        scaled.X_test, scaler.transform(part.X_test[:, [0, 2]]), strict=True
    )
    np.testing.assert_array_equal(scaled.y, part.y, strict=True)


def test_columns_that_vary_in_the_test_part_only_are_dropped():
    part = splits.Split(np.array([[1.0, 2.0], [1.0, 3.0]]), np.array([[5.0, 6.0]]))
    np.testing.assert_array_equal(scaling.varying(part).X_test, [[6.0]])


def test_constant_columns_stay_where_they_are_wanted():
    part = splits.Split(np.array([[1.0, 2.0], [1.0, 4.0]]), np.array([[5.0, 3.0]]))
    np.testing.assert_array_equal(scaling.standard_units(part).X, [[0.0, -1.0], [0.0, 1.0]])


def test_principal_components_are_those_of_the_training_part():
    part = splits.Split(np.array([[-3.0, 0.1], [0.0, -0.2], [3.0, 0.1]]), np.array([[6.0, 0.0]]))
    found = scaling.principal_components(part, 1)
    np.testing.assert_allclose(np.abs(found.X_test), [[6.0]], rtol=1e-3)
