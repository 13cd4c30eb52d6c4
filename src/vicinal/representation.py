"""How a fitted model shows itself: facts about its fit, and a table of them in notebooks."""

from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

__all__ = ["RepresentationMixin", "fitted_facts"]

# So many classes are named, and so much of a name.
_MOST_CLASSES, _LONGEST_NAME = 6, 20

# Letters and lines take the color of the page's text, so that they can be read on light and dark.
_TABLE = (
    '<table class="vicinal-facts" style="border-collapse: collapse; margin: 0.5em 0 0.5em 1em; '
    "font-family: monospace; font-size: 0.9em; color: inherit; "
    'background: transparent; border: none">'
    '<caption style="text-align: left; font-weight: bold; padding: 0.2em 0.6em; '
    'white-space: nowrap; color: inherit">About the fit</caption><tbody>{rows}</tbody></table>'
)
_LINE = "border: none; border-top: 1px solid rgba(128, 128, 128, 0.4); text-align: left; "
_ROW = (
    '<tr style="background: transparent; color: inherit">'
    f'<th scope="row" style="{_LINE}padding: 0.2em 0.6em; font-weight: normal; opacity: 0.75; '
    'white-space: nowrap; vertical-align: top">{label}</th>'
    f'<td style="{_LINE}padding: 0.2em 0.6em; max-width: 40em; white-space: normal; '
    'overflow-wrap: anywhere">{text}</td></tr>'
)


class RepresentationMixin:
    """scikit-learn's diagram, and the facts of the fit below it.

    Within another estimator's diagram nothing is added.
    """

    def _repr_html_inner(self) -> str:
        return with_facts(super()._repr_html_inner(), self)  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = with_facts(bundle["text/html"], self)
        return bundle


def with_facts(diagram: str, model: Any) -> str:
    """A diagram in HTML with a table of facts; as it is where there are none."""
    facts = fitted_facts(model)
    if not facts:
        return diagram
    rows = "".join(_ROW.format(label=escape(label), text=escape(text)) for label, text in facts)
    return diagram + _TABLE.format(rows=rows)


def fitted_facts(model: Any) -> list[tuple[str, str]]:
    """What a fitted model says about itself and its fit, in words.

    Parameters
    ----------
    model : estimator
        One of vicinal's.

    Returns
    -------
    list of (str, str)
        A name and a text each; empty where the model is not fitted.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import NeighborhoodComponents
    >>> from vicinal.representation import fitted_facts
    >>> model = NeighborhoodComponents(n_components=2)
    >>> fitted_facts(model)
    []
    >>> X, y = load_iris(return_X_y=True)
    >>> dict(fitted_facts(model.fit(X, y)))["Map"]
    'from 4 features to 2'
    """
    try:
        check_is_fitted(model)
    except NotFittedError:
        return []
    found = [(label, tell(model)) for label, tell in _FACTS]
    return [(label, text) for label, text in found if text]


def _map(model: Any) -> str:
    A = getattr(model, "components_", None)
    if A is None:
        return ""
    each = " for each class" if A.ndim == 3 else ""
    return f"from {A.shape[-1]} features to {A.shape[-2]}{each}"


def _gaussian(model: Any) -> str:
    n = getattr(model, "n_gaussian_", 0)
    return f"{n} of {model.n_features_in_} directions" if n else ""


def _classes(model: Any) -> str:
    classes = getattr(model, "classes_", None)
    if classes is None:
        return ""
    names = [_short(str(name)) for name in classes[:_MOST_CLASSES]]
    more = ", …" if len(classes) > len(names) else ""
    return f"{len(classes)}: {', '.join(names)}{more}"


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def _points(model: Any) -> str:
    if hasattr(model, "n_samples_fit_"):
        return str(model.n_samples_fit_)
    embedding = getattr(model, "embedding_", None)
    return "" if embedding is None else f"{len(embedding)} in {embedding.shape[1]} dimensions"


def _objective(model: Any) -> str:
    if not hasattr(model, "objective_"):
        return ""
    kind = {"accuracy": "mean p", "log": "mean log p"}.get(model.objective, "")
    return f"{_number(model.objective_)} ({kind}, less the penalty)"


def _recipe(model: Any) -> str:
    recipe = getattr(model, "recipe_", None)
    if recipe is None:
        return str(getattr(model, "solver_", ""))
    size = "" if recipe["batch_size"] is None else f" of {recipe['batch_size']}"
    return f"{recipe['solver']}, {recipe['batching']} batches{size} ({recipe['reason']})"


def _updates(model: Any) -> str:
    n = getattr(model, "n_iter_", None)
    if n is None:
        return ""
    low, high = np.min(n), np.max(n)
    return f"{low}" if low == high else f"{low} to {high}"


def _engine(model: Any) -> str:
    if not hasattr(model, "engine_"):
        return ""
    return f"{model.engine_} ({model.engine_reason_})"


def _time(model: Any) -> str:
    times = getattr(model, "history_", {}).get("time", ())
    return f"{_number(times[-1])} s" if len(times) else ""


def _value(name: str) -> Callable[[Any], str]:
    """A number or yes and no; the sum where there is one for each class."""

    def tell(model: Any) -> str:
        value = getattr(model, name, None)
        if value is None:
            return ""
        if isinstance(value, bool | np.bool_):
            return "yes" if value else "no"
        return _number(np.sum(value))

    return tell


def _number(value: float) -> str:
    return str(value) if isinstance(value, int | np.integer) else f"{value:.4g}"


_FACTS: tuple[tuple[str, Callable[[Any], str]], ...] = (
    ("Map", _map),
    ("Gaussian part", _gaussian),
    ("Classes", _classes),
    ("Points", _points),
    ("Pairs", _value("n_pairs_")),
    ("Neighborhood size", _value("n_neighbors_")),
    ("Smoothing", _value("smoothing_")),
    ("Objective", _objective),
    ("Leave-one-out log-likelihood", _value("loo_log_likelihood_")),
    ("Log-likelihood", _value("log_likelihood_")),
    ("Validation score", _value("validation_score_")),
    ("Background share", _value("background_")),
    ("Global optimum", _value("is_global_optimum_")),
    ("Solver", _recipe),
    ("Updates", _updates),
    ("Converged", _value("converged_")),
    ("Engine", _engine),
    ("Time of the updates", _time),
)
