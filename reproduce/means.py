"""Means over seeds, by names that claims and expectations use."""

import json
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

from benchmarks.common.means import Mean
from reproduce.experiment import Experiment, Measured


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
    return means(gathered(experiment, all_measured), experiment.naming(settings))


def gathered(experiment: Experiment, all_measured: Sequence[Measured]) -> Sequence[Measured]:
    """What is found in units that differ only in the settings that an item is gathered over."""
    if experiment.gather is None:
        return all_measured
    groups: dict[str, list[Measured]] = {}
    for one in all_measured:
        key = {name: value for name, value in one.unit.items() if name not in experiment.over}
        groups.setdefault(json.dumps(key), []).append(one)
    return [
        Measured(json.loads(key), found)
        for key, group in groups.items()
        for found in experiment.gather(group)
    ]


def mean_of(all_measured: Iterable[Measured], name: str, **settings: Any) -> Mean:
    """Of one number, over all units with these settings; NaN, which is not drawn, without any."""
    values = [
        found[name]
        for unit, found in all_measured
        if all(unit[setting] == value for setting, value in settings.items())
    ]
    return Mean.of(values) if values else Mean(float("nan"))
