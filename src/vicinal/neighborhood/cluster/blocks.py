"""Rows in blocks that depend on their number alone, so that results do not depend on the cluster.

Neither chunks of the user nor the number of workers enter.
"""

__all__ = ["LEAST_ROWS", "MOST_BLOCKS", "MOST_ROWS", "block_size", "slices_of"]

# Rows of a block: as many blocks as threads of a usual cluster share evenly, unless that makes
# blocks so small that to lay out the other side for each costs as much as to look at it, or too
# large to hold. Measured in docs/decisions/0027.
MOST_BLOCKS, LEAST_ROWS, MOST_ROWS = 32, 2500, 250_000


def block_size(n: int) -> int:
    """Rows of a block of n rows."""
    return min(max(LEAST_ROWS, -(-n // MOST_BLOCKS)), MOST_ROWS)


def slices_of(n: int, size: int | None = None) -> list[slice]:
    """Where the blocks of n rows are."""
    step = size or block_size(n)
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]
