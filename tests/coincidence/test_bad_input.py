import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

from vicinal import CoincidenceClassifier, LatentCoincidence

MODELS = [LatentCoincidence(random_state=0), CoincidenceClassifier()]


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("scale", [1e155, 1e-160])
def test_units_out_of_range_are_refused(model, scale, iris):
    X, y = iris
    with pytest.raises(ValueError, match=r"X (reaches|varies by).*StandardScaler"):
        model.fit(X * scale, y)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_units_within_range_are_taken(model, scale, iris):
    X, y = iris
    assert np.isfinite(model.fit(X * scale, y).components_).all()


def test_pairs_out_of_range_are_refused_by_their_name(iris):
    pairs = 1e160 * iris[0][:40].reshape(20, 2, 4)
    with pytest.raises(ValueError, match=r"pairs reaches .*StandardScaler"):
        LatentCoincidence().fit_pairs(pairs, np.arange(20) % 2)


def test_distances_whose_squares_are_no_numbers(iris):
    model = LatentCoincidence(random_state=0).fit(*iris)
    far, near = [[1e160] * 4, [-1e160] * 4], [[1e-170] * 4, [0.0] * 4]
    expected = 1e160 * model.pair_distance([[[1.0] * 4, [-1.0] * 4]])[0]
    assert_allclose(model.pair_distance([far]), expected)
    assert model.pair_distance([near])[0] > 0
    assert model.pair_probability([far])[0] == model.pair_probability([far], base_rate=0.5)[0] == 0


def test_probabilities_of_points_far_away_sum_to_one(iris):
    model = CoincidenceClassifier().fit(*iris)
    assert_allclose(model.predict_proba([[1e100] * 4, [1e20] * 4]).sum(axis=1), 1.0)
    with pytest.raises(ValueError, match=r"X reaches 1e\+160, which the model maps to"):
        model.predict_proba([[1e160] * 4])
