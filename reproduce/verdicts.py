"""What is said of a number and of a claim, by rule.

A printed number and ours
    *agree within noise* where |ours - paper| ≤ 2 √(e² + e'² + r²), with both standard errors and
    half a unit r of the last digit that was printed. Where they do not, the
    *ordering holds* if the number has its place in every claim that names it and can be told;
    else it *differs*.

A claim is a chain such as "gauss < full < 100": names of numbers, or numbers. It holds where every
pair of it does, neighbors or not: a < b if our mean of a is the smaller one, and not by rounding
only (equal ones differ), a = b if both are within two standard errors of their difference. Of what
was not measured nothing can be said.

Of fewer than five runs our standard error is taken for 0, so that nothing agrees because we
measured little; whether two such means are equal is not told.
"""

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from benchmarks.common.means import Mean
from reproduce.experiment import table_of

N_ERRORS = 2

# An error that fewer runs tell is itself uncertain, by a third and more.
LEAST_RUNS = 5

# An error of so small a share of the mean is rounding, and so is a difference of two means.
_ROUNDING = 1e-9


class Verdict(StrEnum):
    """What is said, the best first."""

    AGREES = "agrees within noise"
    ORDERING = "ordering holds"
    DIFFERS = "differs"
    UNTOLD = "too few runs"
    MISSING = "not run"


@dataclass(frozen=True)
class Printed:
    """A number of a paper: "19.09 ± 0.39", or without an error."""

    value: float
    error: float
    rounding: float

    @classmethod
    def of(cls, text: str) -> "Printed":
        """As it is printed."""
        value, _, error = (part.strip() for part in text.partition("±"))
        decimals = len(value.partition(".")[2])
        return cls(float(value), float(error or 0), 0.5 * 10.0**-decimals)


@dataclass(frozen=True)
class Judged:
    """A number or a claim of a paper, what we found, and the verdict."""

    name: str
    paper: str
    ours: str
    verdict: Verdict


def printed_values(folder: Path, item: str) -> dict[str, float]:
    """Numbers of an item that the paper in a folder prints, for what stands beside ours."""
    numbers = table_of(folder / "expected.toml", item)["numbers"]
    return {name: Printed.of(text).value for name, text in numbers.items()}


def judge(expected: Mapping[str, Any], ours: Mapping[str, Mean]) -> list[Judged]:
    """All numbers of an item, then all of its claims."""
    claims = {claim["order"]: claim["says"] for claim in expected.get("claims", [])}
    numbers = [
        Judged(name, text, shown(ours.get(name)), of_number(name, text, list(claims), ours))
        for name, text in expected.get("numbers", {}).items()
    ]
    return numbers + [
        Judged(order, says, _chain_in_numbers(order, ours), of_claim(order, ours))
        for order, says in claims.items()
    ]


def of_number(name: str, text: str, orders: Sequence[str], ours: Mapping[str, Mean]) -> Verdict:
    """Of a number that a paper prints."""
    if name not in ours:
        return Verdict.MISSING
    printed = Printed.of(text)
    noise = math.hypot(_error(ours[name]) or 0.0, printed.error, printed.rounding)
    if abs(ours[name].value - printed.value) <= N_ERRORS * noise:
        return Verdict.AGREES
    pairs = [pair for order in orders for pair in _pairs(order) if name in (pair[0], pair[2])]
    places = [holds for pair in pairs if (holds := _holds(*pair, ours)) is not None]
    return Verdict.ORDERING if places and all(places) else Verdict.DIFFERS


def of_claim(order: str, ours: Mapping[str, Mean]) -> Verdict:
    """Of a chain of names and numbers."""
    places = [_holds(*pair, ours) for pair in _pairs(order)]
    if None in places:
        is_there = all(_mean(name, ours) for pair in _pairs(order) for name in pair[::2])
        return Verdict.UNTOLD if is_there else Verdict.MISSING
    return Verdict.ORDERING if all(places) else Verdict.DIFFERS


def shown(mean: Mean | None) -> str:
    """With as many digits as its error can bear."""
    if mean is None:
        return "-"
    if mean.error is None:
        return f"{mean.value:.5g}"
    if mean.error <= _ROUNDING * abs(mean.value):
        return f"{mean.value:.5g} ± 0"
    if not math.isfinite(mean.error):
        return f"{mean.value:.5g} ± {mean.error}"
    return mean.words(min(6, max(1, 1 - math.floor(math.log10(mean.error)))))


def _pairs(order: str) -> Iterator[tuple[str, str, str]]:
    """Every two parts of a chain, and what is said of them."""
    parts = re.split(r"\s*([<=])\s*", order.strip())
    names, signs = parts[::2], parts[1::2]
    if not all(names) or not signs:
        raise ValueError(f"order={order!r} is no chain of names with < or = between them")
    for i, j in itertools.combinations(range(len(names)), 2):
        yield names[i], "<" if "<" in signs[i:j] else "=", names[j]


def _holds(left: str, sign: str, right: str, ours: Mapping[str, Mean]) -> bool | None:
    a, b = _mean(left, ours), _mean(right, ours)
    if a is None or b is None:
        return None
    if sign == "<":
        return b.value - a.value > _ROUNDING * max(abs(a.value), abs(b.value))
    errors = [_error(one) for one in (a, b)]
    if errors == [None, None]:
        return None
    return abs(a.value - b.value) <= N_ERRORS * math.hypot(*(error or 0.0 for error in errors))


def _error(mean: Mean) -> float | None:
    """That of a mean of enough runs."""
    return None if mean.n is not None and mean.n < LEAST_RUNS else mean.error


def _mean(name: str, ours: Mapping[str, Mean]) -> Mean | None:
    """Of a name, or a number itself."""
    try:
        return Mean(float(name))
    except ValueError:
        return ours.get(name)


def _chain_in_numbers(order: str, ours: Mapping[str, Mean]) -> str:
    """Our means of what a chain names."""
    return ", ".join(shown(_mean(part.strip(), ours)) for part in re.split("[<=]", order))
