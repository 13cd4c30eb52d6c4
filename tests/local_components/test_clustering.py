import signal
import threading

import numpy as np
import pandas as pd
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.datasets import load_breast_cancer, make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from vicinal import LocalComponents, ModeClustering
from vicinal.datasets import make_noisy_gaussians

AUTO = "ignore:LocalComponents with regularization='auto'"


@pytest.mark.filterwarnings(AUTO)
@parametrize_with_checks([ModeClustering(), ModeClustering(LocalComponents(n_mixture=2))])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def clusters(X, **parameters):
    return ModeClustering(random_state=0, **parameters).fit(X)


def three_blobs(seed, n=90):
    centers = [[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]]
    return make_blobs(n, centers=centers, random_state=seed)


@given(seed=st.integers(0, 2**32 - 1))
@examples(4)
def test_neither_units_nor_order_of_rows_matter(seed):
    X, y = three_blobs(seed)
    labels = clusters(X).labels_
    assert adjusted_rand_score(y, labels) > 0.9
    other_units = clusters(X * [1e-3, 1e4] + [5.0, -7e4]).labels_
    assert adjusted_rand_score(labels, other_units) == 1.0
    order = np.random.default_rng(seed).permutation(len(X))
    assert adjusted_rand_score(labels[order], clusters(X[order]).labels_) == 1.0


@given(seed=st.integers(0, 2**32 - 1))
@examples(4)
def test_weights_count_copies(seed):
    X, _ = three_blobs(seed, 60)
    weights = np.random.default_rng(seed).integers(0, 4, len(X))
    one = ModeClustering(random_state=0).fit(X, sample_weight=weights)
    other = clusters(np.repeat(X, weights, axis=0))
    assert one.n_clusters_ == other.n_clusters_
    assert_array_equal(one.predict(X), other.predict(X))
    assert len(one.labels_) == len(X)


@pytest.mark.parametrize(
    "density",
    [
        None,
        LocalComponents(covariance="local", smoothing=20),
        LocalComponents(n_mixture=3),
        LocalComponents(kernel="student"),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_blobs_are_counted(density, dtype):
    X, y = three_blobs(0)
    model = clusters(X.astype(dtype), density=density)
    assert model.n_clusters_ == len(model.cluster_centers_) == 3
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert_array_equal(model.predict(X.astype(dtype)), model.labels_)
    assert_array_equal(model.predict(model.cluster_centers_), np.arange(3))


@pytest.mark.parametrize("shape", ["moons", "circles", "noisy gaussians"])
def test_shapes(shape):
    if shape == "moons":
        X, y = make_moons(300, noise=0.06, random_state=0)
    elif shape == "circles":
        X, y = make_circles(300, noise=0.04, factor=0.4, random_state=0)
    else:
        X, y = make_noisy_gaussians(300, n_noise=8, random_state=0)
    model = clusters(X)
    assert model.n_clusters_ == 2
    assert adjusted_rand_score(y, model.labels_) > 0.95


@pytest.mark.parametrize(("n", "d"), [(100, 1), (300, 2), (300, 5), (100, 20)])
def test_one_cloud_is_one_cluster(n, d):
    assert clusters(np.random.default_rng(0).normal(size=(n, d))).n_clusters_ == 1


@pytest.mark.parametrize("d", [2, 5])
def test_noise_has_few_clusters(d):
    assert clusters(np.random.default_rng(0).uniform(size=(200, d))).n_clusters_ <= 2


def test_there_are_not_as_many_clusters_as_rows():
    X = load_breast_cancer().data[:300]
    assert clusters(X, density=LocalComponents()).n_clusters_ <= 5


def test_the_less_significant_the_more():
    X, _ = make_moons(300, noise=0.06, random_state=0)
    density = LocalComponents(regularization=0.005)
    found = [clusters(X, density=density, significance=z).n_clusters_ for z in (0, 1, 2.5, 20)]
    assert found == sorted(found, reverse=True)
    assert found[0] > 5
    assert found[-1] == 1


@pytest.mark.filterwarnings(AUTO)
def test_constant_columns_and_repeated_rows():
    X, y = three_blobs(0)
    X = np.column_stack([np.repeat(X, 2, axis=0), np.full(2 * len(X), 3.0)])
    model = clusters(X)
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(np.repeat(y, 2), model.labels_) > 0.95
    assert clusters(np.ones((30, 2))).n_clusters_ == 1
    assert clusters(np.ones((1, 2))).n_clusters_ == 1


def test_many_rows_belong_to_the_nearest_that_climbed():
    X, y = three_blobs(0, 600)
    model = clusters(X, max_samples=150)
    assert len(model.density_.sample(3)) == 3
    assert model.labels_.shape == (600,)
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert_array_equal(model.predict(X), model.labels_)
    assert clusters(X, max_samples=None).n_clusters_ == 3


def test_columns_are_named():
    X, _ = three_blobs(0)
    model = clusters(pd.DataFrame(X, columns=["a", "b"]))
    assert_array_equal(model.feature_names_in_, ["a", "b"])
    assert_array_equal(model.density_.feature_names_in_, ["a", "b"])


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"significance": -1.0}, "significance"),
        ({"max_samples": 1}, "max_samples"),
        ({"density": "parzen"}, "density"),
    ],
)
def test_messages_name_the_argument(parameters, name):
    with pytest.raises((ValueError, TypeError), match=name):
        clusters(three_blobs(0)[0], **parameters)


def test_progress(monkeypatch, capfd):
    monkeypatch.setattr("vicinal.fitting.progress._SECONDS_BEFORE_SHOWN", 0.0)
    clusters(three_blobs(0)[0], verbose=1)
    shown = capfd.readouterr().err
    assert "Mean shift" in shown
    assert "LocalComponents" in shown


@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(),
    reason="signals reach the main thread only",
)
def test_ctrl_c_ends_a_climb(monkeypatch):
    from vicinal.local_components.density import ParzenDensity

    model = LocalComponents(regularization=0.1).fit(three_blobs(0)[0])
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    steps = []

    def climb(self, X, engine):
        steps.append(len(X))
        signal.raise_signal(signal.SIGINT)
        return X + 1.0

    monkeypatch.setattr(ParzenDensity, "climb", climb)
    try:
        with pytest.raises(KeyboardInterrupt):
            model.modes()
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(steps) == 1
