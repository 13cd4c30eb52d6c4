"""What a model file may contain: two explicit lists, nothing by prefix."""

from collections.abc import Iterator
from typing import Any

__all__ = ["LOADERS", "TRUSTED", "nodes_of", "untrusted"]

# Classes that keep what a fitted model knows. Loading makes an empty object and sets its
# attributes, and none of their constructors does more than that. Beyond these, skops itself trusts
# numbers, strings, containers, arrays, random states and scikit-learn's estimators.
TRUSTED = (
    "vicinal.coincidence.classifier.CoincidenceClassifier",
    "vicinal.coincidence.estimator.LatentCoincidence",
    "vicinal.divergence.covariance.Relative",
    "vicinal.divergence.embedding.DivergenceEmbedding",
    "vicinal.divergence.gaussians.LocalGaussians",
    "vicinal.divergence.learners.isomap.PathMap",
    "vicinal.divergence.learners.laplacian.LaplacianMap",
    "vicinal.divergence.learners.mds.ScalingMap",
    "vicinal.divergence.learners.pieces.Pieces",
    "vicinal.divergence.made.MadeGaussians",
    "vicinal.divergence.neighbors.DivergenceNeighbors",
    "vicinal.fitting.stochastic.AdamMoments",
    "vicinal.inputs.points.WeightedPoints",
    "vicinal.inputs.reservoir.Reservoir",
    "vicinal.local_components.clustering.ModeClustering",
    "vicinal.local_components.density.ParzenDensity",
    "vicinal.local_components.equations.Form",
    "vicinal.local_components.estimator.LocalComponents",
    "vicinal.local_components.learning.Penalty",
    "vicinal.local_components.low_rank.LowRankShape",
    "vicinal.local_components.mixture.density.MixtureDensity",
    "vicinal.local_components.modes.Modes",
    "vicinal.local_components.per_point.PerPointDensity",
    "vicinal.local_components.shapes.DiagonalShape",
    "vicinal.local_components.shapes.Shape",
    "vicinal.local_components.stream.Stream",
    "vicinal.metric.MahalanobisMetric",
    "vicinal.nca.background.ClassGaussians",
    "vicinal.nca.calibration.Calibration",
    "vicinal.nca.estimator.NeighborhoodComponents",
    "vicinal.nca.learning.Coordinates",
    "vicinal.nca.prediction.Classifier",
    "vicinal.nca.stream.Stream",
    "vicinal.neighborhood.laws.Compact",
    "vicinal.neighborhood.laws.Gaussian",
    "vicinal.neighborhood.laws.Student",
)

# How skops may build an object. Not among them: bound methods, partial functions and operators,
# which call what the file names, and whose checks were lacking in skops before 0.12; nor sparse
# matrices, none of which skops trusts by its own name, and whose indices compiled code believes.
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
    "TupleNode",
    "TypeNode",
)


# Types that skops would call with what the file says, to make as large an object as it says.
_UNBOUNDED = ("numpy.object_", "numpy.void")


def untrusted(archive: bytes, schema: Any) -> list[str]:
    """Types in an archive that neither skops nor vicinal knows to be harmless."""
    from skops.io import get_untrusted_types

    odd = {_name(node) for node in nodes_of(schema) if _is_odd(node)}
    return sorted(odd or set(get_untrusted_types(data=archive)) - set(TRUSTED))


def _is_odd(node: dict[str, Any]) -> bool:
    """Whether something would be called that must not be.

    An object of a class that we trust is made empty; any other loader would call the class.
    """
    loader = node["__loader__"]
    if loader not in LOADERS or _name(node) in _UNBOUNDED:
        return True
    return (_name(node) in TRUSTED and loader != "ObjectNode") or _is_odd_generator(node)


def _name(node: dict[str, Any]) -> str:
    return f"{node.get('__module__')}.{node.get('__class__')}"


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


def nodes_of(schema: Any) -> Iterator[dict[str, Any]]:
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
