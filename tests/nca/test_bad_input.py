import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from vicinal import NeighborhoodComponents
from vicinal.nca import objective


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    return rng.normal(size=(40, 3)) + 2 * y[:, None], y


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_components": 0}, ValueError, "n_components=0 must be a whole number from 1 to 3"),
        ({"n_components": 4}, ValueError, "n_components=4 must be a whole number from 1 to 3, the"),
        ({"n_components": 1.5}, TypeError, "n_components=1.5 must be a whole number"),
        ({"init": "best"}, ValueError, "init='best' is unknown: use one of 'auto', 'rca', 'lda'"),
        ({"init": np.eye(2)}, ValueError, r"init has shape \(2, 2\), but n_components=2 and 3"),
        ({"n_components": "all"}, ValueError, "n_components='all' is unknown: use one of 'auto'"),
        ({"eta0": 0.0}, ValueError, "eta0=0.0 must be larger than 0"),
        ({"t0": -1}, ValueError, "t0=-1 must be finite and 0 or larger"),
        ({"validation_every": 0}, ValueError, "validation_every=0 must be a whole number at least"),
        ({"validation_metric": "f1"}, ValueError, "validation_metric='f1' is unknown: use one of"),
        ({"n_init": 0}, ValueError, "n_init=0 must be a whole number at least 1"),
        ({"init": [[np.nan] * 3] * 3}, ValueError, "init contains NaN"),
        ({"init": "lda"}, ValueError, "init='lda' finds at most n_classes - 1 = 1 directions"),
        ({"objective": "auc"}, ValueError, "objective='auc' is unknown"),
        (
            {"prior": "flat"},
            ValueError,
            "prior='flat' is unknown: use one of 'empirical', 'uniform'",
        ),
        ({"prior": [0.7, 0.2, 0.1]}, ValueError, "must be 2 positive numbers that sum to 1"),
        (
            {"kernel": "cubic"},
            ValueError,
            "kernel='cubic' is unknown: use one of 'gaussian', 'compa",
        ),
        ({"kernel": "compact", "objective": "log"}, ValueError, "has no finite value"),
        ({"solver": "newton"}, ValueError, "solver='newton' is unknown"),
        ({"regularization": -1}, ValueError, "regularization=-1 must be finite and 0 or larger"),
        ({"regularization": "big"}, TypeError, "regularization='big' must be a number"),
        ({"max_iter": 0}, ValueError, "max_iter=0 must be a whole number at least 1"),
        ({"tol": np.inf}, ValueError, "tol=inf must be finite"),
        ({"engine": "gpu"}, ValueError, "engine='gpu' is unknown"),
        ({"n_jobs": 0}, ValueError, "n_jobs=0 must be a number of threads"),
        ({"background": 0.5}, ValueError, "background=0.5 stands behind kernels of compact supp"),
        ({"background": True}, ValueError, "background=True stands behind kernels of compact su"),
        (
            {"kernel": "compact", "background": 1.5},
            ValueError,
            "background=1.5 must lie between 0 and 1",
        ),
        (
            {"kernel": "compact", "background": "yes"},
            TypeError,
            "background='yes' must be a number",
        ),
        ({"solver": "cg", "batching": "random"}, ValueError, "solver='cg' needs the same objecti"),
        (
            {"solver": "bold-driver", "batching": "stochastic"},
            ValueError,
            "which batching='stochastic' does not give: use solver='adam' or 'sgd'",
        ),
        ({"batching": "tiny"}, ValueError, "batching='tiny' is unknown: use one of 'auto', 'full'"),
        (
            {"batching": "full", "batch_size": 5},
            ValueError,
            "batch_size=5 has no meaning with batching='full'",
        ),
        ({"batching": "random", "batch_size": 1}, ValueError, "batch_size=1 must be a whole num"),
        ({"batch_size": 0.5}, TypeError, "batch_size=0.5 must be a whole number"),
        ({"annealing": True}, ValueError, "annealing=True fades dimensions out"),
        ({"early_stopping": "yes"}, ValueError, "early_stopping='yes' is unknown: use one of T"),
        (
            {"validation_fraction": 1.0},
            ValueError,
            "validation_fraction=1.0 must lie between 0 and 1",
        ),
        ({"n_iter_no_change": 0}, ValueError, "n_iter_no_change=0 must be a whole number at lea"),
        ({"n_neighbors": 0}, ValueError, "n_neighbors=0 must be a whole number at least 1"),
        ({"reservoir_size": 1}, ValueError, "reservoir_size=1 must be a whole number at least 2"),
        ({"regularization": True}, TypeError, "regularization=True must be a number"),
    ],
)
def test_wrong_parameters_are_named(data, arguments, error, message):
    with pytest.raises(error, match=message):
        NeighborhoodComponents(**arguments).fit(*data)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[np.nan, 0], [0, 1], [1, 1]], [0, 0, 1], "Input X contains NaN"),
        ([[np.inf, 0], [0, 1], [1, 1]], [0, 0, 1], "Input X contains infinity"),
        ([["a", "b"], ["c", "d"]], [0, 1], "could not convert string to float"),
        ([[0.0, 1.0], [1.0, 0.0]], [5, 5], r"y has 1 class \(.*5.* only\)"),
        ([[0.0, 1.0]], [0], "minimum of 2 is required"),
        ([[0.0, 1.0], [1.0, 0.0]], [0], "inconsistent numbers of samples"),
        ([[0.0], [1.0], [2.0]], [0.5, 0.25, 0.1], "Unknown label type"),
        ([0.0, 1.0, 2.0], [0, 1, 0], "Expected 2D array, got 1D array"),
        ([[1e305], [0.0], [1.0]], [0, 1, 0], r"X reaches 1e\+305, too large for float64"),
        ([[1e-305], [0.0], [2e-305]], [0, 1, 0], "too little for float64: scale it above 1e-300"),
    ],
)
def test_wrong_data_is_named(X, y, message):
    with pytest.raises(ValueError, match=message):
        NeighborhoodComponents().fit(X, y)


