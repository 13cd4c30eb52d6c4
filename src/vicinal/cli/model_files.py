"""Model files, with what they remember of the table that a model was fitted to."""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vicinal.cli.metadata import check_metadata
from vicinal.cli.running import command_line
from vicinal.cli.tables.columns import Columns
from vicinal.cli.tables.rows import Rows

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator

    from vicinal.saving import ModelHeader

__all__ = ["SavedModel", "fingerprint", "metadata_of"]


def fingerprint(X: "NDArray | pl.DataFrame") -> str:
    """A digest of numbers, to know rows again."""
    import numpy as np

    array = np.ascontiguousarray(np.asarray(X), dtype=np.float64)
    return hashlib.sha256(f"{array.shape}".encode() + array.tobytes()).hexdigest()


def metadata_of(rows: Rows, data: Path) -> dict[str, Any]:
    """What is saved with a model that was fitted to these rows."""
    known = {
        **rows.columns.as_metadata(),
        "rows": len(rows),
        "data": data.name,
        "command": command_line(),
    }
    if hasattr(rows.X, "chunks"):  # to be read in parts: too much to read again for that
        return known
    return {**known, "fingerprint": fingerprint(rows.X)}


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
    model: "BaseEstimator"
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
    def estimator(self) -> "BaseEstimator":
        """The model without what stands before it in a pipeline."""
        from vicinal.pipelines import last_step

        return last_step(self.model)

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
        known = self.header.metadata.get("fingerprint")
        return known is not None and known == fingerprint(rows.X)
