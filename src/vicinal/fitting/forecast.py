"""When a fit will likely end, told from how its gains shrink."""

import math
from collections.abc import Sequence

__all__ = ["SEEN", "likely_last"]

# Updates whose gains are looked at: the older half of them, and the newer.
SEEN = 20


def likely_last(done: int, recent: Sequence[float], least_gain: float, max_iter: int) -> int | None:
    """Number of the update that will gain no more than `least_gain`, or None where nobody knows.

    Gains are taken to go on shrinking at the rate of late.

    Parameters
    ----------
    done : int
        Updates so far.
    recent : sequence of float
        The objective after the last updates; one more than `SEEN` of them are enough.
    least_gain : float
    max_iter : int
        There will not be more updates.
    """
    half = SEEN // 2
    if len(recent) <= SEEN:
        return None
    before, middle, now = recent[-1 - SEEN], recent[-1 - half], recent[-1]
    older, newer = (middle - before) / half, (now - middle) / half
    if not 0 < newer < older:
        return None
    if newer <= least_gain:
        return min(done + 1, max_iter)
    if least_gain <= 0:
        return max_iter
    left = half * math.log(newer / least_gain) / math.log(older / newer)
    return min(done + math.ceil(left), max_iter)
