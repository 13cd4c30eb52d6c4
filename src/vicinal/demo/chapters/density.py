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
from vicinal.demo.panels import Samples
from vicinal.local_components import LocalComponents

__all__ = ["tell_density"]

SHOWN = ("mean radius", "mean area")
BENIGN = 1
N_DRAWN = 300  # rows drawn from each density for the picture


def tell_density(seed: int, tell: Tell) -> Chapter:
    """How likely new tumors are."""
    X, names = _load_benign()
    X_train, X_test = train_test_split(X, test_size=TEST_SHARE, random_state=seed)
    scaler = StandardScaler().fit(X_train)
    outcomes, panels = [], []
    for name, density in _densities():
        tell(f"fitting a density: {name}")
        seconds = fit_timed(density, scaler.transform(X_train))
        model = getattr(density, "best_estimator_", density)
        is_ours = isinstance(model, LocalComponents)
        values = model.score_samples(scaler.transform(X_test))
        outcomes.append(Outcome(name, is_ours, values, seconds))
        panels.append(_drawn(model, scaler, X_test, names))
    return Chapter(
        key="density",
        title="Density",
        data=f"{len(X)} benign tumors, {X.shape[1]} measurements; no labels",
        trouble="Area follows from radius, but round kernels blur the line into a cloud.",
        cure="LocalComponents learns the shape of its kernels, and needs no bandwidth.",
        measure=f"mean log-density of {len(X_test)} new tumors",
        outcomes=outcomes,
        panels=(panels[0], panels[-1]),
        is_likelihood=True,
    )


def _load_benign() -> tuple[NDArray, list[str]]:
    data = load_breast_cancer()
    return data.data[data.target == BENIGN], list(data.feature_names)


def _densities() -> list[tuple[str, BaseEstimator]]:
    bandwidths = {"bandwidth": np.geomspace(0.05, 2.0, 12)}
    mixtures = {"n_components": range(1, 9)}
    return [
        ("KernelDensity", GridSearchCV(KernelDensity(), bandwidths)),
        ("GaussianMixture", GridSearchCV(GaussianMixture(random_state=0), mixtures)),
        ("LocalComponents", LocalComponents(n_mixture="auto", random_state=0)),
    ]


def _drawn(model: BaseEstimator, scaler: StandardScaler, X: NDArray, names: list[str]) -> Samples:
    """Rows drawn from a density beside new ones, in two of the columns."""
    if isinstance(model, GaussianMixture):
        rows = model.sample(N_DRAWN)[0]
    else:
        rows = model.sample(N_DRAWN, random_state=0)
    columns = [names.index(name) for name in SHOWN]
    return Samples(scaler.inverse_transform(rows)[:, columns], X[:, columns], SHOWN)
