"""Units: wine, where one column is counted in hundreds and another in tenths."""

from dataclasses import dataclass

from numpy.typing import NDArray
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from vicinal.demo.chapter import TEST_SHARE, Chapter, Outcome, Tell, fit_timed, named_right
from vicinal.demo.panels import Points
from vicinal.nca import NeighborhoodComponents

__all__ = ["Split", "load_wines", "tell_units"]


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


def load_wines(seed: int = 0) -> Split:
    """scikit-learn's wines as they were measured: 70 % to learn from, 30 % to judge by.

    Parameters
    ----------
    seed : int, default=0
        Of the split, which keeps the shares of the growers.

    Returns
    -------
    Split

    Examples
    --------
    >>> from vicinal.demo import load_wines
    >>> split = load_wines()
    >>> split.X_train.shape, split.X_test.shape
    ((124, 13), (54, 13))
    """
    wine = load_wine()
    X_train, X_test, y_train, y_test = train_test_split(
        wine.data, wine.target, test_size=TEST_SHARE, stratify=wine.target, random_state=seed
    )
    return Split(X_train, X_test, y_train, y_test, list(wine.feature_names))


def tell_units(split: Split, tell: Tell) -> tuple[Chapter, NeighborhoodComponents]:
    """The chapter, and its model in the plane."""
    scaler, model = StandardScaler(), NeighborhoodComponents(2, random_state=0)
    raw = Outcome("as measured", False, _named_right(None, split))
    scaling = fit_timed(scaler, split.X_train)
    scaled = Outcome("StandardScaler", False, _named_right(scaler, split), scaling)
    tell("learning which columns of wine matter")
    seconds = fit_timed(model, split.X_train, split.y_train)
    learned = Outcome("NeighborhoodComponents", True, _named_right(model, split), seconds)
    plane = PCA(2).fit(split.X_train)  # to look at: the first of its axes is proline
    labels = [f"grower {c + 1}" for c in split.y_test]
    chapter = Chapter(
        key="units",
        title="Units",
        data="wine: 13 measurements, each in a unit of its own",
        trouble="Proline comes in hundreds, so proline alone decides which wines are near.",
        cure="NeighborhoodComponents learns from labels what to weigh, in any units.",
        measure=f"{len(labels)} new wines whose 5 nearest name the right grower",
        outcomes=(raw, scaled, learned),
        panels=(
            Points(plane.transform(split.X_test), labels, "proline, and little else"),
            Points(model.transform(split.X_test), labels),
        ),
    )
    return chapter, model


def _named_right(model: StandardScaler | NeighborhoodComponents | None, split: Split) -> NDArray:
    place = model.transform if model is not None else lambda X: X
    return named_right(place(split.X_train), split.y_train, place(split.X_test), split.y_test)
