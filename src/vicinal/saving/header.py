"""What a model file says about itself."""

import json
import platform
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import vicinal

__all__ = ["FORMAT", "ModelFileError", "ModelHeader"]

# To be raised by one when this version could not read a file of the next one rightly.
FORMAT = 1

_PACKAGES = ("numpy", "scipy", "scikit-learn", "skops")


class ModelFileError(ValueError):
    """A file that is no model, or none that may be loaded."""


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
    def of(cls, model: Any, metadata: dict[str, Any]) -> "ModelHeader":
        """Of a model that is about to be saved, here and now."""
        versions = {name: version(name) for name in _PACKAGES}
        steps = [type(step).__name__ for step in _steps(model)]
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
        entries = json.loads(text)
        if not isinstance(entries, dict) or not isinstance(entries.get("format"), int):
            raise ValueError("the number of the format is missing")
        known = {entry.name for entry in fields(cls)}
        return cls(**{name: value for name, value in entries.items() if name in known})

    def to_json(self) -> bytes:
        """As it stands in the file."""
        return json.dumps(asdict(self), indent=2, sort_keys=True, allow_nan=False).encode()

    def with_checksum(self, checksum: str) -> "ModelHeader":
        """The same for other contents."""
        return replace(self, checksum=checksum)


def _steps(model: Any) -> list[Any]:
    """Of a pipeline, without what passes all through; else the model itself."""
    steps = [step for _, step in getattr(model, "steps", ())]
    return [step for step in steps if step is not None and not isinstance(step, str)] or [model]
