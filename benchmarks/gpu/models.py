"""Fits on the device: end to end, with defaults, and by the update."""

import time
from collections.abc import Callable

import numpy as np
import torch
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.common.pages import Page
from benchmarks.gpu.timing import cloud, milliseconds
from vicinal import LocalComponents, NeighborhoodComponents, datasets
from vicinal.inputs.points import LabeledPoints
from vicinal.nca.criteria import CRITERIA
from vicinal.nca.equations import Objective, evaluate
from vicinal.neighborhood import GAUSSIAN
from vicinal.neighborhood.cuda import CudaEngine


def models(page: Page) -> None:
    """Table of fits."""
    page.say("## Fits\n")
    page.say("Seconds of a second fit in the same process, with kernels already compiled.\n")
    row = page.table(["what", "seconds", "result"])
    try:
        data = datasets.load("mnist")
    except FileNotFoundError as error:
        page.say(f"mnist is not here: {error}")
    else:
        X, y = np.asarray(data.data, dtype=np.float32), np.asarray(data.target)
        _mnist(row, X, y, len(X) * 6 // 7)
    row(*_million())
    page.say()


def _mnist(row: Callable[..., None], X: np.ndarray, y: np.ndarray, n: int) -> None:
    train, test = slice(0, n), slice(n, None)

    def nca() -> NeighborhoodComponents:
        return NeighborhoodComponents(5, random_state=0).fit(X[train], y[train])

    model, seconds = _second(nca)
    neighbors = KNeighborsClassifier(15).fit(model.transform(X[train]), y[train])
    by_neighbors = neighbors.score(model.transform(X[test]), y[test])
    by_rule = model.score(X[test], y[test])
    said = (
        f"{100 * by_neighbors:.1f} % (15 neighbors), {100 * by_rule:.1f} % (rule), {model.engine_}"
    )
    row(f"NCA to 5 dimensions, defaults, mnist, {n} x {X.shape[1]}", f"{seconds:.1f}", said)
    Z = PCA(64, random_state=0).fit_transform(X[train])

    def components() -> LocalComponents:
        return LocalComponents(regularization=0.05, engine="cuda").fit(Z)

    model, seconds = _second(components)
    said = f"{model.n_iter_} updates, converged: {model.converged_}"
    row(f"local components, exact EM, regularization 0.05, mnist, {n} x 64", f"{seconds:.1f}", said)


def _second(fit: Callable[[], object]) -> tuple[object, float]:
    """What a second fit finds, and its seconds."""
    fit()
    start = time.perf_counter()
    model = fit()
    return model, time.perf_counter() - start


def _million() -> tuple[str, str, str]:
    """An exact evaluation of NCA's objective and gradient over a million points."""
    n, D = 1_000_000, 50
    X = cloud(n, D)
    labels = torch.arange(n, device="cuda") % 10
    goal = Objective(GAUSSIAN, CRITERIA["accuracy"], "empirical", 10)
    points, engine = LabeledPoints(X, labels=labels), CudaEngine()
    A = torch.eye(D, device="cuda")
    ms = milliseconds(lambda: evaluate(A, goal, engine, points), 1)
    return f"exact NCA, {n} x {D} to {D} dimensions, an update", f"{ms / 1e3:.1f}", ""
