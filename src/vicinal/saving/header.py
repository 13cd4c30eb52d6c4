"""What a model file says about itself."""

import json
import platform
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from sklearn.base import BaseEstimator

import vicinal
from vicinal.pipelines import steps_of
from vicinal.saving.text import parsed, printable

__all__ = ["FORMAT", "MOST_BYTES", "ModelFileError", "ModelHeader", "step_names"]

# To be raised by one when this version could not read a file of the next one rightly.
FORMAT = 1

_PACKAGES = ("numpy", "scipy", "scikit-learn", "skops")


# Names of a million columns.
MOST_BYTES, _MOST_VALUES = 2**24, 1_000_000


class ModelFileError(ValueError):
    """A file is not a model, or not one that may be loaded.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import vicinal
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "notes.txt")
    ...     _ = path.write_text("no model")
    ...     vicinal.load(path)
    Traceback (most recent call last):
    ...
    vicinal.saving.header.ModelFileError: ...
    """


@dataclass(frozen=True)
class ModelHeader:
    """What a model file says about itself.

    Attributes
    ----------
    format : int
        Number of the format.
    vicinal : str
        Version that wrote the file.
    versions : dict of str to str
        Those of Python and of the packages below it.
    model : str
        Name of the model's class; of a pipeline, that of its last step.
    steps : list of str
        Class names of all steps; that of the model alone where it is no pipeline.
    created : str
        Date and time (UTC), as ISO 8601 has them.
    metadata : dict
        What was given to `save`.
    checksum : str
        SHA-256 of everything else in the file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> import vicinal
    >>> model = vicinal.LocalComponents().fit(load_iris().data)
    >>> with TemporaryDirectory() as folder:
    ...     vicinal.save(model, Path(folder, "iris.skops"), metadata={"unit": "cm"})
    ...     header = vicinal.saving.describe(Path(folder, "iris.skops"))
    >>> header.model, header.steps, header.metadata
    ('LocalComponents', ['LocalComponents'], {'unit': 'cm'})
    """

    format: int
    vicinal: str = "?"  # in another format all might be missing but the first
    versions: dict[str, str] = field(default_factory=dict)
    model: str = ""
    steps: list[str] = field(default_factory=list)
    created: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    checksum: str = ""

    @classmethod
    def of(cls, model: BaseEstimator, metadata: dict[str, Any]) -> "ModelHeader":
        """The header of a model that is about to be saved, here and now."""
        versions = {name: version(name) for name in _PACKAGES}
        steps = step_names(model)
        return cls(
            FORMAT,
            vicinal.__version__,
            {"python": platform.python_version(), **versions},
            steps[-1],
            steps,
            datetime.now(UTC).isoformat(timespec="seconds"),
            metadata,
        )

    @classmethod
    def from_json(cls, text: bytes) -> "ModelHeader":
        """What `to_json` wrote, now or in another version; else a ValueError."""
        entries = parsed(text, _MOST_VALUES)
        number = entries.get("format") if isinstance(entries, dict) else None
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            raise ValueError("the number of the format is missing")
        if number > FORMAT:  # what else stands there may mean anything
            return cls(number, printable(entries.get("vicinal", "?"), 40))
        known = {entry.name for entry in fields(cls)}
        return cls(**{name: value for name, value in entries.items() if name in known})._checked()

    def _checked(self) -> "ModelHeader":
        """The header itself, if all entries are of the types that readers count on."""
        containers = ((self.steps, list), (self.versions, dict), (self.metadata, dict))
        if not all(isinstance(value, kind) for value, kind in containers):
            raise ValueError("steps, versions or metadata are of another type than in a header")
        texts = (self.vicinal, self.model, self.created, self.checksum)
        if not _are_texts([*texts, *self.steps, *self.versions, *self.versions.values()]):
            raise ValueError("it has other entries than a header has")
        return self

    def to_json(self) -> bytes:
        """The header as it stands in the file."""
        entries = json.dumps(asdict(self), indent=2, sort_keys=True, allow_nan=False).encode()
        if len(entries) > MOST_BYTES:
            raise ValueError(
                f"{len(entries)} bytes are too many for a header, at most {MOST_BYTES}"
            )
        return entries

    def with_checksum(self, checksum: str) -> "ModelHeader":
        """A copy with the checksum of the contents that it stands before."""
        return replace(self, checksum=checksum)


def step_names(model: BaseEstimator) -> list[str]:
    """Classes of the steps of a pipeline that do not pass all through; else that of the model."""
    return [type(step).__name__ for step in steps_of(model)]


def _are_texts(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values)