def test_float32_at_the_edge_of_its_range():
    X = np.array([[1e35], [0.0], [1.0]], dtype=np.float32)
    with pytest.raises(ValueError, match="too large for float32"):
        NeighborhoodComponents().fit(X, [0, 1, 0])


def test_a_class_with_one_member(data):
    X, y = data[0], data[1].copy()
    y[0] = 7
    model = NeighborhoodComponents(2).fit(X, y)
    assert np.isfinite(model.components_).all()
    assert model.objective_ <= 39 / 40
    with pytest.raises(ValueError, match=r"class .*7.* has one member, whose log p is -inf"):
        NeighborhoodComponents(2, objective="log").fit(X, y)


def test_every_class_with_one_member():
    model = NeighborhoodComponents().fit(np.eye(4), np.arange(4))
    assert np.isfinite(model.components_).all()
    assert model.objective_ == 0.0


def assert_finite(model, X):
    assert np.isfinite(model.components_).all()
    assert np.isfinite(model.transform(X)).all()
    probabilities = model.predict_proba(X)
    assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-6)


@pytest.mark.parametrize("init", ["rca", "pca", "identity", "random"])
@pytest.mark.parametrize(
    "spoil",
    [
        lambda X: np.hstack([X, np.full((40, 2), 3.0)]),
        lambda X: np.hstack([X, X]),
        lambda X: np.full_like(X, 2.0),
        lambda X: np.repeat(X[:10], 4, axis=0),
        lambda X: np.vstack([X[:-1], np.full((1, 3), 1e6)]),
        lambda X: np.random.default_rng(1).normal(size=(40, 100)),
        lambda X: X + 1e6,
    ],
    ids=[
        "constant columns",
        "twin columns",
        "all equal",
        "duplicates",
        "outlier",
        "n < D",
        "offset",
    ],
)
@pytest.mark.filterwarnings("ignore:.*all points look alike")
def test_degenerate_data_gives_finite_answers(data, init, spoil):
    X = spoil(data[0])
    assert_finite(NeighborhoodComponents(2, init=init, random_state=0).fit(X, data[1]), X)


@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e30, 1e150])
def test_extreme_units_give_the_same_answer(data, scale):
    X, y = data
    plain = NeighborhoodComponents(2).fit(X, y)
    model = NeighborhoodComponents(2).fit(X * scale, y)
    assert_finite(model, X * scale)
    assert_allclose(model.objective_, plain.objective_, rtol=2e-5)


