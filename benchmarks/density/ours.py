"""LocalComponents with several settings, and the choice among them."""

from collections import Counter

import numpy as np

from benchmarks.common.splits import unlabeled_split
from benchmarks.density.runs import Density, LeftOut, Method, measure
from vicinal import LocalComponents

OURS = {
    "full": {},
    "full, ν auto": {"regularization": "auto"},
    "search": {"gaussian": "search"},
    "search, ν auto": {"gaussian": "search", "regularization": "auto"},
    "EM Gaussian, ν auto": {"gaussian": "em", "regularization": "auto"},
    "local, ν auto": {"covariance": "local", "regularization": "auto"},
}
CANDIDATES = ("full, ν auto", "EM Gaussian, ν auto", "search, ν auto", "local, ν auto")
HEADLINE = "chosen by validation"

VALIDATION = 0.2
MOST_FOR_LOCAL = 100  # features: local covariances need d (d + 3) / 2 coordinates of every point


class ByValidation:
    """The method with the best likelihood on rows held back, fitted to all rows.

    `choices` counts which it was.
    """

    def __init__(self, methods: dict[str, Method]) -> None:
        self.methods = methods
        self.choices: Counter[str] = Counter()

    def __call__(self, X: np.ndarray, seed: int) -> Density:
        """Choose and fit."""
        part = unlabeled_split(X, seed, VALIDATION)
        runs = {name: measure(method, part, seed) for name, method in self.methods.items()}
        scores = {name: run.score for name, run in runs.items() if not run.problem}
        if not scores:
            raise ValueError("no candidate works")
        best = max(scores, key=lambda name: scores[name])
        self.choices[best] += 1
        return self.methods[best](X, seed)

    def words(self) -> str:
        """What was chosen how often."""
        return "; ".join(f"{name} ({count} ×)" for name, count in self.choices.most_common())


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
    fits[HEADLINE] = ByValidation({name: fits[name] for name in CANDIDATES})
    return fits


def warm_up() -> None:
    """Let numba compile what is timed later."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    for parameters in OURS.values():
        for engine in ("blocked", "fused"):
            LocalComponents(engine=engine, random_state=0, **parameters).fit(X).score_samples(X)
