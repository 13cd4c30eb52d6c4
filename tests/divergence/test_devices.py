"""Divergences in batches on a device: those of the CPU, of every kind and for every input.

The device is the GPU where there is one, and torch's on the CPU where there is none.
"""

import signal
import subprocess
import sys
from importlib.util import find_spec
from unittest.mock import patch

import numpy as np
import pytest
import sklearn
from divergence.reference import naive_matrix
from divergence.test_comparison import (
    SHAPED,
    every_divergence,
    every_size,
    exact,
    ill_conditioned,
    nearly_equal,
    random_gaussians,
    seeds,
)
from effort import examples
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

NEEDED = ("torch", "triton", "array_api_compat")
if missing := [name for name in NEEDED if find_spec(name) is None]:
    pytest.skip(f"needs {', '.join(missing)}: the extra gpu", allow_module_level=True)

import torch  # noqa: E402

from vicinal import DivergenceEmbedding, DivergenceNeighbors  # noqa: E402
from vicinal.divergence import comparison as comparing  # noqa: E402
from vicinal.divergence import (  # noqa: E402
    gaussians,
    local,
    local_gaussians,
    paired,
    pairwise,
    places,
    small_matrices,
)
from vicinal.divergence.comparison import Comparison  # noqa: E402
from vicinal.divergence.cutting import smallest  # noqa: E402
from vicinal.divergence.divergences import DIVERGENCES, Divergence  # noqa: E402
from vicinal.divergence.equations import Batch  # noqa: E402
from vicinal.divergence.gaussians import KINDS, LocalGaussians  # noqa: E402
from vicinal.divergence.small_matrices import by_reflections  # noqa: E402
from vicinal.neighborhood.devices import data_on  # noqa: E402
from vicinal.neighborhood.gpu import DeviceLostError, has_gpu  # noqa: E402

X = load_iris().data
ROWS = X + 0.01 * np.random.default_rng(0).normal(size=X.shape)  # no two have a number in common
NEW = X[::7] + 0.03
EPS = np.finfo(float).eps


@pytest.fixture(autouse=True)
def device(monkeypatch):
    if not has_gpu():
        monkeypatch.setenv("TRITON_INTERPRET", "1")  # the device is then the CPU


def there(name):
    return Comparison(DIVERGENCES[name], "cuda")


def here(name):
    return Comparison(DIVERGENCES[name])


# ------------------------------------------------------------------------------------- equations


@every_divergence
@every_size
@given(seed=seeds)
@examples(5)
def test_divergences_are_those_of_the_definition(name, d, q, seed):
    rng = np.random.default_rng(seed)
    P = random_gaussians(rng, 6, d, q, n_shared=int(rng.integers(0, q + 1)))
    Q = random_gaussians(rng, 4, d, q)
    expected = naive_matrix(name, P)
    np.fill_diagonal(expected, 0.0)  # rounding
    assert_allclose(there(name).matrix(P), expected, rtol=1e-9, atol=1e-12)
    assert_allclose(there(name).matrix(P, Q), naive_matrix(name, P, Q), rtol=1e-9)


