"""Rules for the width of kernels, against those of SciPy and KDEpy."""

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.utils.estimator_checks import parametrize_with_checks

from vicinal import LocalComponents
from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.bandwidth import fixed_point_width


@pytest.mark.filterwarnings("ignore:LocalComponents with covariance='scott'")
@parametrize_with_checks(
    [LocalComponents(covariance="scott")],
    expected_failed_checks=lambda _: {
        "check_sample_weight_equivalence_on_dense_data": "rules count effective rows, as SciPy's do"
    },
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@given(
    seed=st.integers(0, 2**32 - 1),
    d=st.integers(1, 4),
    rule=st.sampled_from(["scott", "silverman"]),
    weighted=st.booleans(),
)
@examples(30)
def test_rules_are_those_of_scipy(seed, d, rule, weighted):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(d + 20, d)) @ rng.normal(size=(d, d)) + 10
    Q, weights = rng.normal(size=(5, d)) + 10, rng.uniform(0.1, 3, d + 20) if weighted else None
    model = LocalComponents(covariance=rule).fit(X, sample_weight=weights)
    peer = stats.gaussian_kde(X.T, bw_method=rule, weights=weights)
    assert_allclose(model.covariance_, peer.covariance, rtol=1e-8)
    assert_allclose(model.score_samples(Q), peer.logpdf(Q.T), rtol=1e-7, atol=1e-7)
    assert model.recipe_["covariance"] == rule


def quantiles(law, n):
    return law.ppf((np.arange(n) + 0.5) / n)


# KDEpy 1.1.12, `bw_selection.improved_sheather_jones(x[:, None])`, times the width of the grid on
# which it solves the equation over the range of x, by which it scales the solution instead (its
# issue 199): that of x and of max(6, half the range) on both sides.
@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (quantiles(stats.norm, 400), 0.3682975453607013),
        (
            np.append(quantiles(stats.norm, 200), 10 + 0.3 * quantiles(stats.norm, 200)),
            0.16027060604575089,
        ),
        (quantiles(stats.expon, 400), 0.10506746809106125),
    ],
    ids=["normal", "two clusters", "exponential"],
)
def test_the_fixed_point_is_that_of_kdepy(x, expected):
    model = LocalComponents(covariance="isj").fit(x[:, None])
    assert_allclose(np.sqrt(model.covariance_), [[expected]], rtol=5e-3)


@given(seed=st.integers(0, 2**32 - 1), exponent=st.integers(-100, 100), shift=st.floats(-10, 10))
@examples(20)
def test_the_fixed_point_knows_no_units(seed, exponent, shift):
    x = np.random.default_rng(seed).normal(size=100)
    x[:50] += 8
    plain, moved = (
        fixed_point_width(WeightedPoints(values[:, None]))
        for values in (x, (x + shift) * 10.0**exponent)
    )
    assert_allclose(moved, plain * 10.0**exponent, rtol=1e-6)


def test_the_fixed_point_sees_clusters_where_silverman_does_not():
    rng = np.random.default_rng(0)
    X, X_test = (np.append(rng.normal(size=500), 30 + rng.normal(size=500)) for _ in range(2))
    models = {
        rule: LocalComponents(covariance=rule).fit(X[:, None]) for rule in ("isj", "silverman")
    }
    scores = {rule: model.score(X_test[:, None]) for rule, model in models.items()}
    assert scores["isj"] > scores["silverman"] + 0.3
    assert_allclose(np.sqrt(models["isj"].covariance_), [[0.3]], rtol=0.3)


def test_rounded_values_have_no_kernels_around_each():
    x = np.random.default_rng(0).normal(size=1000)
    plain, rounded = (
        LocalComponents(covariance="isj").fit(values[:, None]) for values in (x, x.round(1))
    )
    assert_allclose(rounded.covariance_, plain.covariance_, rtol=0.3)
    binary = np.repeat([0.0, 1.0], 50)[:, None]
    assert LocalComponents(covariance="isj").fit(binary).covariance_ >= 0.02  # a tenth of 1/4


@pytest.mark.parametrize("weight", [1.0, 0.25])
def test_weights_are_those_of_reliability(weight):
    x = np.random.default_rng(0).normal(size=(200, 1))
    plain = LocalComponents(covariance="isj").fit(x)
    weighted = LocalComponents(covariance="isj").fit(x, sample_weight=np.full(200, weight))
    assert_allclose(weighted.covariance_, plain.covariance_, rtol=1e-9)


def test_the_fixed_point_is_for_one_column():
    with pytest.raises(ValueError, match=r"covariance='isj' is a rule for one column, but X has 2"):
        LocalComponents(covariance="isj").fit(np.eye(2))


@pytest.mark.parametrize("rule", ["scott", "silverman"])
def test_data_without_width_get_what_the_default_gives(rule):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    constant = X * [1, 0, 1] + 0.1
    with pytest.warns(UserWarning, match=r"constant column 1 of X: kernels have a standard dev"):
        model = LocalComponents(covariance=rule).fit(constant)
    assert_allclose(model.covariance_[1], [0.0, 0.01, 0.0])
    factor = {"scott": 30 ** (-1 / 7), "silverman": (30 * 5 / 4) ** (-1 / 7)}[rule]
    assert_allclose(model.covariance_[0, 0], factor**2 * np.var(constant[:, 0], ddof=1))
    for dependent in (X @ [[1, 0, 1], [0, 1, 1], [0, 0, 0]], X[:3]):
        with pytest.warns(UserWarning, match=r"linearly dependent: kernels are no narrower"):
            model = LocalComponents(covariance=rule).fit(dependent)
        widths = dependent.std(axis=0)
        least = np.linalg.eigvalsh(model.covariance_ / np.outer(widths, widths))[0]
        assert least >= 0.99e-4
        assert np.isfinite(model.score_samples(X)).all()


@pytest.mark.parametrize("rule", ["scott", "silverman", "isj"])
def test_one_row_has_a_density(rule):
    with pytest.warns(UserWarning, match="constant column 0"):
        model = LocalComponents(covariance=rule).fit([[3.0]])
    assert_allclose(model.covariance_, [[0.01]])


def test_two_rows_have_the_width_of_silverman():
    with pytest.warns(UserWarning, match=r"covariance='isj': so few rows, or values, have no such"):
        model = LocalComponents(covariance="isj").fit([[3.0], [4.0]])
    assert_allclose(
        model.covariance_, LocalComponents(covariance="silverman").fit([[3.0], [4.0]]).covariance_
    )
