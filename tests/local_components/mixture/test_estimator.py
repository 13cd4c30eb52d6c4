"""LocalComponents(n_mixture=...) as users meet it."""

import io
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.mixture import GaussianMixture

from vicinal import LocalComponents
from vicinal.facts import facts_in_words
from vicinal.saving import load, save


@pytest.fixture(scope="module")
def clusters():
    """A round, a long and a curved one."""
    rng = np.random.default_rng(0)
    angles = rng.uniform(0, np.pi, 80)
    ring = np.stack([6 + 3 * np.cos(angles), 3 * np.sin(angles)], axis=1)
    ring += 0.1 * rng.normal(size=(80, 2))
    long = rng.normal(size=(80, 2)) * [0.1, 2.0] - [4.0, 0.0]
    return np.vstack([rng.normal(size=(80, 2)), long, ring])


@pytest.fixture(scope="module")
def model(clusters):
    mixture = LocalComponents(n_mixture=3, regularization="auto", random_state=0)
    return mixture.fit(clusters)


def test_one_part_is_the_plain_model(clusters):
    plain, one = LocalComponents(), LocalComponents(n_mixture=1)
    expected = plain.fit(clusters).score_samples(clusters)
    assert_allclose(one.fit(clusters).score_samples(clusters), expected, rtol=0)
    assert one.n_mixture_ == 1
    assert_allclose(one.mixture_weights_, [1.0])
    assert_allclose(one.mixture_covariances_[0], one.covariance_)
    assert_allclose(one.part_probabilities(clusters), 1.0)


def test_parts_have_the_shapes_of_clusters(model, clusters):
    assert model.n_mixture_ == 3
    assert_allclose(model.mixture_weights_.sum(), 1.0)
    shares = model.part_probabilities(clusters)
    assert_allclose(shares.sum(axis=1), 1.0)
    found = shares.argmax(axis=1)
    assert len({tuple(np.unique(found[k : k + 80])) for k in (0, 80, 160)}) == 3
    pooled = np.tensordot(model.mixture_weights_, model.mixture_covariances_, 1)
    assert_allclose(model.covariance_, pooled)
    A = model.components_
    assert_allclose(A @ model.covariance_ @ A.T, np.eye(2), atol=1e-9)


def test_it_is_likelier_than_one_shape_and_than_gaussians(clusters):
    rng = np.random.default_rng(1)
    order = rng.permutation(len(clusters))
    train, test = clusters[order[:180]], clusters[order[180:]]
    mixture = LocalComponents(n_mixture="auto", regularization="auto", random_state=0).fit(train)
    one = LocalComponents(regularization="auto", random_state=0).fit(train)
    assert mixture.score(test) > one.score(test)
    assert mixture.score(test) > GaussianMixture(3, random_state=0).fit(train).score(test)


def test_history_never_falls_and_is_in_the_units_of_the_user(model, clusters):
    wide = clone(model).set_params(max_iter=20).fit(clusters * 1000.0)
    narrow = clone(model).set_params(max_iter=20).fit(clusters)
    for one in (wide, narrow):
        assert (np.diff(one.history_["objective"]) >= -1e-10).all()
    shift = 2 * np.log(1000.0)
    assert_allclose(wide.loo_log_likelihood_, narrow.loo_log_likelihood_ - shift)
    # The prior counts the volume of every part, too.
    assert len(wide.history_["objective"]) == len(narrow.history_["objective"])


def test_it_integrates_to_one(model):
    axis = np.arange(-12, 14, 0.05)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    assert_allclose(np.exp(model.score_samples(grid)).sum() * 0.05**2, 1.0, atol=2e-3)


def test_seeds_and_threads(model, clusters):
    again = clone(model).set_params(n_jobs=2).fit(clusters)
    assert_allclose(again.score_samples(clusters), model.score_samples(clusters), rtol=1e-12)


def test_modes_and_samples(model):
    centers, labels = model.modes()
    assert len(labels) == 240
    heights = model.score_samples(centers)
    assert (np.diff(heights) <= 1e-9).all()
    assert model.sample(7).shape == (7, 2)


def test_it_is_saved(model, clusters):
    file = io.BytesIO()
    save(model, file)
    file.seek(0)
    loaded = load(file)
    assert_allclose(loaded.score_samples(clusters), model.score_samples(clusters), rtol=0)
    assert_allclose(loaded.part_probabilities(clusters), model.part_probabilities(clusters), rtol=0)


def test_facts_tell_the_parts(model):
    assert facts_in_words(model)["Parts"].startswith("3, of which")


@pytest.mark.parametrize("n_mixture", [4, "auto"])
@pytest.mark.parametrize("case", ["twins", "constant", "all the same", "few", "wide"])
def test_any_data_have_a_density(case, n_mixture):
    rng = np.random.default_rng(0)
    X = {
        "twins": np.repeat(rng.normal(size=(15, 2)), 2, axis=0),
        "constant": np.c_[rng.normal(size=30), np.full(30, 3.0), rng.integers(0, 2, 30)],
        "all the same": np.ones((10, 2)),
        "few": rng.normal(size=(3, 2)),
        "wide": rng.normal(size=(12, 20)),
    }[case]
    model = LocalComponents(n_mixture=n_mixture, regularization="auto", random_state=0).fit(X)
    assert np.isfinite(model.score_samples(X)).all()
    assert np.isfinite(model.score_samples(X + 1.0)).all()
    assert np.isfinite(model.loo_log_likelihood_)


def test_weights_of_zero_are_absent_and_a_common_factor_of_variances_is_kept(clusters):
    weights = np.r_[np.ones(160), np.zeros(80)]
    mixture = LocalComponents(n_mixture=2, regularization=(1e-3, 1e-2), gaussian="search")
    mixture.set_params(random_state=0).fit(clusters, sample_weight=weights)
    same = clone(mixture).fit(clusters[:160])
    assert_allclose(mixture.score_samples(clusters), same.score_samples(clusters))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("covariance", "local"),
        ("covariance", "diag"),
        ("kernel", "student"),
        ("gaussian", "em"),
        ("batch_size", 50),
        ("n_neighbors", 50),
        ("early_stopping", True),
    ],
)
def test_what_does_not_combine_is_named(clusters, name, value):
    mixture = LocalComponents(n_mixture="auto", **{name: value})
    with pytest.raises(ValueError, match=re.escape(f"{name}={value!r}")):
        mixture.fit(clusters)


@pytest.mark.parametrize("n_mixture", [0, -1, 2.5, "some"])
def test_numbers_of_parts_that_are_none(clusters, n_mixture):
    with pytest.raises((ValueError, TypeError), match="n_mixture"):
        LocalComponents(n_mixture=n_mixture).fit(clusters)


def test_streams_have_one_part(clusters):
    with pytest.raises((ValueError, AttributeError)):
        LocalComponents(n_mixture=2).partial_fit(clusters)


def test_many_rows_are_a_sample(monkeypatch, clusters):
    monkeypatch.setattr("vicinal.local_components.estimator.MOST_ROWS", 100)
    mixture = LocalComponents(n_mixture=2, regularization="auto", random_state=0).fit(clusters)
    assert len(mixture._density.points) == 100
    assert np.isfinite(mixture.score(clusters))


def test_progress_and_interrupts_are_those_of_the_loop(clusters, capsys):
    X = load_iris(return_X_y=True)[0]
    options = {"n_mixture": 2, "regularization": "auto", "random_state": 0, "max_iter": 3}
    LocalComponents(**options, verbose=1).fit(X)
    assert "LocalComponents" in "".join(capsys.readouterr())
