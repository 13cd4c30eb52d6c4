"""What the parts of a model must look like for its methods, and for compiled code, to rely on them.

A checksum is no secret: a file can be whole and still hold parts that contradict each other.
Kernels do not look at the bounds of arrays, so this is where it is done.
"""

from collections.abc import Callable, Iterator
from inspect import getattr_static
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

__all__ = ["CONTRACTS", "check_contracts"]

# For every class its attributes; with a dot, those of its parts. First a kind (see _KINDS), then
# lengths: a letter stands for the same number all through a class. Where it begins with a capital,
# the class that a part must have, or one of several; "or" stands between several ways to be right.
# None is no breach, nor is what is not there.
CONTRACTS: dict[str, dict[str, str]] = {
    "vicinal.nca.estimator.NeighborhoodComponents": {
        "n_features_in_": "size D",
        "feature_names_in_": "any D",
        "components_": "finite d D",
        "classes_": "any C",
        "_classifier": "Classifier",
        "_classifier.keys": "finite m d",
        "_classifier.log_weights": "number C",
        "_stream": "Stream",
        "_stream.parameters": "finite d D",
    },
    "vicinal.nca.prediction.Classifier": {
        "keys": "finite m d",
        "log_weights": "number C",
        "labels": "labels m C",
        "weights": "positive m",
        "law": "Gaussian|Compact|Student",
        "background": "ClassGaussians",
        "background.means": "finite C d",
        "background_log_weights": "number C",
        "scale": "positive",
        "calibration": "Calibration",
    },
    "vicinal.nca.calibration.Calibration": {"temperature": "positive", "floor": "nonnegative"},
    "vicinal.nca.background.ClassGaussians": {
        "means": "finite C d",
        "covariances": "finite C d d",
    },
    "vicinal.nca.stream.Stream": {
        "parameters": "finite d D",
        "center": "finite D",
        "unit": "positive D",
        "coordinates": "Coordinates",
        "coordinates.P": "finite D D",
        "adam": "AdamMoments",
        "adam.mean": "finite d D",
        "adam.square": "nonnegative d D",
        "reservoir": "Reservoir",
    },
    "vicinal.nca.learning.Coordinates": {"P": "finite D D"},
    "vicinal.fitting.stochastic.AdamMoments": {},
    "vicinal.inputs.points.WeightedPoints": {"X": "finite n D", "weights": "positive n"},
    "vicinal.inputs.reservoir.Reservoir": {},
    "vicinal.local_components.estimator.LocalComponents": {
        "n_features_in_": "size D",
        "feature_names_in_": "any D",
        "components_": "finite k D",
        "gaussian_components_": "finite g D",
        "covariance_": "finite D D",
        "mean_": "finite D",
        "_scatter": "finite D D or finite D or finite p q",
        "offset_": "finite",
        "_density.points.X": "finite n D",
        "_penalty": "Penalty",
        "_penalty.units": "nonnegative D",
        "_penalty.least": "nonnegative D",
        "mixture_weights_": "positive K",
        "mixture_means_": "finite K D",
        "mixture_covariances_": "finite K D D",
        "mixture_n_gaussian_": "any K",
        "_density.weights": "positive K",
        "_stream": "Stream",
    },
    "vicinal.local_components.clustering.ModeClustering": {
        "n_features_in_": "size D",
        "feature_names_in_": "any D",
        "cluster_centers_": "finite C D",
        "n_clusters_": "size C",
        "labels_": "labels n C",
        "density_": "LocalComponents",
        "density_.covariance_": "finite D D",
        "_modes": "Modes",
        "_modes.centers": "finite C D",
    },
    "vicinal.local_components.modes.Modes": {
        "centers": "finite C D",
        "starts": "finite m k",
        "labels": "labels m C",
        "mean": "finite D",
        "shape": "Shape|DiagonalShape|LowRankShape",
        "shape.factor": "finite D D",
        "shape.n_local": "size k",
    },
    "vicinal.local_components.density.ParzenDensity": {
        "points": "WeightedPoints",
        "points.X": "finite n D",
        "mean": "finite D",
        "shape": "Shape|DiagonalShape|LowRankShape",
        "shape.factor": "finite D D",
        "shape.widths": "positive D",
        "shape.directions": "finite r D",
    },
    "vicinal.local_components.mixture.density.MixtureDensity": {
        "points": "WeightedPoints",
        "points.X": "finite n D",
        "mean": "finite D",
        "shape": "Shape",
        "shape.factor": "finite D D",
        "weights": "positive K",
        "memberships": "nonnegative n K",
        "background": "ParzenDensity",
        "background.mean": "finite D",
        "background_share": "nonnegative",
    },
    "vicinal.local_components.per_point.PerPointDensity": {
        "points": "WeightedPoints",
        "points.X": "finite n D",
        "mean": "finite D",
        "shape": "Shape",
        "shape.factor": "finite D D",
        "covariances": "finite n D D",
    },
    "vicinal.local_components.low_rank.LowRankShape": {
        "directions": "finite r D",
        "variances": "positive r",
        "rest": "positive",
        "law": "Gaussian|Student",
    },
    "vicinal.local_components.shapes.DiagonalShape": {
        "widths": "positive D",
        "law": "Gaussian|Student",
    },
    "vicinal.local_components.shapes.Shape": {
        "factor": "finite D D",
        "inverse": "finite D D",
        "balanced": "finite D D",
        "units": "positive D",
        "n_local": "size k",
        "law": "Gaussian|Student",
    },
    "vicinal.local_components.equations.Form": {"law": "Gaussian|Student"},
    "vicinal.neighborhood.laws.Compact": {},
    "vicinal.neighborhood.laws.Gaussian": {},
    "vicinal.neighborhood.laws.Student": {"degrees_of_freedom": "positive"},
    "vicinal.local_components.learning.Penalty": {
        "global_": "nonnegative",
        "local": "nonnegative",
        "units": "nonnegative D",
        "least": "nonnegative D",
    },
    "vicinal.local_components.stream.Stream": {
        "mean": "finite D",
        "covariance": "finite D D or finite D",
        "scatter": "finite D D or finite D",
        "penalty": "Penalty",
        "penalty.units": "nonnegative D",
        "penalty.least": "nonnegative D",
        "total": "nonnegative",
        "reservoir": "Reservoir",
    },
    "vicinal.metric.MahalanobisMetric": {"components": "finite d D"},
    "vicinal.coincidence.estimator.LatentCoincidence": {
        "n_features_in_": "size D",
        "feature_names_in_": "any D",
        "components_": "finite d D",
        "sigma2_": "nonnegative",
        "base_rate_": "nonnegative",
        "threshold_": "finite",
        "scales_": "positive a",
        "anchors_": "finite a d",
    },
    "vicinal.coincidence.classifier.CoincidenceClassifier": {
        "n_features_in_": "size D",
        "feature_names_in_": "any D",
        "classes_": "any C",
        "components_": "finite C d D",
        "means_": "finite C D",
        "sigma2_": "nonnegative C",
    },
    "vicinal.divergence.neighbors.DivergenceNeighbors": {
        "n_features_in_": "size D",
        "feature_names_in_": "any D",
        "n_samples_fit_": "size n",
        "n_neighbors_": "size m",
        "share_": "nonnegative",
        "variance_": "positive",
        "_fit_X": "finite n e",
        "gaussians_": "LocalGaussians|MadeGaussians",
        "gaussians_.means": "finite n D",
        "gaussians_.centers": "finite n D",
    },
    "vicinal.divergence.gaussians.LocalGaussians": {
        "means": "finite n D",
        "vectors": "finite n q D",
        "values": "nonnegative n q",
        "rest": "nonnegative n",
        "diagonal": "nonnegative n D",
    },
    "vicinal.divergence.made.MadeGaussians": {
        "X": "finite p D",
        "centers": "finite n D",
        "positions": "labels n m p",
        "counts": "any n",
        "gamma": "nonnegative or Relative",
        "least": "positive n",
        "largest": "positive n",
        "unit": "positive",
    },
    "vicinal.divergence.embedding.DivergenceEmbedding": {
        "n_features_in_": "size D",
        "feature_names_in_": "any D",
        "embedding_": "finite n c",
        "neighbors_": "DivergenceNeighbors",
        "neighbors_._fit_X": "finite n e",
        "_map.coordinates": "finite n c",
        "_map.scaling.coordinates": "finite n c",
        "_map.labels": "labels n n",
    },
    "vicinal.divergence.covariance.Relative": {"share": "nonnegative", "variance": "positive"},
    "vicinal.divergence.learners.isomap.PathMap": {
        "scaling": "ScalingMap",
        "graph.data": "nonnegative e",
    },
    "vicinal.divergence.learners.laplacian.LaplacianMap": {
        "coordinates": "finite n c",
        "eigenvalues": "finite k",
        "scale": "nonnegative",
        "graph.data": "nonnegative e",
    },
    "vicinal.divergence.learners.mds.ScalingMap": {
        "coordinates": "finite n c",
        "eigenvalues": "nonnegative c",
        "row_means": "finite n",
        "error": "nonnegative",
    },
    "vicinal.divergence.learners.pieces.Pieces": {"shifts": "finite p", "labels": "labels n p"},
}

