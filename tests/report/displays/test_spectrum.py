import numpy as np
import pytest
from report.pictures import new_axes, note
from scipy.linalg import eigh
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import (
    DivergenceEmbedding,
    DivergenceNeighbors,
    LatentCoincidence,
    LocalComponents,
    NeighborhoodComponents,
)
from vicinal.report import SpectrumDisplay
from vicinal.report.displays.spectrum import effective_rank

raw, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(raw)[:, :6]


@pytest.fixture(scope="module")
def gaussian():
    return LocalComponents(gaussian="search", regularization=0.0, random_state=0).fit(X)


def spectrum(model, *args, **options):
    return SpectrumDisplay.from_estimator(model, *args, ax=new_axes(), **options)


def test_kernels_beside_the_data():
    model = LocalComponents().fit(X)
    display = spectrum(model)
    expected = eigh(model.covariance_, np.cov(X.T, bias=True), eigvals_only=True)
    np.testing.assert_allclose(display.line_.get_ydata(), expected, rtol=1e-8)
    assert display.gaussian_line_ is None
    assert note(display).startswith("6 directions are local; at 1")


def test_the_gaussian_part_is_set_apart(gaussian):
    display = spectrum(gaussian)
    n_local = len(gaussian.components_)
    assert 0 < gaussian.n_gaussian_ < 6
    assert display.split_.get_xdata()[0] == n_local + 0.5
    assert display.line_.get_xdata().tolist() == list(range(1, n_local + 1))
    np.testing.assert_allclose(display.gaussian_line_.get_ydata(), 1.0, rtol=1e-6)
    assert (display.line_.get_ydata() < 1).all()
    assert (np.diff(display.line_.get_ydata()) >= 0).all()


def test_other_data_and_pipelines():
    chain = make_pipeline(StandardScaler(), LocalComponents()).fit(raw[:, :3])
    before = spectrum(chain).line_.get_ydata()
    np.testing.assert_allclose(spectrum(chain, raw[:, :3]).line_.get_ydata(), before, rtol=1e-8)
    assert (spectrum(chain, 2 * raw[:, :3]).line_.get_ydata() < before).all()


def test_weights_count():
    weights = np.arange(len(X)) % 3
    model = LocalComponents().fit(X[:, :2], sample_weight=weights)
    copies = LocalComponents().fit(np.repeat(X[:, :2], weights, axis=0))
    np.testing.assert_allclose(
        spectrum(model).line_.get_ydata(), spectrum(copies).line_.get_ydata(), rtol=1e-5
    )


def test_singular_values_of_a_map():
    model = NeighborhoodComponents(n_components=3).fit(X, y)
    display = spectrum(model)
    singular = np.linalg.svd(model.components_, compute_uv=False)
    np.testing.assert_allclose(display.line_.get_ydata(), singular)
    assert note(display) == f"effective rank {effective_rank(singular):.1f} of 3"


def test_spread_of_projected_data():
    model = LatentCoincidence(pairs="all", random_state=0).fit(X, y)
    display = spectrum(model, X)
    expected = np.linalg.svd(model.transform(X - X.mean(axis=0)), compute_uv=False)
    np.testing.assert_allclose(
        display.line_.get_ydata(), expected / np.sqrt(len(X)), rtol=1e-6, atol=1e-6
    )
    assert display.ax_.get_ylabel() == "standard deviation of projected data"


def test_eigenvalues_of_an_embedding():
    model = DivergenceEmbedding(n_components=3, method="laplacian", gamma=0.1, random_state=0)
    display = spectrum(model.fit(X))
    np.testing.assert_array_equal(display.line_.get_ydata(), model.eigenvalues_)


def test_an_embedding_without_eigenvalues():
    model = DivergenceEmbedding(method="lle", gamma=0.1, random_state=0).fit(X)
    with pytest.raises(TypeError, match="DivergenceEmbedding without eigenvalues_"):
        spectrum(model)


def test_data_have_no_meaning_for_eigenvalues():
    model = DivergenceEmbedding(method="mds", gamma=0.1, random_state=0).fit(X)
    with pytest.raises(ValueError, match="X has no meaning for the eigenvalues_"):
        spectrum(model, X)


def test_a_model_without_spectrum():
    with pytest.raises(TypeError, match="DivergenceNeighbors, which has no linear map"):
        spectrum(DivergenceNeighbors().fit(X))


@pytest.mark.parametrize(
    ("values", "scale"), [([1.0, 2.0], "linear"), ([1e-3, 1.0], "log"), ([-1.0, 100.0], "linear")]
)
def test_the_axis_is_logarithmic_where_that_helps(values, scale):
    assert SpectrumDisplay(values).plot(ax=new_axes()).ax_.get_yscale() == scale


def test_many_directions():
    display = SpectrumDisplay(np.linspace(1, 0.1, 784)).plot(ax=new_axes())
    assert len(display.line_.get_xdata()) == 784
    assert display.line_.get_markersize() < 3


def test_effective_rank():
    assert effective_rank(np.ones(5)) == pytest.approx(5)
    assert effective_rank(np.array([1.0, 0.0])) == 1
    assert 1 < effective_rank(np.array([3.0, 1.0])) < 2


@pytest.mark.parametrize(
    ("values", "n_gaussian", "said"),
    [([], 0, "at least one"), ([np.inf], 0, "finite"), ([1.0], 2, "n_gaussian=2")],
)
def test_bad_input(values, n_gaussian, said):
    with pytest.raises(ValueError, match=said):
        SpectrumDisplay(values, n_gaussian=n_gaussian).plot(ax=new_axes())
