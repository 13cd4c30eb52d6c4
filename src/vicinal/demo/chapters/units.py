"""Units: wine, where one column is counted in hundreds and another in tenths."""

from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from vicinal.demo.chapter import Chapter, Outcome, Split, Tell, fit_timed, named_right
from vicinal.demo.panels import Points
from vicinal.nca import NeighborhoodComponents

__all__ = ["load_wines", "tell_units"]


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
    return Split.of(wine.data, wine.target, seed, wine.feature_names)


def tell_units(split: Split, tell: Tell) -> tuple[Chapter, NeighborhoodComponents]:
    """The chapter, and its model in the plane."""
    scaler, model = StandardScaler(), NeighborhoodComponents(2, random_state=0)
    raw = Outcome("as measured", False, named_right(split))
    scaling = fit_timed(scaler, split.X_train)
    scaled = Outcome("StandardScaler", False, named_right(split, scaler), scaling)
    tell("learning which columns of wine matter")
    seconds = fit_timed(model, split.X_train, split.y_train)
    learned = Outcome("NeighborhoodComponents", True, named_right(split, model), seconds)
    plane = PCA(2).fit(split.X_train)  # to look at: the first of its axes is proline
    labels = [f"grower {c + 1}" for c in split.y_test]
    chapter = Chapter(
        key="units",
        title="Units",
        data="wine: 13 measurements, each in its own unit",
        trouble="Proline runs into the hundreds, so it alone decides which wines are near.",
        cure="NeighborhoodComponents learns from labels how much each column counts.",
        measure=f"{len(labels)} new wines whose 5 nearest name the right grower",
        outcomes=(raw, scaled, learned),
        panels=(
            Points(plane.transform(split.X_test), labels, "proline, and little else"),
            Points(model.transform(split.X_test), labels),
        ),
    )
    return chapter, model
