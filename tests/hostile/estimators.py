"""Laws of every public estimator on hostile tables.

A fit ends in a clean error that names an argument, or in finite results; no warning but ours, no
input changed; the same bits for the same seed at any number of threads, and after save and load.
"""

import copy
import re
import tempfile
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import vicinal
from tests.hostile.settings import CHOICES, draw_estimator
from tests.hostile.tables import Table, draw_table

__all__ = ["check", "leaks", "same"]

_SEED = 16

# How our own warnings begin, besides those of convergence.
_OURS = (
    "the neighborhood graph has",
    "n_neighbors=",
    "no point has an impostor",
    "LocalComponents with regularization='auto': ",
    "LocalComponents with covariance=",
)

# Words by which a message says what it is about, besides names of parameters.
_SUBJECTS = {"X", "y", "sample_weight", "sample", "rows", "points", "class", "classes"}

_METHODS = ("predict", "predict_proba", "transform", "score_samples")


def check(case: int) -> list[str]:
    """Violations in the case of that number."""
    rng = np.random.default_rng([_SEED, case])
    table, estimator = draw_table(rng), draw_estimator(rng)
    found = _violations(estimator, table, str(rng.choice(sorted(_LAWS))))
    words = " ".join(repr(estimator).split())
    return [f"case {case}: {words} on {table.words}: {what}" for what in found]


def _violations(estimator, table: Table, law: str) -> list[str]:
    """After one fit, and one further law."""
    before = copy.deepcopy((table.X, table.y, table.sample_weight))
    outcome = _fit_and_ask(estimator, table, n_jobs=1)
    found = list(outcome.violations)
    if not same(before, (table.X, table.y, table.sample_weight)):
        found.append("an input was changed")
    return found or _LAWS[law](outcome, estimator, table)


class _Outcome:
    """How a fit ended: an error's words, or a model with what it says of new rows."""

    def __init__(self) -> None:
        self.model, self.new, self.error = None, None, None
        self.results: dict = {}
        self.violations: list[str] = []


def _fit_and_ask(estimator, table: Table, n_jobs: int) -> _Outcome:
    outcome, model = _Outcome(), clone(estimator)
    if "n_jobs" in model.get_params():
        model.set_params(n_jobs=n_jobs)
    arguments = {"X": table.X, "y": table.y}
    if table.sample_weight is not None and _takes_weights(model):
        arguments["sample_weight"] = table.sample_weight
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(**arguments)
        except (ValueError, TypeError) as error:
            outcome.error = f"{type(error).__name__}: {error}"
            if not _is_clean(str(error), model):
                outcome.violations.append(f"a message that names nothing: {outcome.error}")
        except Exception as error:
            outcome.error = f"{type(error).__name__}: {error}"
            outcome.violations.append(f"fit raised {outcome.error}")
        else:
            outcome.model, outcome.new = model, _as_fitted(model, table.new)
            _ask(outcome)
    outcome.violations += leaks(caught)
    return outcome


def leaks(caught) -> list[str]:
    """Warnings that are not ours."""
    strange = [
        item
        for item in caught
        if not issubclass(item.category, ConvergenceWarning)
        and not str(item.message).startswith(_OURS)
    ]
    return sorted({f"leaked {item.category.__name__}: {item.message}" for item in strange})


def _takes_weights(model) -> bool:
    from sklearn.utils.validation import has_fit_parameter

    return has_fit_parameter(model, "sample_weight")


def _as_fitted(model, new):
    """New rows with the names the model was fitted with."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return new
    import pandas as pd

    return pd.DataFrame(new, columns=names)


def _ask(outcome: _Outcome) -> None:
    """What the model says of new rows; finite, and probabilities that sum to one."""
    model = outcome.model
    for name in _METHODS:
        if not hasattr(model, name) or (name == "transform" and _cannot_transform(model)):
            continue
        try:
            answer = getattr(model, name)(outcome.new)
        except ValueError as error:
            outcome.results[name] = str(error)
            if not _is_clean(str(error), model):
                outcome.violations.append(f"{name}: a message that names nothing: {error}")
            continue
        except Exception as error:
            outcome.violations.append(f"{name} raised {type(error).__name__}: {error}")
            continue
        values = answer.toarray() if hasattr(answer, "toarray") else np.asarray(answer)
        outcome.results[name] = values
        outcome.violations += _judge(name, values)
    for name, value in vars(model).items():
        if name.endswith("_") and isinstance(value, np.ndarray) and value.dtype.kind == "f":
            outcome.results[name] = value
            if not np.isfinite(value).all():
                outcome.violations.append(f"{name} is not finite")


def _cannot_transform(model) -> bool:
    """Embeddings without an extension to new points say so by AttributeError or by method."""
    return getattr(model, "method", None) in ("tsne",)


def _judge(name: str, values: np.ndarray) -> list[str]:
    if values.dtype.kind != "f":
        return []
    if not np.isfinite(values).all():
        return [f"{name} is not finite"]
    if name == "predict_proba" and not np.allclose(values.sum(axis=1), 1.0, atol=1e-6):
        return ["predict_proba does not sum to one"]
    return []


def _is_clean(message: str, model) -> bool:
    words = set(re.findall(r"\w+", message))
    return bool(words & (_SUBJECTS | set(model.get_params())))


def _again(outcome: _Outcome, estimator, table: Table) -> list[str]:
    """The same bits for the same seed at another number of threads."""
    again = _fit_and_ask(estimator, table, n_jobs=2)
    if again.error != outcome.error:
        return [f"another end at n_jobs=2: {again.error!r} instead of {outcome.error!r}"]
    return [] if same(again.results, outcome.results) else ["other bits at n_jobs=2"]


def _after_saving(outcome: _Outcome, estimator, table: Table) -> list[str]:
    """The same answers after save and load."""
    if outcome.model is None:
        return []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        path = Path(folder, "model.skops")
        vicinal.save(outcome.model, path)
        loaded = _Outcome()
        loaded.model, loaded.new = vicinal.load(path), outcome.new
        _ask(loaded)
    return [] if same(loaded.results, outcome.results) else ["other answers after save and load"]


def _after_other_settings(outcome: _Outcome, estimator, table: Table) -> list[str]:
    """`set_params` speaks of the next fit: a fitted model says what it said."""
    if outcome.model is None:
        return []
    choices = CHOICES[type(outcome.model)]
    outcome.model.set_params(**{name: values[-1] for name, values in choices.items()})
    asked = _Outcome()
    asked.model, asked.new = outcome.model, outcome.new
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        _ask(asked)
    return [] if same(asked.results, outcome.results) else ["other answers after set_params"]


_LAWS = {"again": _again, "saved": _after_saving, "other settings": _after_other_settings}


def same(one, other) -> bool:
    """Equal to the last bit, containers and types included."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        equal_nan = one.dtype.kind == "f"
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=equal_nan)
    if hasattr(one, "equals"):
        return bool(one.equals(other))
    return type(one) is type(other) and one == other
