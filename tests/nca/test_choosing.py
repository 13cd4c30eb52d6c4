"""What `regularization="auto"` and `n_components="auto"` choose, by folds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_score, train_test_split

from vicinal import NeighborhoodComponents
from vicinal.inputs.points import LabeledPoints
from vicinal.nca import decision, recipe, selection
from vicinal.nca.criteria import CRITERIA
from vicinal.nca.equations import Objective
from vicinal.neighborhood import GAUSSIAN


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


@pytest.fixture(scope="module")
def noisy():
    """Two classes that overlap, and features that mean nothing."""
    X, y = make_classification(
        400, 12, n_informative=3, n_redundant=0, flip_y=0.2, class_sep=0.8, random_state=0
    )
    return train_test_split(X, y, test_size=200, random_state=0)


def test_an_unscaled_table_is_learned_as_well_as_by_discriminants(wine):
    ours = cross_val_score(NeighborhoodComponents(2), *wine).mean()
    assert ours >= cross_val_score(LinearDiscriminantAnalysis(), *wine).mean() - 0.02


@pytest.mark.parametrize(
    "settings",
    [{}, {"regularization": 1e-3}, {"objective": "log"}, {"kernel": "student"}, {"init": "rca"}],
)
@pytest.mark.parametrize("load", [load_wine, load_iris])
def test_the_units_of_a_column_change_nothing(load, settings):
    X, y = load(return_X_y=True)
    units = np.exp(np.random.default_rng(0).normal(scale=5.0, size=X.shape[1]))
    model = NeighborhoodComponents(2, **settings).fit(X, y)
    scaled = NeighborhoodComponents(2, **settings).fit(X * units - 10.0 * units, y)
    assert_allclose(scaled.components_ * units, model.components_, rtol=1e-5, atol=1e-7)
    probabilities = scaled.predict_proba(X * units - 10.0 * units)
    assert_allclose(probabilities, model.predict_proba(X), rtol=1e-5, atol=1e-8)


def test_batches_do_not_depend_on_units_either(noisy):
    X, _, y, _ = noisy
    units = np.exp(np.random.default_rng(0).normal(scale=3.0, size=X.shape[1]))
    settings = {"batching": "random", "batch_size": 50, "max_iter": 30, "random_state": 0}
    model = NeighborhoodComponents(2, **settings).fit(X, y)
    scaled = NeighborhoodComponents(2, **settings).fit(X * units, y)
    assert_allclose(scaled.components_ * units, model.components_, rtol=1e-2, atol=1e-3)


def test_probabilities_of_overlapping_classes_are_not_too_sure(noisy):
    X, X_test, y, y_test = noisy
    chosen = NeighborhoodComponents().fit(X, y)
    classic = NeighborhoodComponents(regularization=0.0).fit(X, y)
    assert log_loss(y_test, chosen.predict_proba(X_test)) < np.log(2)
    assert log_loss(y_test, classic.predict_proba(X_test)) > np.log(2)
    assert chosen.score(X_test, y_test) >= classic.score(X_test, y_test)


def test_the_path_tells_what_was_tried(noisy):
    X, _, y, _ = noisy
    model = NeighborhoodComponents(2).fit(X, y)
    path, (k, s) = model.path_, model.path_["chosen"]
    n_maps = len(selection.SHARES) + 3
    assert path["init"].tolist() == ["init"] * (n_maps - 2) + ["features", "discriminants"]
    assert np.isnan(path["regularization"]).tolist() == [False] * (n_maps - 3) + [True] * 3
    for name in ("accuracy", "accuracy_error", "log_likelihood"):
        assert path[name].shape == (n_maps, len(path["scale"]))
    best = path["accuracy"].max()
    assert path["accuracy"][k, s] >= best - path["accuracy_error"][k, s]
    used = model.recipe_["regularization"]
    assert (
        used is None if np.isnan(path["regularization"][k]) else used == path["regularization"][k]
    )


def test_discriminants_are_chosen_where_classes_are_gaussians_of_one_shape():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], 30)
    X = (rng.normal(size=(90, 12)) + 2.0 * np.eye(3, 12)[y]) @ rng.normal(size=(12, 12))
    model = NeighborhoodComponents().fit(X, y)
    assert model.recipe_["init"] == "discriminants"
    assert (np.abs(model.components_).max(axis=1) > 0).tolist() == [True] * 2 + [False] * 10


def test_a_start_of_few_rows_is_discriminants_already():
    X, y = load_iris(return_X_y=True)
    assert "discriminants" not in NeighborhoodComponents(2).fit(X, y).path_["init"]


def test_the_map_chosen_is_that_of_its_penalty(noisy):
    X, _, y, _ = noisy
    model = NeighborhoodComponents(2).fit(X, y)
    used = model.recipe_["regularization"]
    assert used is not None
    again = NeighborhoodComponents(2, regularization=used).fit(X, y)
    assert_array_equal(again.components_, model.components_)
    assert not hasattr(again, "path_")


def test_accuracies_of_the_path_are_those_of_fits_to_the_folds(monkeypatch):
    """A naive reference: every fold fitted and scored by the public estimator."""
    X, y = load_iris(return_X_y=True)
    monkeypatch.setattr(selection, "SHARES", (1.0,))
    monkeypatch.setattr(selection, "SCALES", np.array([1.0]))
    monkeypatch.setattr(selection, "_UPDATES", 1000)
    monkeypatch.setattr(selection, "_LEAST_GAIN", 1e-5)
    model = NeighborhoodComponents(2).fit(X, y)
    folds = selection.class_folds(X, y, 5)
    assert (np.bincount(folds) >= 29).all()
    hits = np.zeros(len(y), dtype=bool)
    for fold in range(5):
        held = folds == fold
        within = np.square(X[~held] - _means(X[~held], y[~held])[y[~held]]).mean(axis=0)
        unit = _shares_of_units(X, y, within) / (~held).sum()
        part = NeighborhoodComponents(2, regularization=unit).fit(X[~held], y[~held])
        hits[held] = part.predict(X[held]) == y[held]
    assert abs(hits.mean() - model.path_["accuracy"][0, 0]) <= 1 / len(y) + 1e-12


def _means(X, y):
    return np.stack([X[y == c].mean(axis=0) for c in range(y.max() + 1)])


def _shares_of_units(X, y, within):
    """Σ_j of the variance within classes of a fold, in units of that of all points."""
    everywhere = np.square(X - _means(X, y)[y]).mean(axis=0) + 1e-3 * X.var(axis=0)
    return (within / (everywhere * 1.0)).sum()


@pytest.mark.parametrize("verbose", [0, 1])
def test_a_start_that_nothing_improves_is_left_as_it_is(monkeypatch, wine, verbose):
    monkeypatch.setattr(selection, "SHARES", ())
    model = NeighborhoodComponents(2, verbose=verbose).fit(*wine)
    assert model.recipe_["regularization"] is None
    assert model.converged_
    assert (model.n_iter_, len(model.history_["objective"])) == (1, 1)
    init = "auto" if model.recipe_["init"] == "init" else model.components_
    start = NeighborhoodComponents(2, init=init, max_iter=1, tol=1e9, regularization=0.0).fit(*wine)
    assert_allclose(model.history_["objective"][0], start.history_["objective"][0], rtol=1e-9)


def test_weights_count_copies_also_in_folds():
    X, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    copies = np.random.default_rng(1).permutation(np.repeat(np.arange(len(y)), weights))
    weighted = NeighborhoodComponents(2).fit(X, y, sample_weight=weights)
    copied = NeighborhoodComponents(2).fit(X[copies], y[copies])
    assert_allclose(weighted.path_["accuracy"], copied.path_["accuracy"], rtol=1e-12)
    assert_allclose(weighted.predict_proba(X), copied.predict_proba(X), rtol=1e-6, atol=1e-9)


def test_folds_judge_by_the_classes_that_the_prior_expects():
    """Where a rare class will be frequent, a border that ignores it is not accurate."""
    rng = np.random.default_rng(0)
    y, y_test = np.repeat([0, 1], [950, 50]), np.repeat([0, 1], 5000)
    X, X_test = (rng.normal(size=(len(c), 2)) + np.outer(2 * c, [1, 0]) for c in (y, y_test))
    model = NeighborhoodComponents(prior="uniform", random_state=0).fit(X, y)
    best = np.mean((X_test[:, 0] > 1) == y_test)
    assert model.score(X_test, y_test) > best - 0.01
    assert model.path_["accuracy"].max() == pytest.approx(best, abs=0.05)


@pytest.mark.parametrize("prior", ["uniform", np.array([0.2, 0.8])])
def test_rows_held_back_weigh_as_much_as_rows_that_know_the_same(prior):
    labels = np.repeat([0, 1], [90, 10])
    queries = LabeledPoints(np.zeros((100, 1)), labels=labels)
    objective = Objective(GAUSSIAN, CRITERIA["accuracy"], prior, 2)
    weights = selection.expected_weights(objective, queries)
    shares = np.bincount(labels, weights) / weights.sum()
    assert_allclose(shares, [0.5, 0.5] if isinstance(prior, str) else prior)
    # The variance of a mean with such weights is σ² Σ w² / (Σ w)².
    assert_allclose(weights.sum(), weights.sum() ** 2 / np.square(weights).sum())
    objective = Objective(GAUSSIAN, CRITERIA["accuracy"], "empirical", 2)
    assert_array_equal(selection.expected_weights(objective, queries), np.ones(100))


def test_classes_of_two_are_never_held_back_and_what_is_usual_is_done():
    X = np.random.default_rng(0).normal(size=(6, 2))
    model = NeighborhoodComponents().fit(X, [0, 0, 1, 1, 2, 2])
    assert not hasattr(model, "path_")
    assert model.recipe_["regularization"] == pytest.approx(recipe.USUAL_PENALTY / 3, rel=0.1)


def test_auto_dimension_is_the_smallest_within_one_error_of_the_best():
    X, y = load_breast_cancer(return_X_y=True)
    model = NeighborhoodComponents("auto").fit(X, y)
    tried = model.dimensions_
    assert tried["n_components"].tolist() == [1, 2, 3, 5, 8, 13, 21, 30]
    best = tried["accuracy"].argmax()
    enough = tried["accuracy"] >= tried["accuracy"][best] - tried["accuracy_error"][best]
    assert len(model.components_) == tried["n_components"][enough][0]
    assert len(model.components_) < 30
    assert not hasattr(model.set_params(n_components=2).fit(X, y), "dimensions_")


def test_auto_dimension_keeps_a_penalty_that_was_given(wine):
    model = NeighborhoodComponents("auto", regularization=0.02).fit(*wine)
    assert model.recipe_["regularization"] == 0.02
    assert not hasattr(model, "path_")
    assert model._classifier.scale == 1.0
    assert model.dimensions_["n_components"].tolist() == [1, 2, 3, 5, 8, 13]
    d = len(model.components_)
    again = NeighborhoodComponents(d, regularization=0.02).fit(*wine)
    assert_array_equal(again.components_, model.components_)


def test_auto_dimension_without_rows_to_hold_back_is_the_largest():
    X = np.random.default_rng(0).normal(size=(6, 2))
    assert len(NeighborhoodComponents("auto").fit(X, [0, 0, 1, 1, 2, 2]).components_) == 2


def test_many_features_get_a_map_of_lower_rank_by_default(monkeypatch):
    monkeypatch.setattr(decision, "MOST_COMPONENTS", 4)
    monkeypatch.setattr("vicinal.nca.preparation.MOST_COMPONENTS", 4)
    X, y = load_wine(return_X_y=True)
    assert NeighborhoodComponents(regularization=0.01).fit(X, y).components_.shape == (4, 13)
    assert NeighborhoodComponents(13, regularization=0.01).fit(X, y).components_.shape == (13, 13)


def test_a_map_given_tells_the_dimension(wine):
    model = NeighborhoodComponents(init=np.eye(3, 13), regularization=0.01).fit(*wine)
    assert model.components_.shape == (3, 13)


def test_restarts_never_end_lower(wine):
    settings = {"init": "random", "regularization": 0.01, "random_state": 0}
    one = NeighborhoodComponents(2, **settings).fit(*wine)
    many = NeighborhoodComponents(2, n_init=4, **settings).fit(*wine)
    assert many.objective_ >= one.objective_
    again = NeighborhoodComponents(2, n_init=4, **settings).fit(*wine)
    assert_array_equal(again.components_, many.components_)


def test_a_warm_start_keeps_what_was_chosen(noisy):
    X, _, y, _ = noisy
    model = NeighborhoodComponents(2, warm_start=True).fit(X, y)
    chosen, scale = model.recipe_["regularization"], model._classifier.scale
    model.fit(X, y)
    assert model.recipe_["regularization"] == chosen
    assert model._classifier.scale == scale
    assert not hasattr(model, "path_")


def test_progress_of_folds_is_shown(wine, capsys):
    NeighborhoodComponents(2, verbose=1).fit(*wine)
    shown = capsys.readouterr().err
    assert "NeighborhoodComponents(2), choosing by folds: 5 maps at 5 sizes tried" in shown


@pytest.mark.parametrize("init", ["rca", "lda", "auto"])
def test_starts_of_fewer_points_than_features_are_alive(init):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 4
    X = rng.normal(size=(40, 50))
    X[:, :3] += 3 * np.eye(4)[y, :3]
    model = NeighborhoodComponents(3, init=init, regularization=0.0).fit(X, y)
    assert model.objective_ > 0.9


def test_a_dead_map_is_warned_of(wine):
    with pytest.warns(UserWarning, match="all points look alike to it"):
        NeighborhoodComponents(2, regularization=1e3).fit(*wine)
