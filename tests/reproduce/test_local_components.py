"""Local components: the rivals of Figure 3 do what they say; one item runs from end to end."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

pytest.importorskip("reproduce", reason="reproduce/ is not here")

from reproduce.local_components import projections, segmentation, usps
from reproduce.local_components.clustering import measure_methods, whitened
from reproduce.local_components.projections import ICA_CONTRASTS, fast_ica, ngca
from reproduce.local_components.spectral import spectral_clusters
from reproduce.local_components.text import ink, stretch
from reproduce.papers import chosen
from reproduce.running import run
from vicinal.datasets import make_noisy_circles, make_noisy_gaussians
from vicinal.metrics import permutation_accuracy


@pytest.fixture
def few_functions(monkeypatch):
    """What NGCA needs to find its way on easy sets, in a tenth of the time."""
    monkeypatch.setattr(projections, "N_FUNCTIONS", 100)


def test_figure_1_runs_from_end_to_end(tmp_path):
    [(paper, item)] = chosen("local-components/figure-1")
    assert run(paper, item, "quick", tmp_path)
    for ending in ("csv", "md", "png", "svg", "jsonl"):
        assert (tmp_path / f"figure-1.{ending}").stat().st_size > 100
    page = (tmp_path / "figure-1.md").read_text()
    assert page.count("| ordering holds |") >= 2
    assert "- versions: Python" in page


def test_letters_are_where_the_ink_is():
    X = ink("I", 500, 0)
    width, height = np.ptp(X, axis=0)
    assert len(X) == 500
    assert width < 0.3 * height
    ring = ink("o", 500, 0)
    center = (ring.min(axis=0) + ring.max(axis=0)) / 2
    assert np.linalg.norm(ring - center, axis=1).min() > 0.1
    assert stretch(np.diag([4.0, 1.0])) == 0.5


def test_spectral_clustering_sees_circles():
    X, y = make_noisy_circles(300, random_state=0)
    assert permutation_accuracy(y, spectral_clusters(X, 2, 10, 0)) > 0.99


@pytest.mark.parametrize("contrast", ICA_CONTRASTS)
def test_fast_ica_finds_the_direction_of_two_clusters(contrast):
    X, _ = make_noisy_gaussians(1000, n_noise=4, random_state=0)
    found = fast_ica(whitened(X), 1, ICA_CONTRASTS[contrast], 0)
    assert abs(np.corrcoef(found[:, 0], X[:, 0])[0, 1]) > 0.99
    assert found.std() == pytest.approx(1.0)


def test_fast_ica_finds_directions_at_right_angles():
    Z = whitened(np.random.default_rng(0).uniform(size=(500, 4)))
    found = fast_ica(Z, 3, ICA_CONTRASTS["tanh"], 0)
    np.testing.assert_allclose(found.T @ found / len(Z), np.eye(3), atol=1e-10)


@pytest.mark.usefixtures("few_functions")
def test_ngca_finds_the_plane_of_circles():
    X, _ = make_noisy_circles(1000, n_noise=3, random_state=0)
    found = ngca(whitened(X), 2, 0)
    _, _, rank, _ = np.linalg.lstsq(found, X[:, :2] - X[:, :2].mean(axis=0), rcond=None)
    residual = X[:, :2] - found @ np.linalg.lstsq(found, X[:, :2], rcond=None)[0]
    assert rank == 2
    assert residual.var(axis=0).max() < 0.1 * X[:, :2].var(axis=0).min()


@pytest.mark.usefixtures("few_functions")
def test_all_methods_tell_clusters_apart_where_there_is_no_noise():
    unit = {"seed": 0, "set": "five", "n_noise": 0, "n_points": 400, "n_neighbors": 20}
    found = measure_methods(unit)
    assert len(found) == 8
    assert min(found.values()) > 90


@pytest.mark.parametrize("best", [-5.0, -3.5, -2.5, 0.0])
def test_the_best_penalty_is_found_by_going_downhill(best):
    tried = []

    def fit(penalty):
        tried.append(penalty)
        return usps.Density(lambda rows: abs(np.log10(penalty) - best), {}, np.eye(1))

    unit = {"lowest_exponent": -5.0, "highest_exponent": 0.0}
    assert usps._best(fit, None, unit).penalty == pytest.approx(10**best)
    assert len(tried) == len(set(tried)) <= 11


def test_the_loss_of_a_gaussian_is_that_of_scipy():
    rng = np.random.default_rng(0)
    X, mean, factor = rng.normal(size=(20, 3)), rng.normal(size=3), rng.normal(size=(3, 3))
    sigma = factor @ factor.T + 0.1 * np.eye(3)
    expected = -multivariate_normal(mean, sigma).logpdf(X).mean()
    assert usps._gaussian_loss(X, mean, sigma) == pytest.approx(expected)


def test_all_points_in_every_update_are_em(load_dataset):
    load_dataset("usps")
    unit = {
        "seed": 0,
        "discount": 0.3,
        "batch": 400,
        "neighbors": 400,
        "n_train": 400,
        "n_components": 5,
        "passes": 20,
        "least_updates": 150,
        "baseline_updates": 150,
    }
    found = usps.measure_subsampling(unit)
    assert abs(found["train"]) < 1e-3
    assert abs(found["test"]) < 0.02
    assert usps.measure_subsampling({**unit, "neighbors": 100})["train"] > 0.1


def test_segments_explain_colors():
    colors = np.array([[0.0, 0, 0], [1, 1, 1], [0, 0, 0], [1, 1, 1]])
    assert segmentation.explained(colors, np.zeros(4, int)) == 0
    assert segmentation.explained(colors, np.array([0, 1, 0, 1])) == 1


def test_pixels_of_a_small_image_are_never_tied():
    image = segmentation.small_image("china.jpg", 20)
    rows = segmentation.pixels(image, 0)
    assert image.shape[0] >= 20
    assert rows.shape == (image.shape[0] * image.shape[1], 5)
    assert len(np.unique(rows[:, 0])) == len(rows)
