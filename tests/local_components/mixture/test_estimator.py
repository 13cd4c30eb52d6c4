"""LocalComponents(n_mixture=...) as users meet it."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from vicinal import LocalComponents
from vicinal.facts import facts_in_words
from vicinal.local_components.mixture.learning import MixtureProblem
from vicinal.local_components.mixture.trials import Trials
from vicinal.report.numbers.marginals import marginal_log_density
from vicinal.report.numbers.plane import Plane
from vicinal.report.numbers.shapes import local_gaussians
from vicinal.saving import load, save


def draw_clusters(n, seed):
    """A round, a long and a curved one, of n points each."""
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, np.pi, n)
    ring = np.stack([6 + 3 * np.cos(angles), 3 * np.sin(angles)], axis=1)
    ring += 0.1 * rng.normal(size=(n, 2))
    long = rng.normal(size=(n, 2)) * [0.1, 2.0] - [4.0, 0.0]
    return np.vstack([rng.normal(size=(n, 2)), long, ring])


@pytest.fixture(scope="module")
def clusters():
    return draw_clusters(40, seed=0)


@pytest.fixture(scope="module")
def model(clusters):
    """With variances that are given, which saves most of what there is to choose."""
    mixture = LocalComponents(n_mixture=3, regularization=1e-4, max_iter=10, random_state=0)
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
    assert len({np.bincount(found[k : k + 40]).argmax() for k in (0, 40, 80)}) == 3
    pooled = np.tensordot(model.mixture_weights_, model.mixture_covariances_, 1)
    assert_allclose(model.covariance_, pooled)
    A = model.components_
    assert_allclose(A @ model.covariance_ @ A.T, np.eye(2), atol=1e-9)


def test_it_is_likelier_than_one_shape_and_than_gaussians(clusters):
    mixture = LocalComponents(n_mixture="auto", regularization="auto", random_state=0)
    one = LocalComponents(gaussian="search", regularization="auto", random_state=0)
    gaussians = GaussianMixture(3, random_state=0)
    new = draw_clusters(200, seed=1)
    reached, *others = (each.fit(clusters).score(new) for each in (mixture, one, gaussians))
    assert mixture.n_mixture_ > 1
    assert reached > max(others)


def test_history_never_falls_and_units_are_those_of_the_user(model, clusters):
    assert (np.diff(model.history_["objective"]) >= -1e-10).all()
    wide = clone(model).set_params(regularization=100.0).fit(clusters * 1000.0)
    assert (np.diff(wide.history_["objective"]) >= -1e-10).all()
    shift = 2 * np.log(1000.0)
    assert_allclose(wide.loo_log_likelihood_, model.loo_log_likelihood_ - shift)
    assert_allclose(wide.mixture_covariances_, 1e6 * model.mixture_covariances_, rtol=1e-6)
    assert_allclose(wide.regularization_, (100.0, 100.0))


def test_it_integrates_to_one(model):
    axis = np.arange(-12, 14, 0.05)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    assert_allclose(np.exp(model.score_samples(grid)).sum() * 0.05**2, 1.0, atol=2e-3)


def test_seeds_and_threads(model, clusters):
    again = clone(model).set_params(n_jobs=2).fit(clusters)
    assert_allclose(again.score_samples(clusters), model.score_samples(clusters), rtol=1e-12)


def test_modes_and_samples(model):
    centers, labels = model.modes()
    assert len(labels) == 120
    heights = model.score_samples(centers)
    assert (np.diff(heights) <= 1e-9).all()
    assert model.sample(7).shape == (7, 2)


def test_it_is_saved(model, clusters, tmp_path):
    save(model, tmp_path / "mixture.skops")
    loaded = load(tmp_path / "mixture.skops")
    assert_allclose(loaded.score_samples(clusters), model.score_samples(clusters), rtol=0)
    assert_allclose(loaded.part_probabilities(clusters), model.part_probabilities(clusters), rtol=0)


def test_facts_tell_the_parts(model):
    assert facts_in_words(model)["Parts"].startswith("3; Gaussian directions of each: ")


@pytest.mark.parametrize("case", ["twins", "constant", "all the same", "two", "few", "wide"])
def test_any_data_have_a_density(case):
    rng = np.random.default_rng(0)
    X = {
        "twins": np.repeat(rng.normal(size=(15, 2)), 2, axis=0),
        "constant": np.c_[rng.normal(size=30), np.full(30, 3.0), rng.integers(0, 2, 30)],
        "all the same": np.ones((10, 2)),
        "two": rng.normal(size=(2, 2)),
        "few": rng.normal(size=(3, 2)),
        "wide": rng.normal(size=(12, 20)),
    }[case]
    model = LocalComponents(n_mixture=4, regularization="auto", random_state=0).fit(X)
    assert np.isfinite(model.score_samples(X)).all()
    assert np.isfinite(model.score_samples(X + 1.0)).all()
    assert np.isfinite(model.loo_log_likelihood_)


@pytest.mark.filterwarnings("ignore:LocalComponents with regularization='auto'")
@pytest.mark.parametrize(("n", "d"), [(12, 30), (30, 20)])
def test_few_rows_in_many_dimensions_are_no_less_likely_than_under_one_shape(n, d):
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(n, d)), rng.normal(size=(300, d))
    mixture = LocalComponents(n_mixture="auto", random_state=0).fit(X)
    assert mixture.score(new) > LocalComponents().fit(X).score(new) - 0.5


def test_rows_of_weight_zero_are_absent(clusters):
    weights = np.r_[np.ones(80), np.zeros(40)]
    mixture = LocalComponents(n_mixture=2, regularization=(1e-3, 1e-2))
    mixture.set_params(random_state=0).fit(clusters, sample_weight=weights)
    same = clone(mixture).fit(clusters[:80])
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
    monkeypatch.setattr("vicinal.local_components.mixture.fit.MOST_ROWS", 60)
    mixture = LocalComponents(n_mixture=2, regularization=1e-4, random_state=0).fit(clusters)
    assert len(mixture._density.points) == 60
    assert np.isfinite(mixture.score(clusters))


def test_progress_is_shown(clusters, capsys):
    mixture = LocalComponents(n_mixture=2, regularization=1e-4, random_state=0, max_iter=2)
    mixture.set_params(verbose=1).fit(clusters)
    assert "LocalComponents" in "".join(capsys.readouterr())


def test_an_interrupt_keeps_what_was_reached(monkeypatch, clusters):
    steps = []

    def interrupted(problem, packed, step=MixtureProblem.step):
        steps.append(len(steps))
        if len(steps) > 3:
            raise KeyboardInterrupt
        return step(problem, packed)

    mixture = LocalComponents(n_mixture=2, regularization=1e-4, random_state=0, max_iter=50)
    monkeypatch.setattr("vicinal.local_components.mixture.trials.MixtureProblem.step", interrupted)
    monkeypatch.setattr(Trials, "updated", lambda trials, recipe, counts: recipe)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        mixture.fit(clusters)
    assert np.isfinite(mixture.score(clusters))


def test_pictures_know_the_parts(model, clusters):
    plane = Plane.of_features(clusters, [0, 1])
    assert_allclose(
        marginal_log_density(model, plane, plane.project(clusters)),
        model.score_samples(clusters),
        rtol=1e-5,
    )
    centers, covariances, _ = local_gaussians(model)
    assert covariances(np.arange(5)).shape == (5, 2, 2)
    assert len(centers) == len(clusters)


def test_a_stream_goes_on_from_a_mixture():
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = LocalComponents(n_mixture=2, random_state=0).fit(X).set_params(n_mixture=1)
    assert np.isfinite(model.partial_fit(X).score_samples(X)).all()
    assert model.n_mixture_ == 1
