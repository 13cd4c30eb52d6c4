"""Sections on what was learned: features, density, and how the fit went."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from vicinal.facts import facts_in_words
from vicinal.report.displays.convergence import ConvergenceDisplay
from vicinal.report.displays.density import DensityDisplay
from vicinal.report.displays.importance import FeatureImportanceDisplay
from vicinal.report.displays.metric import MetricDisplay
from vicinal.report.displays.spectrum import SpectrumDisplay
from vicinal.report.drawing.classes import Classes
from vicinal.report.names import shortened
from vicinal.report.numbers.features import feature_names_of, importances_of, spreads
from vicinal.report.numbers.fitted import fitted_model, map_of
from vicinal.report.numbers.marginals import scores_of
from vicinal.report.page.choosing import spread_sample
from vicinal.report.page.figures import Picture, svg_picture
from vicinal.report.page.parts import Section, Table
from vicinal.report.page.stages import Stage

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["density_section", "feature_section", "learning_section"]

_MOST_BARS = 15
_MOST_CELLS = 20
_HIGH = 5.4, 4.6  # inches, for the names of features along an axis
_N_OUTLIERS = 10
MOST_SCORED = 5_000  # rows; every one looks at all kernels


def feature_section(model: BaseEstimator, before: Stage, names: list[str]) -> Section | None:
    """Which features the learned distance listens to; None where there is no linear map."""
    last = fitted_model(model)
    if not _has_map(last) or not spreads(before.points).any():
        return None  # of rows that do not differ, no feature tells one from another
    names, X = _entering_names(model, before, names), before.points
    return Section("Which features matter", [], [_bars(last, X, names), _cells(last, X, names)])


def _bars(model: BaseEstimator, X: NDArray, names: list[str]) -> Picture:
    def draw(ax: "Axes") -> None:
        FeatureImportanceDisplay.from_estimator(
            model, X, feature_names=names, max_features=_MOST_BARS, title="", ax=ax
        )

    share = importances_of(map_of(model), spreads(X))
    first = ", ".join(shortened(names[j], 40) for j in np.argsort(-share)[:3])
    return svg_picture(
        draw,
        f"Bars of importance; the most important: {first}",
        key="bars",
        caption="How much of the learned squared distance between two rows is due to each "
        "feature by itself, on average.",
        size=_HIGH,
    )


def _cells(model: BaseEstimator, X: NDArray, names: list[str]) -> Picture:
    def draw(ax: "Axes") -> None:
        MetricDisplay.from_estimator(
            model, X, feature_names=names, max_features=_MOST_CELLS, title="", ax=ax
        )

    return svg_picture(
        draw,
        "Heat map of the learned metric",
        key="cells",
        caption="The metric, with features in their standard deviations: differences in two "
        "features that go the same way count more (positive) or less (negative).",
        size=_HIGH,
    )


def _has_map(model: BaseEstimator) -> bool:
    return getattr(model, "components_", np.empty(0)).ndim == 2


def _entering_names(model: BaseEstimator, before: Stage, names: list[str]) -> list[str]:
    """Names of the features that reach the model: raw ones, unless steps before it made others."""
    n = before.points.shape[1]
    return names if len(names) == n else feature_names_of(model, None, n)


def density_section(
    model: BaseEstimator, before: Stage, names: list[str], labels: Classes | None
) -> Section | None:
    """Where the data are dense, and which rows stand apart; None for models without a density."""
    last = fitted_model(model)
    if not hasattr(last, "score_samples"):
        return None
    names = _entering_names(model, before, names)
    rows = spread_sample(None, len(before.points), MOST_SCORED)
    log_density = scores_of(last, before.points[rows])
    known = np.isfinite(log_density)
    if not known.any():
        return None
    rows, log_density, n_unknown = rows[known], log_density[known], int((~known).sum())
    points = before.points[rows]

    def draw(ax: "Axes") -> None:
        DensityDisplay.from_estimator(last, points, feature_names=names, rows=rows, title="", ax=ax)

    some = "these rows" if len(rows) == len(before.points) else f"a sample of {len(rows):,} rows"
    return Section(
        "Density and outliers",
        [f"Mean log-density of {some}: {log_density.mean():.4g}.{_unknown(n_unknown)}"],
        [svg_picture(draw, "Density of the rows, outliers ringed", key="density")],
        _outlier_table(rows, log_density, labels),
    )


def _unknown(n: int) -> str:
    return f" That of {n:,} more is too small for a number." if n else ""


def _outlier_table(rows: NDArray, log_density: NDArray, labels: Classes | None) -> Table:
    """The least likely of some rows."""
    lines = []
    for i in np.argsort(log_density)[:_N_OUTLIERS]:
        named = [] if labels is None else [shortened(labels.names[labels.codes[rows[i]]], 40)]
        lines.append([f"{rows[i]}", *named, f"{log_density[i]:.4g}"])
    headings = ["Row#", *([] if labels is None else ["Class"]), "Log-density#"]
    return Table(headings, lines, caption="The least likely of them, counted from 0")


def learning_section(model: BaseEstimator) -> Section | None:
    """How the fit went; None for models that keep no record of it."""
    last = fitted_model(model)
    pictures, texts = [], []
    history = getattr(last, "history_", {})
    if len(history.get("objective", ())) > 1:
        pictures.append(_convergence(last, history))
    if _has_map(last) or hasattr(last, "eigenvalues_"):
        pictures.append(_spectrum(last))
    told = facts_in_words(last)
    if "Engine" in told:
        texts.append(f"Sums over pairs were computed by the engine {told['Engine']}.")
    if "Time of the updates" in told:
        updates = "1 update" if told["Updates"] == "1" else f"{told['Updates']} updates"
        texts.append(f"The fit took {updates} in {told['Time of the updates']}.")
    return Section("How the fit went", texts, pictures) if pictures or texts else None


def _convergence(last: BaseEstimator, history: Mapping[str, NDArray]) -> Picture:
    first, final = history["objective"][0], history["objective"][-1]
    alt = f"The objective over the updates, from {first:.4g} to {final:.4g}"
    draw = lambda ax: ConvergenceDisplay.from_estimator(last, title="", ax=ax)  # noqa: E731
    return svg_picture(draw, alt, key="convergence", caption="Objective against update.")


def _spectrum(last: BaseEstimator) -> Picture:
    draw = lambda ax: SpectrumDisplay.from_estimator(last, title="", ax=ax)  # noqa: E731
    alt = "Spectrum of what was learned"
    return svg_picture(draw, alt, key="spectrum", caption="How many directions count.")
