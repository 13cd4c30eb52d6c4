"""Divergence spaces: what is run is what the paper says; one item runs from end to end."""

import numpy as np
import pytest

pytest.importorskip("reproduce", reason="reproduce/ is not here")

from scipy.spatial.distance import pdist
from sklearn.manifold import Isomap, LocallyLinearEmbedding

from reproduce.divergence_spaces import data, significance, surfaces, table, untuned
from reproduce.divergence_spaces.clusters import held_out, tally
from reproduce.divergence_spaces.embeddings import EMBEDDERS, Placed, Tried
from reproduce.divergence_spaces.printed import printed_table
from reproduce.divergence_spaces.spaces import space
from reproduce.experiment import Measured
from reproduce.papers import chosen
from reproduce.running import run

ONE = {"first": 12, "last": 12, "step": 1}


def unit(**settings):
    return {"seed": 0, "k": ONE, "perplexity": {**ONE, "first": 10}, **settings}


def test_figure_3_runs_from_end_to_end(tmp_path):
    [(paper, item)] = chosen("divergence-spaces/figure-3")
    assert run(paper, item, "quick", tmp_path)
    assert (tmp_path / "surfaces.jsonl").exists()  # shared with the rule of the energy
    for ending in ("csv", "md", "png", "svg"):
        assert (tmp_path / f"figure-3.{ending}").stat().st_size > 100
    page = (tmp_path / "figure-3.md").read_text()
    assert "| `iris/overlap < 0` |" in page
    assert "not run" not in page


@pytest.mark.parametrize(
    ("name", "printed"), [("iris", (0.730, 0.751, 0.893)), ("wine", (0.371, 0.429, 0.702))]
)
def test_k_means_on_the_points_is_what_is_printed(name, printed):
    found = table.measure_euclid(unit(set=name, learner="euc"))
    np.testing.assert_allclose([found[one] for one in ("ari", "nmi", "purity")], printed, atol=6e-4)


def test_plain_embeddings_are_those_of_scikit_learn():
    rows, plain = data.load("wine"), space("wine", "euclidean", 3)
    theirs = {"isomap": Isomap(n_neighbors=12), "lle": LocallyLinearEmbedding(n_neighbors=12)}
    for name, model in theirs.items():
        first = next(EMBEDDERS[name](plain, rows, Tried.of(unit()), 0))
        assert first.settings == "k=12 d=2"
        expected = pdist(model.fit_transform(rows.X))
        np.testing.assert_allclose(pdist(first.coordinates), expected, rtol=1e-4, atol=1e-8)


def test_settings_are_those_of_section_6():
    rows, plain = data.load("wine"), space("wine", "euclidean", 3)
    assert Tried.of(unit(k={"first": 3, "last": 25, "step": 1})).sizes == tuple(range(3, 26))
    tried = Tried.of(unit())
    names = [placed.settings for placed in EMBEDDERS["laplacian"](plain, rows, tried, 0)]
    assert names == [f"k=12 quantile={quantile}" for quantile in (0.25, 0.5, 0.75)]
    placed = list(EMBEDDERS["lle"](plain, rows, tried, 0))
    assert [one.coordinates.shape[1] for one in placed] == [2, 3, 4, 5, 6]  # to ⌊13/2⌋


def test_hellinger_neighbors_are_told_apart_where_their_distances_are_not():
    hellinger, bhattacharyya = (space("iris", name, 4) for name in ("hellinger", "bhattacharyya"))
    assert (hellinger.given == 1).mean() > 0.1
    assert (hellinger.graph(20).indices == bhattacharyya.graph(20).indices).all()
    first = hellinger.graph(3)[0]
    assert first.indices[0] == 0
    np.testing.assert_allclose(
        first.data, np.sqrt(-np.expm1(-bhattacharyya.given[0, first.indices]))
    )


def test_a_graph_that_falls_apart_is_embedded():
    apart = space("iris", "jeffreys", 5)
    rows = data.load("iris")
    for name in ("isomap", "laplacian", "lle"):
        few = Tried.of(unit(k={"first": 3, "last": 3, "step": 1}))
        for placed in EMBEDDERS[name](apart, rows, few, 0):
            assert np.isfinite(placed.coordinates).all()


