import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.covariance import oas
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

from vicinal.inputs import starts
from vicinal.inputs.features import Features, Moments, class_units, moments
from vicinal.inputs.starts import reach_neighbors


def known(X, labels, weights=None):
    features = Features(X, np.zeros(X.shape[1], dtype=X.dtype), 1.0)
    return moments(features, labels, labels.max() + 1, weights)


def starting_map(init, X, labels, n_components, seed=None, weights=None):
    if init == "pca":
        features = Features(X, np.zeros(X.shape[1], dtype=X.dtype), 1.0)
        return starts.principal_map(features, known(X, labels, weights), n_components)
    return starts.starting_map(init, known(X, labels, weights), n_components, seed)


def solver_coordinates(A, X, labels):
    return starts.solver_coordinates(A, known(X, labels))


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    labels = np.arange(120) % 4
    X = rng.normal(size=(120, 6)) @ rng.normal(size=(6, 6)) + rng.normal(size=(4, 6))[labels]
    return X - X.mean(axis=0), labels


def within(X, labels):
    means = np.stack([X[labels == c].mean(axis=0) for c in range(labels.max() + 1)])
    return (X - means[labels]).T @ (X - means[labels]) / len(X)


@pytest.mark.parametrize("init", ["rca", "lda"])
@pytest.mark.parametrize("d", [1, 3])
def test_rca_and_lda_are_white_within_classes(data, init, d):
    A = starting_map(init, *data, d)
    assert_allclose(A @ within(*data) @ A.T, np.eye(d), atol=2e-3)


def test_rca_of_full_rank_is_the_whitening_of_the_within_class_covariance(data):
    A = starting_map("rca", *data, 6)
    assert_allclose(A.T @ A, np.linalg.inv(within(*data)), rtol=0.02)


def test_rca_takes_the_directions_that_separate_classes_best(data):
    X, labels = data
    A = starting_map("rca", X, labels, 3)
    ratios = np.diag(A @ (X.T @ X / len(X)) @ A.T)
    assert (np.diff(ratios) <= 0).all()
    values = np.linalg.eigvals(np.linalg.solve(within(X, labels), X.T @ X / len(X)))
    assert_allclose(ratios, np.sort(values.real)[::-1][:3], rtol=2e-3)


def test_auto_is_rca(data):
    assert_array_equal(starting_map("auto", *data, 2), starting_map("rca", *data, 2))


def test_auto_trusts_no_covariance_of_few_points():
    rng = np.random.default_rng(0)
    n, D, labels = 80, 20, np.arange(80) % 2
    X = rng.normal(size=(n, D)) * np.linspace(1, 3, D) + labels[:, None]
    S = within(X, labels)
    # Chen et al. 2010, equation 23, as it stands there.
    share = (1 - 2 / D) * np.trace(S @ S) + np.trace(S) ** 2
    share /= (n + 1 - 2 / D) * (np.trace(S @ S) - np.trace(S) ** 2 / D)
    shrunk = (1 - share) * S + share * np.trace(S) / D * np.eye(D)
    A = starting_map("auto", X, labels, 3)
    assert_allclose(A @ shrunk @ A.T, np.eye(3), atol=1e-4)
    exact = starting_map("rca", X, labels, 3)
    assert_allclose(exact @ S @ exact.T, np.eye(3), atol=1e-4)
    # Close to what scikit-learn does, which leaves out terms of 2 / D.
    assert share == pytest.approx(oas(X - _class_means(X, labels))[1], rel=0.1)


def _class_means(X, labels):
    return np.stack([X[labels == c].mean(axis=0) for c in range(labels.max() + 1)])[labels]


