"""Embeddings of divergences: sweeps over pairs, and what comes after, go on where they were."""

import numpy as np
import pytest
from checkpoints.cases import bits
from checkpoints.mortal import killed
from scipy.sparse import csr_matrix

import vicinal
import vicinal.files
from vicinal import DivergenceEmbedding
from vicinal.divergence import comparison
from vicinal.divergence.comparison import Comparison
from vicinal.fitting.checkpoints import journal

TILE, PIECE = 25, 1000

X = np.random.default_rng(0).normal(size=(150, 3))  # no two components
Y = np.arange(150) % 3


@pytest.fixture(autouse=True)
def at_every_news_of_small_parts(monkeypatch):
    monkeypatch.setattr(journal, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(journal, "LARGEST_SHARE", np.inf)
    monkeypatch.setattr(vicinal.files, "_sync", lambda file: None)
    monkeypatch.setattr(Comparison, "side", lambda self, P: TILE)
    monkeypatch.setattr(comparison, "_PIECE_PAIRS", PIECE)


def fitted(path=None, X=X, y=None, **parameters):
    chosen = {"method": "laplacian", "random_state": 0, **parameters}
    return DivergenceEmbedding(checkpoint=path, **chosen).fit(X, y)


def counted(monkeypatch, name):
    """Calls of a method of comparisons, as they come."""
    usual, calls = getattr(Comparison, name), []

    def counting(self, *args, **kwargs):
        calls.append(name)
        return usual(self, *args, **kwargs)

    monkeypatch.setattr(Comparison, name, counting)
    return calls


@pytest.mark.parametrize(
    ("parameters", "part", "n_parts"),
    [
        ({}, "tile", 21),  # six a side, of which each pair once
        ({"divergence": "riemann"}, "tile", 21),
        ({"n_candidates": 30}, "_values_of_pairs", 5),
        ({"method": "lle", "n_candidates": 30}, "_values_of_pairs", 5 + 34),
    ],
    ids=str,
)
@pytest.mark.parametrize("after", [1, 4])
def test_a_sweep_goes_on_where_it_was(monkeypatch, tmp_path, parameters, part, n_parts, after):
    whole = bits(fitted(**parameters))
    calls = counted(monkeypatch, part)
    killed(monkeypatch, after, lambda: fitted(tmp_path / "fit", **parameters))
    del calls[:]
    assert bits(fitted(tmp_path / "fit", **parameters)) == whole
    assert len(calls) == n_parts - after + 1  # the seed is the first that is written
    del calls[:]
    assert bits(fitted(tmp_path / "fit", **parameters)) == whole
    assert calls == []


def test_sizes_that_were_tried_are_not_tried_again(monkeypatch, tmp_path):
    parameters = {"n_neighbors": "energy"}
    whole = fitted(**parameters)
    killed(monkeypatch, 100, lambda: fitted(tmp_path / "fit", **parameters))
    calls = counted(monkeypatch, "nearest")
    found = fitted(tmp_path / "fit", **parameters)
    assert bits(found) == bits(whole)
    assert found.energies_ == whole.energies_
    assert 0 < len(calls) < len(whole.energies_)


def test_tiles_of_other_sides_are_begun_anew(monkeypatch, tmp_path):
    """A GPU cuts pairs into others."""
    killed(monkeypatch, 6, lambda: fitted(tmp_path / "fit"))
    monkeypatch.setattr(Comparison, "side", lambda self, P: 40)
    calls = counted(monkeypatch, "tile")
    assert bits(fitted(tmp_path / "fit")) == bits(fitted())
    assert len(calls) == 2 * 10


def test_tsne_is_not_run_again(monkeypatch, tmp_path):
    parameters = {"method": "tsne", "method_params": {"max_iter": 250}}
    first = fitted(tmp_path / "fit", **parameters)
    monkeypatch.delattr("sklearn.manifold.TSNE.fit")
    again = fitted(tmp_path / "fit", **parameters)
    assert bits(again) == bits(first)
    assert again.estimator_.kl_divergence_ == first.estimator_.kl_divergence_
    assert again.estimator_.n_iter_ == first.estimator_.n_iter_
    np.testing.assert_array_equal(again.estimator_.embedding_, again.embedding_)


def test_umap_begins_again_from_the_graph(monkeypatch, tmp_path):
    pytest.importorskip("umap", reason="umap-learn is not installed")
    first = fitted(tmp_path / "fit", method="umap")
    calls = counted(monkeypatch, "tile")
    np.testing.assert_array_equal(
        fitted(tmp_path / "fit", method="umap").embedding_, first.embedding_
    )
    assert calls == []


def test_eigenvectors_that_are_iterated_are_kept(monkeypatch, tmp_path):
    many = np.random.default_rng(0).normal(size=(1100, 2))
    parameters = {"X": many, "n_candidates": 20, "method": "lle"}
    first = fitted(tmp_path / "fit", **parameters)
    monkeypatch.delattr("vicinal.divergence.learners.spectral.eigsh")
    assert bits(fitted(tmp_path / "fit", **parameters)) == bits(first)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_distances_that_are_given(tmp_path, is_sparse):
    distances = np.sqrt(np.square(X[:, None] - X).sum(axis=2))
    given, others = (np.where(distances < reach, distances, 0.0) for reach in (3.0, 2.9))
    if is_sparse:
        given, others = csr_matrix(given), csr_matrix(others)
    parameters = {"metric": "precomputed", "n_graph_neighbors": None}
    whole = bits(fitted(X=given, **parameters))
    assert bits(fitted(tmp_path / "fit", X=given, **parameters)) == whole
    assert bits(fitted(tmp_path / "fit", X=given, **parameters)) == whole
    with pytest.raises(ValueError, match="X is another"):
        fitted(tmp_path / "fit", X=others, **parameters)


OTHERS = {
    "X is another": {"X": X + 1e-9},
    "y is another": {"use_labels": True, "y": np.roll(Y, 1)},
    r"divergence='riemann', and not divergence='jeffreys'": {"divergence": "jeffreys"},
}


@pytest.mark.parametrize("why", OTHERS)
def test_another_fit_is_refused(tmp_path, why):
    given = {"divergence": "riemann", "use_labels": "y" in OTHERS[why], "y": Y}
    fitted(tmp_path / "fit", **given)
    with pytest.raises(ValueError, match=f"is of a fit .*{why}: delete it to begin anew"):
        fitted(tmp_path / "fit", **given | OTHERS[why])


def test_labels_that_are_ignored_may_be_others(tmp_path):
    first = fitted(tmp_path / "fit", y=Y)
    assert bits(fitted(tmp_path / "fit", y=None)) == bits(first)
