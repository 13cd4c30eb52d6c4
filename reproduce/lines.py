"""Units that were measured, a line of JSON each: what is there is not measured again."""

import datetime
import json
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from reproduce.experiment import Measured, Unit
from vicinal.files import whole_file


class Line(NamedTuple):
    """What is kept of a unit."""

    unit: Unit
    found: dict[str, Any]
    seconds: float
    date: str


class Lines:
    """The file of one item in one mode.

    A line is added when its unit is done and is on the disk then, so that whoever is killed loses
    one unit at most. Lines that cannot be read are told of, left out and written no more: their
    units are measured again. A unit is known by all of its settings, so that others begin anew.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines: dict[str, Line] = {}
        broken = 0
        for text in path.read_text("utf-8").splitlines() if path.exists() else ():
            try:
                self._keep(Line(**json.loads(text)))
            except (ValueError, TypeError):
                broken += 1
        if broken:
            self._write_all()
            warnings.warn(
                f"'{path}' had {broken} unreadable line(s): their units are measured again",
                stacklevel=2,
            )

    def add(self, unit: Unit, found: dict[str, Any], seconds: float) -> None:
        """Keep and write."""
        line = Line(unit, found, round(seconds, 2), datetime.date.today().isoformat())
        self._keep(line)
        self._write_all()

    def missing(self, units: Iterable[Unit]) -> list[Unit]:
        """Of the units, those that are still to be measured."""
        return [unit for unit in units if _key(unit) not in self._lines]

    def forget(self, units: Iterable[Unit]) -> None:
        """Measure these again; they go from the file with the next line that is written."""
        for unit in units:
            self._lines.pop(_key(unit), None)

    def of(self, units: Iterable[Unit]) -> list[Line]:
        """Of the units, those that were measured."""
        return [self._lines[key] for unit in units if (key := _key(unit)) in self._lines]

    def _keep(self, line: Line) -> None:
        self._lines[_key(line.unit)] = line

    def _write_all(self) -> None:
        """Whole, or as it was: an interrupt leaves no half line."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(self.path) as stream:
            for line in self._lines.values():
                stream.write(json.dumps(line._asdict()).encode() + b"\n")


def measured(lines: Iterable[Line]) -> list[Measured]:
    """Without dates and times."""
    return [Measured(line.unit, line.found) for line in lines]


def _key(unit: Unit) -> str:
    return json.dumps(unit, sort_keys=True)
