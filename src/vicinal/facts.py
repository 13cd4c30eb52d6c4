"""What a fitted model knows about its fit: one table for notebooks, command line and report."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

__all__ = ["FACTS", "Fact", "duration", "fact_values", "facts_in_words", "number"]

# So many classes are named, and so much of a name.
_MOST_CLASSES, _LONGEST_NAME = 6, 20


@dataclass(frozen=True)
class Fact:
    """Something that a fitted model may know.

    Attributes
    ----------
    label : str
        What people call it.
    words : callable
        From a fitted model to what people are told; nothing where it does not know.
    values : callable
        From a fitted model to what programs are told, by name; None where it does not know.
    """

    label: str
    words: Callable[[BaseEstimator], str]
    values: Callable[[BaseEstimator], dict[str, Any]] = lambda model: {}


def facts_in_words(model: BaseEstimator, leave_out: Collection[str] = ()) -> dict[str, str]:
    """What people are told about a fit.

    Parameters
    ----------
    model : estimator
        One of vicinal's.
    leave_out : collection of str, default=()
        Labels of facts that the caller tells in its own way.

    Returns
    -------
    dict of str to str
        By label; empty where the model is not fitted.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import NeighborhoodComponents
    >>> from vicinal.facts import facts_in_words
    >>> model = NeighborhoodComponents(n_components=2)
    >>> facts_in_words(model)
    {}
    >>> X, y = load_iris(return_X_y=True)
    >>> facts_in_words(model.fit(X, y))["Map"]
    'from 4 features to 2'
    """
    if not _is_fitted(model):
        return {}
    told = {fact.label: fact.words(model) for fact in FACTS if fact.label not in leave_out}
    return {label: words for label, words in told.items() if words}


def fact_values(model: BaseEstimator) -> dict[str, Any]:
    """What programs are told about a fit.

    Parameters
    ----------
    model : estimator
        One of vicinal's.

    Returns
    -------
    dict
        Numbers, strings, truth values and lists of them, by the names of attributes without
        the underscore at their end; empty where the model is not fitted.
    """
    if not _is_fitted(model):
        return {}
    found = {name: value for fact in FACTS for name, value in fact.values(model).items()}
    return {name: _plain(value) for name, value in found.items() if value is not None}


def _is_fitted(model: BaseEstimator) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's."""
    return value.tolist() if hasattr(value, "tolist") else value


# ---------------------------------------------------------------------------------------- numbers


def number(value: float) -> str:
    """A whole number as it is, another with six digits."""
    return str(value) if isinstance(value, int | np.integer) else f"{value:.6g}"


def duration(seconds: float) -> str:
    """Seconds, or minutes and seconds; never none at all."""
    if seconds < 0.005:
        return "< 0.01 s"
    if seconds < 0.095:
        return f"{seconds:.2f} s"
    return f"{seconds:.1f} s" if seconds < 60 else f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


# -------------------------------------------------------------------------------------- the facts


def _map(model: BaseEstimator) -> str:
    A = getattr(model, "components_", None)
    if A is None:
        return ""
    each = " for each class" if A.ndim == 3 else ""
    return f"from {A.shape[-1]} features to {A.shape[-2]}{each}"


def _n_components(model: BaseEstimator) -> dict[str, Any]:
    A = getattr(model, "components_", None)
    return {"n_components": None if A is None else A.shape[-2]}


def _gaussian(model: BaseEstimator) -> str:
    n = getattr(model, "n_gaussian_", 0)
    return f"{n} of {model.n_features_in_} directions" if n else ""


def _parts(model: BaseEstimator) -> str:
    n = getattr(model, "n_mixture_", 1)
    if n == 1:
        return ""
    directions = ", ".join(str(each) for each in model.mixture_n_gaussian_)
    return f"{n}; Gaussian directions of each: {directions}"


