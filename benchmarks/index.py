"""Search indexes with a learned map in front, beside the same indexes over raw vectors.

    python -m benchmarks.index [--save]

Needs the extra `index`. Ten neighbors of test rows among training rows, on one thread.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from benchmarks.common.command import arguments
from benchmarks.common.pages import Page
from benchmarks.common.splits import Split, stratified_split
from benchmarks.common.timing import best_clocks, clocks_of
from vicinal import NeighborhoodComponents, datasets
from vicinal.indexes import FAISS_INDEXES, bare_index

# Dimensions of the map; rows that it is learned from, that are searched, and that ask.
SETS = {"letter": (8, 5000, 18_000, 2000), "mnist": (16, 5000, 20_000, 1000)}
MAX_ITER = 50
N_NEIGHBORS = 10
COLUMNS = ("set", "vectors", "index", "build, s", "µs a query", "recall", "same class")
LEGEND = (
    "Seconds of the processor: to add all rows once, for ivf to lay out its lists, too; and of a "
    "query among all of them, in the best of several runs. Recall: share of the ten found that are "
    "no farther than the tenth nearest by all distances in double precision, in the same space (to "
    "1e-5). Same class: share of the ten found that have the label of their query."
)


class Space(NamedTuple):
    """Where neighbors are looked for: rows and queries as they are, or as the map places them."""

    name: str
    keys: np.ndarray
    queries: np.ndarray
    model: NeighborhoodComponents | None = None


def main():
    options = arguments(__doc__).parse_args()
    page = Page("Search indexes", ["faiss-cpu", "usearch"])
    page.say(f"NeighborhoodComponents, {MAX_ITER} updates; {N_NEIGHBORS} neighbors; one thread.\n")
    row = page.table(COLUMNS)
    with threadpool_limits(1):
        for name in SETS:
            part = load(name)
            for space in spaces(name, part):
                for index, build, ask in indexes(space, part):
                    row(name, space.name, index, *measured(build, ask, space, part))
    page.say(f"\n{LEGEND}")
    if options.save:
        page.save("index")


def load(name: str) -> Split:
    _, _, n_keys, n_queries = SETS[name]
    bunch = datasets.load(name, download=False)
    X = np.ascontiguousarray(bunch.data, dtype=np.float32)
    X /= X.max()
    return stratified_split(X, bunch.target, 0, train_size=n_keys, test_size=n_queries)


def spaces(name: str, part: Split) -> Iterator[Space]:
    """The raw one, and that of a map learned from as many rows as are quick to learn from."""
    d, n, _, _ = SETS[name]
    rows, queries = (points.astype(np.float64) for points in part[:2])
    yield Space(f"raw, {rows.shape[1]}", rows, queries)
    model = NeighborhoodComponents(d, max_iter=MAX_ITER, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(rows[:n], part.y[:n])
    yield Space(f"learned, {d}", model.transform(rows), model.transform(queries), model)


def indexes(
    space: Space, part: Split
) -> Iterator[tuple[str, Callable[[], Any], Callable[[Any], np.ndarray]]]:
    """Name of every index, how it is built, and how it is asked; vectors are raw ones for all."""
    import faiss
    from usearch.index import Index

    faiss.omp_set_num_threads(1)
    X, width = part.X, part.X.shape[1]

    def build_faiss(kind: str) -> faiss.Index:
        if space.model is not None:
            index = space.model.to_faiss(kind, X)
        else:
            index = bare_index(width, kind, X, 32, None)
            index.train(X)
        index.add(X)
        return index

    def build_usearch() -> Any:
        raw = Index(ndim=width, metric="l2sq", dtype="f32")
        index = raw if space.model is None else space.model.to_usearch(X)
        index.add(np.arange(len(X)), X, threads=1)
        return index

    for kind in FAISS_INDEXES:
        yield (
            f"faiss {kind}",
            lambda kind=kind: build_faiss(kind),
            lambda index: index.search(part.X_test, N_NEIGHBORS)[1],
        )
    yield (
        "usearch",
        build_usearch,
        lambda index: index.search(part.X_test, N_NEIGHBORS, threads=1).keys.astype(int),
    )


def measured(
    build: Callable[[], Any], ask: Callable[[Any], np.ndarray], space: Space, part: Split
) -> Iterator[str]:
    """Seconds to build, microseconds of a query, recall and share of the same class."""
    built: list[Any] = []
    yield f"{clocks_of(lambda: built.append(build())).cpu:.2f}"
    yield f"{1e6 * best_clocks(lambda: ask(built[0])).cpu / len(part.X_test):.0f}"
    found = ask(built[0])
    apart = np.linalg.norm(space.keys[found] - space.queries[:, None], axis=2)
    yield f"{(apart <= (1 + 1e-5) * farthest(space)[:, None]).mean():.3f}"
    yield f"{(part.y[found] == part.y_test[:, None]).mean():.3f}"


def farthest(space: Space) -> np.ndarray:
    """Distance of the last of the nearest, of every query."""
    index = NearestNeighbors(n_neighbors=N_NEIGHBORS, algorithm="brute").fit(space.keys)
    return index.kneighbors(space.queries)[0][:, -1]


if __name__ == "__main__":
    main()
