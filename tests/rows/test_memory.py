"""A limit is kept, or refused before any work."""

import tracemalloc
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from vicinal import (
    CoincidenceClassifier,
    DivergenceEmbedding,
    DivergenceNeighbors,
    LatentCoincidence,
    LocalComponents,
    ModeClustering,
    NeighborhoodComponents,
)
from vicinal.rows import blocks, methods, open_rows, settling
from vicinal.rows.memory import Need, bytes_of, check_memory


@pytest.mark.parametrize(
    ("written", "meant"),
    [(None, None), (5e8, 5e8), ("2GB", 2e9), ("1.5 gb", 1.5e9), ("64MiB", 64 * 2**20), ("7", 7)],
)
def test_sizes(written, meant):
    assert bytes_of(written) == meant


@pytest.mark.parametrize("wrong", ["much", "GB", "-2GB", -1, 0, float("nan"), True, [2]])
def test_what_is_no_size(wrong, labeled):
    with pytest.raises((TypeError, ValueError), match="memory_limit="):
        NeighborhoodComponents(memory_limit=wrong).fit(*labeled)
    with pytest.raises((TypeError, ValueError), match="memory_limit="):
        LocalComponents(memory_limit=wrong).partial_fit(labeled[0])


def test_a_size_is_told_as_it_was_written():
    with pytest.raises(ValueError, match="memory_limit='0GB' must be positive"):
        bytes_of("0GB")


def test_the_largest_part_is_named():
    needs = [Need("this", 1e6, "do that"), Need("more", 3e9, "do less of it")]
    with pytest.raises(ValueError, match=r"3 GB, of which 3 GB are for more: do less of it, or"):
        check_memory("A", "1GB", needs)
    with pytest.raises(ValueError, match="A, which needs about 2 GB for any rows: raise the limit"):
        check_memory("A", "1GB", [*needs, Need("ever", 2e9, "")])
    check_memory("A", "4GB", needs)
    check_memory("A", None, needs)


FEW = {"regularization": 0.1, "early_stopping": False, "batch_size": 100}