# What must hold for all numbers of a kind; none of these holds for NaN.
_KINDS: dict[str, Callable[[Any], Any]] = {
    "finite": np.isfinite,
    "number": lambda values: values < np.inf,
    "nonnegative": lambda values: (values >= 0) & np.isfinite(values),
    "positive": lambda values: (values > 0) & np.isfinite(values),
}

_PRECISIONS = ("float32", "float64")

# NumPy's old generator reads that many numbers, from a position which it does not check.
_GENERATOR_LENGTH = 624


def check_contracts(model: BaseEstimator) -> None:
    """Raise a ValueError where parts of a model are not what they must be."""
    for part in _parts(model):
        if isinstance(part, np.random.RandomState):
            _check_generator(part)
        kind = f"{type(part).__module__}.{type(part).__qualname__}"
        if kind in CONTRACTS:
            _check(part, CONTRACTS[kind])


def _check(owner: Any, contract: dict[str, str]) -> None:
    lengths: dict[str, int] = {}
    for name, wanted in contract.items():
        value = owner
        for step in name.split("."):
            value = _kept(value, step)
        ways = [way.split() for way in wanted.split(" or ")]
        if value is not None and not any(_is(way[0], value, way[1:], lengths) for way in ways):
            known = ", ".join(f"{letter} = {lengths[letter]}" for letter in lengths)
            raise ValueError(
                f"{name} of its {type(owner).__name__} is not what it must be ({wanted}"
                + (f"; {known})" if known else ")")
            )


