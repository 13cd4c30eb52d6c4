"""The default takes what scikit-learn's KernelDensity takes, with finite answers and a warning."""

import numpy as np
import pytest
from local_components.paper import Paper
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity
from sklearn.preprocessing import StandardScaler

from vicinal import LocalComponents
from vicinal.datasets import make_noisy_circles
from vicinal.inputs.copies import distinct_points
from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.columns import Columns
from vicinal.local_components.equations import Form
from vicinal.local_components.trials import row_folds

OURS = "LocalComponents with regularization='auto': "


@pytest.fixture(scope="module")
def iris():
    return load_iris().data


SPOILED = {
    "binary": (lambda X: np.c_[X, np.arange(len(X)) % 2], "every value repeats in column 4 of X"),
    "constant": (lambda X: np.c_[X, np.ones(len(X))], "constant column 4 of X: kernels have a st"),
    "duplicates": (lambda X: np.repeat(X[::3], 2, axis=0), "every row of X occurs more than once"),
    "grid": (lambda X: np.random.default_rng(0).integers(0, 3, (90, 3)), "column 0, column 1"),
    "dependent": (lambda X: np.c_[X, X @ [1, 2, 0, 0]], "columns of X are linearly dependent: ker"),
    "few": (lambda X: X[::25], "6 points in 4 dimensions are too few: kernels are no narrower"),
    "two": (lambda X: X[:100:60], "2 different rows are too few to hold any back"),
    "one": (lambda X: X[:1], "one different row is too few to hold any back"),
    "equal": (lambda X: np.zeros((30, 3)), "constant column 0, column 1, column 2 of X"),
}


@pytest.mark.parametrize("settings", [{}, {"covariance": "local"}, {"gaussian": "em"}], ids=str)
@pytest.mark.parametrize(("spoil", "message"), SPOILED.values(), ids=[*SPOILED])
def test_any_rows_have_a_finite_density_and_a_warning(iris, spoil, message, settings):
    X = spoil(iris).astype(float)
    with pytest.warns(UserWarning, match=OURS + f".*{message}"):
        model = LocalComponents(**settings).fit(X)
    assert np.isfinite(model.loo_log_likelihood_)
    scores = model.score_samples(np.vstack([X, X + 0.05, X.mean(axis=0, keepdims=True)]))
    assert np.isfinite(scores).all()
    assert scores.min() > -1000
    widths = np.sqrt(np.diag(model.covariance_))
    assert (widths > 1e-3 * np.maximum(X.std(axis=0), 0.1)).all()


def test_too_few_rows_for_the_paper_do_not_ruin_new_points():
    X = np.random.default_rng(0).normal(size=(540, 30))
    with pytest.warns(UserWarning, match="40 points in 30 dimensions are too few"):
        model = LocalComponents().fit(X[:40])
    truth = -15 * (np.log(2 * np.pi) + 1)
    assert model.score(X[40:]) > truth - 10


def test_warnings_name_columns_as_the_user_does(iris):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(iris, columns=["a", "b", "c", "d"])
    with pytest.warns(
        UserWarning, match=r"constant column 'c' of X.* every value repeats in co.*'b'"
    ):
        LocalComponents().fit(table.assign(c=1.0, b=np.arange(150) % 2))


@pytest.mark.parametrize("covariance", ["full", "local"])
def test_twins_change_little(iris, covariance):
    """Neither by rows held back, nor by leaving out, does a twin explain its own."""
    X, X_test = iris[::2], iris[1::2]
    plain = LocalComponents(covariance=covariance).fit(X)
    with pytest.warns(UserWarning, match="every row of X occurs more than once"):
        twins = LocalComponents(covariance=covariance).fit(np.repeat(X, 2, axis=0))
    assert_allclose(twins.score(X_test), plain.score(X_test), atol=0.01)


@pytest.mark.parametrize("covariance", ["full", "diag", "local"])
def test_weights_equal_copies(iris, covariance):
    rng = np.random.default_rng(0)
    X = iris[::3] + 0.01 * rng.normal(size=(50, 4))
    weights = rng.integers(0, 40, len(X))
    weighted = LocalComponents(covariance=covariance).fit(X, sample_weight=weights)
    copies = rng.permutation(np.repeat(X, weights, axis=0))
    repeated = LocalComponents(covariance=covariance).fit(copies)
    assert weighted.regularization_ == repeated.regularization_
    assert_allclose(weighted.covariance_, repeated.covariance_, rtol=1e-12)
    assert_allclose(weighted.score_samples(iris), repeated.score_samples(iris), rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-100, 1e-3, 1e3, 1e80])
@pytest.mark.parametrize("settings", [{}, {"covariance": "diag"}, {"gaussian": "em"}], ids=str)
def test_the_unit_of_a_column_does_not_matter(iris, settings, scale):
    """The penalty is a share of the variance of every column."""
    units = np.array([scale, 1.0, 1.0, 1.0])
    plain = LocalComponents(**settings).fit(iris)
    scaled = LocalComponents(**settings).fit(iris * units)
    assert_allclose(scaled.regularization_, plain.regularization_, rtol=1e-12)
    assert_allclose(scaled.transform(iris * units), plain.transform(iris), rtol=1e-5, atol=1e-6)
    expected = plain.score_samples(iris) - np.log(scale)
    assert_allclose(scaled.score_samples(iris * units), expected, rtol=1e-7)


