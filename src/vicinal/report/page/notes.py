"""What a reader should know about the data before believing a picture of them."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["data_notes"]

_SCALES_APART = 100.0  # ratio of standard deviations from which one feature drowns another
_NEARLY_THE_SAME = 0.9999  # correlation
_MOST_FEATURES_COMPARED = 300
_MOST_ROWS_COMPARED = 50_000
_FEW = 5  # members of a class that say little about it
_LOPSIDED = 20.0


def data_notes(
    X: NDArray, y: NDArray | None, names: list[str], prepared: bool = False
) -> list[str]:
    """Sentences about what is odd in the data; empty where nothing is.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,) or None
    names : list of str
        Of the features.
    prepared : bool, default=False
        Whether the features are put on a common scale before the model.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.report.page.notes import data_notes
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> data_notes(X, None, ["height", "weight"])
    []
    >>> data_notes(X * [1, 1000], None, ["height", "weight"])
    ['weight varies 1,065 times as much as height, and weighs as much more in raw distances: ...']
    """
    found = [
        *_about_features(X, names, prepared),
        *_about_rows(X),
        *([] if y is None else _about_classes(y)),
    ]
    return found


def _about_features(X: NDArray, names: list[str], prepared: bool) -> list[str]:
    spread, found = X.std(axis=0), []
    moves = spread > 1e-12 * np.maximum(1e-300, np.abs(X).max(axis=0))
    if not moves.all():
        found.append(f"Constant, so of no use: {_listed(names, np.flatnonzero(~moves))}.")
    if moves.sum() > 1 and not prepared:
        live = np.flatnonzero(moves)
        wide, narrow = live[spread[live].argmax()], live[spread[live].argmin()]
        ratio = spread[wide] / spread[narrow]
        if ratio > _SCALES_APART:
            found.append(
                f"{names[wide]} varies {ratio:,.0f} times as much as {names[narrow]}, and weighs "
                "as much more in raw distances: consider scaling."
            )
    return [*found, *_twins(X[:, moves], [n for n, m in zip(names, moves, strict=True) if m])]


def _twins(X: NDArray, names: list[str]) -> list[str]:
    """Features that say the same."""
    if not 1 < X.shape[1] <= _MOST_FEATURES_COMPARED:
        return []
    alike = np.triu(np.abs(np.atleast_2d(np.corrcoef(X.T))) > _NEARLY_THE_SAME, 1)
    pairs = [f"{names[i]} and {names[j]}" for i, j in np.argwhere(alike)[:3]]
    more = int(alike.sum()) - len(pairs)
    if not pairs:
        return []
    return [f"They say the same: {'; '.join(pairs)}{f'; and {more} more pairs' if more else ''}."]


def _about_rows(X: NDArray) -> list[str]:
    found, (n, d) = [], X.shape
    looked_at = X[:_MOST_ROWS_COMPARED]
    repeated = len(looked_at) - len(np.unique(looked_at, axis=0))
    if repeated:
        first = "" if len(looked_at) == n else "the first "
        found.append(
            f"{repeated:,} of {first}{len(looked_at):,} rows repeat another one: neighbors at "
            "distance 0."
        )
    if n <= d:
        found.append(f"{n:,} rows in {d:,} dimensions: any model can learn these by heart.")
    return found


def _about_classes(y: NDArray) -> list[str]:
    found = []
    classes, counts = np.unique(y, return_counts=True)
    few = np.flatnonzero(counts < _FEW)
    if len(few):
        named = _listed([str(c) for c in classes], few)
        found.append(f"Classes of fewer than {_FEW} rows: {named}.")
    if counts.max() > _LOPSIDED * counts.min():
        big, small = classes[counts.argmax()], classes[counts.argmin()]
        found.append(
            f"Class {big} has {counts.max():,} rows, class {small} {counts.min():,}: an accuracy "
            "is mostly that of the large ones."
        )
    return found


def _listed(names: list[str], which: NDArray) -> str:
    shown = ", ".join(names[j] for j in which[:5])
    return shown + (f" and {len(which) - 5} more" if len(which) > 5 else "")
