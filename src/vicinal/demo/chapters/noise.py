"""Noise: images of digits, each in a frame of static that says nothing."""

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from vicinal.demo.chapter import Chapter, Outcome, Split, Tell, fit_timed, named_right
from vicinal.demo.chapters.digits import load_pixels
from vicinal.demo.panels import Images
from vicinal.nca import NeighborhoodComponents
from vicinal.voting import nearest_points

__all__ = ["tell_noise"]

N_COMPONENTS = 10
SIDE, INNER = 16, 8  # of the frame and of the digit in it, in pixels
N_SHOWN = 3


def tell_noise(seed: int, tell: Tell, n_rows: int | None = None) -> Chapter:
    """Nearest images before and after."""
    X, y = load_pixels(n_rows)
    split = Split.of(_framed(X, seed), y, seed)
    outcomes = [Outcome("all pixels", False, named_right(split))]
    model = NeighborhoodComponents(N_COMPONENTS, random_state=0)
    for method in (PCA(N_COMPONENTS, random_state=0), LinearDiscriminantAnalysis(), model):
        name = type(method).__name__.replace("LinearDiscriminantAnalysis", "LDA")
        tell(f"looking for digits in static by {name}")
        seconds = fit_timed(method, split.X_train, split.y_train)
        outcomes.append(Outcome(name, method is model, named_right(split, method), seconds))
    before = nearest_points(split.X_train, split.X_test, 1)[1][:, 0]
    Z_train, Z_test = model.transform(split.X_train), model.transform(split.X_test)
    after = nearest_points(Z_train, Z_test, 1)[1][:, 0]
    # What is shown is chosen by where the first picture goes wrong, not by the second.
    shown = np.flatnonzero(split.y_train[before] != split.y_test)[:N_SHOWN]
    return Chapter(
        key="noise",
        title="Noise",
        data="digits: 64 pixels, in a frame of 192 pixels of static",
        trouble="Three pixels in four are random, and distances count them all alike.",
        cure="NeighborhoodComponents learns to look at the digit, not at the static.",
        measure=f"{len(split.y_test)} new images whose 5 nearest name the right digit",
        outcomes=outcomes,
        panels=(_shown(shown, before, split), _shown(shown, after, split)),
    )


def _framed(X: NDArray, seed: int) -> NDArray:
    """Digits in the middle of frames of uniform noise, as rows."""
    margin = (SIDE - INNER) // 2
    images = np.random.default_rng(seed).uniform(size=(len(X), SIDE, SIDE))
    images[:, margin:-margin, margin:-margin] = X.reshape(-1, INNER, INNER)
    return images.reshape(len(X), -1)


def _shown(shown: NDArray, nearest: NDArray, split: Split) -> Images:
    """New images over the training images nearest to them."""
    who, shape = nearest[shown], (-1, SIDE, SIDE)
    right = split.y_train[who] == split.y_test[shown]
    return Images(split.X_test[shown].reshape(shape), split.X_train[who].reshape(shape), right)
