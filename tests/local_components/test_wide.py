"""Tables with so many columns that a matrix of all pairs of them is to be avoided."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vicinal
from vicinal import LocalComponents

N_ROWS, N_COLUMNS = 200, 5000

# Bytes of a matrix of all pairs of columns.
WHOLE = 8 * N_COLUMNS**2


@pytest.fixture(scope="module")
def wide():
    rng = np.random.default_rng(0)
    low = rng.normal(size=(N_ROWS, 5)) @ rng.normal(size=(5, N_COLUMNS))
    return low + 0.5 * rng.normal(size=(N_ROWS, N_COLUMNS))


@pytest.fixture
def peak():
    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


@pytest.mark.parametrize(
    "settings",
    [
        {"covariance": "diag", "regularization": 0.01},
        {"covariance": "spherical", "regularization": 0.01},
        {"covariance": "diag", "kernel": "student", "regularization": 0.01, "max_iter": 50},
        {"covariance": "diag", "regularization": 0.01, "batch_size": 50, "max_iter": 5},
        {"covariance": "low_rank", "rank": 10, "regularization": 0.01},
        {"covariance": 2.0},
    ],
    ids=str,
)
def test_no_matrix_of_all_pairs_of_columns(wide, settings, peak, tmp_path):
    model = LocalComponents(random_state=0, **settings).fit(wide)
    assert np.isfinite(model.score_samples(wide[:10])).all()
    assert model.transform(wide[:10]).shape == (10, N_COLUMNS)
    assert model.pair_distance(wide[:4].reshape(2, 2, -1)).shape == (2,)
    assert model.sample(2).shape == (2, N_COLUMNS)
    assert set(model.predict(wide[:10])) <= {-1, 1}
    vicinal.save(model, tmp_path / "model.skops")
    loaded = vicinal.load(tmp_path / "model.skops")
    assert_allclose(loaded.score_samples(wide[:5]), model.score_samples(wide[:5]))
    assert (tmp_path / "model.skops").stat().st_size < 2 * wide.nbytes
    assert peak() < 0.6 * WHOLE
    assert model.covariance_.shape == (N_COLUMNS, N_COLUMNS)  # as ever, for those who ask


def test_the_penalty_is_chosen_and_streams_are_learned_without_one_either(wide, peak):
    some = wide[:60]
    model = LocalComponents(covariance="diag").fit(some)
    assert model.score(wide[60:]) > LocalComponents(covariance=1.0).fit(some).score(wide[60:])
    stream = LocalComponents(covariance="diag", regularization=0.01, random_state=0)
    stream.partial_fit(some).partial_fit(wide[60:120])
    assert np.isfinite(stream.score(wide[120:]))
    assert peak() < 0.6 * WHOLE


def test_only_matrices_are_too_wide():
    X = np.random.default_rng(0).normal(size=(20, 6000))
    with pytest.raises(ValueError, match=r"X has 6000 columns, .*, or set covariance='diag'"):
        LocalComponents().fit(X)
    with pytest.raises(ValueError, match="X has 6000 columns"):
        LocalComponents(covariance="scott").fit(X)
    with pytest.raises(ValueError, match="X has 6000 columns"):
        LocalComponents(covariance="low_rank", kernel="student").fit(X)
    for covariance in ("diag", "low_rank"):
        model = LocalComponents(covariance=covariance, regularization=0.1).fit(X)
        assert np.isfinite(model.score(X))
