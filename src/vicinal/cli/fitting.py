"""Fitting a model to a table."""

import re
import time
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vicinal.cli.families import Family
from vicinal.cli.judging import Judgment, judge
from vicinal.cli.model_files import metadata_of
from vicinal.cli.overwriting import check_file
from vicinal.cli.running import WrongUsage, remark, warn
from vicinal.cli.tables.columns import Columns, Selection
from vicinal.cli.tables.labels import look_alikes
from vicinal.cli.tables.rows import Rows, prepare
from vicinal.cli.tables.table import Table
from vicinal.cli.wording import plural, some

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator
    from sklearn.pipeline import Pipeline

__all__ = [
    "FitPlan",
    "Fitted",
    "after_scaling",
    "check_classes",
    "check_target_given",
    "checkpoint_of",
    "chosen_rows",
    "fit_and_judge",
    "fit_model",
    "rows_to_fit",
    "save",
]


@dataclass(frozen=True)
class FitPlan:
    """What to fit, and how.

    Attributes
    ----------
    family : Family
    parameters : dict
    standardize : bool or None
        None: where the model starts from distances.
    test_size : float or None
    seed : int or None
    """

    family: Family
    parameters: dict[str, Any]
    standardize: bool | None
    test_size: float | None
    seed: int | None

    @property
    def is_standardized(self) -> bool:
        """Whether features are standardized first."""
        return self.family.starts_from_distances if self.standardize is None else self.standardize

    def check_repeatable(self) -> None:
        """Raise an error where the same command is to go on, and would fit to other rows."""
        is_kept = self.parameters.get("checkpoint") is not None
        if is_kept and self.test_size is not None and self.seed is None:
            raise WrongUsage(
                "--checkpoint with --test-size needs a --seed: the rows held out would be others "
                "when the fit goes on"
            )

    def build(self) -> "BaseEstimator":
        """The model, to be fitted."""
        estimator = self.family.estimator(**self.parameters)
        return after_scaling(estimator) if self.is_standardized else estimator


@dataclass(frozen=True)
class Fitted:
    """A model, and what it was fitted to.

    Attributes
    ----------
    plan : FitPlan
    model : estimator or pipeline
    rows : Rows
    test : Judgment or None
        By the rows held out.
    seconds : float
    """

    plan: FitPlan
    model: "BaseEstimator"
    rows: Rows
    test: Judgment | None
    seconds: float

    @property
    def estimator(self) -> "BaseEstimator":
        """The model itself, or the last step of the pipeline."""
        from vicinal.pipelines import last_step

        return last_step(self.model)


def checkpoint_of(parameters: dict[str, Any]) -> Path | None:
    """Where a fit with these parameters writes its checkpoint: a place for a file, if any."""
    given = parameters.get("checkpoint")
    if not isinstance(given, str):  # the estimator refuses all that is no path
        return None
    check_file(Path(given), "checkpoint", "--checkpoint")
    return Path(given)