def test_settings_are_judged_on_labels_that_did_not_choose_them():
    """Of many random clusterings the best is better than chance, but not on other labels."""
    rng = np.random.default_rng(0)
    rows = data.Data(np.empty((200, 1)), np.arange(200) % 2)
    placed = [Placed(str(i), rng.choice([-1.0, 1.0], (200, 1))) for i in range(60)]
    found = tally(placed, rows, 0)
    held = np.array([one["ari-held"] for one in held_out([found])])
    assert abs(found["ari-mean"]) < 0.01
    assert found["ari"] > 0.02
    assert held.mean() < 0.5 * found["ari"]
    perfect = tally([Placed("perfect", rows.y[:, None].astype(float))], rows, 0)
    assert {one["ari-held"] for one in held_out([found, perfect])} == {1.0}
    assert perfect["setting"] == "perfect"


def test_divergences_are_gathered_over_their_grid():
    halves = [[[0.5, 0.1, 0.2, 0.3]], [[0.4, 0.9, 0.9, 0.9]]]
    units = [
        Measured(
            {}, {**_measures("", best), **_measures("-mean", 0.1), "n_settings": 3, "halves": h}
        )
        for best, h in zip((0.6, 0.2), halves, strict=True)
    ]
    together, held = table.gather_divergences(units)
    assert together["ari"] == 0.6
    assert together["nmi-equal"] == pytest.approx(0.4)
    assert together["purity-mean"] == pytest.approx(0.1)
    assert together["n_settings"] == 6
    assert held == {"ari-held": 0.1, "nmi-held": 0.2, "purity-held": 0.3}


def _measures(ending, value):
    return {f"{name}{ending}": value for name in ("ari", "nmi", "purity")}


def test_the_tests_are_those_of_demsar():
    """Ranks of a small table by hand; the critical value is that of his table 5, 2.394."""
    found = significance.tests_of(np.array([[1, 2, 3, 4], [1, 2, 4, 3], [2, 2, 3, 4]]) / 10)
    assert found["gap"] == pytest.approx((2 + 1 + 2) / 3 - (1 + 2 + 1) / 3)
    assert found["critical"] == pytest.approx(2.394 * np.sqrt(4 * 5 / (6 * 3)), abs=1e-3)
    assert (found["wins"], found["losses"], found["sets"]) == (2, 1, 3)


def test_printed_numbers_are_tested_with_all_twelve_sets():
    assert printed_table("lle", "nmi").shape == (12, 4)
    found = significance.measure({"source": "printed", "learner": "lle", "measure": "nmi"})
    assert found["wins"] == found["sets"] == 12
    assert found["p"] < 0.05


def test_ours_are_tested_when_nearly_all_sets_are_there(monkeypatch):
    numbers = {
        f"{learner}/{name}/{measure}": value
        for name in data.SETS
        for learner, value in (("euc", 0.1), ("pca", 0.2), ("lle", 0.3))
        for measure in ("ari", "nmi")
    }
    monkeypatch.setattr(significance, "numbers_of", lambda item, mode: numbers)
    best = {"source": "best", "learner": "lle", "measure": "ari", "results": "full"}
    assert significance.measure(best)["sets"] == 11
    del numbers["lle/segment/ari"]
    assert significance.measure(best)["sets"] == 10
    del numbers["pca/wdbc/ari"]
    assert significance.measure(best) == {}


def test_surfaces_are_told_in_numbers():
    units = [
        Measured({"m": m, "set": "toy"}, {"energies": e, "losses": loss, "rand": r})
        for m, e, loss, r in (
            (9, [1.0, 2.0], [0.9, 0.8], [0.1, 0.2]),
            (3, [2.5, 3.0], [0.2, 0.1], [0.3, 0.0]),
        )
    ]
    [found] = surfaces.gather(units)
    assert found["overlap"] == pytest.approx(-1.0)
    assert found["small-loss"] < found["large-loss"]
    assert found["least-loss-m"] == 3
    assert found["ari-energy"] == 0.0  # at m = 3
    assert found["ari-beaten"] == 0.25


def test_untuned_settings_need_no_labels():
    found = untuned.measure({"seed": 0, "set": "iris", "learner": "isomap", "metric": "jeffreys"})
    assert found["m"] == untuned.brand_size("iris")
    assert 3 <= found["m"] <= 25
    assert found["ari"] > 0.5
