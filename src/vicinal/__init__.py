"""vicinal learns what "near" means for a data set.

Metric learning, density estimation, clustering and divergences as scikit-learn estimators.
Everything public is imported on first use, so that ``import vicinal`` loads nothing but the
standard library.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vicinal import (
        coincidence,
        datasets,
        divergence,
        local_components,
        metrics,
        nca,
        report,
        rows,
        saving,
    )
    from vicinal.coincidence import CoincidenceClassifier, LatentCoincidence
    from vicinal.divergence import DivergenceEmbedding, DivergenceNeighbors
    from vicinal.local_components import LocalComponents, ModeClustering
    from vicinal.nca import NeighborhoodComponents
    from vicinal.rows import open_rows
    from vicinal.sampling import sample_pairs
    from vicinal.saving import export_onnx, load, save

__version__ = "0.2.0"

__all__ = [
    "CoincidenceClassifier",
    "DivergenceEmbedding",
    "DivergenceNeighbors",
    "LatentCoincidence",
    "LocalComponents",
    "ModeClustering",
    "NeighborhoodComponents",
    "__version__",
    "coincidence",
    "datasets",
    "divergence",
    "export_onnx",
    "load",
    "local_components",
    "metrics",
    "nca",
    "open_rows",
    "report",
    "rows",
    "sample_pairs",
    "save",
    "saving",
]

_HOMES = {
    "CoincidenceClassifier": "vicinal.coincidence",
    "DivergenceEmbedding": "vicinal.divergence",
    "DivergenceNeighbors": "vicinal.divergence",
    "LatentCoincidence": "vicinal.coincidence",
    "LocalComponents": "vicinal.local_components",
    "ModeClustering": "vicinal.local_components",
    "NeighborhoodComponents": "vicinal.nca",
    "coincidence": "vicinal.coincidence",
    "datasets": "vicinal.datasets",
    "divergence": "vicinal.divergence",
    "export_onnx": "vicinal.saving",
    "load": "vicinal.saving",
    "local_components": "vicinal.local_components",
    "metrics": "vicinal.metrics",
    "nca": "vicinal.nca",
    "open_rows": "vicinal.rows",
    "report": "vicinal.report",
    "rows": "vicinal.rows",
    "sample_pairs": "vicinal.sampling",
    "save": "vicinal.saving",
    "saving": "vicinal.saving",
    "torch": "vicinal.torch",  # not in __all__: it needs an extra
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'vicinal' has no attribute {name!r}")
    home = import_module(_HOMES[name])
    return home if _HOMES[name] == f"vicinal.{name}" else getattr(home, name)


def __dir__() -> list[str]:
    return sorted(__all__)
