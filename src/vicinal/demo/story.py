"""All chapters, one after the other."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from vicinal.demo.chapter import Chapter, Split
from vicinal.demo.chapters import (
    load_wines,
    tell_density,
    tell_noise,
    tell_pairs,
    tell_shapes,
    tell_units,
)
from vicinal.inputs.checks import check_count
from vicinal.nca import NeighborhoodComponents

__all__ = ["Story", "tell_story"]

N_CHAPTERS = 5

# Told what is being done, and the number of the chapter and of all chapters.
OnStep = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Story:
    """All that the demo found out.

    Attributes
    ----------
    seed : int
    chapters : list of Chapter
    split : Split
        Of the wines, which the page is about.
    model : NeighborhoodComponents
        Of the wines, in the plane.
    """

    seed: int
    chapters: list[Chapter]
    split: Split
    model: NeighborhoodComponents

    def as_dict(self) -> dict[str, Any]:
        """The numbers, without the points, ready for JSON."""
        return {"chapters": [chapter.as_dict() for chapter in self.chapters]}


def tell_story(
    seed: int = 0, on_step: OnStep | None = None, *, n_digits: int | None = None
) -> Story:
    """Fit and judge, before and after, chapter by chapter.

    Parameters
    ----------
    seed : int, default=0
        Of the splits into rows to learn from and rows to judge by.
    on_step : callable, optional
        Called with a line of text, the number of the chapter and of all chapters
        before each fit.
    n_digits : int, optional
        Only the first images of digits. None: all 1797.

    Returns
    -------
    Story

    Examples
    --------
    >>> from vicinal.demo import tell_story
    >>> story = tell_story()  # doctest: +SKIP
    """
    check_count("seed", seed, 0, 2**32 - 1)
    tell = on_step or (lambda text, chapter, n_chapters: None)
    split = load_wines(seed)
    tell("compiling (slow only the first time)", 1, N_CHAPTERS)
    _compile(split)
    units, model = tell_units(split, lambda text: tell(text, 1, N_CHAPTERS))
    chapters = [
        units,
        tell_noise(seed, lambda text: tell(text, 2, N_CHAPTERS), n_digits),
        tell_pairs(seed, lambda text: tell(text, 3, N_CHAPTERS), n_digits),
        tell_density(seed, lambda text: tell(text, 4, N_CHAPTERS)),
        tell_shapes(seed, lambda text: tell(text, 5, N_CHAPTERS), n_digits),
    ]
    return Story(seed, chapters, split, model)


def _compile(split: Split) -> None:
    """One update, so that the times are those of fitting alone."""
    # By name: for so little work "auto" would not call the compiler at all.
    model = NeighborhoodComponents(n_components=2, max_iter=1, engine="fused")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(split.X_train, split.y_train)
