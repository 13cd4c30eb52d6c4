"""Density: no labels at all, and how likely a new row is."""

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.neighbors import KernelDensity
from sklearn.preprocessing import StandardScaler

from vicinal.demo.chapter import TEST_SHARE, Chapter, Outcome, Tell, fit_timed
from vicinal.demo.panels import Contours
from vicinal.local_components import LocalComponents

__all__ = ["tell_density"]

COLUMNS = ("mean radius", "mean area")
BENIGN = 1
GRID = 160  # places along each axis of the picture


def tell_density(seed: int, tell: Tell) -> Chapter:
    """How likely new tumors are."""
    X_train, X_test = train_test_split(_load(), test_size=TEST_SHARE, random_state=seed)
    scaler = StandardScaler().fit(X_train)
    train, test = scaler.transform(X_train), scaler.transform(X_test)
    outcomes, panels = [], []
    places = _places(np.vstack([X_train, X_test]))
    for name, density in _densities():
        tell(f"fitting a density: {name}")
        seconds = fit_timed(density, train)
        model = getattr(density, "best_estimator_", density)
        is_ours = isinstance(model, LocalComponents)
        outcomes.append(Outcome(name, is_ours, model.score_samples(test), seconds))
        panels.append(_contours(model, scaler, places, X_test))
    return Chapter(
        key="density",
        title="Density",
        data=f"{len(train) + len(test)} benign tumors, radius and area; no labels",
        trouble="Area follows from radius, but round kernels blur the line into a cloud.",
        cure="LocalComponents learns the shape of its kernels, and needs no bandwidth.",
        measure=f"mean log-density of {len(test)} new tumors",
        outcomes=outcomes,
        panels=(panels[0], panels[-1]),
        is_likelihood=True,
    )


def _load() -> NDArray:
    data = load_breast_cancer()
    columns = [list(data.feature_names).index(name) for name in COLUMNS]
    return data.data[data.target == BENIGN][:, columns]


def _densities() -> list[tuple[str, BaseEstimator]]:
    bandwidths = {"bandwidth": np.geomspace(0.05, 2.0, 12)}
    mixtures = {"n_components": range(1, 9)}
    return [
        ("KernelDensity", GridSearchCV(KernelDensity(), bandwidths)),
        ("GaussianMixture", GridSearchCV(GaussianMixture(random_state=0), mixtures)),
        ("LocalComponents", LocalComponents(n_mixture="auto", random_state=0)),
    ]


def _places(X: NDArray) -> tuple[NDArray, NDArray]:
    """Coordinates around all rows, along each axis."""
    low, high = X.min(axis=0), X.max(axis=0)
    margin = 0.08 * (high - low)
    x, y = np.linspace(low - margin, high + margin, GRID).T
    return x, y


def _contours(
    model: BaseEstimator, scaler: StandardScaler, places: tuple[NDArray, NDArray], X: NDArray
) -> Contours:
    grid = np.stack(np.meshgrid(*places), axis=-1).reshape(-1, 2)
    heights = model.score_samples(scaler.transform(grid)).reshape(GRID, GRID)
    return Contours(places, heights, X, model.score_samples(scaler.transform(X)), COLUMNS)
