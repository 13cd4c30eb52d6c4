"""Seconds of the best peer by ours, and cells of the summaries."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.kde.contenders import CONTENDERS

EXACT = 1e-10  # the largest error that counts as none
NEARLY = 2.0  # times the wanted error, in a second look at the peers


class Ratio(NamedTuple):
    """The best peer's seconds by ours."""

    where: str
    error: float
    value: float
    peer: str
    lenient: float  # where peers may miss the wanted error by `NEARLY`


def best_peer(cells: dict[tuple[str, float], dict], error: float, slack: float) -> dict | None:
    """The fastest that was asked for at least this, and gave it but for some slack."""
    rows = [row for row in cells.values() if not CONTENDERS[row["contender"]].is_ours]
    peers = [row for row in rows if row["error"] <= error and meets(row, error, slack)]
    return min(peers, key=lambda row: row["seconds"], default=None)


def meets(row: dict, error: float, slack: float = 1.0) -> bool:
    return not row["problem"] and row["max_error"] <= slack * max(error, EXACT)


def estimate_mark(row: dict) -> str:
    return "" if row["evaluated"] == row["queries"] else "~"


def wanted(error: float) -> str:
    return f"{error:.0e}" if error else "exact"


def summary_cells(some: Sequence[Ratio]) -> list[str]:
    least, most = (pick(some, key=lambda ratio: ratio.value) for pick in (min, max))
    faster, lenient = (
        sum(value > 1 for value in values)
        for values in zip(*((one.value, one.lenient) for one in some), strict=True)
    )
    middle = float(np.median([ratio.value for ratio in some]))
    ends = [cell for end in (least, most) for cell in (f"{end.value:.2g} ×", place(end))]
    return [str(len(some)), str(faster), str(lenient), f"{middle:.2g} ×", *ends]


def place(ratio: Ratio) -> str:
    return f"{ratio.where} ({ratio.peer})"


def contender_cells(rows: Sequence[dict]) -> list[str]:
    if not rows:
        return ["0", "", "", "", ""]
    estimated = sum(row["evaluated"] < row["queries"] for row in rows)
    missed = sum(not meets(row, row["error"]) for row in rows)
    worst = max(row["max_error"] / max(row["error"], EXACT) for row in rows)
    long = [row["threads"] for row in rows if row["seconds"] >= 1]
    threads = f"{min(long):.1f} to {max(long):.1f}" if long else "–"
    return [str(len(rows)), str(estimated), str(missed), f"{worst:.2g} ×", threads]
