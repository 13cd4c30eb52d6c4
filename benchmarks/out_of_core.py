"""Rows larger than memory: what fits and answers take of it, under a cap that the system keeps.

python -m benchmarks.out_of_core [--gb 20] [--memory 2GB] [--folder DIR] [--save]

Rows are made on the fly into a .npy file, and some of them into Parquet and Zarr. Every step is a
process of its own that may not have more than --memory of private memory (RLIMIT_DATA: a step that
needs more fails). Its peak is RssAnon, looked at twenty times a second: what is allocated, with the
interpreter and all libraries, but without pages of mapped files, which the system keeps while
nobody else needs the room and drops when somebody does.
"""

import resource
import shutil
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks.common.children import call_apart
from benchmarks.common.command import arguments
from benchmarks.common.memory import MemoryWatch
from benchmarks.common.pages import Page
from vicinal.rows.memory import bytes_of

COLUMNS, CLASSES, BLOCK = 500, 10, 20_000

# Of the cap, for the interpreter and the libraries; and of all rows, what is learned from in
# parts, and what is written as Parquet and Zarr.
FOR_LIBRARIES, SHARE_STREAMED, SHARE_CHUNKED = 0.25, 0.05, 0.05


def make_rows(folder, n):
    """Classes that differ along ten of many columns of very different units."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, CLASSES, n).astype(np.int8)
    centers, units = rng.normal(size=(CLASSES, 10)), 10.0 ** rng.uniform(-2, 2, COLUMNS)
    X = np.lib.format.open_memmap(f"{folder}/rows.npy", "w+", np.float32, (n, COLUMNS))
    for start in range(0, n, BLOCK):
        block = rng.standard_normal((min(BLOCK, n - start), COLUMNS), dtype=np.float32)
        block[:, :10] += centers[y[start : start + BLOCK]]
        X[start : start + BLOCK] = block * units
    X.flush()
    np.save(f"{folder}/labels.npy", y)
    return {"bytes": X.nbytes}


def write_chunks(folder, n):
    """The first rows once more, as files of Parquet and chunks of Zarr."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    import zarr

    X = np.load(f"{folder}/rows.npy", mmap_mode="r")[:n]
    Path(folder, "rows").mkdir()
    Z = zarr.create_array(f"{folder}/rows.zarr", shape=X.shape, dtype="f4", chunks=(3000, COLUMNS))
    for start in range(0, n, BLOCK):
        block = np.array(X[start : start + BLOCK])
        table = pa.table({f"x{place}": column for place, column in enumerate(block.T)})
        pq.write_table(table, f"{folder}/rows/part{start:09}.parquet", row_group_size=5000)
        Z[start : start + BLOCK] = block
    return {}


@contextmanager
def measured(cap):
    """Under the cap; then what was the most of private memory, and the seconds it took."""
    resource.setrlimit(resource.RLIMIT_DATA, (int(cap), int(cap)))
    found, began = {}, time.perf_counter()
    with MemoryWatch() as watch:
        yield found
    found["seconds"], found["peak"] = time.perf_counter() - began, watch.peak * 2**20


def loaded(folder, share=1.0):
    X = np.load(f"{folder}/rows.npy", mmap_mode="r")
    n = int(share * len(X))
    return X[:n], np.load(f"{folder}/labels.npy")[:n]


def classifier(cap):
    from vicinal import NeighborhoodComponents

    limit = (1.0 - FOR_LIBRARIES) * cap
    return NeighborhoodComponents(2, max_iter=1000, random_state=0, memory_limit=limit)


def fit_classifier(folder, cap):
    import vicinal

    with measured(cap) as found:
        X, y = loaded(folder)
        model = classifier(cap).fit(X, y)
    vicinal.save(model, f"{folder}/classifier.skops")
    return {**found, "bytes": X.nbytes, "said": f"validation {model.validation_score_:.3f}"}


def transform_all(folder, cap):
    import vicinal

    with measured(cap) as found:
        X, _ = loaded(folder)
        Z = vicinal.load(f"{folder}/classifier.skops").transform(X)
    return {**found, "bytes": X.nbytes, "said": f"{Z.shape[0]} x {Z.shape[1]} coordinates"}


def predict_some(folder, cap):
    import vicinal

    with measured(cap) as found:
        X, y = loaded(folder)
        model = vicinal.load(f"{folder}/classifier.skops")
        some = slice(0, 2000)
        accuracy = float((model.predict(X[some]) == y[some]).mean())
    said = f"{accuracy:.1%} of 2000 rows right, each left in, among {len(y)}"
    return {**found, "bytes": X[some].nbytes, "said": said}


