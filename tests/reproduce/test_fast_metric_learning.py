"""Fast low-rank metric learning: what the items are made of; one runs from end to end."""

import numpy as np
import pytest

pytest.importorskip("reproduce", reason="reproduce/ is not here")

from benchmarks.common.splits import Split
from reproduce.fast_metric_learning import (
    accuracy,
    curves,
    linear,
    methods,
    projections,
    trees,
)
from reproduce.fast_metric_learning.sets import SETS, part_of, whole
from reproduce.papers import chosen
from reproduce.running import run
from vicinal.datasets import is_available


def test_figure_3_3_runs_from_end_to_end(tmp_path):
    [(paper, item)] = chosen("fast-metric-learning/figure-3-3")
    assert run(paper, item, "quick", tmp_path)
    for ending in ("csv", "md", "png", "svg", "jsonl"):
        assert (tmp_path / f"figure-3-3.{ending}").stat().st_size > 100
    assert (tmp_path / "figure-3-3.md").read_text().count("| ordering holds |") == 4


@pytest.mark.parametrize("method", methods.METHODS)
def test_every_method_learns_wine(method):
    part = part_of("wine", 0)
    model, seconds = methods.fitted(method, part, 2, 0, 30)
    found = methods.scores(model, part)
    assert seconds > 0
    assert model.recipe_["regularization"] == 0.0
    assert found["1-nn"] > 85
    assert found.get("fallback", found["nca"]) > 85


def test_random_starts_are_those_that_table_5_2_comes_out_with():
    start, part = methods.standard_normal(2, 13, 3), part_of("wine", 3)
    assert abs(methods.standard_normal(40, 50, 0).std() - 1) < 0.05
    found = methods.fitted("cg-random", part, 2, 3, 20).model.components_
    expected = methods.fitted("cg", part, 2, 3, 20, init=start).model.components_
    np.testing.assert_array_equal(found, expected)


def test_a_unit_of_a_table_has_its_numbers():
    unit = {"seed": 1, "case": "iris/2", "method": "cg", "rows": 60, "max_iter": 20}
    found = accuracy.measure_beside_euclid(unit)
    assert set(found) == {
        "train", "1-nn", "nca", "seconds", "updates", "euclid", "left-out"
    }  # fmt: skip
    assert found["left-out"] == 96.0  # 144 of 150


def test_rows_are_cut_and_scaled_as_the_thesis_says():
    part = part_of("wine", 3)
    assert (len(part.X), len(part.X_test)) == (124, 54)
    np.testing.assert_allclose(part.X.std(axis=0), 1.0)
    assert len(part_of("wine", 3, rows=20).X) == 20
    assert part_of("wine", 3, in_own_units=True).X.max() > 1000
    assert len(SETS) == 15


@pytest.mark.skipif(not is_available("landsat"), reason="landsat is not here")
def test_landsat_has_its_customary_split():
    assert {len(part_of("landsat", seed).X) for seed in (0, 1)} == {4435}


def test_points_without_neighbors_get_the_first_class():
    """As in the thesis; ours gives them the class of the nearest."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 8])
    y = np.repeat([0, 1], 60)
    far = np.full((4, 2), 1e3)
    part = Split(X, np.vstack([X, far]), y, np.append(y, 4 * [1]))
    model = methods.fitted("cs", part, 2, 0, 10).model
    found = methods.scores(model, part)
    assert found["alone"] >= 100 * 4 / 124
    assert found["fallback"] == 100
    assert found["nca"] <= 100 * 120 / 124


def test_trees_visit_what_the_error_asks_for():
    rng = np.random.default_rng(0)
    near = rng.normal(size=(64, 2)) * 0.1
    Z, y = np.vstack([near, near + 7]), np.repeat([0, 1], 64)
    assert trees.visited(near[:10], Z, y, 0.0) == 1.0
    assert trees.visited(near[:10], Z, y, 1e-30) == 0.5  # e^-98 is 1e-43
    assert trees.visited(near[:10], Z, y, 0.6) == 0.0
    shares = [trees.visited(near[:10], near, y[:64], error) for error in (1e-3, 0.02, 0.1)]
    assert shares == sorted(shares, reverse=True)


def test_ellipses_are_two_deviations_away():
    points = np.random.default_rng(0).normal(size=(50, 2)) @ [[2.0, 0.3], [0.0, 0.5]]
    apart = accuracy.ellipse(points).T - points.mean(axis=0)
    squares = np.einsum("ni,ij,nj->n", apart, np.linalg.inv(np.cov(points.T)), apart)
    np.testing.assert_allclose(squares, 4.0)


def test_linear_maps_make_white_what_they_should():
    part = whole("wine")
    known = linear.Covariances.of(part.X, part.y)
    A, B = linear.principal(known, 3), linear.relevant(known, 3)
    np.testing.assert_allclose(A @ known.total @ A.T, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(B @ known.within @ B.T, np.eye(3), atol=1e-10)
    lengths = np.linalg.norm(linear.discriminants(known, 2), axis=1)
    np.testing.assert_allclose(lengths, 1.0)


def test_soft_assignments_are_sorted_shares():
    shares = curves.assignments(np.random.default_rng(0).normal(size=(30, 2)), 4)
    assert len(shares) == 29
    assert shares.sum() == pytest.approx(1.0)
    assert (np.diff(shares) <= 0).all()


def test_reach_counts_others_within_distance_1():
    assert curves.share_in_reach(np.array([[0.0], [0.5], [3.0]])) == pytest.approx(100 / 3)


def test_points_in_reach_are_watched_along_a_fit():
    pytest.importorskip("sklearn.callback", reason="this scikit-learn has no callbacks")
    unit = {"seed": 0, "set": "wine", "init": "random", "rows": 80, "max_iter": 10}
    found = curves.measure_reach(unit)
    assert len(found["shares"]) >= 2
    assert found["shares"][0] == found["first"] == 100
    assert found["last"] == pytest.approx(found["shares"][-1], abs=1e-4)


def test_a_sample_is_separated_better_than_all_rows():
    found = projections.measure_sample({"seed": 0, "set": "wine", "parts": 6, "max_iter": 100})
    assert found["all"] < found["sample"] == 100
