"""Noise: images of digits, each in a frame of static that says nothing."""

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import train_test_split

from vicinal.demo.chapter import TEST_SHARE, Chapter, Outcome, Tell, fit_timed, named_right
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
    X_train, X_test, y_train, y_test = train_test_split(
        _framed(X, seed), y, test_size=TEST_SHARE, stratify=y, random_state=seed
    )
    outcomes = [Outcome("all pixels", False, named_right(X_train, y_train, X_test, y_test))]
    model = NeighborhoodComponents(N_COMPONENTS, random_state=0)
    for method in (PCA(N_COMPONENTS, random_state=0), LinearDiscriminantAnalysis(), model):
        name = type(method).__name__.replace("LinearDiscriminantAnalysis", "LDA")
        tell(f"looking for digits in static by {name}")
        seconds = fit_timed(method, X_train, y_train)
        Z_train, Z_test = method.transform(X_train), method.transform(X_test)
        right = named_right(Z_train, y_train, Z_test, y_test)
        outcomes.append(Outcome(name, method is model, right, seconds))
    before = nearest_points(X_train, X_test, 1)[1][:, 0]
    after = nearest_points(Z_train, Z_test, 1)[1][:, 0]
    # What is shown is chosen by where the first picture goes wrong, not by the second.
    shown = np.flatnonzero(y_train[before] != y_test)[:N_SHOWN]
    return Chapter(
        key="noise",
        title="Noise",
        data="digits: 64 pixels in a frame of 192 that are static",
        trouble="Three pixels in four are chance, and distances count them all alike.",
        cure="NeighborhoodComponents learns to look at the digit and not at the static.",
        measure=f"{len(y_test)} new images whose 5 nearest name the right digit",
        outcomes=outcomes,
        panels=(
            _shown(shown, before, (X_train, y_train), (X_test, y_test)),
            _shown(shown, after, (X_train, y_train), (X_test, y_test)),
        ),
    )


def _framed(X: NDArray, seed: int) -> NDArray:
    """Digits in the middle of frames of uniform noise, as rows."""
    margin = (SIDE - INNER) // 2
    images = np.random.default_rng(seed).uniform(size=(len(X), SIDE, SIDE))
    images[:, margin:-margin, margin:-margin] = X.reshape(-1, INNER, INNER)
    return images.reshape(len(X), -1)


def _shown(
    shown: NDArray,
    nearest: NDArray,
    train: tuple[NDArray, NDArray],
    test: tuple[NDArray, NDArray],
) -> Images:
    """New images over the training images nearest to them."""
    who = nearest[shown]
    right = train[1][who] == test[1][shown]
    shape = (-1, SIDE, SIDE)
    return Images(test[0][shown].reshape(shape), train[0][who].reshape(shape), right)