def after_scaling(estimator: "BaseEstimator") -> "Pipeline":
    """A pipeline that gives all features mean 0 and variance 1 first."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), estimator)


def rows_to_fit(
    table: Table, selection: Selection, target: str | None, family: Family, drop_missing: bool
) -> Rows:
    """What to fit a model of a family to.

    Parameters
    ----------
    table : Table
    selection : Selection
    target : str or None
    family : Family
    drop_missing : bool

    Returns
    -------
    Rows
    """
    check_target_given(table, target, family)
    return chosen_rows(table, selection, target, family.needs_classes, drop_missing)


def check_target_given(table: Table, target: str | None, family: Family) -> None:
    """Raise an error where a model needs classes, and nobody says where they are."""
    if family.needs_classes and target is None and table.target is None:
        raise WrongUsage(
            f"--model {family.value} learns from classes: name their column by --target, one of "
            f"{some(table.frame.columns)}; or use --model local, which needs none"
        )


def chosen_rows(
    table: Table, selection: Selection, target: str | None, with_target: bool, drop_missing: bool
) -> Rows:
    """What to learn from: the columns that were chosen, and classes where they are needed.

    Parameters
    ----------
    table : Table
    selection : Selection
    target : str or None
    with_target : bool
    drop_missing : bool

    Returns
    -------
    Rows
    """
    columns = Columns.chosen(table, selection, target)
    rows = prepare(
        table, columns, with_target=with_target, drop_missing=drop_missing, can_choose=True
    )
    if rows.y is not None:
        check_classes(rows.y, str(columns.target), table.name)
    return rows


def check_classes(y: "NDArray", target: str, name: str) -> None:
    """Raise an error where labels are not classes to learn from."""
    import numpy as np

    what, classes = f"the target {target!r} of {name}", np.unique(y)
    if len(classes) < 2:
        raise ValueError(f"{what} has one class only, {classes[0]}: two are needed to tell apart")
    if len(classes) > max(2, len(y) // 2):
        raise ValueError(
            f"{what} has {len(classes)} different values in {len(y)} rows: vicinal learns from "
            "classes with several rows each; choose another column"
        )
    alike = look_alikes(classes.tolist())
    if alike:
        warn(f"warning: {what} has {alike[0]!r} and {alike[1]!r}, which are two classes")


def fit_and_judge(plan: FitPlan, rows: Rows) -> Fitted:
    """Fit to all rows, or to some of them and judge by the others.

    Parameters
    ----------
    plan : FitPlan
    rows : Rows

    Returns
    -------
    Fitted
    """
    training, held_out = rows, None
    if plan.test_size is not None:
        training, held_out = _split(rows, plan.test_size, plan.seed)
    began = time.perf_counter()
    model = fit_model(plan.build(), training, plan.parameters)
    seconds = time.perf_counter() - began
    _tell(plan, training, held_out)
    test = None if held_out is None else judge(model, held_out, known=training)
    return Fitted(plan, model, training, test, seconds)


def _tell(plan: FitPlan, training: Rows, held_out: Rows | None) -> None:
    """What was done; in the end, so that an error stands alone."""
    if plan.standardize is None:
        done = "standardized" if plan.is_standardized else "taken as they are"
        other = "--no-standardize" if plan.is_standardized else "--standardize"
        remark(f"features were {done} ({other} changes that)")
    if held_out is not None:
        remark(f"fitted to {len(training)} rows, {len(held_out)} were held out")


def fit_model(model: "BaseEstimator", rows: Rows, parameters: dict[str, Any]) -> "BaseEstimator":
    """Fit a model; what is wrong with its parameters or columns is told as it tells it."""
    if len(rows) < 2:
        raise ValueError("there is one row to learn from only: at least two are needed")
    try:
        return rows.fit(model)
    except TypeError as error:
        if any(f"{name}=" in str(error) for name in parameters):
            raise ValueError(str(error)) from error
        composed = [name for name, value in parameters.items() if isinstance(value, list | dict)]
        if composed:
            raise ValueError(f"--set {' or '.join(composed)}: {error}") from error
        raise
    except ValueError as error:
        raise ValueError(_with_names(str(error), rows.columns.features)) from error


def _with_names(message: str, features: list[str]) -> str:
    """An estimator's message with the name of the column that it knows by its place."""
    return re.sub(
        r"column (\d+)(?= of X\b)", lambda found: f"column {features[int(found[1])]!r}", message
    )


def _split(rows: Rows, test_size: float, seed: int | None) -> tuple[Rows, Rows]:
    """Rows to fit to, and rows to judge by; classes have the same shares in both."""
    import numpy as np
    from sklearn.model_selection import train_test_split

    if not 0 < test_size < 1:
        raise WrongUsage(f"--test-size {test_size} must lie between 0 and 1, both excluded")
    _check_shares(rows, test_size)
    parts = train_test_split(
        np.arange(len(rows)), test_size=test_size, stratify=rows.y, random_state=seed
    )
    training, held_out = (rows.take(np.sort(part)) for part in parts)
    return training, held_out


def _check_shares(rows: Rows, test_size: float) -> None:
    """Raise an error where a class, or the model, would be left without rows."""
    import numpy as np

    n_test = ceil(test_size * len(rows))
    parts = f"--test-size {test_size} of {plural(len(rows), 'row')} holds {n_test} out"
    if rows.y is None:
        if n_test == len(rows):
            raise ValueError(f"{parts}, and leaves none to learn from: choose a smaller share")
        return
    classes, counts = np.unique(rows.y, return_counts=True)
    if min(n_test, len(rows) - n_test) < len(classes):
        raise ValueError(
            f"{parts}, but there are {len(classes)} classes, and each needs a row on both sides: "
            "choose another share"
        )
    if counts.min() < 2:
        raise ValueError(
            f"--test-size: class {classes.tolist()[counts.argmin()]!r} has one row only, and each "
            "class needs one on both sides: leave it out, or --test-size"
        )


def save(done: Fitted, output: Path, data: Path) -> None:
    """Write the model, with what is known about its columns."""
    import vicinal

    metadata = metadata_of(done.rows, data)
    if done.test is not None:
        metadata["test"] = done.test.facts
    vicinal.save(done.model, output, metadata=metadata)
