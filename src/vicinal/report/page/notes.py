"""What a reader should know about the data before believing a picture of them."""

import numpy as np
from numpy.typing import NDArray

from vicinal.report.drawing.classes import Classes
from vicinal.report.names import shortened

__all__ = ["data_notes"]

_LONGEST = 60  # of a name within a sentence

_SCALES_APART = 100.0  # ratio of standard deviations from which one feature drowns another
_NEARLY_THE_SAME = 0.9999  # correlation
_MOST_FEATURES_COMPARED = 300
_MOST_ROWS_COMPARED = 50_000
_FEW = 5  # members of a class that say little about it
_LOPSIDED = 20.0


def data_notes(
    X: NDArray, labels: Classes | None, names: list[str], prepared: bool = False
) -> list[str]:
    """Sentences about what is odd in the data; empty where nothing is.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    labels : Classes or None
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
        *([] if labels is None else _about_classes(labels)),
    ]
    return found


def _about_features(X: NDArray, names: list[str], prepared: bool) -> list[str]:
    if len(X) == 1:
        return []  # every feature is constant then
    sizes = np.abs(X).max(axis=0)
    relative = X / np.where(sizes > 0, sizes, 1.0)  # squares of these are neither 0 nor infinite
    moves = relative.std(axis=0) > 1e-12
    live, found = np.flatnonzero(moves), []
    if not moves.all():
        found.append(f"Constant, so of no use: {_listed(names, np.flatnonzero(~moves))}.")
    if len(live) > 1 and not prepared:
        found += _scales(np.log10(relative.std(axis=0)[live]) + np.log10(sizes[live]), live, names)
    return [*found, *_twins(relative[:, live], [names[j] for j in live])]


def _scales(magnitudes: NDArray, live: NDArray, names: list[str]) -> list[str]:
    """That one feature varies far more than another; magnitudes are logarithms to the base 10."""
    ends = live[magnitudes.argmax()], live[magnitudes.argmin()]
    wide, narrow = (shortened(names[j], _LONGEST) for j in ends)
    apart = np.ptp(magnitudes)
    if apart <= np.log10(_SCALES_APART):
        return []
    times = f"{10**apart:,.0f}" if apart < 6 else f"10^{apart:.0f}"
    return [
        f"{wide} varies {times} times as much as {narrow}, and weighs as much more in raw "
        "distances: consider scaling."
    ]


def _twins(X: NDArray, names: list[str]) -> list[str]:
    """Features that say the same."""
    if not 1 < X.shape[1] <= _MOST_FEATURES_COMPARED:
        return []
    alike = np.triu(np.abs(np.atleast_2d(np.corrcoef(X.T))) > _NEARLY_THE_SAME, 1)
    pairs = [
        f"{shortened(names[i], _LONGEST)} and {shortened(names[j], _LONGEST)}"
        for i, j in np.argwhere(alike)[:3]
    ]
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
    if n == 1:
        found.append("One row: nothing to compare it with.")
    elif n <= d:
        found.append(f"{n:,} rows in {d:,} dimensions: any model can learn these by heart.")
    return found


def _about_classes(labels: Classes) -> list[str]:
    found, counts = [], np.bincount(labels.codes)
    few = np.flatnonzero(counts < _FEW)
    if len(few) and len(labels.codes) > 1:
        named = _listed(labels.names, few)
        found.append(f"Classes of fewer than {_FEW} rows: {named}.")
    if counts.max() > _LOPSIDED * counts.min():
        big, small = (
            shortened(labels.names[c], _LONGEST) for c in (counts.argmax(), counts.argmin())
        )
        found.append(
            f"Class {big} has {counts.max():,} rows, class {small} {counts.min():,}: an accuracy "
            "is mostly that of the large ones."
        )
    return found


def _listed(names: list[str], which: NDArray) -> str:
    shown = ", ".join(shortened(names[j], _LONGEST) for j in which[:5])
    return shown + (f" and {len(which) - 5:,} more" if len(which) > 5 else "")