@pytest.fixture
def large(tmp_path):
    """Rows in a file that is larger than what models may take."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 100)).astype(np.float32)
    y = rng.integers(0, 3, len(X))
    X[:, 0] += y
    np.save(tmp_path / "rows.npy", X)
    return np.load(tmp_path / "rows.npy", mmap_mode="r"), y


def peak_of(work):
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("model", "method"),
    [
        (NeighborhoodComponents(2, max_iter=5, random_state=0), "fit"),
        (NeighborhoodComponents(2, batch_size=5000, reservoir_size=2000), "partial_fit"),
        (LocalComponents(reservoir_size=1000, batch_size=5000), "partial_fit"),
        (LocalComponents(n_mixture=2, max_iter=2, regularization=1.0), "fit"),
    ],
)
def test_the_least_limit_is_kept(large, model, method):
    X, y = large
    X, y = (X[:, :20], y) if isinstance(model, LocalComponents) else (X, y)
    needed = sum(need.n_bytes for need in model._memory_needs(method, X.shape, X.dtype))
    model = clone(model).set_params(memory_limit=needed)
    assert peak_of(lambda: getattr(model, method)(X, y)) < needed
    with pytest.raises(ValueError, match="is too little"):
        getattr(model.set_params(memory_limit=0.99 * needed), method)(X, y)


QUICK = LocalComponents(covariance="diag", regularization=0.1, max_iter=2)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("model", "method", "n"),
    [
        (LatentCoincidence(max_iter=2, random_state=0), "fit", 5000),
        (CoincidenceClassifier(max_iter=2, random_state=0), "fit", 20_000),
        (ModeClustering(QUICK, max_samples=500, random_state=0), "fit", 20_000),
        (DivergenceNeighbors(), "fit", 2000),
        (DivergenceNeighbors(), "fit_transform", 2000),
        (DivergenceNeighbors(n_graph_neighbors=15), "fit_transform", 2000),
        (DivergenceEmbedding(random_state=0), "fit", 1500),
        (DivergenceEmbedding(method="laplacian", random_state=0), "fit_transform", 1500),
    ],
)
def test_other_models_keep_the_least_limit(large, model, method, n):
    X, y = large[0][:n, :8], large[1][:n]
    needed = sum(need.n_bytes for need in model._memory_needs(method, X.shape, X.dtype))
    model = clone(model).set_params(memory_limit=needed)
    assert peak_of(lambda: getattr(model, method)(X, y)) < needed
    with pytest.raises(ValueError, match="is too little"):
        getattr(model.set_params(memory_limit=0.99 * needed), method)(X, y)


def test_other_models_are_refused_with_what_to_change(large, monkeypatch):
    X, y = large
    monkeypatch.setattr(methods, "settled", None)  # nothing is done before
    for model, method, remedy in (
        (LatentCoincidence(), "fit", "pass fewer rows, or choose fewer columns"),
        (CoincidenceClassifier(), "fit", "pass fewer rows, or choose fewer columns"),
        (ModeClustering(), "fit", "fit fewer rows, and let predict tell"),
        (ModeClustering(max_samples=None), "fit", "lower max_samples"),
        (DivergenceNeighbors(), "fit", "a Gaussian for every row: pass fewer rows"),
        (DivergenceNeighbors(n_graph_neighbors=None), "fit_transform", "set n_graph_neighbors"),
        (DivergenceEmbedding(), "fit", "set method='laplacian'"),
    ):
        told = rf"too little for {type(model).__name__}\.{method}.*{remedy}"
        with pytest.raises(ValueError, match=told):
            getattr(model.set_params(memory_limit="200MB"), method)(X, y)


def test_pairs_have_a_limit_too(labeled):
    X, y = labeled
    pairs = np.random.default_rng(0).integers(0, len(X), (300, 2))
    alike = y[pairs[:, 0]] == y[pairs[:, 1]]
    many = np.tile(pairs, (1000, 1))
    with pytest.raises(ValueError, match=r"fit_pairs.*for the pairs: pass fewer pairs"):
        LatentCoincidence(memory_limit="100MB").fit_pairs(many, np.tile(alike, 1000), X)
    limited = LatentCoincidence(max_iter=3, random_state=0, memory_limit="100MB")
    free = LatentCoincidence(max_iter=3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, expected = (m.fit_pairs(pairs, alike, X).components_ for m in (limited, free))
    np.testing.assert_array_equal(found, expected)


def test_answers_take_no_more_than_a_block(large, monkeypatch):
    X, y = large
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 1_600_000)
    model = NeighborhoodComponents(2, regularization=0.1, random_state=0).fit(X[:3000], y[:3000])
    density = LocalComponents(covariance=1.0).fit(X[:500])
    assert peak_of(lambda: model.transform(X)) < X.nbytes / 4
    assert peak_of(lambda: density.score_samples(X)) < X.nbytes


def test_fits_that_look_at_all_rows_are_refused(large, monkeypatch):
    X, y = large
    monkeypatch.setattr(methods, "settled", None)  # nothing is done before
    for model, remedy in (
        (NeighborhoodComponents(2, batching="full", memory_limit="120MB"), "batching='random'"),
        (NeighborhoodComponents(2, batching="stochastic", memory_limit="120MB"), "batching='ran"),
        (
            NeighborhoodComponents(90, memory_limit="120MB", **FEW),
            "lower n_components, or learn",
        ),
        (
            LocalComponents(memory_limit="200MB"),
            "partial_fit, which keeps reservoir_size rows, or set n_mixture to 2 or more",
        ),
        (LocalComponents(memory_limit="200MB", batch_size=100), "partial_fit, which keeps"),
        (LocalComponents(memory_limit="200MB", covariance="local"), "covariance='full'"),
        (LocalComponents(memory_limit="200MB", n_mixture=2), "n_mixture=1 and partial_fit"),
    ):
        with pytest.raises(ValueError, match=f"is too little for .*{remedy}"):
            model.fit(X, y)
    with pytest.raises(ValueError, match=r"too little for LocalComponents\.partial_fit.*reservoir"):
        LocalComponents(memory_limit="100MB").partial_fit(X)


def test_rows_that_must_be_converted_count(large):
    X, y = large
    whole = np.array(X, dtype=np.int64).repeat(3, axis=1)
    with pytest.raises(ValueError, match="are for rows as numbers: pass X as a memory map"):
        NeighborhoodComponents(2, memory_limit="120MB", **FEW).fit(whole, y)


def test_the_limit_changes_no_bit(labeled):
    pa = pytest.importorskip("pyarrow", reason="the extra files is not installed")
    X, y = labeled
    table = pa.table(dict(zip("abcd", X.T, strict=True)))
    models = [
        NeighborhoodComponents(2, regularization=0.1, memory_limit=limit).fit(table, y)
        for limit in (None, "200MB", 1e12)
    ]
    assert len({model.components_.tobytes() for model in models}) == 1


def test_a_scratch_file_leaves_nothing_behind(monkeypatch, tmp_path, labeled):
    pa = pytest.importorskip("pyarrow", reason="the extra files is not installed")
    monkeypatch.setattr(settling, "HELD_BYTES", 0)
    monkeypatch.setenv(settling.SCRATCH, str(tmp_path))
    X, y = labeled
    NeighborhoodComponents(2).fit(pa.table(dict(zip("abcd", X.T, strict=True))), y)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("row_group_size", [20_000, 800_000], ids=["small groups", "one group"])
def test_a_parquet_file_is_not_held_as_a_whole(tmp_path, row_group_size):
    """Neither what was read of it, nor a group of rows: some pages of every column."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    X = np.random.default_rng(0).normal(size=(800_000, 10))
    table = pa.table({f"x{i}": X[:, i] for i in range(10)})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=row_group_size)
    del table
    rows = open_rows(tmp_path / "rows.parquet")
    before, most, start = pa.total_allocated_bytes(), 0, 0
    for chunk in rows.chunks():
        most = max(most, pa.total_allocated_bytes() - before)
        np.testing.assert_array_equal(chunk, X[start : start + len(chunk)])
        start += len(chunk)
    assert start == len(X)
    assert most < X.nbytes


def test_columns_of_parquet_are_those_that_were_asked_for(tmp_path):
    """In their order, also where Parquet's names of nested columns would mean more of them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    (tmp_path / "part=3").mkdir()
    columns = {"x": [1.0, 2.0], "x.y": [3.0, 4.0], "z": [5.0, 6.0]}
    pq.write_table(pa.table(columns), tmp_path / "part=3" / "rows.parquet")
    for chosen in (["z", "x"], ["x.y", "x"], ["x", "part"]):
        (chunk,) = open_rows(tmp_path, columns=chosen).chunks()
        known = {**columns, "part": [3.0, 3.0]}
        np.testing.assert_array_equal(chunk, np.transpose([known[name] for name in chosen]))
