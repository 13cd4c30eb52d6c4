"""Latent coincidence: the poster's formulas and EM; one item runs from end to end."""

from inspect import signature
from itertools import islice

import numpy as np
import pytest
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

pytest.importorskip("reproduce", reason="reproduce/ is not here")

from reproduce.experiment import units
from reproduce.latent_coincidence import LATENT_COINCIDENCE
from reproduce.latent_coincidence.class_planes import contrast as contrast_to_others
from reproduce.latent_coincidence.em import VARIANTS, maps, pairs_of, principal_start
from reproduce.latent_coincidence.inference import corrected_variance, measure, printed
from reproduce.latent_coincidence.learning import measure as measure_learning
from reproduce.latent_coincidence.mixture import measure as measure_mixture
from reproduce.latent_coincidence.neighbors import contrast, iterations_to_stop, learned_maps
from reproduce.latent_coincidence.neighbors import measure as measure_neighbors
from reproduce.latent_coincidence.parts import SETS, part_of
from reproduce.papers import chosen
from reproduce.running import run
from vicinal import datasets
from vicinal.coincidence.equations import log_likelihood

[(_, INFERENCE)] = chosen("latent-coincidence/inference")


def iris_part(seed=0):
    return part_of({"set": "iris", "seed": seed, "most_rows": 1000})


def test_inference_runs_from_end_to_end(tmp_path):
    assert run(LATENT_COINCIDENCE, INFERENCE, "quick", tmp_path)
    for ending in ("csv", "md", "png", "svg", "jsonl"):
        assert (tmp_path / f"inference.{ending}").stat().st_size > 100
    page = (tmp_path / "inference.md").read_text()
    assert page.count("| agrees within noise |") == 12
    differ = [line for line in page.splitlines() if line.endswith("| differs |")]
    assert len(differ) == 3
    assert all("/variance-0`" in line for line in differ)


def test_expected_numbers_are_those_of_the_printed_formulas():
    settings = LATENT_COINCIDENCE.settings(INFERENCE, "full")
    formulas = {
        f"{unit['distance']}/{name}": f"{value:.5f}"
        for unit in units({**settings, "runs": 1})
        for name, value in printed(unit).items()
    }
    assert LATENT_COINCIDENCE.expected(INFERENCE)["numbers"] == formulas


def test_the_variance_with_the_missing_term_is_that_of_draws():
    unit = {"seed": 0, "distance": 1.2, "n_components": 3, "sigma2": 0.3, "kappa2": 0.7}
    found = measure({**unit, "n_draws": 400_000})
    assert found["variance-0"] == pytest.approx(corrected_variance(unit), rel=0.01)
    assert found["variance-0"] < printed(unit)["variance-0"] - 0.02


def test_the_variance_alone_is_other_in_em_as_printed():
    part = iris_part()
    data = pairs_of(part.X, part.y, 3, local=False)
    start = principal_start(data, 4)
    right, as_printed = (
        list(islice(maps(data, VARIANTS[name], start), 2))[1]
        for name in ("shared", "shared-printed")
    )
    np.testing.assert_array_equal(right.W, as_printed.W)
    assert right.sigma2 < as_printed.sigma2


def test_em_climbs_to_the_maximum_unless_it_is_as_printed():
    found = measure_learning({"seed": 0, "set": "iris", "n_targets": 3, "iterations": 3000})
    assert -1e-3 < found["differences"] < found["endpoints"] < 1 < found["printed"]
    assert found["sigma2-endpoints"] == pytest.approx(found["sigma2-maximum"], rel=0.05)
    assert found["sigma2-printed"] > 1.3 * found["sigma2-maximum"]


def test_scales_are_found_anew_before_every_step():
    part = iris_part()
    data = pairs_of(part.X, part.y, 3, local=True)
    values = [
        log_likelihood(data, latent)
        for latent in islice(maps(data, VARIANTS["local"], principal_start(data, 2)), 30)
    ]
    assert data.n_anchors > 10
    assert np.all(np.diff(values) > -1e-9)


def test_points_without_impostors_are_no_pairs():
    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    with pytest.raises(ValueError, match="none of 4 points has an impostor"):
        pairs_of(X, np.array([0, 0, 1, 1]), 1, local=False)


def test_stopping_takes_the_fewest_iterations_that_are_best_and_learns_from_all_rows():
    part = iris_part()
    unit = {"seed": 0, "variant": "local", "n_targets": 3, "iterations": 20}
    learned = learned_maps(part, unit)
    assert list(learned) == [0, 1, 2, 5, 10, 20]
    assert iterations_to_stop(part, unit) in learned
    found = measure_neighbors({**unit, "set": "iris", "most_rows": 1000})
    assert found["lca-last"] <= 10
    assert found["features"] == 4


def test_contrast_is_that_of_other_classes_to_the_own():
    part = iris_part()
    only_petals = np.eye(4)[2:]
    assert contrast(part, only_petals, 3) > contrast(part, np.eye(4), 3) > 1
    assert contrast(part, 10 * np.eye(4), 3) == pytest.approx(contrast(part, np.eye(4), 3))
    Z, own = np.array([[1.0, 0], [0, 1], [3, 0]]), np.array([True, True, False])
    assert contrast_to_others(Z, own) == pytest.approx(3)


@pytest.mark.skipif(
    "shrinkage" not in signature(QuadraticDiscriminantAnalysis).parameters,
    reason="this scikit-learn does not shrink the covariances of QDA, which stands beside",
)
def test_mixture_learns_more_than_means_know():
    found = measure_mixture(
        {"seed": 0, "set": "iris", "n_components": 2, "iterations": 300, "most_rows": 1000}
    )
    assert found["lca"] < found["nearest-mean"]
    assert found["likelihood"] < found["likelihood-maximum"]


@pytest.mark.parametrize("name", SETS)
def test_parts_are_in_common_units_and_have_all_classes(name):
    if not datasets.is_available(name):
        pytest.skip(f"{name} is not here")
    part = part_of({"set": name, "seed": 0, "most_rows": 300})
    assert len(part.X) <= 300
    assert len(np.unique(part.y)) == len(datasets.load(name).target_names)
    assert np.mean(part.X.var(axis=0)) == pytest.approx(1, rel=0.01)
