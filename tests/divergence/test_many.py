"""Many points: Gaussians made when asked for, candidates, graphs by default; progress, Ctrl-C."""

import signal
import threading
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import issparse
from sklearn.exceptions import NotFittedError

from vicinal import DivergenceEmbedding, DivergenceNeighbors
from vicinal.divergence import comparison, graph, local, many, places
from vicinal.divergence.divergences import DIVERGENCES
from vicinal.divergence.gaussians import KINDS, LocalGaussians, fit_gaussians
from vicinal.divergence.local import all_of
from vicinal.divergence.made import MadeGaussians, make_gaussians
from vicinal.divergence.neighbors import space_of
from vicinal.fitting import progress
from vicinal.inputs.nearest import nearest

NAMES = ("means", "vectors", "values", "rest", "diagonal")


def sheet(n, d=12, seed=0):
    rng = np.random.default_rng(seed)
    inner = rng.normal(size=(n, 3))
    first, second = rng.normal(size=(2, 3, d))
    return inner @ first + np.sin(inner) @ second + 0.05 * rng.normal(size=(n, d))


@pytest.fixture
def made():
    """As where the directions of all points have no room."""
    with patch.object(local, "_STORED_NUMBERS", 0):
        yield


@pytest.fixture
def few_are_many():
    """As if 100 points were many."""
    with patch.object(many, "_ALL_PAIRS_UP_TO", 100):
        yield


def sparse(**options):
    return DivergenceNeighbors(
        5, **{"gamma": 0.1, "n_graph_neighbors": 4, "n_candidates": 20} | options
    )


def assert_same_graph(one, other, rtol=1e-10):
    assert_array_equal(one.indices, other.indices)
    assert_allclose(one.data, other.data, rtol=rtol, atol=1e-12)


