"""How often neighbors name the class of a row right, before and after: with intervals."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import KFold, StratifiedKFold

from vicinal.report.numbers.accuracies import votes
from vicinal.report.numbers.calibration import Z, wilson_interval
from vicinal.report.page.choosing import nearest_of, spread_sample
from vicinal.report.page.stages import Stage, stages_of
from vicinal.voting import nearest_points

__all__ = ["StageAccuracy", "Verdict", "judge_between", "judge_by_folds", "judge_within"]

MOST_JUDGED = 5_000  # rows that are named; of more, a sample
MOST_KNOWN = 50_000  # rows that their neighbors are among; of more, a sample
MOST_NEIGHBORS = 31  # for the curve over their number
FLATTERED = (
    "The model learned from labels. If it was fitted to these very rows, what it learned is "
    "flattered here: judge it by rows it has not seen."
)


@dataclass(frozen=True)
class StageAccuracy:
    """Which rows were named right at one stage, by how many neighbors.

    Attributes
    ----------
    name : str
    n_coordinates : int
    right : ndarray of bool, shape (n_judged, most)
        By the first, the first two, ... neighbors.
    n_neighbors : int
        The number of them that is looked at first.
    """

    name: str
    n_coordinates: int
    right: NDArray
    n_neighbors: int

    @property
    def correct(self) -> NDArray:
        """Which rows `n_neighbors` name right."""
        return self.right[:, self.n_neighbors - 1]

    @property
    def accuracy(self) -> float:
        """Share of rows named right."""
        return float(self.correct.mean())

    @property
    def interval(self) -> tuple[float, float]:
        """Where the accuracy lies with a probability of 95 %."""
        low, high = wilson_interval(self.correct.mean(), np.array(len(self.correct)))
        return float(low), float(high)

    def gain_over(self, other: "StageAccuracy") -> tuple[float, float, float]:
        """Difference of two accuracies on the same rows, and its 95 % interval."""
        change = self.correct.astype(float) - other.correct
        gain = float(change.mean())
        reach = Z * float(change.std()) / sqrt(len(change))
        return gain, gain - reach, gain + reach


@dataclass(frozen=True)
class Verdict:
    """How well the same rows were named at every stage.

    Attributes
    ----------
    stages : list of StageAccuracy
        In the order of the stages.
    n_neighbors : int
    how : str
        What was done, in a sentence.
    caution : str
        What to keep in mind; may be empty.
    """

    stages: list[StageAccuracy]
    n_neighbors: int
    how: str
    caution: str = ""


def judge_between(
    train: list[Stage], y: NDArray, test: list[Stage], y_test: NDArray, n_neighbors: int
) -> Verdict:
    """Judge test rows by their neighbors among the training rows, at every stage.

    Parameters
    ----------
    train : list of Stage
    y : ndarray of int
        Classes of the training rows.
    test : list of Stage
    y_test : ndarray of int
        Classes of the test rows, by the same numbers.
    n_neighbors : int

    Returns
    -------
    Verdict
    """
    known, asked = _some(y, MOST_KNOWN), _some(y_test, MOST_JUDGED)
    k = min(n_neighbors, len(known))
    accuracies = [
        StageAccuracy(new.name, *_named(stage, y, known, new, y_test, asked), k)
        for stage, new in zip(train, test, strict=True)
    ]
    how = (
        f"{_counted(asked, y_test)} test rows, named by their {k} nearest among "
        f"{_counted(known, y)} training rows."
    )
    return Verdict(accuracies, k, how)


def judge_within(stages: list[Stage], y: NDArray, n_neighbors: int, supervised: bool) -> Verdict:
    """Judge rows by their neighbors among the others; of many rows, a sample.

    Parameters
    ----------
    stages : list of Stage
    y : ndarray of int
    n_neighbors : int
    supervised : bool
        Whether the model has seen labels.

    Returns
    -------
    Verdict
    """
    known = _some(y, MOST_KNOWN)
    labels = y[known]
    rows, k = _some(labels, MOST_JUDGED), min(n_neighbors, len(known) - 1)
    accuracies = []
    for stage in stages:
        near = nearest_of(rows, stage.points[known], MOST_NEIGHBORS).who
        right = _right(labels[near], labels[rows])
        accuracies.append(StageAccuracy(stage.name, stage.points.shape[1], right, k))
    others = "all others" if len(known) == len(y) else f"{len(known):,} others"
    how = f"{_counted(rows, y)} rows, each named by its {k} nearest among {others}."
    return Verdict(accuracies, k, how, FLATTERED if supervised else "")


def judge_by_folds(
    model: BaseEstimator, X: Any, y: NDArray, n_neighbors: int, n_folds: int
) -> Verdict:
    """Judge each fold by neighbors in the others, to which a copy of the model is fitted.

    Parameters
    ----------
    model : estimator
    X : array-like of shape (n, n_features)
    y : ndarray of shape (n,)
    n_neighbors, n_folds : int

    Returns
    -------
    Verdict
    """
    rows = X if hasattr(X, "iloc") else np.asarray(X)
    codes = np.unique(y, return_inverse=True)[1]
    found: list[list[StageAccuracy]] = []
    order: list[NDArray] = []
    for train, test in _folds(y, n_folds):
        fitted = _fitted_copy(model, _rows(rows, train), y[train])
        old, new = stages_of(fitted, _rows(rows, train)), stages_of(fitted, _rows(rows, test))
        found.append(judge_between(old, codes[train], new, codes[test], n_neighbors).stages)
        order.append(test[_some(y[test], MOST_JUDGED)])
    accuracies = [_joined(parts, np.concatenate(order)) for parts in zip(*found, strict=True)]
    k, judged = accuracies[0].n_neighbors, _counted(np.concatenate(order), y)
    how = (
        f"{n_folds}-fold cross-validation: {judged} rows, each named by its {k} nearest in the "
        "other folds, to which the model was fitted anew."
    )
    return Verdict(accuracies, k, how)


def _joined(parts: Sequence[StageAccuracy], order: NDArray) -> StageAccuracy:
    """What all folds found, in the order of the rows."""
    most = min(part.right.shape[1] for part in parts)
    right = np.concatenate([part.right[:, :most] for part in parts])[np.argsort(order)]
    k = min(part.n_neighbors for part in parts)
    return StageAccuracy(parts[0].name, parts[0].n_coordinates, right, k)


def _named(
    train: Stage, y: NDArray, known: NDArray, test: Stage, truth: NDArray, asked: NDArray
) -> tuple[int, NDArray]:
    """Number of coordinates, and which rows are named right by how many neighbors."""
    most = min(MOST_NEIGHBORS, len(known))
    _, near = nearest_points(train.points[known], test.points[asked], most)
    return train.points.shape[1], _right(y[known][near], truth[asked])


def _some(labels: NDArray, most: int) -> NDArray:
    return spread_sample(labels, len(labels), most)


def _counted(some: NDArray, every: NDArray) -> str:
    return f"{len(some):,}" + (f" of {len(every):,}" if len(some) < len(every) else "")


def _right(near: NDArray, truth: NDArray) -> NDArray:
    """Which rows are named right, of the classes of their neighbors, nearest first: (n, most)."""
    return np.asarray(votes(near) == truth[:, None])


def _fitted_copy(model: BaseEstimator, X: Any, y: NDArray) -> BaseEstimator:
    with warnings.catch_warnings():  # what it had to say, it has said in the fit reported on
        warnings.simplefilter("ignore")
        return clone(model).fit(X, y)


def _folds(y: NDArray, n_folds: int) -> Iterator[tuple[NDArray, NDArray]]:
    splits = KFold if np.unique(y, return_counts=True)[1].min() < n_folds else StratifiedKFold
    return splits(n_folds, shuffle=True, random_state=0).split(np.zeros(len(y)), y)


def _rows(X: Any, which: NDArray) -> Any:
    return X.iloc[which] if hasattr(X, "iloc") else X[which]
