"""Units that were measured, a line of JSON each: what is there is not measured again."""

import datetime
import json
import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
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
    Several runs may add to one file: each keeps what the others have found meanwhile.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines, broken = _read(path)
        self._forgotten: set[str] = set()
        if broken:
            self._write_all()
            warnings.warn(
                f"'{path}' had {broken} unreadable line(s): their units are measured again",
                stacklevel=2,
            )

    def add(self, unit: Unit, found: dict[str, Any], seconds: float) -> None:
        """Keep and write."""
        line = Line(unit, found, round(seconds, 2), datetime.date.today().isoformat())
        self._lines[_key(unit)] = line
        self._forgotten.discard(_key(unit))
        self._write_all()

    def missing(self, units: Iterable[Unit]) -> list[Unit]:
        """Of the units, those that are still to be measured."""
        return [unit for unit in units if _key(unit) not in self._lines]

    def forget(self, units: Iterable[Unit]) -> None:
        """Measure these again; they go from the file with the next line that is written."""
        self._forgotten |= {_key(unit) for unit in units}
        for key in self._forgotten:
            self._lines.pop(key, None)

    def of(self, units: Iterable[Unit]) -> list[Line]:
        """Of the units, those that were measured."""
        return [self._lines[key] for unit in units if (key := _key(unit)) in self._lines]

    def _write_all(self) -> None:
        """Whole, or as it was: an interrupt leaves no half line."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with _alone_in(self.path.parent):
            for key, line in _read(self.path)[0].items():
                if key not in self._forgotten:
                    self._lines.setdefault(key, line)
            with whole_file(self.path) as stream:
                for line in self._lines.values():
                    stream.write(json.dumps(line._asdict()).encode() + b"\n")


def _read(path: Path) -> tuple[dict[str, Line], int]:
    """Lines of a file, and how many could not be read."""
    lines, broken = {}, 0
    for text in path.read_text("utf-8").splitlines() if path.exists() else ():
        try:
            line = Line(**json.loads(text))
            lines[_key(line.unit)] = line
        except (ValueError, TypeError):
            broken += 1
    return lines, broken


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Other runs that write in a folder wait for each other, where the system has such locks."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a disk without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def measured(lines: Iterable[Line]) -> list[Measured]:
    """Without dates and times."""
    return [Measured(line.unit, line.found) for line in lines]


def _key(unit: Unit) -> str:
    return json.dumps(unit, sort_keys=True)