@pytest.mark.parametrize("regularization", ["auto", 1e-3])
def test_units_whose_square_overflows(data, regularization):
    X, y = data
    model = NeighborhoodComponents(2, regularization=regularization).fit(X * 1e200, y)
    assert_finite(model, X * 1e200)


@pytest.mark.parametrize("scale", [1e-150, 1e30])
@pytest.mark.filterwarnings("ignore:.*all points look alike")
def test_identity_in_extreme_units_is_finite(data, scale):
    X, y = data
    assert_finite(NeighborhoodComponents(init="identity").fit(X * scale, y), X * scale)


def test_a_start_without_any_spread_is_warned_of(data):
    with pytest.warns(UserWarning, match="brings all points within .* all points look alike"):
        NeighborhoodComponents(init="identity").fit(data[0] * 1e-150, data[1])


def test_identity_beyond_squaring_is_refused(data):
    with pytest.raises(ValueError, match="squared distances overflow"):
        NeighborhoodComponents(init="identity").fit(data[0] * 1e200, data[1])


def test_two_rows_of_two_classes():
    model = NeighborhoodComponents().fit([[0.0], [1.0]], ["a", "b"])
    assert_array_equal(model.predict([[-1.0], [2.0]]), ["a", "b"])


def test_a_penalty_that_is_all_there_is_is_refused_by_name(data):
    with pytest.raises(ValueError, match=r"regularization=1e\+200 makes the penalty"):
        NeighborhoodComponents(2, regularization=1e200).fit(*data)
    with pytest.raises(ValueError, match=r"regularization=1e\+200 makes the penalty"):
        NeighborhoodComponents(2, regularization=1e200).partial_fit(*data)
    with pytest.raises(ValueError, match=r"regularization=1e\+308 times the squares of A"):
        objective(np.full((2, data[0].shape[1]), 1e10), *data, regularization=1e308)


@pytest.mark.parametrize("seed", [-1, 2**32, 1.5, "x", True])
def test_seeds_are_refused_by_name(data, seed):
    with pytest.raises(ValueError, match=r"random_state=.* must be None, a whole number"):
        NeighborhoodComponents(2, random_state=seed).fit(*data)


@pytest.mark.parametrize("far", [1e20, 1e100])
def test_probabilities_of_points_far_away_sum_to_one(data, far):
    model = NeighborhoodComponents(2).fit(*data)
    far_away = np.full((1, data[0].shape[1]), far)
    assert_allclose(model.predict_proba(far_away).sum(axis=1), 1.0)


def test_points_out_of_range_are_refused(data):
    model = NeighborhoodComponents(2).fit(*data)
    with pytest.raises(ValueError, match=r"the projection of X reaches .* scale it below"):
        model.predict_proba(np.full((1, data[0].shape[1]), 1e160))
    with pytest.raises(ValueError, match=r"X reaches 1\.7e\+308, which the model maps to"):
        model.transform(np.full((1, data[0].shape[1]), 1.7e308))


@pytest.mark.parametrize(("weight", "total"), [(1e-30, "4e-29"), (1e300, "4e\\+301")])
def test_weights_of_no_reasonable_sum_are_refused(data, weight, total):
    with pytest.raises(ValueError, match=f"sample_weight sums to {total}"):
        NeighborhoodComponents(2).fit(*data, sample_weight=np.full(40, weight))


def test_labels_of_several_types_are_refused(data):
    y = np.array([1, "a"] * 20, dtype=object)
    with pytest.raises(TypeError, match="y mixes labels of the types int, str"):
        NeighborhoodComponents(2).fit(data[0], y)


def test_few_rows_of_many_classes_are_no_regression(data):
    model = NeighborhoodComponents(2).fit(data[0][:30], np.arange(30))  # a warning would be raised
    assert len(model.classes_) == 30


def test_set_params_after_fit_changes_no_prediction(data):
    X, y = data
    model = NeighborhoodComponents(2, kernel="compact").fit(X, y)
    before = model.predict_proba(X)
    model.set_params(
        kernel="gaussian", engine="tree", tolerance=0.5, n_neighbors=1, prior="uniform"
    )
    assert_array_equal(model.predict_proba(X), before)


def test_a_map_too_large_for_the_precision_of_the_points_is_refused(data):
    X, y = data
    with pytest.raises(ValueError, match=r"A reaches .* too large for float32"):
        objective(np.full((2, X.shape[1]), 1e100), X.astype(np.float32), y)
