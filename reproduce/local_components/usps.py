"""Figures 5 and 6: densities of the USPS digits, and what smaller batches and neighbors cost."""

import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from reproduce.experiment import Measured, Unit
from reproduce.means import mean_of
from reproduce.verdicts import printed_values
from vicinal import LocalComponents, datasets

LABELS = {
    "isotropic": "LCA - Isotropic",
    "diagonal": "LCA - Diagonal",
    "full": "LCA - Full",
    "gaussian": "Gaussian",
    "gauss": "LCA - Gauss",
    "search": "LCA - Gauss - Red",
}


class Parts(NamedTuple):
    """Rows to learn from, to choose penalties by, and to judge by."""

    train: NDArray
    valid: NDArray
    test: NDArray


class Chosen(NamedTuple):
    """A penalty, and the density that was fitted with it."""

    penalty: float
    density: "Density"


class Density(NamedTuple):
    """Mean negative log-likelihood of rows, and numbers worth keeping."""

    loss: Callable[[NDArray], float]
    facts: dict[str, float]
    covariance: NDArray


def measure_density(unit: Unit) -> dict[str, float]:
    """Test loss of one model, its penalty chosen on the rows for that."""
    parts = _parts(unit)
    penalty, density = MODELS[unit["model"]](parts, unit)
    others = _of_one_matrix(parts, density.covariance) if unit["model"] == "full" else {}
    return {"test": density.loss(parts.test), "penalty": penalty, **density.facts, **others}


def _parts(unit: Unit) -> Parts:
    X = datasets.load("usps").data.astype(np.float64)
    order = np.random.default_rng(unit["seed"]).permutation(len(X))
    sizes = np.cumsum([unit["n_train"], unit["n_valid"], unit["n_test"]])
    return Parts(*np.split(X[order[: sizes[-1]]], sizes[:-1]))


def _best(fit: Callable[[float], Density], valid: NDArray, unit: Unit) -> Chosen:
    """Downhill over half decades of the penalty, from the middle: losses have one valley."""
    grid = 10.0 ** np.arange(unit["lowest_exponent"], unit["highest_exponent"] + 0.25, 0.5)
    tried: dict[int, tuple[float, Density]] = {}

    def loss(i: int) -> float:
        if not 0 <= i < len(grid):
            return np.inf
        if i not in tried:
            density = fit(float(grid[i]))
            tried[i] = density.loss(valid), density
        return tried[i][0]

    at = len(grid) // 2
    while (following := min((at, at - 1, at + 1), key=loss)) != at:
        at = following
    return Chosen(float(grid[at]), tried[at][1])


