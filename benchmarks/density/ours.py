"""LocalComponents with several settings, and the choice among them."""

import numpy as np

from benchmarks.common.splits import unlabeled_split
from benchmarks.density.runs import Density, LeftOut, Method, measure
from vicinal import LocalComponents

OURS = {
    "full, ν = 0": {"regularization": 0.0},
    "full, ν auto": {},
    "search, ν = 0": {"gaussian": "search", "regularization": 0.0},
    "search, ν auto": {"gaussian": "search"},
    "EM Gaussian, ν auto": {"gaussian": "em"},
    "local, ν auto": {"covariance": "local"},
}
HEADLINE = "mixture auto, ν auto"

VALIDATION = 0.2
MOST_FOR_LOCAL = 100  # features: local covariances need d (d + 3) / 2 coordinates of every point


class ByValidation:
    """The method with the best likelihood on rows held back, fitted to all rows."""

    def __init__(self, methods: dict[str, Method]) -> None:
        self.methods = methods
        self.chosen = ""

    def __call__(self, X: np.ndarray, seed: int) -> Density:
        """Choose and fit."""
        part = unlabeled_split(X, seed, VALIDATION)
        runs = {name: measure(method, part, seed) for name, method in self.methods.items()}
        scores = {name: run.score for name, run in runs.items() if not run.problem}
        if not scores:
            raise ValueError("no candidate works")
        self.chosen = max(scores, key=lambda name: scores[name])
        return self.methods[self.chosen](X, seed)


class Mixture:
    """As many parts as LocalComponents finds best within the training rows."""

    def __init__(self) -> None:
        self.chosen = ""

    def __call__(self, X: np.ndarray, seed: int) -> Density:
        """Choose and fit."""
        model = LocalComponents(n_mixture="auto", random_state=seed).fit(X)
        local = X.shape[1] - model.mixture_n_gaussian_.mean()
        parts = f"{model.n_mixture_} part{'s' if model.n_mixture_ > 1 else ''}"
        self.chosen = f"{parts}, {local:.1f} local directions in the mean"
        return model.score_samples


def ours(name: str) -> Method:
    parameters = OURS[name]

    def fit(X: np.ndarray, seed: int) -> Density:
        d = X.shape[1]
        if parameters.get("covariance") == "local" and d > MOST_FOR_LOCAL:
            raise LeftOut(f"left out: {d * (d + 3) // 2} coordinates for every point")
        return LocalComponents(random_state=seed, **parameters).fit(X).score_samples

    return fit


def our_methods() -> dict[str, Method]:
    fits: dict[str, Method] = {name: ours(name) for name in OURS}
    fits[HEADLINE] = Mixture()
    return fits


def warm_up() -> None:
    """Let numba compile what is timed later."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    for parameters in OURS.values():
        for engine in ("blocked", "fused"):
            LocalComponents(engine=engine, random_state=0, **parameters).fit(X).score_samples(X)
