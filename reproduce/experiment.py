"""What a paper and one of its items are, and the units of work of an item."""

import itertools
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# All that settles what is measured: a seed and one value of every setting. JSON can say it.
Unit = dict[str, Any]

# From a unit to what is found in it.
Measure = Callable[[Unit], dict[str, Any]]

MODES = ("full", "quick")


class NothingToDraw(LookupError):  # noqa: N818 it is no error of anybody
    """What a figure shows has not been measured yet."""


class Measured(NamedTuple):
    """A unit and what was found: numbers by name, and lists where there is something to draw."""

    unit: Unit
    found: dict[str, Any]


def drawable(all_measured: Iterable[Measured], name: str) -> list[Measured]:
    """Those in which a list is kept for the figure; an error where there is none yet."""
    kept = [one for one in all_measured if one.found.get(name)]
    if not kept:
        raise NothingToDraw(f"no unit that was measured has {name!r}")
    return kept


@dataclass(frozen=True)
class Experiment:
    """One table or figure of a paper.

    Attributes
    ----------
    name : str
        As in both TOML files of the paper.
    what : str
        One line.
    measure : callable
        From a unit to what is found. Numbers are averaged over seeds.
    draw : callable, optional
        From all that was measured to a figure, or to the error `NothingToDraw`.
    caption : str
        What the figure shows.
    needs : tuple of str
        Data sets of `vicinal.datasets` that must be here.
    over : tuple of str
        Settings that numbers are gathered over, and that are no part of their names: those of a
        grid whose best counts, say.
    gather : callable, optional
        From all units that differ in those settings only to what is found in them together: several
        times the same number where it has a mean. None: units stand for themselves.
    kept_with : str
        Items with the same word here keep their lines in one file, so that a unit that several of
        them want is measured once. "": a file of its own.
    """

    name: str
    what: str
    measure: Measure
    draw: "Callable[[Sequence[Measured]], Figure] | None" = None
    caption: str = ""
    needs: tuple[str, ...] = ()
    _: KW_ONLY
    over: tuple[str, ...] = ()
    gather: Callable[[Sequence[Measured]], Iterable[dict[str, Any]]] | None = None
    kept_with: str = ""

    def naming(self, settings: Mapping[str, Any]) -> list[str]:
        """Names of the settings whose values are in the names of numbers."""
        return [name for name in varied(settings) if name not in self.over]

    @property
    def lines_file(self) -> str:
        """Name of the file of its lines."""
        return f"{self.kept_with or self.name}.jsonl"


@dataclass(frozen=True)
class Paper:
    """A document and its items; `name` is its folder, with a hyphen for an underscore."""

    name: str
    title: str
    experiments: tuple[Experiment, ...]

    @property
    def folder(self) -> Path:
        """Where its settings, expectations and results are."""
        return Path(__file__).parent / self.name.replace("-", "_")

    def settings(self, experiment: Experiment, mode: str) -> dict[str, Any]:
        """Of an item, in one of the `MODES`."""
        return table_of(self.folder / "config.toml", experiment.name)[mode]

    def expected(self, experiment: Experiment) -> dict[str, Any]:
        """What the paper says: {} where it says nothing that can be compared."""
        return table_of(self.folder / "expected.toml", experiment.name)


def units(settings: Mapping[str, Any]) -> list[Unit]:
    """One for each seed and each combination of what is varied, in the order of the settings.

    Every list is varied. `runs` is the number of seeds; these change last, so that a run that is
    stopped has measured everything equally often.
    """
    names = [name for name in settings if name != "runs"]
    choices = [settings[name] if name in varied(settings) else [settings[name]] for name in names]
    return [
        {"seed": seed, **dict(zip(names, values, strict=True))}
        for seed in range(settings["runs"])
        for values in itertools.product(*choices)
    ]


def varied(settings: Mapping[str, Any]) -> list[str]:
    """Names of the settings that have several values."""
    return [name for name, value in settings.items() if isinstance(value, list)]


def table_of(path: Path, name: str) -> dict[str, Any]:
    """Of a TOML file; {} where there is none of this name."""
    with path.open("rb") as file:
        return tomllib.load(file).get(name, {})