def fit_density(folder, cap):
    import vicinal
    from vicinal import LocalComponents

    with measured(cap) as found:
        X, _ = loaded(folder, SHARE_STREAMED)
        model = LocalComponents(
            covariance="diag",
            regularization=0.01,
            reservoir_size=500,
            batch_size=2000,
            random_state=0,
            memory_limit=(1.0 - FOR_LIBRARIES) * cap,
        ).partial_fit(X)
    vicinal.save(model, f"{folder}/density.skops")
    return {**found, "bytes": X.nbytes, "said": f"{model.n_iter_} updates"}


def score_all(folder, cap):
    import vicinal

    with measured(cap) as found:
        X, _ = loaded(folder)
        scores = vicinal.load(f"{folder}/density.skops").score_samples(X)
    return {**found, "bytes": X.nbytes, "said": f"mean log-density {scores.mean():.1f}"}


def fit_chunks(folder, cap, kind):
    """Fit to chunks; the map must be that of the same rows in a memory map, bit by bit."""
    from vicinal import open_rows

    rows = open_rows(f"{folder}/{kind}")
    y = np.load(f"{folder}/labels.npy")[: len(rows)]
    with measured(cap) as found:
        model = classifier(cap).set_params(max_iter=50, memory_limit=1.5e9).fit(rows, y)
    return {**found, "bytes": rows.n_bytes, "map": model.components_.tolist()}


def fit_same_rows(folder, cap, n):
    X, y = loaded(folder)
    with measured(cap) as found:
        model = classifier(cap).set_params(max_iter=50, memory_limit=1.5e9).fit(X[:n], y[:n])
    return {**found, "bytes": X[:n].nbytes, "map": model.components_.tolist()}


def report(page, folder, n, cap):
    row = page.table(["step", "data, GB", "peak of private memory, GB", "seconds", "result"])

    def tell(name, found):
        size, peak = f"{found['bytes'] / 1e9:.2f}", f"{found['peak'] / 1e9:.2f}"
        row(name, size, peak, f"{found['seconds']:.0f}", found.get("said", ""))

    for name, step in (
        ("`NeighborhoodComponents(2).fit`, 1000 updates", fit_classifier),
        ("`transform`", transform_all),
        ("`predict` of 2000 rows", predict_some),
        ("`LocalComponents.partial_fit`, first rows", fit_density),
        ("`score_samples`", score_all),
    ):
        tell(name, call_apart(step, str(folder), cap))
    n_chunked = int(SHARE_CHUNKED * n)
    call_apart(write_chunks, str(folder), n_chunked)
    same = call_apart(fit_same_rows, str(folder), cap, n_chunked)
    tell("fit to a memory map, 50 updates", same)
    for kind, what in (("rows", "Parquet"), ("rows.zarr", "Zarr")):
        found = call_apart(fit_chunks, str(folder), cap, kind)
        equal = found.pop("map") == same["map"]
        found["said"] = "the same map, bit by bit" if equal else "ANOTHER MAP"
        tell(f"fit to {what}, 50 updates", found)


def main():
    parser = arguments(__doc__)
    parser.add_argument("--gb", type=float, help="of rows; default: 20, or half of the free disk")
    parser.add_argument("--memory", default="2GB", help="of private memory for every step")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--rows", type=Path, help="folder with rows.npy and labels.npy of a run")
    options = parser.parse_args()
    free = shutil.disk_usage(options.folder).free
    size = 1e9 * (options.gb or min(20.0, free / 2e9))
    if options.rows is not None:
        size = np.load(options.rows / "rows.npy", mmap_mode="r").nbytes
    n, cap = int(size / (4 * COLUMNS)), bytes_of(options.memory)
    page = Page("Rows larger than memory, measured", ("pyarrow", "zarr"))
    page.say(
        f"{n} rows of {COLUMNS} columns in single precision, {size / 1e9:.3g} GB on a disk; every "
        f"step may have {options.memory} of private memory (RLIMIT_DATA), and is told "
        f"`memory_limit` = {(1.0 - FOR_LIBRARIES) * cap / 1e9:.2g} GB. Peaks are RssAnon: "
        "without the pages of mapped files, with the interpreter and its libraries.\n"
    )
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="vicinal-rows-") as folder:
        if options.rows is None:
            call_apart(make_rows, folder, n)
        else:
            for name in ("rows.npy", "labels.npy"):
                Path(folder, name).symlink_to(options.rows.resolve() / name)
        report(page, folder, n, cap)
    if options.save:
        page.save("out_of_core")


if __name__ == "__main__":
    main()
