import numpy as np
import pytest
from matplotlib.colors import to_rgb
from report.pictures import new_axes, note, words
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from vicinal import CoincidenceClassifier, DivergenceNeighbors, NeighborhoodComponents
from vicinal.report import FeatureImportanceDisplay, MetricDisplay

wine = load_wine(as_frame=True)
X, y = wine.data.to_numpy(), wine.target.to_numpy()


@pytest.fixture(scope="module")
def model():
    return NeighborhoodComponents(n_components=2).fit(X, y)


@pytest.fixture(scope="module")
def pipeline():
    steps = StandardScaler(), NeighborhoodComponents(n_components=2)
    return make_pipeline(*steps).fit(wine.data, wine.target)


def metric(model, *args, **options):
    return MetricDisplay.from_estimator(model, *args, ax=new_axes(), **options)


def importance(model, *args, **options):
    return FeatureImportanceDisplay.from_estimator(model, *args, ax=new_axes(), **options)


def test_the_matrix_is_shown_around_zero(model):
    display = metric(model)
    M = model.get_mahalanobis_matrix()
    np.testing.assert_allclose(display.im_.get_array(), M)
    assert display.im_.norm.vmin == -display.im_.norm.vmax == -np.abs(M).max()
    assert words(display.ax_.get_yticklabels()) == [f"x{j}" for j in range(13)]
    assert display.ax_.get_title() == "NeighborhoodComponents"
    assert display.note_ is None


def test_with_data_features_are_in_standard_deviations(model):
    scales = X.std(axis=0)
    expected = model.get_mahalanobis_matrix() * scales * scales[:, None]
    display = metric(model, X)
    np.testing.assert_allclose(display.im_.get_array(), expected)
    assert "standard deviations" in display.colorbar_.ax.get_ylabel()


def test_a_normalized_matrix_has_a_diagonal_of_ones(model):
    shown = metric(model, normalize=True).im_.get_array()
    np.testing.assert_allclose(np.diag(shown), 1.0)
    M = model.get_mahalanobis_matrix()
    assert shown[0, 1] == pytest.approx(M[0, 1] / np.sqrt(M[0, 0] * M[1, 1]))


def test_a_pipeline_is_shown_for_the_features_that_reach_its_end(pipeline):
    display = metric(pipeline, wine.data)
    M = pipeline[-1].get_mahalanobis_matrix()
    np.testing.assert_allclose(display.im_.get_array(), M, rtol=1e-10)
    assert words(display.ax_.get_xticklabels())[:3] == ["alcohol", "malic_acid", "ash"]


def test_names_given_come_first(pipeline):
    names = [f"${j}$" for j in range(13)]
    assert words(metric(pipeline, feature_names=names).ax_.get_xticklabels()) == names


def test_steps_that_cannot_name_features():
    doubled = FunctionTransformer(lambda X: np.hstack([X, X + 1]))
    chain = make_pipeline(doubled, NeighborhoodComponents(2)).fit(X[:, :2], y)
    assert words(metric(chain).ax_.get_xticklabels()) == ["x0", "x1", "x2", "x3"]


def test_other_linear_models():
    pca = PCA(2).fit(X)
    expected = pca.components_.T @ pca.components_
    np.testing.assert_allclose(metric(pca).im_.get_array(), expected)


def test_of_many_features_those_that_count_most():
    A = np.random.default_rng(0).standard_normal((3, 784))
    M = A.T @ A
    display = MetricDisplay(M).plot(ax=new_axes(), max_features=10)
    top = np.sort(np.argsort(-np.diag(M))[:10])
    np.testing.assert_allclose(display.im_.get_array(), M[np.ix_(top, top)])
    assert words(display.ax_.get_yticklabels()) == [f"x{j}" for j in top]
    share = np.diag(M)[top].sum() / np.trace(M)
    assert note(display) == (
        f"the 10 of 784 features that count most; {share:.0%}".replace("%", " % of the trace")
        + " of M"
    )
    assert display.text_ == []


def test_numbers_can_be_read_in_the_cells_of_few_features():
    display = MetricDisplay([[10.0, -0.5], [-0.5, 0.1]]).plot(ax=new_axes())
    assert words(display.text_) == ["10", "−0.5", "−0.5", "0.1"]
    light, dark = (to_rgb(display.text_[i].get_color()) for i in (0, 3))
    assert sum(light) == 3
    assert sum(dark) < 1


def test_one_feature():
    one = NeighborhoodComponents(1).fit(X[:, :1], y)
    assert metric(one, X[:, :1]).im_.get_array().shape == (1, 1)


def test_a_matrix_of_zeros():
    assert MetricDisplay(np.zeros((3, 3))).plot(ax=new_axes()).im_.norm.vmax == 1


@pytest.mark.parametrize(
    ("matrix", "names", "said"),
    [
        (np.ones((2, 3)), None, r"matrix has shape \(2, 3\)"),
        ([[1.0, 2.0], [0.0, 1.0]], None, "symmetric"),
        (np.full((2, 2), np.nan), None, "matrix contains NaN"),
        (np.eye(2), ["a"], "feature_names is 1 names, but there are 2 features"),
        (np.eye(2), "ab", "feature_names is one string"),
    ],
)
def test_bad_input(matrix, names, said):
    with pytest.raises(ValueError, match=said):
        MetricDisplay(matrix, names).plot(ax=new_axes())


@pytest.mark.parametrize("draw", [metric, importance])
class TestWrongModels:
    def test_not_fitted(self, draw):
        with pytest.raises(NotFittedError, match=r"estimator is a Neighborhood.* not fitted"):
            draw(NeighborhoodComponents())

    def test_no_model(self, draw):
        with pytest.raises(TypeError, match="estimator=5 is not a fitted model"):
            draw(5)

    def test_no_metric(self, draw):
        with pytest.raises(TypeError, match="DivergenceNeighbors, which has no linear map"):
            draw(DivergenceNeighbors().fit(X))

    def test_many_metrics(self, draw):
        scaled = StandardScaler().fit_transform(X)
        with pytest.raises(TypeError, match="CoincidenceClassifier, which has no linear map"):
            draw(CoincidenceClassifier(1).fit(scaled, y))

    def test_other_data(self, draw, model):
        with pytest.raises(ValueError, match="X has 2 features, but the model was fitted to 13"):
            draw(model, X[:, :2])

    def test_no_room(self, draw, model):
        with pytest.raises(ValueError, match="max_features=0"):
            draw(model, max_features=0)
