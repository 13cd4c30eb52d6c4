"""What a chapter of the demo is made of: methods, judged row by row, and two pictures."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import train_test_split

from vicinal.voting import majority

if TYPE_CHECKING:
    from vicinal.demo.panels import Panel

__all__ = ["N_NEIGHBORS", "Chapter", "Outcome", "Split", "Tell", "fit_timed", "named_right"]

N_NEIGHBORS = 5
TEST_SHARE = 0.3

# Told what is being done, before each fit.
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Split:
    """Rows to learn from, and rows to judge by.

    Attributes
    ----------
    X_train, X_test : ndarray of shape (n, n_features)
    y_train, y_test : ndarray of shape (n,)
    feature_names : list of str
    """

    X_train: NDArray
    X_test: NDArray
    y_train: NDArray
    y_test: NDArray
    feature_names: list[str]

    @classmethod
    def of(cls, X: NDArray, y: NDArray, seed: int, feature_names: Sequence[str] = ()) -> "Split":
        """30 % to judge by; classes have the same shares on both sides."""
        X_train, X_test, y_train, y_test = train_test_split(
            X, y, test_size=TEST_SHARE, stratify=y, random_state=seed
        )
        return cls(X_train, X_test, y_train, y_test, list(feature_names))


@dataclass(frozen=True)
class Outcome:
    """How one method did on rows that it had not seen.

    Attributes
    ----------
    method : str
    is_ours : bool
    values : ndarray of shape (n_test,)
        What each of these rows says: named right or not, its log-density, ...
    fit_seconds : float
    """

    method: str
    is_ours: bool
    values: NDArray
    fit_seconds: float = 0.0

    @property
    def value(self) -> float:
        """Mean over the rows."""
        return float(self.values.mean())


@dataclass(frozen=True)
class Chapter:
    """Data where near means the wrong thing at first, and what is done about it.

    Attributes
    ----------
    key, title, data, trouble, cure : str
        What it is about, for people.
    measure : str
        What is counted, of which rows.
    is_likelihood : bool
        Whether values are log-densities. Else they are shares.
    outcomes : sequence of Outcome
        Before, what people do about it, after.
    panels : tuple of Panel
        Before and after.
    """

    key: str
    title: str
    data: str
    trouble: str
    cure: str
    measure: str
    outcomes: Sequence[Outcome]
    panels: "tuple[Panel, Panel]"
    is_likelihood: bool = False

    @property
    def before(self) -> Outcome:
        """What is there without learning."""
        return self.outcomes[0]

    @property
    def after(self) -> Outcome:
        """What vicinal learned."""
        return self.outcomes[-1]

    @property
    def gain(self) -> float:
        """After less before."""
        return self.after.value - self.before.value

    @property
    def gain_error(self) -> float:
        """Standard error of the gain, over the rows that judge."""
        differences = self.after.values - self.before.values
        return float(differences.std(ddof=1) / np.sqrt(len(differences)))

    def said(self, outcome: Outcome) -> str:
        """The value of a method, for people."""
        if self.is_likelihood:
            return f"{outcome.value:.2f} nats"
        return f"{outcome.value:.1%}"

    def gain_said(self) -> str:
        """The gain with its standard error, for people."""
        if self.is_likelihood:
            return f"{self.gain:+.2f} ± {self.gain_error:.2f} nats"
        return f"{100 * self.gain:+.1f} ± {100 * self.gain_error:.1f} points"

    def as_dict(self) -> dict[str, Any]:
        """The numbers, ready for JSON."""
        return {
            "chapter": self.key,
            "data": self.data,
            "measure": self.measure,
            "n_test": len(self.after.values),
            "methods": [
                {
                    "method": one.method,
                    "is_ours": one.is_ours,
                    "value": one.value,
                    "fit_seconds": one.fit_seconds,
                }
                for one in self.outcomes
            ],
            "gain": self.gain,
            "gain_error": self.gain_error,
        }


def fit_timed(model: BaseEstimator, *data: Any) -> float:
    """Fit, and say in how many seconds."""
    began = time.perf_counter()
    model.fit(*data)
    return time.perf_counter() - began


def named_right(split: Split, model: BaseEstimator | None = None) -> NDArray:
    """1 for test rows that their nearest training rows name right, 0 for others.

    Nearest where a model places them, or as they are.
    """
    place = (lambda X: X) if model is None else model.transform
    named = majority(place(split.X_train), split.y_train, N_NEIGHBORS, place(split.X_test))
    return (named == split.y_test).astype(float)