def test_shrinking_what_is_round_already():
    assert starts._shrinkage(2.0 * np.eye(3), 5) == 1.0
    known = Moments(np.full(2, 5.0), np.zeros((2, 3)), 2.0 * np.eye(3))
    assert_allclose(starts._within(known, 1.0), 2.0 * np.eye(3), rtol=1e-5)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_axes_are_those_of_the_shrunk_covariance(share):
    root = np.random.default_rng(0).normal(size=(4, 6))  # two directions without any variance
    known = Moments(np.full(2, 5.0), np.zeros((2, 6)), root.T @ root)
    variances, directions = starts._within_axes(known, share)
    expected = starts._within(known, share)
    assert_allclose((directions * variances) @ directions.T, expected, atol=1e-12)


def test_discriminants_are_those_of_linear_discriminant_analysis(data):
    X, labels = data
    A = starts.discriminant_map(known(X, labels), 6)
    assert not A[3:].any()
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(X, labels)
    cosines = np.linalg.svd(np.linalg.qr(A[:3].T)[0].T @ np.linalg.qr(lda.scalings_[:, :3])[0])[1]
    assert_allclose(cosines, 1.0, atol=1e-6)


def test_lda_weighs_classes_alike(data):
    X, labels = data
    means = np.stack([X[labels == c].mean(axis=0) for c in range(4)])
    spread = means - means.mean(axis=0)
    A = starting_map("lda", X, labels, 3)
    values = np.linalg.eigvals(np.linalg.solve(within(X, labels), spread.T @ spread / 4))
    found = np.diag(A @ spread.T @ spread @ A.T) / 4
    assert_allclose(found, np.sort(values.real)[::-1][:3], rtol=2e-3)


def test_pca_whitens(data):
    X, labels = data
    A = starting_map("pca", X, labels, 4)
    assert_allclose(A @ (X.T @ X / len(X)) @ A.T, np.eye(4), atol=1e-9)
    directions = A / np.linalg.norm(A, axis=1, keepdims=True)
    variances = np.diag(directions @ (X.T @ X / len(X)) @ directions.T)
    assert (np.diff(variances) <= 0).all()


def test_pca_leaves_out_directions_without_variance(data):
    X, labels = data
    flat = np.hstack([X[:, :2], np.zeros((120, 2))])
    A = starting_map("pca", flat, labels, 4)
    assert_allclose(A[2:], 0.0)
    assert np.isfinite(A).all()


def test_pca_is_that_of_the_columns_in_their_own_units(data):
    X, labels = data
    X = X * [1.0, 10.0, 0.1, 1.0, 5.0, 1e-3]
    plain = starting_map("pca", X, labels, 3)
    features = class_units(X, labels, 4)
    A = starts.principal_map(features, moments(features, labels, 4), 3)
    assert_allclose(np.abs(features.outward(A)), np.abs(plain), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("init", ["rca", "lda"])
def test_fewer_points_than_features_are_shrunk(init):
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(20, 30)), np.arange(20) % 2
    A = starting_map(init, X - X.mean(axis=0), labels, 1)
    new = rng.normal(size=(500, 30)) @ A.T
    assert 0.1 < new.std() < 10  # without shrinkage it would be a thousand


def test_nothing_learned_leaves_distances_as_they_are(data):
    X, labels = data
    A = starts.unlearned_map(known(X, labels), 6)
    assert_allclose(np.square(X @ A.T).sum(axis=1).mean(), 4.0)
    assert_allclose(A @ A.T, np.eye(6) * (A[0] @ A[0]), atol=1e-12)


def test_random_projects_to_unit_variance_on_average(data):
    X, labels = data
    for scale in (1.0, 1e-3):
        maps = [starting_map("random", X * scale, labels, 6, seed) for seed in range(200)]
        variance = np.mean([np.square(X * scale @ A.T).mean() for A in maps])
        assert_allclose(variance, 1.0, rtol=0.15)


def test_maps_follow_the_unit_of_the_points(data):
    X, labels = data
    scaled = starting_map("rca", X / 4, labels, 2)
    assert_allclose(scaled, 4 * starting_map("rca", X, labels, 2), rtol=1e-6)


