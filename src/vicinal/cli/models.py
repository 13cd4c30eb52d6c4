"""Models by their names on the command line, and models in files."""

import hashlib
from dataclasses import dataclass, replace
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vicinal.cli.columns import Columns
from vicinal.cli.metadata import check_metadata
from vicinal.cli.rows import Rows
from vicinal.cli.running import command_line

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vicinal.saving import ModelHeader

__all__ = ["Family", "SavedModel", "estimator_of", "fingerprint", "metadata_of"]


class Family(str, Enum):  # noqa: UP042  (typer shows the values of these)
    """What can be fitted."""

    nca = "nca"
    local = "local"
    coincidence = "coincidence"

    @property
    def estimator(self) -> type:
        """Its class."""
        home, name = _HOMES[self]
        found: type = getattr(import_module(home), name)
        return found

    @property
    def needs_classes(self) -> bool:
        """Whether it learns from labeled rows."""
        return self is not Family.local

    @property
    def starts_from_distances(self) -> bool:
        """Whether features should have comparable scales.

        The density learns its own scales, and stays in the units of the data without others.
        """
        return self is not Family.local


_HOMES = {
    Family.nca: ("vicinal.nca", "NeighborhoodComponents"),
    Family.local: ("vicinal.local_components", "LocalComponents"),
    Family.coincidence: ("vicinal.coincidence", "LatentCoincidence"),
}


def estimator_of(model: Any) -> Any:
    """The model itself, or the last step of a pipeline."""
    return model.steps[-1][1] if hasattr(model, "steps") else model


def fingerprint(X: "NDArray | Any") -> str:
    """A digest of numbers, to know rows again."""
    import numpy as np

    array = np.ascontiguousarray(np.asarray(X), dtype=np.float64)
    return hashlib.sha256(f"{array.shape}".encode() + array.tobytes()).hexdigest()


def metadata_of(rows: Rows, data: Path) -> dict[str, Any]:
    """What is saved with a model that was fitted to these rows."""
    return {
        **rows.columns.as_metadata(),
        "rows": len(rows),
        "data": data.name,
        "command": command_line(),
        "fingerprint": fingerprint(rows.X),
    }


@dataclass(frozen=True)
class SavedModel:
    """A model file.

    Attributes
    ----------
    path : Path
    model : estimator or pipeline
    header : ModelHeader
        What the file says about itself.
    """

    path: Path
    model: Any
    header: "ModelHeader"

    @classmethod
    def at(cls, path: Path) -> "SavedModel":
        """Read a file."""
        import vicinal
        from vicinal.saving import describe

        header = describe(path)
        model = vicinal.load(path)
        check_metadata(header.metadata, path)
        return cls(path, model, header)

    @property
    def estimator(self) -> Any:
        """The model without what stands before it in a pipeline."""
        return estimator_of(self.model)

    def columns(self, target: str | None = None) -> Columns:
        """The columns it needs, with another target if there is one."""
        if not hasattr(self.model, "n_features_in_"):
            raise ValueError(f"'{self.path}' holds a {self.header.model} that was never fitted")
        found = Columns.remembered(self.model, self.header.metadata)
        n_features = self.model.n_features_in_
        if len(found.features) != n_features:
            raise ValueError(
                f"'{self.path}' cannot be used: its header names {len(found.features)} features, "
                f"and its model takes {n_features}; save the model again"
            )
        return found if target is None else replace(found, target=target)

    def check_coordinates(self) -> None:
        """Raise an error where the model does not place rows."""
        if not hasattr(self.model, "transform"):
            raise ValueError(
                f"'{self.path}' is a {self.header.model} that has no coordinates for new rows"
            )

    def was_fitted_to(self, rows: Rows) -> bool:
        """Whether these are the very rows it was fitted to."""
        return self.header.metadata.get("fingerprint") == fingerprint(rows.X)
