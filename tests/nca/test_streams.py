import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from vicinal import NeighborhoodComponents


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return train_test_split(X / 16, y, random_state=0)


def test_a_stream_is_learned_with_bounded_memory(digits):
    X, X_test, y, y_test = digits
    model = NeighborhoodComponents(3, reservoir_size=500, batch_size=100, random_state=0)
    scores = []
    for _ in range(6):
        for part in np.array_split(np.arange(len(X)), 5):
            model.partial_fit(X[part], y[part], classes=np.arange(10))
        scores.append(model.score(X_test, y_test))
    assert len(model._classifier.keys) == 500
    assert scores[-1] > 0.85
    assert scores[-1] > scores[0]
    # The first 269 rows are fewer than ten per feature and class: the second call begins anew.
    assert model.n_iter_ == len(model.history_["objective"]) == 6 * 5 * 3 + 3
    assert model.objective_ == model.history_["objective"][-1]
    again = pickle.loads(pickle.dumps(model)).partial_fit(X, y)
    assert_array_equal(again.components_, model.partial_fit(X, y).components_)


def test_a_stream_goes_on_from_a_fit(digits):
    X, X_test, y, y_test = digits
    model = NeighborhoodComponents(3, random_state=0, regularization=1e-3).fit(X[:600], y[:600])
    before = model.transform(X)
    model.partial_fit(X[600:], y[600:])
    change = np.linalg.norm(model.transform(X) - before) / np.linalg.norm(before)
    assert 0 < change < 0.2  # one update
    assert model.score(X_test, y_test) > 0.8
    assert not hasattr(model.fit(X, y), "_stream")


def test_a_stream_keeps_no_choice_of_the_fit_before(digits):
    X, _, y, _ = digits
    model = NeighborhoodComponents("auto", random_state=0).fit(X[:200], y[:200])
    assert model.dimensions_["n_components"].size > 1
    model.set_params(n_components=len(model.components_)).partial_fit(X[200:300], y[200:300])
    assert not any(hasattr(model, name) for name in ("path_", "dimensions_", "recipe_"))


def test_one_row_at_a_time_and_weights(digits):
    X, _, y, _ = digits
    model = NeighborhoodComponents(2, random_state=0)
    model.partial_fit(X[:50], y[:50], classes=np.arange(10), sample_weight=np.full(50, 2.0))
    model.partial_fit(X[50:51], y[50:51])
    assert np.isfinite(model.components_).all()
    assert_array_equal(np.sort(model._classifier.weights)[[0, -1]], [1.0, 2.0])


def test_log_probabilities_of_classes_met_for_the_first_time(digits):
    X, _, y, _ = digits
    model = NeighborhoodComponents(2, objective="log", random_state=0, batch_size=5)
    model.partial_fit(X[:40], y[:40], classes=np.arange(10))
    assert np.isfinite(model.history_["objective"]).all()
    assert np.isfinite(model.components_).all()


@pytest.mark.parametrize("kernel", ["gaussian", "compact"])
@pytest.mark.parametrize("prior", ["empirical", "uniform"])
def test_classes_that_have_not_come_yet(digits, kernel, prior):
    X, _, y, _ = digits
    few = y < 4
    model = NeighborhoodComponents(2, random_state=0, kernel=kernel, prior=prior)
    model.partial_fit(X[few], y[few], classes=np.arange(10))
    probabilities = model.predict_proba(X)
    assert_allclose(probabilities.sum(axis=1), 1.0)
    assert_array_equal(probabilities[:, 4:], 0.0)
    model.partial_fit(X, y)
    assert (model.predict_proba(X)[:, 4:] > 0).any()


@pytest.mark.parametrize(
    "settings",
    [
        {"solver": "lbfgs"},
        {"batching": "projection"},
        {"background": 0.1, "kernel": "compact"},
        {"annealing": True},
        {"early_stopping": True},
    ],
    ids=str,
)
def test_what_a_stream_cannot_do_is_named(digits, settings):
    X, _, y, _ = digits
    name, value = next(iter(settings.items()))
    with pytest.raises(AttributeError, match="partial_fit") as caught:
        NeighborhoodComponents(2, **settings).partial_fit(X, y, classes=np.arange(10))
    assert f"{name}={value!r} needs all points at once" in str(caught.value.__cause__)


def test_wrong_classes_are_named(digits):
    X, _, y, _ = digits
    model = NeighborhoodComponents(2)
    with pytest.raises(ValueError, match="y has labels that were not announced"):
        model.partial_fit(X, y, classes=np.arange(9))
    with pytest.raises(ValueError, match="y has 1 class"):
        model.partial_fit(X[y == 3], y[y == 3])
    model.partial_fit(X, y)  # all classes are there
    assert_array_equal(model.classes_, np.arange(10))
    with pytest.raises(ValueError, match="differ from those of the earlier calls"):
        model.partial_fit(X, y, classes=np.arange(11))


def test_a_stream_is_computed_in_double_precision_and_says_so(digits):
    X, _, y, _ = digits
    points = X[:300].astype(np.float32)
    with pytest.raises(ValueError, match="compute this in float64, not in precision='float32'"):
        NeighborhoodComponents(3, precision="float32").partial_fit(points, y[:300])
    expected = NeighborhoodComponents(3, random_state=0).partial_fit(points, y[:300])
    found = NeighborhoodComponents(3, random_state=0, precision="float64")
    assert_array_equal(found.partial_fit(points, y[:300]).components_, expected.components_)
