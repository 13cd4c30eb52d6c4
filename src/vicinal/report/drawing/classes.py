"""Classes of points: their names, and which of many are told apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from vicinal.report.drawing.labels import Label, class_anchors
from vicinal.report.names import plain_text, shortened
from vicinal.report.numbers.labels import coded

__all__ = ["MAX_NAMED", "Classes", "class_labels", "names_note"]

MAX_NAMED = 40  # more names than this cover the points, and more colors than this look the same


@dataclass(frozen=True)
class Classes:
    """Classes of points, or that they have none.

    Attributes
    ----------
    codes : ndarray of int, shape (n,)
        Position of each point's class; 0 where there are no labels.
    names : list of str
        Of the sorted classes; empty where there are no labels.
    """

    codes: NDArray
    names: list[str]

    @classmethod
    def of(
        cls,
        labels: ArrayLike | None,
        class_names: Sequence[str] | None,
        n: int,
        what: str = "labels",
    ) -> "Classes":
        """Read labels of n points, which the caller knows as `what`; check that names fit."""
        if labels is None:
            if class_names is not None:
                raise ValueError(f"class_names are given without {what}: there is nothing to name.")
            return cls(np.zeros(n, dtype=np.intp), [])
        classes, codes = coded(labels, what)
        check_consistent_length(np.empty(n), codes)
        names = classes if class_names is None else class_names
        if len(names) != len(classes):
            raise ValueError(
                f"class_names has {len(names)} names, but {what} has {len(classes)} classes: "
                "give one name for each, in sorted order."
            )
        return cls(codes, [plain_text(name) for name in names])

    @cached_property
    def told_apart(self) -> NDArray:
        """Classes with a color and a mark of their own: all, or the largest of many; sorted."""
        if len(self.names) <= MAX_NAMED:
            return np.arange(len(self.names))
        counts = np.bincount(self.codes, minlength=len(self.names))
        return np.sort(np.argsort(-counts, kind="stable")[:MAX_NAMED])

    @property
    def n_others(self) -> int:
        """How many classes look the same, as a group."""
        return len(self.names) - len(self.told_apart)

    @cached_property
    def groups(self) -> NDArray:
        """Position of each point's class in `told_apart`, the next one for all others."""
        group = np.full(max(len(self.names), 1), len(self.told_apart))
        group[self.told_apart] = np.arange(len(self.told_apart))
        return group[self.codes]

    @property
    def styles(self) -> list[tuple[str, str]]:
        """Color and mark of every group; gray circles are the others', and of points at large."""
        from vicinal.report.drawing.colors import MARKERS, NEUTRAL, class_style

        own = [class_style(c) for c in range(len(self.told_apart))]
        return own if own and not self.n_others else [*own, (NEUTRAL, MARKERS[0])]


def class_labels(points: NDArray, classes: Classes) -> list[Label]:
    """A name amid the points of each class; of the largest ones, where there are many."""
    told_apart = classes.told_apart
    anchors = class_anchors(points, classes.codes, told_apart)
    return [
        Label(shortened(classes.names[c]), anchor, color)
        for c, anchor, (color, _) in zip(told_apart, anchors, classes.styles, strict=False)
    ]


def names_note(classes: Classes, told_apart: str = "named") -> str:
    """That not all classes are told apart, and how those are that are."""
    if not classes.n_others:
        return ""
    largest, every = f"{len(classes.told_apart)}", f"{len(classes.names):,}"
    rest = f"gray: the {classes.n_others:,} others"
    return f"{told_apart}: the {largest} largest of {every} classes; {rest}"
