"""What the page's script needs: places, classes, and the neighbors of rows to choose."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vicinal.report.drawing.classes import Classes
from vicinal.report.page.choosing import Neighbors, nearest_of, spread_sample
from vicinal.report.page.packing import on_a_grid, pack
from vicinal.report.page.stages import Stage

__all__ = ["MOST_CHOOSABLE", "MOST_SHOWN", "interactive_data"]

MOST_SHOWN = 100_000  # points in the picture
MOST_CHOOSABLE = 2_000  # rows whose neighbors the page carries
N_NEIGHBORS = 5
_MOST_FEATURES = 3  # beside a neighbor

# matplotlib's markers, as plotly calls them and as a path within (-6, 6).
_SYMBOLS = {
    "o": ("circle", "M-4,0a4,4 0 1 0 8,0a4,4 0 1 0 -8,0Z"),
    "^": ("triangle-up", "M0,-5L5,4L-5,4Z"),
    "s": ("square", "M-4,-4H4V4H-4Z"),
    "v": ("triangle-down", "M0,5L5,-4L-5,-4Z"),
    "D": ("diamond", "M0,-5L5,0L0,5L-5,0Z"),
    "P": ("cross", "M-1.6,-5H1.6V-1.6H5V1.6H1.6V5H-1.6V1.6H-5V-1.6H-1.6Z"),
    "<": ("triangle-left", "M-5,0L4,-5L4,5Z"),
    "X": ("x", "M-5,-3L-3,-5L0,-2L3,-5L5,-3L2,0L5,3L3,5L0,2L-3,5L-5,3L-2,0Z"),
    ">": ("triangle-right", "M5,0L-4,-5L-4,5Z"),
    "p": ("pentagon", "M0,-5L4.8,-1.5L2.9,4H-2.9L-4.8,-1.5Z"),
}


def interactive_data(
    plane: NDArray,
    labels: Classes | None,
    before: Stage,
    after: Stage,
    X: NDArray,
    features: list[tuple[int, str]],
    *,
    equal: bool,
) -> dict[str, Any]:
    """Everything the script draws and lists, of a sample of the rows where there are many.

    Parameters
    ----------
    plane : ndarray of shape (n, 2)
        Where the picture shows the rows.
    labels : Classes or None
    before, after : Stage
        Between which neighbors are compared.
    X : ndarray of shape (n, n_features)
    features : list of tuple of int and str
        Columns of X to show beside a neighbor, and their names; at most three are.
    equal : bool
        Whether both coordinates have the same unit.

    Returns
    -------
    dict
        Ready for JSON.
    """
    shown = spread_sample(None if labels is None else labels.codes, len(plane), MOST_SHOWN)
    names, codes = ([], None) if labels is None else _ordered(labels, shown)
    x, y = on_a_grid(plane[shown])
    points = {
        "x": pack(x),
        "y": pack(y),
        "rows": None if len(shown) == len(plane) else pack(shown),
        "labels": pack(codes),
    }
    return {
        "points": points,
        "names": names,
        "classes": _classes(labels),
        "others": 0 if labels is None else labels.n_others,
        "equal": equal,
        "choice": _choice(shown, codes, before, after, X, features[:_MOST_FEATURES]),
    }


def _ordered(labels: Classes, shown: NDArray) -> tuple[list[str], NDArray]:
    """Names of the classes shown, and the class of each row: those told apart before all others."""
    others = np.setdiff1d(labels.codes[shown], labels.told_apart)
    order = np.concatenate([labels.told_apart, others])
    position = np.zeros(len(labels.names), dtype=np.intp)
    position[order] = np.arange(len(order))
    return [labels.names[c] for c in order], position[labels.codes[shown]]


def _classes(labels: Classes | None) -> list[dict[str, str]]:
    """What can be shown and hidden: the classes told apart, and where there are others, these."""
    from vicinal.report.drawing.colors import class_style

    names, styles = ["rows"], [class_style(0)]
    if labels is not None:
        names, styles = [labels.names[c] for c in labels.told_apart], labels.styles
        names += [f"others: {labels.n_others:,} classes"] if labels.n_others else []
    return [
        dict(zip(("name", "color", "symbol", "path"), (name, color, *_SYMBOLS[mark]), strict=True))
        for name, (color, mark) in zip(names, styles, strict=True)
    ]


def _choice(
    shown: NDArray,
    codes: NDArray | None,
    before: Stage,
    after: Stage,
    X: NDArray,
    features: list[tuple[int, str]],
) -> dict[str, Any]:
    """Neighbors, among the rows shown, of some of them."""
    some = spread_sample(codes, len(shown), MOST_CHOOSABLE)
    near = {
        "before": nearest_of(some, before.points[shown], N_NEIGHBORS),
        "after": nearest_of(some, after.points[shown], N_NEIGHBORS),
    }
    described = np.unique(np.concatenate([some, *(found.who.ravel() for found in near.values())]))
    values = X[np.ix_(shown[described], [column for column, _ in features])]
    first = some[_most_changed(near, codes, some)]
    return {
        "k": near["after"].who.shape[1],
        "first": int(shown[first]),
        "rows": pack(shown[some]),
        "described": pack(shown[described]),
        "features": [name for _, name in features],
        "values": pack(values),
        **{
            when: {
                "who": pack(shown[found.who]),
                "distance": pack(found.distance),
            }
            for when, found in near.items()
        },
    }


def _most_changed(near: dict[str, Neighbors], codes: NDArray | None, some: NDArray) -> int:
    """A row worth looking at first: the one whose neighborhood gained most of its class."""
    if codes is None:
        return 0
    own = codes[some][:, None]
    gain = (codes[near["after"].who] == own).sum(axis=1) - (codes[near["before"].who] == own).sum(
        axis=1
    )
    return int(gain.argmax())
