"""What a page is about: a fitted model, rows, and these on their way through it."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import column_or_1d

from vicinal.report.drawing.classes import Classes
from vicinal.report.numbers.fitted import fitted_model
from vicinal.report.page.stages import Stage, feature_names, stages_of

__all__ = ["Subject", "inside"]


@dataclass(frozen=True)
class Subject:
    """What a page is about.

    Attributes
    ----------
    model : fitted transformer or pipeline
    X : array-like of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,) or None
    labels : Classes or None
    names : list of str
        Of the features.
    stages : list of Stage
    """

    model: BaseEstimator
    X: Any
    y: NDArray | None
    labels: Classes | None
    names: list[str]
    stages: list[Stage]

    @classmethod
    def of(cls, model: BaseEstimator, X: Any, y: Any, names: Any, class_names: Any) -> "Subject":
        """The subject of what was given, which is checked."""
        stages = stages_of(model, X)
        n = len(stages[0].points)
        labels = None if y is None else Classes.of(y, class_names, n, "y")
        known = None if y is None else column_or_1d(y)
        return cls(model, X, known, labels, feature_names(model, X, names), stages)

    @property
    def learned_from_labels(self) -> bool:
        """Whether the model's fit needs classes."""
        return bool(getattr(fitted_model(self.model).__sklearn_tags__().target_tags, "required", 0))


def inside(name: str) -> str:
    """A name as it stands within a sentence."""
    return name[:1].lower() + name[1:]