@every_divergence
@every_size
def test_compiled_loops_say_what_the_equations_say_in_numpy(name, d, q):
    """One text of the equations for NumPy and for torch."""
    rng = np.random.default_rng(0)
    P, Q = (random_gaussians(rng, n, d, q, n_shared=q // 2) for n in (6, 9))
    divergence, i, j = DIVERGENCES[name], np.arange(6), np.arange(6)[::-1]
    if not divergence.takes(q, d):
        P, Q = P.complete(), Q.complete()
    compiled = divergence.tile(P, Q, False)
    assert_allclose(divergence.equation(Batch(P, Q, True)), compiled, rtol=1e-11)
    one_by_one = divergence.equation(Batch(P[i], Q[j], False))
    assert_allclose(one_by_one, compiled[i, j], rtol=1e-11)


@every_divergence
@pytest.mark.parametrize(("d", "q"), [(4, 4), (5, 3), (6, 3), (9, 4)])
def test_frames_along_the_axes(name, d, q):
    """A direction of one frame is one of the other, or orthogonal to all: to the last bit."""
    rng = np.random.default_rng(0)
    P = random_gaussians(rng, 8, d, q)
    axes = np.stack([np.eye(d)[rng.permutation(d)[:q]] for _ in range(8)])
    P = LocalGaussians(P.means, axes, P.values, P.rest)
    expected = naive_matrix(name, P)
    np.fill_diagonal(expected, 0.0)
    assert_allclose(there(name).matrix(P), expected, rtol=1e-9)


@every_divergence
@pytest.mark.parametrize(("d", "q"), [(4, 4), (6, 3), (7, 2)])
def test_covariances_with_a_diagonal_of_their_own(name, d, q):
    rng = np.random.default_rng(0)
    P = random_gaussians(rng, 6, d, q)
    P = LocalGaussians(P.means, P.vectors, P.values, np.zeros(6), np.exp(rng.normal(size=(6, d))))
    expected = naive_matrix(name, P)
    np.fill_diagonal(expected, 0.0)
    assert_allclose(there(name).matrix(P), expected, rtol=1e-9)
    first, second = (part.ravel() for part in np.indices((6, 6)))
    found = there(name).pairs(P, None, first, second).reshape(6, 6)
    assert_allclose(found, expected, rtol=1e-9)


def relative_errors(P, names=SHAPED):
    truth = exact(P, 0, 1)
    return {name: abs(there(name).matrix(P)[0, 1] / truth[name] - 1.0) for name in names}


@pytest.mark.parametrize(("condition", "bound"), [(1e3, 5e-13), (1e6, 2e-12), (1e9, 3e-10)])
@pytest.mark.parametrize(("d", "q"), [(5, 5), (5, 3), (12, 4)])
def test_ill_conditioned_pairs_in_40_digits(d, q, condition, bound):
    """As near as the compiled loops come: their bounds."""
    for seed in range(2):
        errors = relative_errors(ill_conditioned(np.random.default_rng(seed), d, q, condition))
        assert max(errors.values()) < bound, errors
        assert errors["jeffreys"] < 2e-14


@pytest.mark.parametrize("difference", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize(("d", "q"), [(5, 5), (5, 3), (12, 4)])
def test_nearly_equal_pairs_in_40_digits(d, q, difference):
    for shift in (0.0, difference):
        P = nearly_equal(np.random.default_rng(0), d, q, difference, 1e2, shift)
        errors = relative_errors(P)
        assert errors.pop("jeffreys") < max(4 * EPS / difference, 2e-11 if q < d else 0.0)
        assert max(errors.values()) < 4 * EPS / difference, errors


@pytest.mark.parametrize("shape", [(7, 4, 1), (7, 6, 3), (2, 3, 5, 5)])
def test_directions_beside_others(shape):
    *batch, k, q = shape
    columns = np.linalg.qr(np.random.default_rng(0).normal(size=(*batch, k, k)))[0][..., :q]
    whole = np.concatenate([columns, by_reflections(columns, k - q)], axis=-1)
    found = np.swapaxes(whole, -2, -1) @ whole
    assert_allclose(found, np.broadcast_to(np.eye(k), found.shape), atol=1e-14)


# ----------------------------------------------------------------------------- all that is asked


@every_divergence
@every_size
@given(seed=seeds)
@examples(5)
def test_all_ways_to_ask_say_what_the_cpu_says(name, d, q, seed):
    rng = np.random.default_rng(seed)
    P, Q = random_gaussians(rng, 20, d, q), random_gaussians(rng, 11, d, q)
    first, second = rng.integers(0, 20, 60), rng.integers(0, 11, 60)
    among = rng.permuted(np.tile(np.arange(11), (20, 1)), axis=1)[:, :6]

    def ask(comparison):
        return (
            comparison.matrix(P),
            comparison.matrix(P, Q),
            comparison.pairs(P, Q, first, second),
            comparison.pairs(P, None, first, second),
            *comparison.nearest(P, None, 5),
            *comparison.nearest(P, Q, 4),
            *comparison.nearest(P, Q, 4, among),
            *comparison.nearest_of_groups(P, Q, np.array([0, 4, 9])),
        )

    expected = ask(here(name))
    for side, matrices in ((2048, 16_384), (6, 7)):  # at once, and in small pieces
        with (
            patch.object(places, "_DEVICE_TILE", side),
            patch.object(small_matrices, "_MOST_MATRICES", matrices),
        ):
            for found, known in zip(ask(there(name)), expected, strict=True):
                assert_allclose(found, known, rtol=1e-9, atol=1e-12)


@every_divergence
@pytest.mark.parametrize(("d", "ranks"), [(4, (4, 2)), (7, (2, 3)), (7, (4, 1)), (12, (2, 4))])
def test_gaussians_of_different_ranks(name, d, ranks):
    rng = np.random.default_rng(0)
    P, Q = (random_gaussians(rng, 5, d, q) for q in ranks)
    expected, every = here(name).matrix(P, Q), np.arange(5)
    assert_allclose(there(name).matrix(P, Q), expected, rtol=1e-9)
    found = there(name).pairs(P, Q, every, every[::-1])
    assert_allclose(found, expected[every, every[::-1]], rtol=1e-9)


@every_divergence
def test_twins_are_exactly_0_and_symmetric(name):
    P = random_gaussians(np.random.default_rng(0), 8, 5, 2, spread=4.0)
    D = there(name).matrix(P[np.arange(8) // 2])
    assert_array_equal(D, D.T)
    assert_array_equal(D[np.arange(8) // 2 == np.arange(8)[:, None] // 2], 0.0)
    assert (D >= 0).all()
    first, second = np.array([0, 3, 2]), np.array([1, 3, 3])
    twins = P[np.arange(8) // 2]
    assert_array_equal(there(name).pairs(twins, None, first, second), 0.0)
    # Two sets that have Gaussians in common.
    assert_array_equal(np.diag(there(name).matrix(P, P[:])), 0.0)


@pytest.mark.parametrize("name", SHAPED)
@pytest.mark.parametrize("kind", KINDS)
def test_twins_whose_frames_are_completed_in_different_tiles(name, kind, monkeypatch):
    """A device may round otherwise in a batch of another size, which made twins of none."""
    rng = np.random.default_rng(0)

    def rounded(columns, n_more):
        more = by_reflections(columns, n_more)
        return more * (1.0 + 1e-15 * rng.normal())

    def turned(matrices):
        values, vectors = small_matrices.eigenvectors(matrices)
        return values * (1.0 + 1e-15 * rng.normal()), vectors

    monkeypatch.setattr(gaussians, "complement", rounded)
    monkeypatch.setattr(gaussians, "eigenvectors", turned)
    monkeypatch.setattr(places, "_DEVICE_TILE", 7)
    twice = np.repeat(rng.normal(size=(15, 8)), 2, axis=0)
    model = DivergenceNeighbors(5, divergence=name, covariance=kind, engine="cuda").fit(twice)
    for D in (
        model.transform(twice),
        DivergenceNeighbors(**model.get_params()).fit_transform(twice),
    ):
        assert_array_equal(D[np.arange(30) // 2 == np.arange(30)[:, None] // 2], 0.0)


def test_the_smallest_of_equal_ones_come_by_position():
    block = np.random.default_rng(0).integers(0, 4, size=(6, 40)).astype(float)
    for found, known in zip(
        smallest(torch.tensor(block), 5, 7), smallest(block, 5, 7), strict=True
    ):
        assert_array_equal(found, known)
        assert isinstance(found, np.ndarray)


# ------------------------------------------------------------------------------------ estimators


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"n_neighbors": 2, "divergence": "bhattacharyya"},
        {"radius": 1.2, "divergence": "hellinger"},
        {"n_graph_neighbors": 5, "divergence": "riemann"},
        {"n_graph_neighbors": 5, "n_candidates": 20, "divergence": "jeffreys-riemann"},
    ],
    ids=str,
)
def test_an_estimator_says_what_it_says_on_the_cpu(kind, options):
    answers = []
    for engine in ("cuda", "auto"):
        model = DivergenceNeighbors(covariance=kind, engine=engine, **options)
        answers.append((model.fit_transform(ROWS), model.transform(NEW)))
    for found, known in zip(*answers, strict=True):
        assert type(found) is type(known)
        dense = (
            each if isinstance(each, np.ndarray) else each.toarray() for each in (found, known)
        )
        assert_allclose(*dense, rtol=1e-8, atol=1e-10)


def test_few_rows_many_features_and_copies():
    """n ≤ d, rows that are the same, and columns that are 0."""
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(size=(9, 30)), np.zeros((9, 3))], axis=1)
    rows = np.concatenate([rows, rows[:4], rows[:4]])
    for name in DIVERGENCES:
        found, known = (
            DivergenceNeighbors(4, divergence=name, engine=engine).fit_transform(rows)
            for engine in ("cuda", "auto")
        )
        assert_allclose(found, known, rtol=1e-9, atol=1e-12)
        assert_array_equal(found[:4, 9:13][np.eye(4, dtype=bool)], 0.0)


def test_gaussians_that_are_made_when_they_are_asked_for(monkeypatch):
    monkeypatch.setattr(local, "_STORED_NUMBERS", 0)
    monkeypatch.setattr(comparing, "_PIECE_PAIRS", 200)
    graphs = [
        DivergenceNeighbors(n_graph_neighbors=5, n_candidates=12, engine=engine).fit_transform(X)
        for engine in ("cuda", "auto")
    ]
    assert_array_equal(graphs[0].indices, graphs[1].indices)
    assert_allclose(graphs[0].data, graphs[1].data, rtol=1e-9, atol=1e-12)


def test_functions_and_coordinates():
    pairs = np.array([[0, 7], [7, 0], [3, 3], [101, 142]])  # the last are twins
    for name in DIVERGENCES:
        known = {"divergence": name, "gamma": 1e-4}
        assert_allclose(pairwise(X, engine="cuda", **known), pairwise(X, **known), rtol=1e-8)
        found = paired(X, pairs, engine="cuda", **known)
        assert_allclose(found, paired(X, pairs, **known), rtol=1e-8)
        assert_array_equal(found[2:], 0.0)
    Z, expected = (
        DivergenceEmbedding(engine=engine, n_graph_neighbors=60).fit_transform(X)
        for engine in ("cuda", "auto")
    )
    assert_allclose(np.abs(Z), np.abs(expected), rtol=1e-6, atol=1e-8)


def test_points_in_single_precision_are_compared_in_double():
    """As on the CPU: only what comes out is rounded."""
    single = X.astype(np.float32)
    found, known = (
        DivergenceNeighbors(engine=engine).fit_transform(single) for engine in ("cuda", "auto")
    )
    assert found.dtype == np.float32
    assert_allclose(found, known, rtol=2e-7)


# ------------------------------------------------------------------------- where, and what if not


def place_of(n_pairs, name="jeffreys", engine="auto"):
    return places.choose_place(engine, DIVERGENCES[name], n_pairs)


def test_a_gpu_is_taken_where_it_has_the_data_or_pays(monkeypatch):
    many = places.GPU_PAIRS
    monkeypatch.setattr(places, "has_gpu", lambda: True)
    assert place_of(many) == places.Device("cuda")
    assert place_of(many, "euclidean") is places.HOST  # plain distances take no time
    assert place_of(many - 1) is places.HOST
    assert place_of(many, engine="low-rank") is places.HOST
    with data_on("cuda"):
        assert place_of(1) == place_of(1, "euclidean") == places.Device("cuda")
    monkeypatch.setattr(places, "has_gpu", lambda: False)
    assert place_of(many) is places.HOST


def test_a_divergence_without_an_equation_stays_on_the_cpu(monkeypatch):
    own = Divergence("own", lambda P, Q, upper: np.ones((len(P), len(Q))))
    monkeypatch.setitem(DIVERGENCES, "own", own)
    with data_on("cuda"):
        assert place_of(1, "own") is places.HOST
    with pytest.raises(ValueError, match=r"engine=\"cuda\" has no equation for divergence='own'"):
        DivergenceNeighbors(divergence="own", engine="cuda").fit_transform(X)


def test_without_a_device(monkeypatch):
    model = DivergenceNeighbors(engine="cuda")
    fitted = DivergenceNeighbors(engine="cuda").fit(X)
    monkeypatch.setattr("vicinal.neighborhood.gpu.is_usable", lambda: False)
    monkeypatch.setattr("vicinal.divergence.engines.is_usable", lambda: False)
    for ask in (model.fit, DivergenceEmbedding(engine="cuda").fit):
        with pytest.raises(ValueError, match='engine="cuda" found no CUDA device: use engine="au'):
            ask(X)
    with pytest.raises(ValueError, match='engine="cuda" found no CUDA device'):
        paired(X, [[0, 1]], engine="cuda")
    with pytest.warns(UserWarning, match=r"fitted with engine='cuda'.*on the CPU"):
        found = fitted.transform(NEW)
    assert_allclose(found, DivergenceNeighbors().fit(X).transform(NEW), rtol=1e-12)


def test_a_device_without_room_says_so(monkeypatch):
    def fails(batch):
        raise torch.OutOfMemoryError("no room")

    broken = Divergence("broken", lambda P, Q, upper: None, equation=fails)
    monkeypatch.setitem(DIVERGENCES, "broken", broken)
    model = DivergenceNeighbors(divergence="broken", engine="cuda")
    with pytest.raises(DeviceLostError, match=r"pieces of about 0.3 GB.*has no room for one: free"):
        model.fit_transform(X)


def test_an_interrupt_ends_the_work(monkeypatch):
    batches, jeffreys = [], DIVERGENCES["jeffreys"].equation

    def press(batch):
        batches.append(len(batch.P))
        if len(batches) == 3:
            signal.raise_signal(signal.SIGINT)
        return jeffreys(batch)

    monkeypatch.setattr(places, "_DEVICE_TILE", 10)
    slow = Divergence("slow", lambda P, Q, upper: None, equation=press)
    monkeypatch.setitem(DIVERGENCES, "slow", slow)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            DivergenceNeighbors(divergence="slow", engine="cuda").fit_transform(X)
    finally:
        signal.signal(signal.SIGINT, before)
    assert batches == [10, 10, 10]


def test_batches_have_room():
    """No more numbers at a time than are meant to be, unless one pair has more."""
    for name, divergence in DIVERGENCES.items():
        for rank, d in ((1, 1), (10, 50), (10, 784), (50, 50), (3000, 3000)):
            side = places.Device("cpu").side(divergence, rank, d)
            held = side**2 * divergence.batch_numbers(rank, d)
            assert held <= places._LEAST_NUMBERS or side == 1, name
            assert 1 <= side <= places._DEVICE_TILE


def test_tensors_in_tensors_out(monkeypatch):
    T = torch.tensor(X)
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with sklearn.config_context(array_api_dispatch=True):
        means, covariances = local_gaussians(T)
        found = paired(T, torch.tensor([[0, 1], [0, 50]]))
        dense = pairwise(T)
    for tensor in (means, covariances, found, dense):
        assert isinstance(tensor, torch.Tensor)
    assert_allclose(covariances.numpy(), local_gaussians(X)[1], rtol=1e-12)
    assert_allclose(found.numpy(), paired(X, [[0, 1], [0, 50]]), rtol=1e-12)
    assert_allclose(dense.numpy(), pairwise(X), rtol=1e-12)


def test_no_compiler_is_loaded():
    code = (
        "import numpy as np, sys; from vicinal import DivergenceNeighbors\n"
        "X = np.random.default_rng(0).normal(size=(60, 4))\n"
        "DivergenceNeighbors(engine='cuda').fit_transform(X)\n"
        "model = DivergenceNeighbors(engine='cuda', n_graph_neighbors=3, n_candidates=9)\n"
        "model.fit_transform(X)\n"
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
