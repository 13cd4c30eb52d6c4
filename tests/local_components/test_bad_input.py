import numpy as np
import pytest
from local_components.paper import Paper
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris

from vicinal import LocalComponents
from vicinal.fitting import CollapseError
from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.frame import global_moments


@pytest.fixture(scope="module")
def iris():
    return load_iris().data


@pytest.mark.parametrize("scale", [1e-130, 1e-8, 1e12, 1e100])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"gaussian": "em"},
        {"gaussian": "search"},
        {"covariance": "diag"},
        {"covariance": "local"},
    ],
    ids=str,
)
def test_units_of_a_column_change_nothing(settings, scale):
    X = np.random.default_rng(0).normal(size=(60, 5))
    scaled = X * [scale, 1, 1, 1, 1]
    model = Paper(random_state=0, **settings)
    plain, other = (clone(model).fit(rows) for rows in (X, scaled))
    assert_allclose(other.transform(scaled), plain.transform(X), rtol=1e-6, atol=1e-8)
    pairs = np.arange(60).reshape(30, 2)
    assert_allclose(other.pair_distance(pairs, scaled), plain.pair_distance(pairs, X), rtol=1e-9)
    assert_allclose(
        other.score_samples(scaled) + np.log(scale), plain.score_samples(X), rtol=1e-8, atol=1e-8
    )
    assert other.n_iter_ == plain.n_iter_


def test_too_few_points_are_refused_even_where_em_would_stop():
    X = np.random.default_rng(0).normal(size=(60, 30))
    with pytest.raises(CollapseError, match=r"40 points in 30 dimensions are too few"):
        Paper().fit(X[:40])
    with pytest.raises(CollapseError, match=r"30 points in 30 dimensions are too few"):
        Paper(covariance="low_rank", rank=15).fit(X[:30])
    assert Paper(covariance="low_rank", rank=15).fit(X[:31]).converged_
    assert Paper().fit(X[:59]).converged_
    assert Paper(regularization=0.1).fit(X[:40]).converged_


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_weights_of_one_point_in_all_are_refused(method, iris):
    with pytest.raises(ValueError, match=r"sample_weight sums to 0.15"):
        getattr(Paper(), method)(iris, sample_weight=np.full(150, 1e-3))


@pytest.mark.parametrize("weight", [0.0068, 0.01, 0.02])
def test_streams_of_light_points_stay_finite(weight, iris):
    model = Paper(random_state=0).partial_fit(iris, sample_weight=np.full(150, weight))
    model.partial_fit(iris[:2], sample_weight=[weight, weight])
    assert np.isfinite(model.loo_log_likelihood_)
    assert np.isfinite(model.history_["objective"]).all()
    assert np.isfinite(model.score_samples(iris)).all()


def test_messages_name_the_column_and_the_argument(iris):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(iris, columns=["a", "b", "c", "d"])
    with pytest.raises(CollapseError, match=r"column 'c' of X is constant"):
        Paper().fit(table.assign(c=1.0))
    with pytest.raises(ValueError, match=r"column 'b' of X varies by .* scale it above"):
        Paper().fit(table.assign(b=1e-160 * table["b"]))
    with pytest.raises(ValueError, match=r"regularization=1e\+200 is a variance"):
        Paper(regularization=1e200).fit(iris)
    with pytest.raises(ValueError, match=r"random_state=-1 must be None, a whole number"):
        Paper(random_state=-1).fit(iris)
    with pytest.raises(ValueError, match=r"widths from .* scale them alike"):
        Paper(covariance="low_rank").fit(iris * [1e12, 1, 1, 1])


@pytest.mark.parametrize("scale", [1e155, 1e-160])
def test_units_out_of_range_are_refused(scale, iris):
    with pytest.raises(ValueError, match=r"X (reaches|varies by).*StandardScaler"):
        Paper().fit(iris * scale)
    with pytest.raises(ValueError, match=r"X reaches 1e\+160"):
        Paper().fit(iris).score_samples([[1e160] * 4])


def test_set_params_after_fit_changes_nothing(iris):
    model = Paper(engine="blocked").fit(iris)
    before = model.score_samples(iris)
    model.set_params(engine="tree", tolerance=0.1, covariance="diag", regularization=1.0)
    assert_array_equal(model.score_samples(iris), before)


def test_equal_rows_with_a_penalty_have_a_density():
    X = np.zeros((30, 3))
    model = Paper(covariance="local", regularization=1e-3, random_state=0).fit(X)
    assert np.isfinite(model.score_samples(X)).all()


@pytest.mark.parametrize("scale", [1.0, 1e-139])
def test_auto_takes_constant_columns(scale):
    X = np.random.default_rng(0).integers(0, 3, (30, 5)).astype(float)
    X[:, 2] = 0.1  # whose mean over 30 rows is another number
    with pytest.warns(UserWarning, match=r"constant column 2 of X: kernels have a standard devia"):
        model = LocalComponents().fit(X * scale)
    assert min(model.regularization_) > 0
    assert np.isfinite(model.score_samples(X * scale)).all()


def test_a_constant_column_has_no_variance_at_all():
    X = np.column_stack([np.full(30, 0.1), np.arange(30.0)])
    assert global_moments(WeightedPoints(X))[1][0, 0] == 0.0
