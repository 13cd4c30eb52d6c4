import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from vicinal import NeighborhoodComponents
from vicinal.inputs.features import class_units
from vicinal.nca import objective


@parametrize_with_checks(
    [
        NeighborhoodComponents(),
        NeighborhoodComponents(objective="log"),
        NeighborhoodComponents(kernel="compact", prior="uniform"),
        NeighborhoodComponents(kernel="student", degrees_of_freedom=1.0),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def penalized(A, X, y, regularization, **settings):
    """The mean objective less λ, which counts the map in units of deviations within classes."""
    unit = class_units(X, y, y.max() + 1).unit
    total = regularization * len(y)
    value, gradient = objective(A * unit, X / unit, y, regularization=total, **settings)
    return value / len(y), gradient / len(y)


@pytest.mark.parametrize("solver", ["lbfgs", "cg"])
@pytest.mark.parametrize("init", ["rca", "lda", "pca", "identity", "random"])
def test_classic_nca_on_iris_ends_between_147_and_150(iris, init, solver):
    model = NeighborhoodComponents(2, init=init, solver=solver, max_iter=500, random_state=0)
    model.fit(*iris)
    assert model.converged_
    assert 146.9 <= 150 * model.objective_ <= 150
    assert_allclose(model.objective_, objective(model.components_, *iris)[0] / 150, rtol=1e-10)


@pytest.mark.parametrize("solver", ["lbfgs", "bold-driver"])
@pytest.mark.parametrize("name", ["accuracy", "log"])
def test_the_objective_never_falls(iris, name, solver):
    model = NeighborhoodComponents(2, objective=name, init="pca", solver=solver, max_iter=2000)
    model.fit(*iris)
    assert model.converged_
    assert (np.diff(model.history_["objective"]) >= 0).all()


def test_history_starts_at_the_start_and_ends_at_the_result(iris):
    start = np.eye(2, 4)
    model = NeighborhoodComponents(2, init=start, solver="lbfgs").fit(*iris)
    history = model.history_
    assert {len(values) for values in history.values()} == {model.n_iter_ + 1}
    assert_allclose(history["objective"][0], objective(start, *iris)[0] / 150, rtol=1e-12)
    assert history["objective"][-1] == model.objective_
    assert history["step"][0] == 0
    assert (history["step"][1:] > 0).all()
    assert (np.diff(history["time"]) >= 0).all()


def test_regularization_is_on_the_mean_and_holds_the_map_small(iris):
    X, y = iris
    weak, strong = (NeighborhoodComponents(2, regularization=r).fit(X, y) for r in (1e-4, 1e-1))
    assert np.linalg.norm(strong.components_) < np.linalg.norm(weak.components_) / 2
    value, _ = penalized(strong.components_, X, y, 1e-1)
    assert_allclose(strong.objective_, value, rtol=1e-10)
    tight = NeighborhoodComponents(2, regularization=1e-1, tol=1e-12).fit(X, y)
    _, gradient = penalized(tight.components_, X, y, 1e-1)
    assert np.abs(gradient).max() < 1e-5


def test_log_objective_is_the_mean_log_probability(iris):
    model = NeighborhoodComponents(2, objective="log", regularization=0.01).fit(*iris)
    value, _ = penalized(model.components_, *iris, 0.01, objective="log")
    assert_allclose(model.objective_, value, rtol=1e-9)


def test_probabilities_follow_the_nca_rule(iris):
    X, y = iris
    train, test = np.arange(150) % 3 > 0, np.arange(150) % 3 == 0
    model = NeighborhoodComponents(2, max_iter=5, tol=0.0, regularization=0.01)
    with pytest.warns(ConvergenceWarning, match="max_iter=5 reached"):
        model.fit(X[train], y[train])
    Z, Q = X[train] @ model.components_.T, X[test] @ model.components_.T
    weights = np.exp(-np.square(Q[:, None] - Z[None]).sum(-1))
    expected = np.stack([weights[:, y[train] == c].sum(axis=1) for c in range(3)], axis=1)
    expected /= expected.sum(axis=1, keepdims=True)
    assert_allclose(model.predict_proba(X[test]), expected, rtol=1e-9)
    assert_array_equal(model.predict(X[test]), expected.argmax(axis=1))
    assert_allclose(model.predict_proba(X[test]).sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("init", ["rca", "lda", "pca", "identity", "random"])
def test_compact_support_on_iris_ends_between_142_and_147(iris, init):
    model = NeighborhoodComponents(
        2, kernel="compact", init=init, solver="lbfgs", max_iter=500, random_state=0
    ).fit(*iris)
    assert 142 <= 150 * model.objective_ <= 147
    value, _ = objective(model.components_, *iris, kernel="compact")
    assert_allclose(model.objective_, value / 150, rtol=1e-9)


def test_compact_support_falls_back_on_the_nearest_neighbor(iris):
    X, y = iris
    model = NeighborhoodComponents(2, kernel="compact", regularization=1e-3).fit(X, y)
    far = X[[0, 60, 120]] + 100 * (X[[0, 60, 120]] - X.mean(axis=0))
    nearest = KNeighborsClassifier(1).fit(model.transform(X), y)
    probabilities = model.predict_proba(np.vstack([far, X]))
    assert_array_equal(probabilities[:3].argmax(axis=1), nearest.predict(model.transform(far)))
    assert_array_equal(np.sort(probabilities[:3], axis=1), [[0.0, 0.0, 1.0]] * 3)
    assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-12)


def test_compact_support_in_full_dimension_is_right_on_wine():
    """Few unseen points have anybody in reach in 13 dimensions."""
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    train = np.arange(len(y)) % 3 > 0
    model = NeighborhoodComponents(kernel="compact").fit(X[train], y[train])
    assert model.score(X[~train], y[~train]) > 0.9


@pytest.mark.parametrize("prior", ["uniform", [0.2, 0.5, 0.3]])
def test_priors_enter_the_fit_and_the_probabilities(iris, prior):
    keep = np.r_[0:50, 50:80, 100:115]  # classes of 50, 30 and 15
    X, y = iris[0][keep], iris[1][keep]
    model = NeighborhoodComponents(2, prior=prior, regularization=0.01).fit(X, y)
    value, _ = penalized(model.components_, X, y, 0.01, prior=prior)
    assert_allclose(model.objective_, value, rtol=1e-9)
    Z, Q = X @ model.components_.T, iris[0] @ model.components_.T
    weights = np.exp(-np.square(Q[:, None] - Z[None]).sum(-1))
    density = np.stack([weights[:, y == c].mean(axis=1) for c in range(3)], axis=1)
    posterior = density * (np.full(3, 1 / 3) if prior == "uniform" else prior)
    posterior /= posterior.sum(axis=1, keepdims=True)
    assert_allclose(model.predict_proba(iris[0]), posterior, rtol=1e-8, atol=1e-12)
    assert_array_equal(model.predict(iris[0]), posterior.argmax(axis=1))


def test_the_empirical_prior_given_by_hand_changes_only_the_leave_one_out_counts(iris):
    keep = np.r_[0:50, 50:80, 100:115]
    X, y = iris[0][keep], iris[1][keep]
    settings = {"init": np.eye(2, 4), "max_iter": 1, "tol": 1e9, "regularization": 0.0}
    by_name = NeighborhoodComponents(2, **settings).fit(X, y)
    by_hand = NeighborhoodComponents(2, prior=np.array([50, 30, 15]) / 95, **settings).fit(X, y)
    by_hand.components_ = by_name.components_
    by_hand._classifier = replace(by_hand._classifier, keys=by_name._classifier.keys)
    assert_allclose(by_hand.predict_proba(X), by_name.predict_proba(X), rtol=1e-9, atol=1e-12)


def test_far_queries_still_get_probabilities(iris):
    model = NeighborhoodComponents(2).fit(*iris)
    probabilities = model.predict_proba(np.full((1, 4), 1e6))
    assert_allclose(probabilities.sum(), 1.0)


@pytest.mark.parametrize("labels", [["a", "b", "c"], [-3, 5, 40], [0.0, 1.0, 7.0]])
def test_labels_of_any_kind(iris, labels):
    X, y = iris
    names = np.array(labels)
    model = NeighborhoodComponents(2).fit(X, names[y])
    assert_array_equal(model.classes_, names)
    assert_array_equal(model.predict(X), names[NeighborhoodComponents(2).fit(X, y).predict(X)])


@pytest.mark.parametrize("engine", ["blocked", "fused"])
def test_every_engine_learns_the_same_map(iris, engine):
    by_auto = NeighborhoodComponents(2).fit(*iris)
    model = NeighborhoodComponents(2, engine=engine).fit(*iris)
    assert model.engine_ == engine
    assert model.engine_reason_ == "asked for by name"
    assert_allclose(model.components_, by_auto.components_, rtol=1e-5)


def test_auto_reports_the_engine(iris):
    model = NeighborhoodComponents(2).fit(*iris)
    assert model.engine_ == "blocked"
    assert "before a compiler would start" in model.engine_reason_


@pytest.mark.parametrize("engine", ["blocked", "fused"])
def test_threads_change_no_bit_of_a_fit(engine, monkeypatch):
    monkeypatch.setattr("vicinal.neighborhood.tiled._PAIRS_WORTH_A_THREAD", 1)
    X, y = load_digits(return_X_y=True)
    X = X[:900] / 16
    maps = [
        NeighborhoodComponents(3, engine=engine, n_jobs=n_jobs, tol=1e-3).fit(X, y[:900])
        for n_jobs in (1, 2)
    ]
    assert_array_equal(maps[0].components_, maps[1].components_)
    assert_array_equal(maps[0].predict_proba(X), maps[1].predict_proba(X))


def test_the_same_seed_gives_the_same_map(iris):
    a, b, c = (
        NeighborhoodComponents(2, init="random", random_state=s).fit(*iris) for s in (1, 1, 2)
    )
    assert_array_equal(a.components_, b.components_)
    assert not np.allclose(a.components_, c.components_)


def test_a_rotation_of_the_inputs_rotates_the_map(iris):
    X, y = iris
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    plain = NeighborhoodComponents(2, tol=1e-3).fit(X, y)
    rotated = NeighborhoodComponents(2, tol=1e-3).fit(X @ Q.T, y)
    M, R = plain.get_mahalanobis_matrix(), rotated.get_mahalanobis_matrix()
    assert_allclose(R, Q @ M @ Q.T, rtol=1e-4, atol=1e-4 * np.abs(M).max())


def test_units_do_not_matter(iris):
    X, y = iris
    plain = NeighborhoodComponents(2).fit(X, y)
    scaled = NeighborhoodComponents(2).fit(X * 2.0**20, y)
    assert_allclose(scaled.components_ * 2.0**20, plain.components_, rtol=1e-10)
    far = NeighborhoodComponents(2).fit(X + 1e4, y)
    assert_allclose(far.objective_, plain.objective_, rtol=1e-4)


def test_float32_stays_float32(iris):
    X, y = iris
    model = NeighborhoodComponents(2).fit(X.astype(np.float32), y)
    assert model.components_.dtype == np.float32
    assert model.transform(X.astype(np.float32)).dtype == np.float32
    assert_allclose(model.objective_, NeighborhoodComponents(2).fit(X, y).objective_, atol=2e-3)


def test_inputs_are_left_alone(iris):
    X, y = iris[0].copy(), iris[1].copy()
    X.flags.writeable = y.flags.writeable = False
    init = np.eye(2, 4)
    init.flags.writeable = False
    NeighborhoodComponents(2, init=init).fit(X, y).predict(X)
    assert_array_equal(X, iris[0])
    assert_array_equal(init, np.eye(2, 4))


def test_distances_between_pairs(iris):
    X, y = iris
    model = NeighborhoodComponents(2).fit(X, y)
    pairs = np.stack([X[:5], X[60:65]], axis=1)
    Z = model.transform(X)
    expected = np.linalg.norm(Z[:5] - Z[60:65], axis=1)
    assert_allclose(model.pair_distance(pairs), expected, rtol=1e-12)
    assert_allclose(model.pair_score(pairs), -expected, rtol=1e-12)
    M = model.get_mahalanobis_matrix()
    difference = X[0] - X[60]
    assert_allclose(np.sqrt(difference @ M @ difference), expected[0], rtol=1e-12)
    assert model.pair_distance(np.empty((0, 2, 4))).shape == (0,)
    with pytest.raises(ValueError, match=r"pairs has shape \(5, 4\), expected \(n_pairs, 2, 4\)"):
        model.pair_distance(X[:5])
    with pytest.raises(ValueError, match="pairs contains NaN"):
        model.pair_distance(np.full((1, 2, 4), np.nan))
    with pytest.raises(NotFittedError):
        NeighborhoodComponents().pair_distance(pairs)


def test_data_frames_and_feature_names():
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler(), NeighborhoodComponents(2)).set_output(
        transform="pandas"
    )
    out = model.fit(X, y).transform(X)
    assert list(out.columns) == ["neighborhoodcomponents0", "neighborhoodcomponents1"]
    assert model.score(X, y) > 0.95
    assert_array_equal(model[-1].feature_names_in_, X.columns)


def test_pipelines_searches_copies_and_pickles():
    X, y = load_wine(return_X_y=True)
    steps = make_pipeline(
        StandardScaler(), NeighborhoodComponents(regularization=0.01), KNeighborsClassifier(3)
    )
    search = GridSearchCV(steps, {"neighborhoodcomponents__n_components": [1, 2]}, cv=3)
    assert search.fit(X, y).best_score_ > 0.9
    model = search.best_estimator_[1]
    assert not hasattr(clone(model), "components_")
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_weights_are_routed_through_a_pipeline():
    X, y = load_wine(return_X_y=True)
    weights = 1.0 + np.arange(len(y)) % 3
    with config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        model = NeighborhoodComponents(2, solver="lbfgs").set_fit_request(sample_weight=True)
        steps = make_pipeline(scaler, model).fit(X, y, sample_weight=weights)
    scaled = steps[0].transform(X)
    weighted = NeighborhoodComponents(2, solver="lbfgs").fit(scaled, y, sample_weight=weights)
    plain = NeighborhoodComponents(2, solver="lbfgs").fit(scaled, y)
    assert_array_equal(steps[-1].components_, weighted.components_)
    assert not np.allclose(weighted.components_, plain.components_)


def test_warm_start_goes_on_from_the_last_map(iris):
    model = NeighborhoodComponents(2, max_iter=3, warm_start=True, regularization=0.01)
    with pytest.warns(ConvergenceWarning):
        model.fit(*iris)
    first = model.objective_
    model.set_params(max_iter=200).fit(*iris)
    assert_allclose(model.history_["objective"][0], first, rtol=1e-12)
    assert model.objective_ >= first
    model.set_params(n_components=3)
    with pytest.raises(
        ValueError, match=r"goes on from a map of shape \(2, 4\), but this fit needs \(3, 4\)"
    ):
        model.fit(*iris)


def test_the_warning_points_at_the_users_own_line(iris):
    last = NeighborhoodComponents(2, max_iter=1, tol=0.0, regularization=0.01)
    steps = make_pipeline(StandardScaler(), last)
    for model in (steps[-1], steps):
        with pytest.warns(ConvergenceWarning) as caught:
            model.fit(*iris)
        assert caught[0].filename == __file__


def test_verbose_shows_progress_on_stderr(iris, capsys):
    NeighborhoodComponents(2, verbose=1).fit(*iris)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "objective" in captured.err
    NeighborhoodComponents(2).fit(*iris)
    assert capsys.readouterr().err == ""


def test_interrupt_keeps_the_best_map_so_far(iris, monkeypatch):
    from vicinal.nca import learning

    calls = 0
    original = learning.evaluate

    def interrupted(*args, **kwargs):
        nonlocal calls
        calls += 1
        if calls > 6:
            raise KeyboardInterrupt
        return original(*args, **kwargs)

    monkeypatch.setattr(learning, "evaluate", interrupted)
    model = NeighborhoodComponents(2, init="pca", solver="lbfgs")
    with pytest.warns(ConvergenceWarning, match="interrupted; the best parameters so far are kept"):
        model.fit(*iris)
    assert not model.converged_
    assert model.objective_ == model.history_["objective"].max()
    assert_allclose(objective(model.components_, *iris)[0] / 150, model.objective_, rtol=1e-12)
    assert model.predict(iris[0]).shape == (150,)
