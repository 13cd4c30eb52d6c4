"""The smallest of many numbers that come in pieces: heaps, one for every row."""

from vicinal.compiling.decorators import kernel


@kernel()
def keep_smallest(block, names, own, positions, values):
    """Let a block of further columns compete for the places among the smallest of each row.

    Places that are not taken yet have the value inf. In every row the largest value stands first
    (a heap).

    Parameters
    ----------
    block : ndarray of shape (n, m)
    names : ndarray of int, shape (m,)
        Positions of these columns.
    own : ndarray of int, shape (n,)
        A position that does not count for each row; -1: none.
    positions : ndarray of int, shape (n, k)
    values : ndarray of shape (n, k)
    """
    k = positions.shape[1]
    for i in range(block.shape[0]):
        for j in range(block.shape[1]):
            value = block[i, j]
            if value >= values[i, 0] or names[j] == own[i]:
                continue
            place = 0
            while True:
                child = 2 * place + 1
                if child >= k:
                    break
                if child + 1 < k and values[i, child + 1] > values[i, child]:
                    child += 1
                if values[i, child] <= value:
                    break
                values[i, place], positions[i, place] = values[i, child], positions[i, child]
                place = child
            values[i, place], positions[i, place] = value, names[j]