def _classes(model: BaseEstimator) -> str:
    classes = getattr(model, "classes_", None)
    if classes is None:
        return ""
    names = [_short(str(name)) for name in classes[:_MOST_CLASSES]]
    more = ", …" if len(classes) > len(names) else ""
    return f"{len(classes)}: {', '.join(names)}{more}"


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def _points(model: BaseEstimator) -> str:
    if hasattr(model, "n_samples_fit_"):
        return str(model.n_samples_fit_)
    embedding = getattr(model, "embedding_", None)
    return "" if embedding is None else f"{len(embedding)} in {embedding.shape[1]} dimensions"


def _objective(model: BaseEstimator) -> str:
    if not hasattr(model, "objective_"):
        return ""
    return f"{number(model.objective_)} ({model.objective_in_words_}, less the penalty)"


def _solver(model: BaseEstimator) -> str:
    recipe = getattr(model, "recipe_", None)
    if recipe is None or "batching" not in recipe:
        reason = f" ({recipe['reason']})" if recipe and "reason" in recipe else ""
        return f"{getattr(model, 'solver_', '')}{reason}"
    size = "" if recipe["batch_size"] is None else f" of {recipe['batch_size']}"
    return f"{recipe['solver']}, {recipe['batching']} batches{size} ({recipe['reason']})"


def _penalty(model: BaseEstimator) -> str:
    recipe = getattr(model, "recipe_", {})
    if "regularization" not in recipe:
        return ""
    by_folds = ", by folds" if hasattr(model, "path_") else ""
    if recipe["regularization"] is None:
        return f"none: no map that was learned predicts better than the start{by_folds}"
    return f"{number(recipe['regularization'])}{by_folds}"


def _engine(model: BaseEstimator) -> str:
    if not hasattr(model, "engine_"):
        return ""
    return f"{model.engine_} ({model.engine_reason_})"


def _time(model: BaseEstimator) -> str:
    times = getattr(model, "history_", {}).get("time", ())
    return duration(times[-1]) if len(times) else ""


def _in_words(name: str) -> Callable[[BaseEstimator], str]:
    """An attribute as a number or yes and no; the sum where there is one for each class."""

    def words(model: BaseEstimator) -> str:
        value = getattr(model, name, None)
        if value is None:
            return ""
        if isinstance(value, bool | np.bool_):
            return "yes" if value else "no"
        return number(np.sum(value))

    return words


def _attributes(*names: str) -> Callable[[BaseEstimator], dict[str, Any]]:
    """Attributes as they are."""
    return lambda model: {name.rstrip("_"): getattr(model, name, None) for name in names}


def _of_attribute(label: str, name: str) -> Fact:
    """A fact that is one attribute."""
    return Fact(label, _in_words(name), _attributes(name))


# In the order in which they are shown.
FACTS = (
    Fact("Map", _map, _n_components),
    Fact("Gaussian part", _gaussian, _attributes("n_gaussian_")),
    Fact("Parts", _parts, _attributes("n_mixture_")),
    Fact("Classes", _classes),
    Fact("Points", _points),
    _of_attribute("Clusters", "n_clusters_"),
    _of_attribute("Pairs", "n_pairs_"),
    _of_attribute("Threshold of distances", "threshold_"),
    _of_attribute("Neighborhood size", "n_neighbors_"),
    _of_attribute("Smoothing", "smoothing_"),
    Fact("Objective", _objective, _attributes("objective_")),
    _of_attribute("Leave-one-out log-likelihood", "loo_log_likelihood_"),
    _of_attribute("Log-likelihood", "log_likelihood_"),
    _of_attribute("Validation score", "validation_score_"),
    _of_attribute("Background share", "background_"),
    _of_attribute("Global optimum", "is_global_optimum_"),
    Fact("Penalty", _penalty),
    Fact("Solver", _solver, _attributes("solver_")),
    _of_attribute("Updates", "n_iter_"),
    _of_attribute("Converged", "converged_"),
    Fact("Engine", _engine, _attributes("engine_", "engine_reason_")),
    Fact("Time of the updates", _time),
)
