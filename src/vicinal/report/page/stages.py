"""Rows before and after a model: as they came, as it got them, as it places them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array

from vicinal.pipelines import steps_before, steps_of
from vicinal.report.numbers.features import check_names
from vicinal.report.numbers.fitted import fitted_model, without_names

__all__ = ["Stage", "feature_names", "stages_of"]


@dataclass(frozen=True)
class Stage:
    """Rows at one place on their way through a model.

    Attributes
    ----------
    name : str
    points : ndarray of shape (n_samples, n_coordinates)
    """

    name: str
    points: NDArray


def stages_of(model: BaseEstimator, X: ArrayLike, what: str = "X") -> list[Stage]:
    """The rows raw, after the steps before the model where there are any, and learned.

    Parameters
    ----------
    model : fitted transformer or pipeline
    X : array-like of shape (n_samples, n_features)
    what : str, default="X"
        What the caller knows the rows as, for messages.

    Returns
    -------
    list of Stage

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from vicinal import NeighborhoodComponents
    >>> from vicinal.report.page.stages import stages_of
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), NeighborhoodComponents(n_components=2)).fit(X, y)
    >>> [(stage.name, stage.points.shape[1]) for stage in stages_of(model, X)]
    [('Raw features', 4), ('After StandardScaler', 4), ('Learned', 2)]
    """
    last = fitted_model(model)
    raw = check_array(X, dtype=np.float64, ensure_all_finite=False, input_name=what)
    stages = [Stage("Raw features", _finite(raw, what, "itself"))]
    with without_names():
        prepared: Any = X
        before = steps_before(model)
        if before is not None:
            prepared = before.transform(X)
            names = ", ".join(type(step).__name__ for step in steps_of(before))
            stages.append(Stage(f"After {names}", _finite(_dense(prepared), what, names)))
        placed = _finite(_placed(last, prepared), what, type(last).__name__)
        return [*stages, Stage("Learned", placed)]


def _finite(points: NDArray, what: str, where: str) -> NDArray:
    """Points that can be shown; `where` is what made them of the rows."""
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(bad):
        after = "" if where == "itself" else f" after {where}"
        raise ValueError(
            f"{what} has NaN, or a number too large, in {len(bad):,} of {len(points):,} rows"
            f"{after} (row {bad[0]} first): leave these out, or fill in and scale before the "
            "report."
        )
    return points


def _placed(model: BaseEstimator, X: Any) -> NDArray:
    """Coordinates the model gives to rows."""
    if hasattr(model, "transform"):
        Z = model.transform(X)
    elif len(getattr(model, "embedding_", ())) == len(X):
        Z = model.embedding_  # t-SNE and UMAP place their training rows only
    else:
        raise TypeError(
            f"{type(model).__name__} places no rows (it has no transform): a report needs a model "
            "with coordinates, such as NeighborhoodComponents, LocalComponents, "
            "LatentCoincidence or DivergenceEmbedding."
        )
    if Z.shape[1] == getattr(model, "n_samples_fit_", -1):
        raise TypeError(
            f"{type(model).__name__} gives distances rather than coordinates: report on a "
            "DivergenceEmbedding of them."
        )
    return _dense(Z)


def _dense(Z: Any) -> NDArray:
    return np.asarray(Z.toarray() if hasattr(Z, "toarray") else Z, dtype=np.float64)


def feature_names(model: BaseEstimator, X: Any, given: Any = None) -> list[str]:
    """Names of the raw features: as given, of the data's columns, of the fit, or x0, x1, ..."""
    choices = (given, getattr(X, "columns", None), getattr(model, "feature_names_in_", None))
    named = next((names for names in choices if names is not None), None)
    return check_names(named, np.shape(X)[1])