def test_the_order_of_rows_does_not_matter(iris):
    order = np.random.default_rng(0).permutation(150)
    plain, other = LocalComponents().fit(iris), LocalComponents().fit(iris[order])
    assert_array_equal(other.covariance_, plain.covariance_)


def test_no_less_likely_than_under_a_cross_validated_bandwidth():
    """Where a far row makes learned kernels too wide, nothing is learned from pairs."""
    rng = np.random.default_rng(1)
    X, X_test = rng.normal(size=(2, 150, 4))
    X[0, 0] = 40.0
    model = LocalComponents().fit(X)
    variances = np.diag(np.diag(model.covariance_))
    assert_allclose(model.covariance_, variances, atol=1e-12)
    assert_allclose(np.diag(variances), model.regularization_[1] * X.var(axis=0), rtol=1e-9)
    grid = {"bandwidth": np.geomspace(0.1, 1, 20)}
    scaler = StandardScaler().fit(X)
    peer = GridSearchCV(KernelDensity(leaf_size=200), grid, cv=5).fit(scaler.transform(X))
    of_peer = peer.score(scaler.transform(X_test)) / 150 - np.log(scaler.scale_).sum()
    assert model.score(X_test) > of_peer - 0.2


def test_shapes_are_chosen_by_the_same_folds():
    X = StandardScaler().fit_transform(load_breast_cancer().data[:300, :10])
    model = LocalComponents(covariance="auto").fit(X[:200])
    assert model.recipe_["covariance"] == "local"
    assert model.local_covariances_.shape == (200, 10, 10)
    shared = LocalComponents().fit(X[:200])
    assert model.score(X[200:]) > shared.score(X[200:]) + 1
    gaussian = LocalComponents(gaussian="auto").fit(np.random.default_rng(0).normal(size=(200, 4)))
    assert gaussian.recipe_["gaussian"] == "search"
    assert gaussian.n_gaussian_ == 3


def test_the_penalty_of_a_search_is_that_of_what_it_finds():
    """Of a search for Gaussian directions in every trial: rings in noise keep both directions."""
    X, y = make_noisy_circles(800, n_noise=8, random_state=0)
    X = StandardScaler().fit_transform(X)
    model = LocalComponents(gaussian="search").fit(X)
    assert len(model.components_) == 2
    clusters = SpectralClustering(2, gamma=0.5, random_state=0)
    assert adjusted_rand_score(y, clusters.fit_predict(model.transform(X))) > 0.9


def test_streams_choose_as_they_grow():
    rng = np.random.default_rng(0)
    X, X_test = rng.normal(size=(2, 3000, 3)) ** 3
    stream = LocalComponents(random_state=0, reservoir_size=1500)
    for part in np.array_split(X, 15):
        stream.partial_fit(part)
    exact = LocalComponents().fit(X[:1500])
    assert stream.score(X_test) > exact.score(X_test) - 0.2
    paper = Paper(random_state=0, reservoir_size=1500)
    for part in np.array_split(X, 15):
        paper.partial_fit(part)
    assert stream.score(X_test) > paper.score(X_test)


def test_a_stream_goes_on_with_the_penalty_of_a_fit(iris):
    model = LocalComponents(random_state=0).fit(iris)
    penalty = model.regularization_
    assert model.partial_fit(iris[:20]).regularization_ == penalty
    assert model.partial_fit(np.repeat(iris, 2, axis=0)).regularization_ != ()


def test_rows_that_are_equal_are_held_back_together():
    X = np.array([[1.0, 2], [0, 1], [1, 2], [3, 3]])
    distinct, which = distinct_points(WeightedPoints(X, np.array([1.0, 2, 3, 1])))
    assert_array_equal(distinct.X, [[0, 1], [1, 2], [3, 3]])
    assert_array_equal(distinct.counts, [2, 4, 1])
    assert_array_equal(distinct.X[which], X)
    folds = row_folds(distinct)
    assert len(folds) == 3
    assert all(len(learning) == 2 and len(held) == 1 for learning, held in folds)


def test_a_column_knows_its_rounding():
    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=500), rng.normal(size=500).round(1), rng.integers(0, 2, 500)]
    X = np.c_[X, np.full(500, 7.0)]
    columns = Columns.of(WeightedPoints(X), Form())
    assert_array_equal(columns.is_constant, [False, False, False, True])
    assert_array_equal(columns.is_discrete, [False, False, True, False])
    assert_allclose(columns.least, [0.0, 0.01 / 12, 0.1 * X[:, 2].var(), 0.01])
    assert_allclose(columns.units, X.var(axis=0), atol=1e-12)


def test_local_covariances_of_repeated_rows_some_of_which_are_held_back():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))[[*range(40), *range(10)]]
    model = LocalComponents(covariance="local", early_stopping=True, smoothing=5, random_state=0)
    assert np.isfinite(model.fit(X).score_samples(rng.normal(size=(5, 2)))).all()
    assert len(model.local_covariances_) < len(X)
