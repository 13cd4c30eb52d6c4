"""What a fit takes in memory beside X, reckoned before it begins (docs/decisions/0026)."""

from vicinal.local_components.mixture.fit import MOST_ROWS
from vicinal.local_components.refining import MOST_KEYS
from vicinal.local_components.selection import MOST_POINTS
from vicinal.local_components.settings import LocalSettings
from vicinal.local_components.stream import MOST_TO_CHOOSE_FROM
from vicinal.rows.memory import Need

__all__ = ["needs_of_clustering", "needs_of_fit", "needs_of_stream"]

# Copies in double precision: of rows that EM looks at, of all others, which are centers of kernels,
# of rows of a mixture, of a stream, and of the matrix of a kernel where every row has its own.
_LOOKED_AT, _CENTERS, _MIXED, _STREAMED, _OWN = 10, 4, 24, 12, 60

# Copies of rows that climb, and of all that get a cluster.
_CLIMBING, _LABELED = 100, 24

# Matrices of all pairs of columns, for each part of a mixture, too; tiles of engines, and the rest.
_MATRICES, _PARTS, _REST = 16, 25, 60e6

_NO_KERNEL_AT_EVERY_ROW = (
    "learn with partial_fit, which keeps reservoir_size rows, or set n_mixture to 2 or more, "
    f"or 'auto', which keeps a sample of {MOST_ROWS}"
)


def needs_of_fit(settings: LocalSettings, n: int, D: int) -> list[Need]:
    """Of `fit` to n rows of D columns."""
    if settings.n_mixture != 1:
        sample = min(n, MOST_ROWS) * (8 * _MIXED * D + 400)
        instead = "learn with n_mixture=1 and partial_fit, which keeps reservoir_size rows"
        return [Need("a sample of the rows", sample, instead), *_needs_of_columns(D, _PARTS)]
    kernels = 8.0 * D * (_CENTERS * n + _LOOKED_AT * min(n, MOST_KEYS))
    needs = [Need("a kernel at every row", kernels, _NO_KERNEL_AT_EVERY_ROW)]
    if isinstance(settings.covariance, str) and settings.covariance in ("local", "auto"):
        instead = "set covariance='full'"
        needs.append(Need("a covariance for every row", 8.0 * _OWN * n * D * D, instead))
    return [*needs, *_needs_of_columns(D)]


def needs_of_stream(settings: LocalSettings, n: int, D: int) -> list[Need]:
    """Of `partial_fit` with n more rows of D columns."""
    kept = settings.reservoir_size + min(n, settings.batch_size or 100) + MOST_POINTS
    numbers = (_STREAMED * kept + 3 * min(n, MOST_TO_CHOOSE_FROM)) * D
    instead = "lower reservoir_size or batch_size"
    return [
        Need("the order of the rows", 8.0 * 2 * n, "call partial_fit with fewer rows at a time"),
        Need("the rows it keeps, and a batch", 8.0 * numbers, instead),
        *_needs_of_columns(D),
    ]


def needs_of_clustering(
    density: LocalSettings, max_samples: int | None, n: int, D: int
) -> list[Need]:
    """Of `ModeClustering.fit` to n rows of D columns, of which a sample climbs a density."""
    climbing = n if max_samples is None else min(n, max_samples)
    instead = "fit fewer rows, and let predict tell the clusters of the others"
    return [
        *needs_of_fit(density, climbing, D),
        Need("rows that climb", 8.0 * _CLIMBING * climbing * (D + 20), "lower max_samples"),
        Need("clusters of all rows", 8.0 * n * (_LABELED * D + 20), instead),
    ]


def _needs_of_columns(D: int, n_parts: int = 1) -> list[Need]:
    """Whatever the number of rows."""
    matrices = 8.0 * (_MATRICES + 4 * n_parts) * D * D
    return [
        Need(f"matrices of {D} columns", matrices, "choose fewer columns"),
        Need("blocks of rows", _REST, ""),
    ]