# ---------------------------------------------------------------------- Gaussians that are made


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("d", "m"), [(9, 4), (3, 8)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.filterwarnings("ignore:covariance=.frank-wolfe. stopped before")
def test_made_gaussians_are_those_that_would_be_stored(kind, d, m, dtype):
    X = sheet(60, d).astype(dtype) / 4
    near = all_of(nearest(X, X, m, np.arange(60))[0])
    with patch("vicinal.divergence.gaussians._BLOCK_NUMBERS", 200):
        stored = fit_gaussians(X, X, near, kind, 0.2)
        lazy = make_gaussians(X, X, near, kind, 0.2)
        assert isinstance(lazy, MadeGaussians)
        assert (len(lazy), lazy.rank, lazy.n_features) == (60, stored.rank, d)
        assert lazy.has_diagonal == (stored.diagonal is not None)
        rows = np.array([7, 3, 3, 59])
        # These two go on until the last point of a block is within its tolerance.
        rtol = {"frank-wolfe": 1e-2, "trace": 1e-14}.get(kind, 0)
        for some, part in ((lazy[rows], stored[rows]), (lazy[4:30], stored[4:30]), (lazy, stored)):
            for name in NAMES:
                one, other = getattr(some, name), getattr(part, name)
                if other is None:
                    assert one is None
                else:
                    assert_allclose(one, other, rtol=rtol, atol=0, err_msg=name)
    assert_allclose(lazy.covariances(), stored.covariances(), rtol=1e-2)
    assert_allclose(lazy.least_variances(), stored.least_variances(), rtol=rtol)
    assert_allclose(lazy.largest_variances(), stored.largest_variances(), rtol=rtol)
    assert_array_equal(lazy.part(rows)[:].means, stored[rows].means)


@pytest.mark.parametrize("unit", [2.0**-20, 2.0**7])
def test_made_gaussians_in_other_units(unit):
    X = sheet(40)
    near = all_of(nearest(X, X, 4, np.arange(40))[0])
    stored, lazy = (
        make(X, X, near, "ridge", 0.1).in_units_of(unit) for make in (fit_gaussians, make_gaussians)
    )
    for one, other in ((lazy.box(), stored.box()), (lazy.means, stored.means)):
        assert_array_equal(one, other)
    assert_array_equal(lazy[:].values, stored.values)
    assert_allclose(lazy.least_variances(), stored.least_variances(), rtol=1e-15)


def test_singular_ones_are_refused_by_their_row():
    X = np.vstack([sheet(20, 3), np.full((6, 3), 99.0)])
    near = all_of(nearest(X, X, 5, np.arange(26))[0])
    with pytest.raises(ValueError, match=r"6 of 26 local covariances are singular.*row 20"):
        make_gaussians(X, X, near, "ridge", 0.0)


def test_what_has_no_room_is_not_made_all_at_once():
    X = sheet(40)
    near = all_of(nearest(X, X, 4, np.arange(40))[0])
    lazy = make_gaussians(X, X, near, "ridge", 0.1)
    with patch("vicinal.divergence.limits.MOST_BYTES", 1e4):
        for ask in (lambda: lazy.vectors, lazy.covariances):
            with pytest.raises(ValueError, match=r"GB.*gaussians\[rows\]"):
                ask()
        assert lazy[:3].covariances().shape == (3, 12, 12)


# --------------------------------------------------------------------------- pieces of any size


@pytest.mark.parametrize("divergence", DIVERGENCES)
@pytest.mark.parametrize("d", [12, 4])
def test_pieces_of_any_size_give_the_same_graph(divergence, d):
    X, new = sheet(90, d), sheet(17, d, seed=1)
    model = sparse(divergence=divergence)
    whole, of_new = model.fit_transform(X), model.transform(new)
    assert isinstance(model.gaussians_, LocalGaussians)
    for pieces in (
        ("_RUN", 16_384),  # as it is
        ("_PIECE_PAIRS", 150),
        ("_PIECE_NUMBERS", 5 * d * 40),
        ("_RUN", 7),
    ):
        with patch.object(local, "_STORED_NUMBERS", 0), patch.object(comparison, *pieces):
            assert_same_graph(model.fit_transform(X), whole)
            kind = MadeGaussians if DIVERGENCES[divergence].shapes else LocalGaussians
            assert isinstance(model.gaussians_, kind)
            assert_same_graph(model.transform(new), of_new)


@pytest.mark.parametrize("options", [{"radius": 2.0}, {"covariance": "shrunk-diagonal"}, {}])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_points_that_coincide_are_the_training_points(made, options, dtype):
    X = sheet(80).astype(dtype)
    model = sparse(**options)
    first, again = model.fit_transform(X), model.transform(X)
    assert first.dtype == again.dtype == dtype
    assert isinstance(model.gaussians_, MadeGaussians)
    assert abs(first - again).max() < 1e-6 * abs(first).max()


def test_the_users_array_is_neither_changed_nor_needed_later(made):
    X, new = sheet(60), sheet(9, seed=1)
    given = X.copy()
    model = sparse().fit(given)
    before = model.transform(new)
    assert_array_equal(given, X)
    given[:] = 0.0
    assert_same_graph(model.transform(new), before, rtol=0)


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize("most", [30, 100])
def test_no_more_gaussians_are_made_at_a_time_than_have_room(most):
    X, sizes, original = sheet(400, 60), [], MadeGaussians.__getitem__

    def recorded(self, rows):
        found = original(self, rows)
        sizes.append(len(found))
        return found

    with (
        patch.object(MadeGaussians, "__getitem__", recorded),
        patch.object(comparison, "_PIECE_NUMBERS", 5 * 60 * most),
    ):
        model = sparse()
        model.fit_transform(X)
        growth = max(1.0, X.size / (5 * 60 * most))  # as many numbers as the points are
        assert 2 * max(sizes) > growth * most
        assert max(sizes) <= 2 * growth * most  # the rows of a piece, and their candidates
        assert sum(sizes) >= len(X)
        sizes.clear()
        near = model.fit_transform(X).indices.reshape(len(X), -1)[:, 1:]
        space_of(model).among(near)
        assert max(sizes) <= 2 * growth * most


def test_positions_hold_no_more_than_neighborhoods(made):
    model = sparse()
    model.fit_transform(sheet(60))
    positions = model.gaussians_.positions
    assert positions.shape == (60, 5)
    assert positions.base is None or positions.base.size == positions.size


@pytest.mark.filterwarnings("ignore:the neighborhood graph has")
@pytest.mark.parametrize("method", ["laplacian", "lle"])
def test_embeddings_take_gaussians_that_are_made(method):
    X = sheet(150)
    options = {"n_candidates": 40, "n_graph_neighbors": 12, "gamma": 0.1, "random_state": 0}
    model = DivergenceEmbedding(method=method, **options)
    whole = model.fit(X).transform(X[:20])
    with patch.object(local, "_STORED_NUMBERS", 0):
        parts = model.fit(X).transform(X[:20])
    assert_allclose(parts, whole, atol=1e-6 * np.abs(whole).max())


# ---------------------------------------------------------------------------- what many points get


@pytest.mark.usefixtures("few_are_many")
def test_many_points_have_a_graph_of_candidates_and_are_told():
    X = sheet(130)
    model = DivergenceNeighbors(gamma=0.1)
    message = r"130 rows, more than 100: .*15 nearest \(n_graph_neighbors\).*among 100 .*\(n_cand"
    with pytest.warns(UserWarning, match=message) as caught:
        graph = model.fit_transform(X)
    assert len(caught) == 1
    assert issparse(graph)
    assert_array_equal(np.diff(graph.indptr), 16)
    assert (model.n_graph_neighbors_, model.n_candidates_) == (15, 100)
    said = DivergenceNeighbors(gamma=0.1, n_graph_neighbors=15, n_candidates=100)
    assert_same_graph(said.fit_transform(X), graph)  # no warning, which would be an error
    assert issparse(model.transform(X[:3]))


@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize(("k", "expected"), [(3, 100), (25, 125), (60, 149)])
def test_how_many_candidates_there_are(k, expected):
    with pytest.warns(UserWarning, match=f"among {expected} Euclidean neighbors"):
        model = DivergenceNeighbors(n_graph_neighbors=k).fit(sheet(150))
    assert (model.n_graph_neighbors_, model.n_candidates_) == (k, expected)


def test_few_points_are_all_compared():
    model = DivergenceNeighbors().fit(sheet(60))
    assert (model.n_graph_neighbors_, model.n_candidates_) == (None, None)
    assert model.transform(sheet(5)).shape == (5, 60)
    assert DivergenceNeighbors(n_graph_neighbors=3).fit(sheet(60)).n_candidates_ is None


@pytest.mark.usefixtures("few_are_many")
def test_neighbors_by_shape_alone_are_not_looked_for_among_candidates():
    model = DivergenceNeighbors(divergence="riemann")
    message = r"n_candidates=None would compare all pairs of 130 .* hours .*n_candidates=100"
    with (
        patch.object(local, "nearest", side_effect=AssertionError),  # at once
        pytest.raises(ValueError, match=message),
    ):
        model.fit_transform(sheet(130))
    assert sparse(divergence="riemann").fit_transform(sheet(130)).nnz == 130 * 5


@pytest.mark.parametrize("name", ["n_graph_neighbors", "search"])
def test_other_words_are_refused(name):
    with pytest.raises(ValueError, match=f"{name}='none' is unknown"):
        DivergenceNeighbors(**{name: "none"}).fit(sheet(20))


@pytest.mark.parametrize(("most", "calls"), [(10**6, 0), (10, 1)])
def test_the_search_is_exact_for_few_pairs(most, calls):
    X = sheet(60)
    with (
        patch.object(local, "_MOST_PAIRS", most),
        patch.object(local, "nearly_nearest", wraps=local.nearly_nearest) as nearly,
    ):
        found = sparse().fit_transform(X)
        assert nearly.call_count == calls  # neighborhoods are taken from the candidates
    assert_same_graph(found, sparse(search="exact").fit_transform(X))  # a cell has them all


def test_the_approximate_search_gives_nearly_the_same():
    X = sheet(400)
    exact = sparse(search="exact").fit_transform(X).indices.reshape(400, -1)
    with patch.multiple("vicinal.inputs.cells", _CELL=32, _LEAST=200, _SHARE=0.2):
        near = sparse(search="approximate").fit_transform(X).indices.reshape(400, -1)
        again = sparse(search="approximate", n_jobs=1).fit_transform(X).indices.reshape(400, -1)
    assert_array_equal(near, again)
    assert np.mean([np.isin(a, b).mean() for a, b in zip(exact, near, strict=True)]) > 0.9


def test_large_components_are_joined_by_some_of_their_points():
    labels = np.repeat([0, 1, 2], [50, 4, 21])[np.random.default_rng(0).permutation(75)]
    with patch.object(graph, "_MOST_LOOKED_AT", 7):
        some = graph._some_of_each(labels)
    assert_array_equal(labels[some], np.repeat([0, 1, 2], [7, 4, 7]))
    assert len(set(some)) == len(some)
    assert_array_equal(graph._some_of_each(labels), np.argsort(labels, kind="stable"))


# --------------------------------------------------------------------------- progress and Ctrl-C


@pytest.mark.parametrize("options", [{}, {"n_graph_neighbors": 4}, {"n_graph_neighbors": None}])
def test_every_stage_is_told(capfd, options):
    X = sheet(70)
    with patch.object(progress, "_SECONDS_BEFORE_SHOWN", -1.0):
        sparse(**{"n_candidates": None} | options, verbose=1).fit(X).transform(X)
        shown = capfd.readouterr().err
        sparse(**{"n_candidates": None} | options).fit_transform(X)
        assert not capfd.readouterr().err
    for name in ("Euclidean neighbors", "local Gaussians", "divergences"):
        assert f"{name}: done" in shown


@pytest.mark.usefixtures("made")
def test_all_of_a_stage_is_told():
    """Progress ends at the whole, also where pairs are computed in pieces."""
    told = {}

    @contextmanager
    def stage(name, total, verbose):
        told[name] = [total, 0.0]

        def tell(more):
            told[name][1] += more

        yield tell

    with (
        patch.object(local, "stage", stage),
        patch.object(comparison, "stage", stage),
        patch.object(comparison, "_PIECE_PAIRS", 300),
    ):
        sparse().fit_transform(sheet(70))
    assert set(told) == {"Euclidean neighbors", "local Gaussians", "divergences"}
    for total, done in told.values():
        assert done == pytest.approx(total)


def test_ctrl_c_among_the_divergences_leaves_no_half_of_a_fit():
    model = sparse()
    with (
        patch.object(comparison, "in_shares", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        model.fit_transform(sheet(60))
    assert not hasattr(model, "gaussians_")


@pytest.mark.parametrize("name", ["nearest", "fit_gaussians"])
def test_ctrl_c_leaves_a_model_as_it_was(name):
    X, model = sheet(60), sparse()
    with patch.object(local, name, side_effect=KeyboardInterrupt):
        with pytest.raises(KeyboardInterrupt):
            model.fit_transform(X)
        with pytest.raises(NotFittedError):
            model.transform(X)
    before = model.fit(X).transform(X[:7])
    with patch.object(local, name, side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        model.fit(sheet(60, 5))
    assert_same_graph(model.transform(X[:7]), before, rtol=0)


@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(),
    reason="signals reach the main thread only",
)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_ends_the_work_of_all_threads(n_jobs):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    compared = []
    original = comparison.keep_best

    def press(*args):
        compared.append(1)
        if len(compared) == 3:
            signal.raise_signal(signal.SIGINT)
        return original(*args)

    model = DivergenceNeighbors(gamma=0.1, n_graph_neighbors=4, n_jobs=n_jobs)
    try:
        with (
            patch.object(comparison, "keep_best", press),
            patch.object(places, "_TILE", 8),
            pytest.raises(KeyboardInterrupt),
        ):
            model.fit_transform(sheet(200))
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(compared) == 3
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("vicinal")]
