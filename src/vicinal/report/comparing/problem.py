"""What is compared on: rows in numbers, classes, and the same folds for every method."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import RepeatedStratifiedKFold, check_cv
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.multiclass import type_of_target

from vicinal.inputs.checks import check_classes, check_count
from vicinal.inputs.units import check_units
from vicinal.report.numbers.labels import coded
from vicinal.report.numbers.plane import sample

__all__ = ["Problem"]

# Folds are made anew until so many rows have been judged, but not more often than that: five folds
# alone leave Student's t four degrees of freedom, and a wide interval.
_ENOUGH_JUDGED, _MOST_REPEATS = 2000, 3

Folds = list[tuple[NDArray, NDArray]]


@dataclass(frozen=True)
class Problem:
    """Rows, classes and folds.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
    y : ndarray of int, shape (n_rows,)
        Positions among the sorted classes.
    n_classes : int
    folds : list of tuple of ndarray
        Positions of the rows to learn from and of those to judge by.
    how : str
        What the folds are, in words.
    notes : tuple of str
        What to keep in mind about rows and folds.
    """

    X: NDArray
    y: NDArray
    n_classes: int
    folds: Folds
    how: str
    notes: tuple[str, ...] = ()

    @property
    def test_ratio(self) -> float:
        """Rows to judge by over rows to learn from."""
        n_train, n_test = np.sum([(len(train), len(test)) for train, test in self.folds], axis=0)
        return float(n_test / n_train)

    @property
    def n_train(self) -> int:
        """Rows to learn from, where they are most."""
        return max(len(train) for train, _ in self.folds)

    @classmethod
    def of(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        *,
        cv: Any = 5,
        n_repeats: int | None = None,
        max_samples: int | None = None,
        seed: int = 0,
    ) -> "Problem":
        """Check rows and classes, draw a sample of many rows, and make folds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        cv : int, cross-validation generator or iterable, default=5
        n_repeats : int, optional
            How often folds are made. None: more often where rows are few.
        max_samples : int, optional
        seed : int, default=0

        Returns
        -------
        Problem
        """
        rows, (labels, codes) = _checked_rows(X), _checked_classes(y)
        check_consistent_length(rows, codes)
        chosen, notes = _sampled(codes, max_samples, seed)
        kept, codes = np.unique(codes[chosen], return_inverse=True)
        rows, labels = rows[chosen], labels[kept]
        _check_counts(codes, labels)
        folds, how = _folds(rows, codes, cv, n_repeats, seed)
        if isinstance(cv, Integral):
            notes += _fewer(codes, int(cv)) + _scarce(codes, labels, _possible(codes, int(cv)))
        return cls(rows, codes, len(labels), folds, how, notes)


def _checked_rows(X: ArrayLike) -> NDArray:
    """Numbers, all of them there."""
    named = getattr(X, "columns", None)
    names = [] if named is None else [str(name) for name in named]
    try:
        rows = check_array(X, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=4)
    except (TypeError, ValueError) as error:
        where = _column_of_words(X, names)
        if not where:
            raise
        raise ValueError(
            f"X has words, or what else is no number, in {where} ({error}): make numbers of it, "
            "for example with sklearn.preprocessing.OneHotEncoder, or leave it out."
        ) from error
    gaps = ~np.isfinite(rows)
    if gaps.any():
        row, column = np.argwhere(gaps)[0]
        raise ValueError(
            f"X has missing or infinite values, {int(gaps.sum()):,} in all, the first in row {row} "
            f"of {_named(column, names)}: fill them, for example with "
            "sklearn.impute.SimpleImputer, or leave out the rows or columns."
        )
    check_units(rows)
    if (rows == rows[0]).all():
        raise ValueError("X is the same in every row: there is nothing to tell classes by.")
    return np.asarray(rows)


def _column_of_words(X: ArrayLike, names: Sequence[str]) -> str:
    """The first column that cannot be made numbers; nothing where that is not the trouble."""
    values = np.asarray(X, dtype=object)
    for column in range(values.shape[1] if values.ndim == 2 else 0):
        try:
            values[:, column].astype(np.float64)
        except (TypeError, ValueError):
            return _named(column, names)
    return ""


def _named(column: int, names: Sequence[str]) -> str:
    return f"column {names[column]!r}" if names else f"column {column}"


def _checked_classes(y: ArrayLike) -> tuple[NDArray, NDArray]:
    """Sorted classes, and the position of each row's among them."""
    classes, codes = coded(y, "y")
    n, n_classes = len(codes), len(classes)
    numbers = classes.dtype.kind == "f" and type_of_target(classes) == "continuous"
    if numbers or n_classes > max(2, n // 2):
        kind = "numbers with fractions" if numbers else f"{n_classes:,} different values"
        raise ValueError(
            f"y has {kind} in {n:,} rows, as in a regression: a metric is learned from classes "
            "with several rows each. Make classes of them, for example with "
            "sklearn.preprocessing.KBinsDiscretizer, or choose another target."
        )
    return check_classes(classes[codes])


def _check_counts(codes: NDArray, labels: NDArray) -> None:
    if (np.bincount(codes) >= 2).sum() < 2:
        raise ValueError(
            f"y has {len(labels):,} classes in {len(codes):,} rows, of which fewer than two have "
            "two rows: some to learn from and some to judge by are needed."
        )


def _sampled(codes: NDArray, max_samples: int | None, seed: int) -> tuple[NDArray, tuple[str, ...]]:
    """Rows to compare on, in order, and what to say of them."""
    n = len(codes)
    most = n if max_samples is None else check_count("max_samples", max_samples, 10)
    if n <= most:
        return np.arange(n), ()
    note = (
        f"a sample of {most:,} of {n:,} rows, every class with its share (max_samples changes it)"
    )
    return np.sort(sample(codes, most, seed=seed)), (note,)


def _folds(X: NDArray, y: NDArray, cv: Any, n_repeats: int | None, seed: int) -> tuple[Folds, str]:
    if hasattr(cv, "split") or np.iterable(cv):
        if n_repeats is not None:
            kind = type(cv).__name__
            raise ValueError(
                f"n_repeats={n_repeats!r} is for a number of folds, and cv is a {kind}."
            )
        folds = [(np.asarray(train), np.asarray(test)) for train, test in check_cv(cv).split(X, y)]
        return folds, f"{len(folds)} folds"
    wanted = check_count("cv", cv, 2, len(y), " (number of rows), or a way to make folds")
    n_folds = _possible(y, wanted)
    if n_repeats is None:
        n_repeats = min(_MOST_REPEATS, -(-_ENOUGH_JUDGED // len(y)))
    n_repeats = check_count("n_repeats", n_repeats, 1)
    maker = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=n_repeats, random_state=seed)
    with warnings.catch_warnings():  # `_scarce` says it with the name of the class
        warnings.filterwarnings("ignore", "The least populated class")
        folds = list(maker.split(X, y))
    times = {1: "", 2: ", twice"}.get(n_repeats, f", {n_repeats} times over")
    return folds, f"{n_folds} folds{times}"


def _possible(y: NDArray, wanted: int) -> int:
    """How many folds there can be: some class has a row in each."""
    return min(wanted, int(np.bincount(y).max()))


def _fewer(y: NDArray, wanted: int) -> tuple[str, ...]:
    """What to say where there are fewer folds than were asked for."""
    n_folds = _possible(y, wanted)
    if n_folds == wanted:
        return ()
    return (f"{wanted} folds were asked for; {n_folds} can be made, as no class has more rows",)


def _scarce(y: NDArray, labels: NDArray, n_folds: int) -> tuple[str, ...]:
    """What to say of classes with fewer rows than there are folds."""
    counts = np.bincount(y)
    few = np.flatnonzero(counts < n_folds)
    if not len(few):
        return ()
    least = few[np.argmin(counts[few])]
    others = f" (and {len(few) - 1} more)" if len(few) > 1 else ""
    rows = "1 row" if counts[least] == 1 else f"{counts[least]} rows"
    said = "some folds have none of it to judge by"
    if counts[least] == 1:
        said = "when it is judged, no training row has it"
    return (f"class {labels[least]!s}{others} has {rows}, fewer than the {n_folds} folds: {said}",)
