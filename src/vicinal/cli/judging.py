"""How good a model is on given rows."""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

from vicinal.cli.running import WrongUsage, warn
from vicinal.cli.tables.labels import recognized
from vicinal.cli.tables.rows import Rows
from vicinal.cli.wording import plural, some

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator
    from sklearn.pipeline import Pipeline

__all__ = ["Judgment", "check_judged_in_parts", "judge", "needs_classes"]

_RAW, _LEARNED = "raw", "learned"


@dataclass(frozen=True)
class Judgment:
    """Scores, in all and of every row.

    Attributes
    ----------
    facts : dict
        What machines are told.
    words : dict of str to str
        What people are told.
    of_rows : callable
        Makes a table with what was found out about every row.
    """

    facts: dict[str, Any]
    words: dict[str, str]
    of_rows: "Callable[[], pl.DataFrame]"


def needs_classes(model: "BaseEstimator") -> bool:
    """Whether the rows must be labeled to judge the model by them."""
    return not hasattr(model, "score_samples")


def check_judged_in_parts(model: "BaseEstimator | type[BaseEstimator]", option: str) -> None:
    """Raise an error where a model is judged by neighbors, which may be anywhere in a table."""
    if not hasattr(model, "score_samples") and not hasattr(model, "predict"):
        raise WrongUsage(
            f"{option}: this model is judged by nearest neighbors, with it and without, which are "
            "looked for among all rows at once; a table that is read in parts has no such"
        )


def judge(
    model: "BaseEstimator", rows: Rows, *, k: int | None = None, known: Rows | None = None
) -> Judgment:
    """Judge a model by rows.

    Parameters
    ----------
    model : estimator or pipeline
        Classifiers are judged by their accuracy, densities by the mean log-density,
        other metrics by the accuracy of nearest neighbors.
    rows : Rows
    k : int, optional
        Number of nearest neighbors. None: as many as the model was fitted with.
    known : Rows, optional
        Where the neighbors are. None: among the rows themselves, each left out in turn.

    Returns
    -------
    Judgment
    """
    from vicinal.pipelines import last_step

    if hasattr(model, "score_samples"):
        return _density(model, rows)
    if rows.y is None:
        raise ValueError("the rows have no classes to judge by: name their column by --target")
    if hasattr(model, "predict"):
        y = recognized(rows.y, model.classes_)
        _check_classes(model, y)
        return _accuracy(model, rows, y)
    metric = last_step(model)
    if not hasattr(metric, "pair_distance"):
        raise ValueError(
            f"a {type(metric).__name__} has no score: use vicinal transform and look at its "
            "coordinates"
        )
    return _neighbors(model, rows, k or int(getattr(metric, "n_targets", 3)), known)


def _check_classes(model: "BaseEstimator", y: "NDArray") -> None:
    known = {*model.classes_.tolist()}
    unknown = [label for label in y.tolist() if label not in known]
    names = some(dict.fromkeys(unknown))
    if len(unknown) == len(y):
        raise ValueError(
            f"the model knows none of these classes ({names}): it was fitted to "
            f"{some(model.classes_.tolist())}"
        )
    if unknown:
        warn(
            f"warning: {plural(len(unknown), 'row has a class', 'rows have classes')} the model "
            f"does not know ({names}), counted as wrong"
        )


def _density(model: "BaseEstimator", rows: Rows) -> Judgment:
    import polars as pl

    from vicinal.facts import number
    from vicinal.pipelines import steps_before

    values = rows.asked(model.score_samples)
    mean, error = float(values.mean()), _standard_error(values)
    before = steps_before(model)
    units = "features" if before is None else f"{_preprocessed(before)} features"
    facts = {"rows": len(values), "mean_log_density": mean, "standard_error": error}
    words = {
        "Mean log-density": f"{number(mean)}, standard error {error:.2g}",
        "Units": f"nats per row, of the {units}",
    }
    return Judgment({**facts, "units": units}, words, lambda: pl.DataFrame({"log_density": values}))


def _standard_error(values: "NDArray") -> float:
    n = len(values)
    return float(values.std(ddof=1)) / sqrt(n) if n > 1 else float("nan")


def _accuracy(model: "BaseEstimator", rows: Rows, y: "NDArray") -> Judgment:
    import numpy as np
    import polars as pl

    predicted = rows.asked(model.predict)
    right = predicted == y

    def of_rows() -> pl.DataFrame:
        shares = rows.asked(model.predict_proba)
        own = (shares * np.equal.outer(y, model.classes_)).sum(axis=1)
        return pl.DataFrame({"predicted": predicted.tolist(), "probability_of_own": own})

    facts = {"rows": len(right), **_share(right)}
    return Judgment(facts, {"Accuracy": _share_in_words(right)}, of_rows)


def _neighbors(model: "BaseEstimator", rows: Rows, k: int, known: Rows | None) -> Judgment:
    import polars as pl

    spaces = _spaces(model)
    votes = {name: _votes(to, rows, k, known) for name, to in spaces.items()}
    right = {name: predicted == rows.y for name, predicted in votes.items()}
    words = {f"{k}-NN {name}": _share_in_words(one) for name, one in right.items()}
    facts = {
        "rows": len(rows),
        "n_neighbors": k,
        "neighbors": "left out in turn" if known is None else "training rows",
        **{name: _share(one) for name, one in right.items()},
    }
    learned = votes[_LEARNED].tolist()
    return Judgment(facts, words, lambda: pl.DataFrame({"predicted": learned}))


def _spaces(model: "BaseEstimator") -> "dict[str, Callable[[Any], NDArray]]":
    """Maps to the spaces to look for neighbors in."""
    import numpy as np

    from vicinal.pipelines import steps_before

    spaces: dict[str, Callable[[Any], NDArray]] = {_RAW: np.asarray}
    before = steps_before(model)
    if before is not None:
        spaces[_preprocessed(before)] = lambda X: np.asarray(before.transform(X))
    spaces[_LEARNED] = lambda X: np.asarray(model.transform(X))
    return spaces


def _preprocessed(before: "Pipeline") -> str:
    """What the steps before a model make of features."""
    from vicinal.pipelines import steps_of

    steps = [type(step).__name__ for step in steps_of(before)]
    return "standardized" if steps == ["StandardScaler"] else "preprocessed"


def _votes(to: "Callable[[Any], NDArray]", rows: Rows, k: int, known: Rows | None) -> "NDArray":
    """Classes by the majority of k nearest neighbors."""
    from vicinal.voting import majority

    keys = rows if known is None else known
    assert keys.y is not None
    n_others = len(keys) - (known is None)
    if k > n_others:
        raise ValueError(
            f"{plural(k, 'neighbor')} cannot be found among {plural(n_others, 'row')}: choose "
            "fewer by vicinal score --neighbors"
        )
    return majority(to(keys.X), keys.y, k, None if known is None else to(rows.X))


def _share(right: "NDArray") -> dict[str, Any]:
    return {"accuracy": float(right.mean()), "accuracy_interval": _interval(right)}


def _share_in_words(right: "NDArray") -> str:
    low, high = _interval(right)
    return f"{right.mean():.1%} right (95% interval {low:.1%} to {high:.1%})"


def _interval(right: "NDArray") -> tuple[float, float]:
    """Where the true share lies, at 95 %."""
    from vicinal.report.numbers.calibration import wilson_interval

    low, high = wilson_interval(right.mean(), len(right))
    return float(low), float(high)
