"""The contract every engine keeps, and how one is chosen."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from vicinal.compiling import is_disabled
from vicinal.neighborhood.abilities import PRECISIONS, Abilities, Workload, is_compiled
from vicinal.neighborhood.arrays import Array
from vicinal.neighborhood.cluster.presence import check_cluster, has_cluster, is_worker
from vicinal.neighborhood.gpu import MOST_DIMS, cuda_engine, has_gpu, is_usable
from vicinal.neighborhood.laws import Law
from vicinal.neighborhood.pairs import Pairs
from vicinal.neighborhood.sums import ColumnSums, RowSums

__all__ = [
    "ENGINES",
    "Engine",
    "Workload",
    "choose_engine",
    "engine_of_a_fit",
    "has_place",
    "placed",
    "repeated",
    "spreads_rows",
]


class Engine(Protocol):
    """Two passes over pairs of points.

    A coefficient matrix C is never stored. It is given by the row sums of each
    part: C_ij = coefficients[p, i] · u_j (-k'(s_ij)) / Σ_l u_l (-k'(s_il)), the
    sum over the keys l of the part p that key j belongs to.

    Sums come in arrays of the library of the points, on their device.

    An engine may keep what it built for a `Pairs` and use it again when the very same object
    comes back: whoever changes points makes a new one.

    An engine that computes on a device of its own has one more method, ``place(array)``: the array
    there, and what is there already as it is (`placed`). It takes arrays that are there and those
    of NumPy; what it returns is where its arguments were. It may have another one,
    ``repeated(function, n_pairs)`` (`repeated`).
    """

    name: str

    @property
    def can(self) -> Abilities:
        """What it takes and promises; it refuses everything else."""
        ...

    def rows(self, pairs: Pairs, law: Law, *, moments: bool = True) -> RowSums:
        """Sums over the keys, for every query.

        Parameters
        ----------
        pairs : Pairs
        law : Law
        moments : bool, default=True
            Without them `RowSums.moment` has width 0.
        """
        ...

    def columns(
        self,
        pairs: Pairs,
        law: Law,
        log_slope: Array,
        coefficients: Array,
        *,
        moments: bool = True,
    ) -> ColumnSums:
        """Sums over the queries of C_ij, for every key.

        Parameters
        ----------
        pairs : Pairs
        law : Law
        log_slope : array of shape (p, n)
            From the finished rows pass over *all* keys of these queries.
        coefficients : array of shape (p, n)
            Row sums of C in each part; ignored where the part is empty.
        moments : bool, default=True
            Without them `ColumnSums.moment` has width 0.
        """
        ...


def placed(engine: Engine, array: Array) -> Array:
    """The array where the engine computes: what is looked at many times is sent there once.

    Parameters
    ----------
    engine : Engine
    array : array
        NumPy's, or one that is there already.

    Returns
    -------
    array
        The one that was given, where the engine computes with NumPy's.
    """
    return engine.place(array) if has_place(engine) else array  # type: ignore[attr-defined]


def spreads_rows(engine: Engine, n: int) -> bool:
    """Whether an engine would have so many rows live on the workers of a cluster."""
    return hasattr(engine, "spreads_rows") and engine.spreads_rows(n)


def repeated(engine: Engine, function: Callable[..., Any], n_pairs: int) -> Callable[..., Any]:
    """The function, or what does the same with less effort for each of many calls.

    Parameters
    ----------
    engine : Engine
    function : callable
        From arrays where the engine computes to a tuple of such arrays. All else that it looks at
        is there, too, and stays as it is; it asks for no number but through the engine.
    n_pairs : int
        That it looks at in a call.
    """
    return engine.repeated(function, n_pairs) if hasattr(engine, "repeated") else function


def has_place(engine: Engine) -> bool:
    """Whether an engine computes elsewhere than with NumPy's arrays."""
    return hasattr(engine, "place")


@dataclass(frozen=True)
class _Rule:
    engine: str
    applies: Callable[[Workload, float], bool]  # of the work and the tolerance
    reason: str


# Loading the compiler takes about as long as NumPy needs for this many pairs.
SMALL_WORK = 50_000_000

# Measured crossover (benchmarks/results/primitive.md): fused is clearly faster up to 24
# dimensions, and as fast from there to 40, in either precision.
FUSED_MAX_DIMS = 32