def _fitted(train: NDArray, **parameters: object) -> Density:
    """EM without extrapolation, until it converges or for 100 updates."""
    model = LocalComponents(accelerate=False, max_iter=100, tol=1e-6, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(train)
    facts = {"updates": float(model.n_iter_), "n_gaussian": float(model.n_gaussian_)}
    return Density(lambda rows: -model.score(rows), facts, model.covariance_)


def _parzen(shape: str) -> Callable[[Parts, Unit], Chosen]:
    def fit(parts: Parts, unit: Unit) -> Chosen:
        def of(penalty: float) -> Density:
            return _fitted(parts.train, covariance=shape, regularization=penalty)

        return _best(of, parts.valid, unit)

    return fit


def _gaussian(parts: Parts, unit: Unit) -> Chosen:
    """One Gaussian, whose penalized likelihood has its maximum at the covariance plus ν."""
    mean, covariance = parts.train.mean(axis=0), np.cov(parts.train.T, bias=True)

    def of(penalty: float) -> Density:
        sigma = covariance + penalty * np.eye(len(mean))
        return Density(lambda rows: _gaussian_loss(rows, mean, sigma), {}, sigma)

    return _best(of, parts.valid, unit)


def _gaussian_loss(rows: NDArray, mean: NDArray, sigma: NDArray) -> float:
    variances, directions = np.linalg.eigh(sigma)
    squares = np.square((rows - mean) @ directions / np.sqrt(variances)).sum(axis=1).mean()
    return float(0.5 * (squares + np.log(2 * np.pi * variances).sum()))


def _gauss(parts: Parts, unit: Unit) -> Chosen:
    """The Gaussian's own penalty for the global covariance; another one for the local."""
    settings = {name: value for name, value in unit.items() if name != "model"}
    return _gauss_of(tuple(settings.items()))


@lru_cache(maxsize=1)  # the search that comes next begins with its penalties
def _gauss_of(settings: tuple[tuple[str, float], ...]) -> Chosen:
    unit = dict(settings)
    parts = _parts(unit)
    global_ = _gaussian(parts, unit).penalty

    def of(penalty: float) -> Density:
        return _fitted(parts.train, gaussian="em", regularization=(global_, penalty))

    return _best(of, parts.valid, unit)


def _search(parts: Parts, unit: Unit) -> Chosen:
    """With both penalties of LCA-Gauss."""
    global_, local = _gaussian(parts, unit).penalty, _gauss(parts, unit).penalty
    fitted = _fitted(parts.train, gaussian="search", regularization=(global_, local))
    return Chosen(local, fitted)


MODELS: dict[str, Callable[[Parts, Unit], Chosen]] = {
    "isotropic": _parzen("spherical"),
    "diagonal": _parzen("diag"),
    "full": _parzen("full"),
    "gaussian": _gaussian,
    "gauss": _gauss,
    "search": _search,
}


def _of_one_matrix(parts: Parts, covariance: NDArray) -> dict[str, float]:
    """Another reading of the paper: isotropic and diagonal kernels made of the full matrix."""
    given = {
        "test-of-trace": float(np.trace(covariance) / len(covariance)),
        "test-of-diagonal": np.diag(covariance).copy(),
    }
    return {name: _losses(matrix, parts.train, parts.test)[1] for name, matrix in given.items()}


def draw_density(all_measured: Sequence[Measured]) -> Figure:
    """Ours and the paper's, model by model."""
    figure = Figure(figsize=(7.5, 3.6), layout="constrained")
    ax, height = figure.subplots(), 0.38
    printed = printed_values(Path(__file__).parent, "figure-5")
    for offset, label, means in (
        (-height / 2, "paper", [printed[f"{name}/test"] for name in LABELS]),
        (height / 2, "here", [mean_of(all_measured, "test", model=name).value for name in LABELS]),
    ):
        bars = ax.barh(np.arange(len(LABELS)) + offset, means, height, label=label)
        ax.bar_label(bars, fmt="%.1f", padding=3, fontsize="small")
    ax.set_yticks(range(len(LABELS)), LABELS.values())
    ax.invert_yaxis()
    ax.margins(x=0.12)
    ax.set_xlabel("test negative log-likelihood (nats per digit; the lower, the better)")
    ax.legend()
    return figure


def measure_subsampling(unit: Unit) -> dict[str, float]:
    """Loss of stochastic EM less that of EM, on training rows left out in turn and on others."""
    train, test = _two_parts(unit["seed"], unit["n_train"], unit["n_components"])
    n, size = len(train), unit["batch"]
    # The paper does not say how long it ran: whatever the batches, old covariances are forgotten.
    n_updates = max(unit["passes"] * -(-n // size), unit["least_updates"])
    model = LocalComponents(
        regularization=0.0,
        batch_size=size,
        n_neighbors=unit["neighbors"],
        discount=unit["discount"],
        max_iter=n_updates,
        random_state=unit["seed"],
    ).fit(train)
    found = np.array(_losses(model.covariance_, train, test))
    baseline = _baseline(unit["seed"], n, unit["n_components"], unit["baseline_updates"])
    return dict(zip(("train", "test"), (found - baseline).tolist(), strict=True))


@lru_cache(maxsize=1)
def _two_parts(seed: int, n_train: int, n_components: int) -> tuple[NDArray, NDArray]:
    """Training rows, and all others; in some principal components where that is asked for."""
    X = datasets.load("usps").data.astype(np.float64)
    if n_components:
        X = (X - X.mean(axis=0)) @ np.linalg.eigh(np.cov(X.T))[1][:, -n_components:]
    order = np.random.default_rng(seed).permutation(len(X))
    return X[order[:n_train]], X[order[n_train:]]


@lru_cache(maxsize=1)
def _baseline(seed: int, n_train: int, n_components: int, n_updates: int) -> NDArray:
    """Losses of EM: γ = 0, all points in every update."""
    train, test = _two_parts(seed, n_train, n_components)
    model = LocalComponents(regularization=0.0, accelerate=False, max_iter=n_updates, tol=1e-7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.array(_losses(model.fit(train).covariance_, train, test))


def _losses(covariance: float | NDArray, train: NDArray, test: NDArray) -> tuple[float, float]:
    """Mean negative log-likelihood with given kernels: leave-one-out, and of other rows."""
    model = LocalComponents(covariance=covariance).fit(train)
    return -model.loo_log_likelihood_, -model.score(test)


def draw_subsampling(all_measured: Sequence[Measured]) -> Figure:
    """Differences over the neighborhood size, a line for each batch size."""
    values = {
        name: sorted({unit[name] for unit, _ in all_measured})
        for name in ("discount", "batch", "neighbors")
    }
    figure = Figure(figsize=(9, 5), layout="constrained")
    axes = figure.subplots(2, len(values["discount"]), sharex=True, sharey="row", squeeze=False)
    for row, part in zip(axes, ("train", "test"), strict=True):
        for ax, discount in zip(row, values["discount"], strict=True):
            for batch, marker in zip(values["batch"], "osD", strict=False):
                points = [
                    mean_of(all_measured, part, discount=discount, batch=batch, neighbors=n)
                    for n in values["neighbors"]
                ]
                levels, errors = zip(*((p.value, p.error or 0) for p in points), strict=True)
                ax.errorbar(
                    values["neighbors"], levels, errors, marker=marker, label=f"B = {batch}"
                )
            ax.axhline(0, color="gray", linewidth=0.8)
            ax.set_title(f"{part}, γ = {discount}")
        row[0].set_ylabel("difference to EM (nats)")
    for ax in axes[-1]:
        ax.set_xlabel("neighborhood size N")
    axes[0, 0].legend()
    return figure
