"""``vicinal info``."""

from inspect import signature
from typing import TYPE_CHECKING, Any

from vicinal.cli import options
from vicinal.cli.command import Command
from vicinal.cli.model_files import SavedModel
from vicinal.cli.running import running
from vicinal.cli.screens import show_facts, show_json, size
from vicinal.cli.tables.columns import Columns
from vicinal.cli.wording import counted, some

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

__all__ = ["INFO"]


def info(
    model: options.ModelFile,
    as_json: options.AsJson = False,
    debug: options.Debug = False,
) -> None:
    """Tell what is in a model file.

    It shows the parameters, facts about the fit, columns, versions and the checksum.
    """
    with running(debug):
        saved = SavedModel.at(model)
        if as_json:
            show_json(_facts(saved))
        else:
            show_facts(_words(saved), title=f"{saved.header.model} in {model}")


INFO = Command(
    info,
    examples=(
        "vicinal info iris.skops",
        "vicinal info iris.skops --json | jq .metadata.columns",
    ),
)


def _facts(saved: SavedModel) -> dict[str, Any]:
    """What machines are told."""
    from vicinal.facts import fact_values

    header = saved.header
    return {
        "file": str(saved.path),
        "bytes": saved.path.stat().st_size,
        "format": header.format,
        "vicinal": header.vicinal,
        "versions": header.versions,
        "created": header.created,
        "checksum": header.checksum,
        "class": header.model,
        "steps": header.steps,
        "parameters": saved.estimator.get_params(deep=False),
        "n_features": getattr(saved.model, "n_features_in_", None),
        "classes": getattr(saved.estimator, "classes_", None),
        "fitted": fact_values(saved.estimator),
        "metadata": header.metadata,
    }


def _words(saved: SavedModel) -> dict[str, str]:
    """What people are told."""
    from vicinal.facts import facts_in_words

    header, metadata = saved.header, saved.header.metadata
    versions = ", ".join(f"{name} {version}" for name, version in header.versions.items())
    return {
        "Steps": ", ".join(header.steps),
        "Parameters": _parameters(saved.estimator),
        **_data(saved, metadata),
        **facts_in_words(saved.estimator, leave_out=("Classes",)),
        **({"Command": str(metadata["command"])} if "command" in metadata else {}),
        "File": f"{size(saved.path.stat().st_size)}, format {header.format}",
        "Created": f"{header.created.replace('T', ' ').replace('+00:00', ' UTC')}",
        "Versions": f"vicinal {header.vicinal}, {versions}",
        "SHA-256, verified": header.checksum,
    }


def _data(saved: SavedModel, metadata: dict[str, Any]) -> dict[str, str]:
    """What it was fitted to, as far as that is known."""
    if not hasattr(saved.model, "n_features_in_"):
        return {"Fitted": "no"}
    columns = Columns.remembered(saved.model, metadata)
    words = {"Features": columns.told}
    words |= {f"Categories of {name}": some(v) for name, v in columns.categories.items()}
    classes = getattr(saved.estimator, "classes_", None)
    if classes is not None:
        of = f" ({columns.target})" if columns.target else ""
        words[f"Classes{of}"] = counted(classes.tolist())
    if "rows" in metadata:
        of = f" of {metadata['data']}" if "data" in metadata else ""
        words["Fitted to"] = f"{metadata['rows']} rows{of}"
    return words


def _parameters(estimator: "BaseEstimator") -> str:
    """Parameters that are not the defaults."""
    defaults = signature(type(estimator)).parameters
    given = {
        name: value
        for name, value in estimator.get_params(deep=False).items()
        if repr(value) != repr(defaults[name].default)
    }
    return ", ".join(f"{name}={value!r}" for name, value in given.items()) or "all by default"
