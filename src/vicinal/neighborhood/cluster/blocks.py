"""Rows in blocks that depend on their number alone, so that results do not depend on the cluster.

Neither chunks of the user nor the number of workers enter.
"""

__all__ = ["LEAST_ROWS", "MOST_BLOCKS", "MOST_ROWS", "block_size", "slices_of"]

# Rows of a block: as many blocks as workers of a usual cluster share evenly, unless that makes
# blocks so small that to ask for them takes longer than to work on them, or too large to hold.
MOST_BLOCKS, LEAST_ROWS, MOST_ROWS = 64, 1000, 250_000


def block_size(n: int) -> int:
    """Rows of a block of n rows."""
    return min(max(LEAST_ROWS, -(-n // MOST_BLOCKS)), MOST_ROWS)


def slices_of(n: int, size: int | None = None) -> list[slice]:
    """Where the blocks of n rows are."""
    step = size or block_size(n)
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]