# Where trees may pay (benchmarks/results/engines.md): in few dimensions, beside so much work that
# planting them, a probe, and once per machine their compilation do not count, and with enough
# queries for every tree of keys.
TREE_MAX_DIMS = 8
TREE_PAIRS = 200_000_000
TREE_WORK = 1_000_000_000
TREE_QUERIES = 2048
# Who allows an error asks for an engine that makes one, though it takes 18 s to compile once per
# machine where "fused" takes 4 (0.4 s each from the cache): benchmarks/results/kde.md, n = 10,000.
TOLERANT_MAX_DIMS = 3
TOLERANT_PAIRS = 100_000_000
_PROBED = "trees where a probe of some queries finds that few pairs matter, else one compiled sweep"

# Where a GPU pays, its kernels once compiled: one core of a CPU takes seconds for so many pairs.
GPU_WORK = 2_000_000_000

_RULES = (
    _Rule(
        "dask",
        lambda work, tolerance: work.device == "dask",
        "X is an array of Dask, and a client is open",
    ),
    _Rule(
        "cuda",
        lambda work, tolerance: work.device == "cuda",
        "the data are on a GPU",
    ),
    _Rule(
        "cuda",
        lambda work, tolerance: (
            work.wants_other_precision
            and work.n_dims <= MOST_DIMS
            and is_compiled(work.law)
            and has_gpu()
        ),
        "a GPU, and a precision that engines for CPUs would not compute in",
    ),
    _Rule(
        "cuda",
        lambda work, tolerance: (
            work.pair_visits >= GPU_WORK
            and work.n_dims <= MOST_DIMS
            and is_compiled(work.law)
            and has_gpu()
        ),
        f"a GPU, and at least {GPU_WORK:.0e} pair visits: fused kernels there, in single "
        "precision unless precision says otherwise",
    ),
    _Rule(
        "blocked",
        lambda work, tolerance: is_disabled(),
        "NUMBA_DISABLE_JIT is set: in NumPy, without a compiler",
    ),
    _Rule(
        "blocked",
        lambda work, tolerance: not is_compiled(work.law),
        "a law without compiled kernels: in NumPy",
    ),
    _Rule(
        "blocked",
        lambda work, tolerance: work.pair_visits <= SMALL_WORK,
        f"at most {SMALL_WORK:.0e} pair visits: done in NumPy before a compiler would start",
    ),
    _Rule(
        "adaptive",
        lambda work, tolerance: (
            work.n_dims <= TREE_MAX_DIMS
            and min(work.n_queries, work.n_keys) >= TREE_QUERIES
            and work.pairs >= TREE_PAIRS
            and work.pair_visits >= TREE_WORK
        ),
        f"at most {TREE_MAX_DIMS} dimensions and many pairs: {_PROBED}",
    ),
    _Rule(
        "adaptive",
        lambda work, tolerance: (
            tolerance > 0
            and work.n_dims <= TOLERANT_MAX_DIMS
            and min(work.n_queries, work.n_keys) >= TREE_QUERIES
            and work.pairs >= TOLERANT_PAIRS
        ),
        f"a tolerance, and at most {TOLERANT_MAX_DIMS} dimensions: {_PROBED}",
    ),
    _Rule(
        "fused",
        lambda work, tolerance: work.n_dims <= FUSED_MAX_DIMS,
        f"at most {FUSED_MAX_DIMS} dimensions: one compiled sweep beats matrix products",
    ),
    _Rule(
        "blocked",
        lambda work, tolerance: True,
        f"more than {FUSED_MAX_DIMS} dimensions: matrix products are faster",
    ),
)


def _blocked(work: Workload, tolerance: float, n_jobs: int | None) -> Engine:
    from vicinal.neighborhood.blocked import BlockedEngine

    compiled = work.pair_visits > SMALL_WORK and is_compiled(work.law) and not is_disabled()
    return BlockedEngine(n_jobs, compiled=compiled)


def _fused(work: Workload, tolerance: float, n_jobs: int | None) -> Engine:
    from vicinal.neighborhood.fused import FusedEngine

    return FusedEngine(n_jobs)


def _tree(work: Workload, tolerance: float, n_jobs: int | None) -> Engine:
    from vicinal.neighborhood.tree import TreeEngine

    return TreeEngine(n_jobs, tolerance=tolerance)


def _radius(work: Workload, tolerance: float, n_jobs: int | None) -> Engine:
    from vicinal.neighborhood.radius import RadiusEngine

    return RadiusEngine(n_jobs)


