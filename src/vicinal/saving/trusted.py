"""What a model file may contain: two explicit lists, nothing by prefix."""

import io
import json
from collections.abc import Iterator
from typing import Any
from zipfile import ZipFile

__all__ = ["LOADERS", "TRUSTED", "untrusted"]

# Classes that keep what a fitted model knows. Loading makes an empty object and sets its
# attributes, and none of their constructors does more than that. Beyond these, skops itself trusts
# numbers, strings, containers, arrays, random states and scikit-learn's estimators.
TRUSTED = (
    "vicinal.coincidence.classifier.CoincidenceClassifier",
    "vicinal.coincidence.estimator.LatentCoincidence",
    "vicinal.divergence.embedding.DivergenceEmbedding",
    "vicinal.divergence.gaussians.LocalGaussians",
    "vicinal.divergence.isomap.PathMap",
    "vicinal.divergence.laplacian.LaplacianMap",
    "vicinal.divergence.mds.ScalingMap",
    "vicinal.divergence.neighbors.DivergenceNeighbors",
    "vicinal.fitting.stochastic.Adam",
    "vicinal.inputs.reservoir.Reservoir",
    "vicinal.local_components.density.ParzenDensity",
    "vicinal.local_components.equations.Form",
    "vicinal.local_components.equations.Points",
    "vicinal.local_components.equations.Shape",
    "vicinal.local_components.estimator.LocalComponents",
    "vicinal.local_components.learning.Penalty",
    "vicinal.local_components.per_point.PerPointDensity",
    "vicinal.local_components.stream.Stream",
    "vicinal.nca.background.ClassGaussians",
    "vicinal.nca.estimator.NeighborhoodComponents",
    "vicinal.nca.learning.Coordinates",
    "vicinal.nca.prediction.Classifier",
    "vicinal.nca.stream.Stream",
)

# How skops may build an object. Not among them: bound methods, partial functions and operators,
# which call what the file names, and whose checks were lacking in skops before 0.12.
LOADERS = (
    "DictNode",
    "DTypeNode",
    "FunctionNode",
    "JsonNode",
    "ListNode",
    "MaskedArrayNode",
    "NdArrayNode",
    "ObjectNode",
    "RandomGeneratorNode",
    "RandomStateNode",
    "SetNode",
    "SliceNode",
    "SparseMatrixNode",
    "TupleNode",
    "TypeNode",
)


def untrusted(archive: bytes) -> list[str]:
    """Types in an archive that neither skops nor vicinal knows to be harmless."""
    from skops.io import get_untrusted_types

    with ZipFile(io.BytesIO(archive)) as source:
        schema = json.loads(source.read("schema.json"))
    odd = {
        f"{node.get('__module__')}.{node.get('__class__')}"
        for node in _nodes(schema)
        if node["__loader__"] not in LOADERS or _is_odd_generator(node)
    }
    return sorted(odd or set(get_untrusted_types(data=archive)) - set(TRUSTED))


def _is_odd_generator(node: dict[str, Any]) -> bool:
    """Whether a random generator is not NumPy's usual one.

    Some versions of skops call whatever of numpy.random the file names.
    """
    if node["__loader__"] != "RandomGeneratorNode":
        return False
    try:
        return node["content"]["bit_generator"]["content"]["bit_generator"]["content"] != '"PCG64"'
    except (KeyError, TypeError):
        return True


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Everything in the schema that stands for an object."""
    left = [schema]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            if isinstance(part.get("__loader__"), str):
                yield part
            left.extend(part.values())
        elif isinstance(part, list):
            left.extend(part)