def _kept(owner: Any, name: str) -> Any:
    """A part, unless its class makes it of others when it is asked for."""
    if hasattr(getattr_static(type(owner), name, None), "__get__"):
        return getattr(owner, "__dict__", {}).get(name)
    return getattr(owner, name, None)


def _is(kind: str, value: Any, letters: list[str], lengths: dict[str, int]) -> bool:
    """Whether a value is of a kind and as long as others are."""
    if kind[0].isupper():
        is_ours = type(value).__module__.startswith("vicinal.")
        return is_ours and type(value).__qualname__ in kind.split("|")
    if kind == "size":
        is_count = isinstance(value, Integral) and not isinstance(value, bool)
        return is_count and _agree(letters, (int(value),), lengths)
    if not letters:
        return isinstance(value, Real) and bool(_KINDS[kind](value))
    if not isinstance(value, np.ndarray):
        return False
    if kind == "labels":
        *letters, bound = letters
        return _agree(letters, value.shape, lengths) and _are_labels(value, lengths.get(bound, 0))
    if kind in _KINDS and not (value.dtype.name in _PRECISIONS and _KINDS[kind](value).all()):
        return False
    return _agree(letters, value.shape, lengths)


def _agree(letters: list[str], shape: tuple[int, ...], lengths: dict[str, int]) -> bool:
    """Whether lengths are those that are known for their letters; new ones are from now on."""
    if len(letters) != len(shape):
        return False
    for letter, length in zip(letters, shape, strict=True):
        if lengths.setdefault(letter, length) != length:
            return False
    return True


def _are_labels(array: NDArray, n_classes: int) -> bool:
    return array.dtype.kind == "i" and bool(((array >= 0) & (array < n_classes)).all())


def _check_generator(generator: np.random.RandomState) -> None:
    position = generator.get_state(legacy=False)["state"]["pos"]
    if not 0 <= position <= _GENERATOR_LENGTH:
        raise ValueError(f"a random state is at position {position} of {_GENERATOR_LENGTH}")


def _parts(model: BaseEstimator) -> Iterator[Any]:
    """A model and all that it is made of, each once."""
    left, seen = [model], {id(model)}
    while left:
        part = left.pop()
        yield part
        new = {id(child): child for child in _children(part) if id(child) not in seen}
        seen.update(new)
        left.extend(new.values())


def _children(part: Any) -> list[Any]:
    if isinstance(part, dict):
        return list(part.values())
    if isinstance(part, list | tuple | set):
        return list(part)
    if isinstance(part, np.ndarray):
        return part.ravel().tolist() if part.dtype == object else []
    return [] if isinstance(part, type) else list(getattr(part, "__dict__", {}).values())