def _adaptive(work: Workload, tolerance: float, n_jobs: int | None) -> Engine:
    from vicinal.neighborhood.adaptive import AdaptiveEngine

    return AdaptiveEngine(n_jobs, tolerance=tolerance)


def _cuda(work: Workload, tolerance: float, n_jobs: int | None) -> Engine:
    precision = work.precision
    if precision == "auto":  # that of tensors; NumPy's are double for no reason, as a rule
        precision = work.given or ("float32" if work.device == "cpu" else "input")
    return cuda_engine(precision)


def _dask(work: Workload, tolerance: float, n_jobs: int | None) -> Engine:
    if is_worker():  # which computes what it is asked for itself
        known = {"tolerance": tolerance, "n_jobs": n_jobs, "precision": work.precision}
        return choose_engine("auto", replace(work, device="cpu"), **known)[0]  # type: ignore[arg-type]
    check_cluster()
    from vicinal.neighborhood.cluster.engine import DaskEngine

    return DaskEngine(work, tolerance, n_jobs)


ENGINES: dict[str, Callable[[Workload, float, int | None], Engine]] = {
    "blocked": _blocked,
    "fused": _fused,
    "tree": _tree,
    "radius": _radius,
    "adaptive": _adaptive,
    "cuda": _cuda,
    "dask": _dask,
}


def choose_engine(
    name: str,
    work: Workload,
    *,
    tolerance: float = 0.0,
    n_jobs: int | None = None,
    precision: str = "auto",
) -> tuple[Engine, str]:
    """Build the engine of that name, or the one `work` calls for.

    Parameters
    ----------
    name : {"auto", "blocked", "fused", "tree", "radius", "adaptive", "cuda", "dask"}
    work : Workload
    tolerance : float, default=0.0
        Largest relative error of a sum; exact engines make none.
    n_jobs : int, optional
    precision : {"auto", "float64", "float32", "tf32"}, default="auto"
        Engines for CPUs compute in that of the points, and take no other: for another one "auto"
        takes a GPU, where there is one.

    Returns
    -------
    engine : Engine
    reason : str
        Why this one.
    """
    if not 0.0 <= tolerance < 1.0:
        raise ValueError(f"tolerance={tolerance!r} must be at least 0 and less than 1.")
    if precision not in PRECISIONS:
        known = ", ".join(repr(each) for each in PRECISIONS)
        raise ValueError(f"precision={precision!r} is unknown: use one of {known}.")
    work = replace(work, precision=precision)
    if name == "auto":
        rule = next(rule for rule in _RULES if rule.applies(work, tolerance))
        name, reason = rule.engine, rule.reason
    elif name in ENGINES:
        reason = "asked for by name"
    else:
        known = " or ".join(repr(each) for each in ENGINES)
        raise ValueError(f"engine={name!r} is unknown: use 'auto', {known}.")
    engine = ENGINES[name](work, tolerance, n_jobs)
    engine.can.check(name, work)
    return engine, reason


def engine_of_a_fit(asked: Mapping[str, Any], work: Workload, n_jobs: int | None) -> Engine:
    """What a model was fitted with, for new points: a GPU, or a cluster, only where there is one.

    Parameters
    ----------
    asked : mapping
        Parameters of the fit: engine, tolerance and, from models of today on, precision.
    work : Workload
    n_jobs : int, optional
    """
    name, precision = asked["engine"], asked.get("precision", "auto")
    if name == "cuda" and not is_usable():
        warnings.warn(
            "The model was fitted with engine='cuda', and there is no CUDA device here: its "
            "predictions are computed on the CPU.",
            stacklevel=4,
        )
        name, precision = "auto", "auto"
    if (
        name == "auto"
        and replace(work, precision=precision).wants_other_precision
        and not has_gpu()
    ):
        warnings.warn(
            f"The model was fitted with precision={precision!r}, and there is no CUDA device here: "
            f"its predictions are computed on the CPU, in {work.dtype}.",
            stacklevel=4,
        )
        precision = "auto"
    if name == "dask" and not (is_worker() or has_cluster()):
        warnings.warn(
            "The model was fitted with engine='dask', and no client is open: its predictions are "
            "computed on this machine. Open a dask.distributed.Client first, if there is one.",
            stacklevel=4,
        )
        name = "auto"
    return choose_engine(
        name, work, tolerance=asked["tolerance"], n_jobs=n_jobs, precision=precision
    )[0]