def test_a_map_for_compact_support_reaches_ten_neighbors_of_95_percent(data):
    X, labels = data
    A = starting_map("pca", X, labels, 2)
    Z = X @ reach_neighbors(A, X @ A.T).T
    inside = (np.square(Z[:, None] - Z[None]).sum(axis=-1) < 1).sum(axis=1) - 1
    assert 0.94 <= (inside >= 10).mean() <= 0.97


def test_reach_of_duplicates_and_of_few_points_is_finite():
    A = np.eye(2)
    assert_array_equal(reach_neighbors(A, np.zeros((30, 2))), A / (1 + 1e-6))
    assert np.isfinite(reach_neighbors(A, np.array([[0.0, 0.0], [3.0, 4.0]]))).all()


def test_solver_coordinates_give_back_the_start_whatever_the_units(data):
    X, labels = data
    A = starting_map("pca", X, labels, 3)
    B, P = solver_coordinates(A, X, labels)
    assert_allclose(B @ P, A, rtol=1e-9, atol=1e-12)
    assert_allclose(np.linalg.norm(B), 10.0)
    scaled, _ = solver_coordinates(A / 1e3, X * 1e3, labels)
    assert_allclose(scaled, B, rtol=1e-9)
    B, P = solver_coordinates(np.zeros((2, 6)), X, labels)
    assert_array_equal(B, 0.0)
    assert np.isfinite(P).all()


def test_directions_classes_do_not_differ_in_are_ordered_by_variance():
    """Two classes leave a tie of all directions but one: it must not be broken by rounding."""
    rng = np.random.default_rng(0)
    labels = np.arange(400) % 2
    X = rng.normal(size=(400, 4)) * [1.0, 5.0, 2.0, 0.1]
    X[:, 0] += 4 * labels
    A = starting_map("rca", X - X.mean(axis=0), labels, 2)
    assert np.abs(A[1]).argmax() == 1


def test_signs_are_definite(data):
    A = starting_map("rca", *data, 3)
    assert (A[np.arange(3), np.abs(A).argmax(axis=1)] > 0).all()


def test_a_rotation_of_the_features_leaves_the_solver_where_it_was(data):
    """Up to signs: Adam, which scales each coordinate by itself, then takes the same path."""
    X, labels = data
    Q = np.linalg.qr(np.random.default_rng(1).normal(size=(6, 6)))[0]
    A = starting_map("pca", X, labels, 3)
    B, _ = solver_coordinates(A, X, labels)
    rotated, _ = solver_coordinates(A @ Q.T, X @ Q.T, labels)
    assert_allclose(np.abs(rotated), np.abs(B), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("init", ["rca", "lda", "pca", "random"])
def test_a_weight_counts_as_copies(data, init):
    X, labels = data
    weights = np.random.default_rng(2).integers(1, 4, len(labels)).astype(float)
    twice = np.repeat(np.arange(len(labels)), weights.astype(int))
    weighted = starting_map(init, X, labels, 3, 0, weights)
    assert_allclose(weighted, starting_map(init, X[twice], labels[twice], 3, 0), rtol=1e-8)
    Z = X @ weighted.T
    assert_allclose(reach_neighbors(weighted, Z, weights), reach_neighbors(weighted, Z[twice]))


def test_rca_on_mnist_as_the_thesis_has_it(load_dataset):
    """1-NN in 5 dimensions: 78.97 % (thesis 79.11) from the whole training set."""
    mnist = load_dataset("mnist")
    X = mnist.data[mnist.train].astype(np.float32) / 255
    mean = X.mean(axis=0)
    A = starting_map("rca", X - mean, mnist.target[mnist.train], 5)
    neighbors = KNeighborsClassifier(1).fit(X @ A.T, mnist.target[mnist.train])
    test = mnist.data[~mnist.train].astype(np.float32) / 255
    score = neighbors.score(test @ A.T, mnist.target[~mnist.train])
    assert score == pytest.approx(0.790, abs=0.003)
