"""Means over seeds, by names that claims and expectations use."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

from benchmarks.common.means import Mean
from reproduce.experiment import Experiment, Measured, Unit


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


def means_of(
    experiment: Experiment, settings: Mapping[str, Any], all_measured: Sequence[Measured]
) -> dict[str, Mean]:
    """Of all numbers of an item, gathered first where it asks for that."""
    known = whole_grids(experiment, settings, all_measured)
    return means(gathered(experiment, known), experiment.naming(settings))


def gathered(experiment: Experiment, all_measured: Sequence[Measured]) -> Sequence[Measured]:
    """What is found in units that differ only in the settings that an item is gathered over."""
    if experiment.gather is None:
        return all_measured
    return [
        Measured(unit, found)
        for unit, group in _grids(experiment, all_measured)
        for found in experiment.gather(group)
    ]


def whole_grids(
    experiment: Experiment, settings: Mapping[str, Any], all_measured: Sequence[Measured]
) -> list[Measured]:
    """Units of grids of which none is missing: the best of a part is not the best of the grid."""
    n_wanted = math.prod(len(settings[name]) for name in experiment.over)
    groups = [group for _, group in _grids(experiment, all_measured)]
    return [one for group in groups if len(group) == n_wanted for one in group]


def _grids(
    experiment: Experiment, all_measured: Iterable[Measured]
) -> list[tuple[Unit, list[Measured]]]:
    """Units that differ only in the settings that are gathered over, and what they share."""
    groups: dict[str, list[Measured]] = {}
    for one in all_measured:
        key = {name: value for name, value in one.unit.items() if name not in experiment.over}
        groups.setdefault(json.dumps(key), []).append(one)
    return [(json.loads(key), group) for key, group in groups.items()]


def mean_of(all_measured: Iterable[Measured], name: str, **settings: Any) -> Mean:
    """Of one number, over all units with these settings; NaN, which is not drawn, without any."""
    values = [
        found[name]
        for unit, found in all_measured
        if all(unit[setting] == value for setting, value in settings.items())
    ]
    return Mean.of(values) if values else Mean(float("nan"))
