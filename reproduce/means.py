"""Means over seeds, by names that claims and expectations use."""

from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

from benchmarks.common.means import Mean
from reproduce.experiment import Measured


def means(all_measured: Iterable[Measured], varied: Sequence[str]) -> dict[str, Mean]:
    """Of every number that was found, under names such as "circles/4/lca".

    The first words are the values of the settings that are varied, in their order; the last one is
    what `measure` calls the number.
    """
    found: dict[str, list[float]] = {}
    for unit, numbers in all_measured:
        words = [str(unit[setting]) for setting in varied]
        for name, value in numbers.items():
            if isinstance(value, Real):
                found.setdefault("/".join([*words, name]), []).append(float(value))
    return {name: Mean.of(values) for name, values in found.items()}


def mean_of(all_measured: Iterable[Measured], name: str, **settings: Any) -> Mean:
    """Of one number, over all units with these settings; NaN, which is not drawn, without any."""
    values = [
        found[name]
        for unit, found in all_measured
        if all(unit[setting] == value for setting, value in settings.items())
    ]
    return Mean.of(values) if values else Mean(float("nan"))
