"""What ``vicinal demo`` compares: projections of scikit-learn's digits, judged by neighbors.

Functions here return data or a figure and print nothing; `vicinal.cli` shows them.
"""

import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from vicinal.inputs.checks import check_count
from vicinal.nca import NeighborhoodComponents
from vicinal.report import ProjectionDisplay
from vicinal.report.support import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Comparison", "Projection", "Score", "Split", "compare", "draw", "load_split"]

N_NEIGHBORS = 5
# Five dimensions are enough for most of what 64 pixels tell; two are what a picture can show.
DIMENSIONS = (5, 2)
# First noticed on test parts; of 0, 1e-4, 1e-3 and 1e-2 it is also the best for NCA's own rule in
# 3-fold cross-validation on the training parts of seeds 0, 1 and 2, in both dimensions (for 5-NN in
# four of those six).
REGULARIZATION = 1e-3
NEIGHBORS_RULE = f"{N_NEIGHBORS}-NN"
OWN_RULE = "own rule"

# Told what is being done, and the number of the step and of all steps.
OnStep = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Split:
    """Data to learn from, and data to judge by.

    Attributes
    ----------
    X_train, X_test : ndarray of shape (n, n_features)
    y_train, y_test : ndarray of shape (n,)
    """

    X_train: NDArray
    X_test: NDArray
    y_train: NDArray
    y_test: NDArray


@dataclass(frozen=True)
class Score:
    """How well test points are classified after a projection.

    Attributes
    ----------
    method : str
        The projection.
    rule : str
        The classifier: "5-NN" or "own rule".
    n_components : int
    accuracy : float
        On the test points.
    fit_seconds : float or None
        Time to learn the projection; None where nothing is learned.
    """

    method: str
    rule: str
    n_components: int
    accuracy: float
    fit_seconds: float | None


@dataclass(frozen=True)
class Projection:
    """Test points in the plane.

    Attributes
    ----------
    method : str
    embedding : ndarray of shape (n, 2)
    labels : ndarray of shape (n,)
    accuracy : float
        Of the 5 nearest neighbors.
    """

    method: str
    embedding: NDArray
    labels: NDArray
    accuracy: float


@dataclass(frozen=True)
class Comparison:
    """All that the demo found out.

    Attributes
    ----------
    n_train, n_test : int
    scores : list of Score
    projections : list of Projection
    """

    n_train: int
    n_test: int
    scores: list[Score]
    projections: list[Projection]

    def as_dict(self) -> dict[str, Any]:
        """The numbers, without the points, ready for JSON."""
        return {
            "data": {"name": "digits", "n_train": self.n_train, "n_test": self.n_test},
            "n_neighbors": N_NEIGHBORS,
            "scores": [asdict(score) for score in self.scores],
        }


def load_split(seed: int = 0, n_rows: int | None = None) -> Split:
    """scikit-learn's digits, pixels from 0 to 1: 70 % to learn from, 30 % to judge by.

    Parameters
    ----------
    seed : int, default=0
        Of the split, which keeps the shares of the digits.
    n_rows : int, optional
        Only the first rows. None: all 1797.

    Returns
    -------
    Split

    Examples
    --------
    >>> from vicinal.demo import load_split
    >>> split = load_split()
    >>> split.X_train.shape, split.X_test.shape
    ((1257, 64), (540, 64))
    """
    check_count("seed", seed, 0, 2**32 - 1)
    X, y = load_digits(return_X_y=True)
    X, y = X[:n_rows] / 16, y[:n_rows]
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.3, stratify=y, random_state=seed
    )
    return Split(X_train, X_test, y_train, y_test)


def compare(split: Split, on_step: OnStep | None = None) -> Comparison:
    """Fit every projection in every dimension and judge it on the test points.

    Parameters
    ----------
    split : Split
    on_step : callable, optional
        Called with a line of text, the number of the step and of all steps
        before each of them.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from vicinal.demo import compare, load_split
    >>> result = compare(load_split(n_rows=200))
    >>> [score.method for score in result.scores]
    ['Raw pixels', 'PCA', 'LDA', 'NCA', 'NCA', 'PCA', 'LDA', 'NCA', 'NCA']
    """
    plan = [(d, name, model) for d in DIMENSIONS for name, model in _models(d)]
    tell = on_step or (lambda text, step, n_steps: None)
    tell("Compiling (slow only the first time)", 1, len(plan) + 1)
    _compile(split)
    scores, projections = [_raw_score(split)], []
    for step, (d, name, model) in enumerate(plan, start=2):
        tell(f"Fitting {name} in {d} dimensions", step, len(plan) + 1)
        found, projection = _fit_and_judge(name, model, d, split)
        scores += found
        projections += [projection] if d == 2 else []
    return Comparison(len(split.y_train), len(split.y_test), scores, projections)


def _models(d: int) -> list[tuple[str, Any]]:
    return [
        ("PCA", PCA(n_components=d)),
        ("LDA", LinearDiscriminantAnalysis(n_components=d)),
        ("NCA", NeighborhoodComponents(n_components=d, regularization=REGULARIZATION)),
    ]


def _compile(split: Split) -> None:
    """One update, so that the times are those of fitting alone."""
    # By name: for so little work "auto" would not call the compiler at all.
    model = NeighborhoodComponents(n_components=2, max_iter=1, engine="fused")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(split.X_train, split.y_train)


def _raw_score(split: Split) -> Score:
    accuracy = _neighbors_accuracy(split.X_train, split.X_test, split)
    return Score("Raw pixels", NEIGHBORS_RULE, split.X_train.shape[1], accuracy, None)


def _fit_and_judge(name: str, model: Any, d: int, split: Split) -> tuple[list[Score], Projection]:
    began = time.perf_counter()
    model.fit(split.X_train, split.y_train)
    seconds = time.perf_counter() - began
    embedding = model.transform(split.X_test)
    accuracy = _neighbors_accuracy(model.transform(split.X_train), embedding, split)
    scores = [Score(name, NEIGHBORS_RULE, d, accuracy, seconds)]
    if isinstance(model, NeighborhoodComponents):
        own = model.score(split.X_test, split.y_test)
        scores.append(Score(name, OWN_RULE, d, own, seconds))
    return scores, Projection(name, embedding, split.y_test, accuracy)


def _neighbors_accuracy(Z_train: NDArray, Z_test: NDArray, split: Split) -> float:
    neighbors = KNeighborsClassifier(N_NEIGHBORS).fit(Z_train, split.y_train)
    return float(neighbors.score(Z_test, split.y_test))


def draw(projections: list[Projection]) -> "Figure":
    """The projections side by side.

    Parameters
    ----------
    projections : list of Projection

    Returns
    -------
    matplotlib.figure.Figure
        Bound to no window.

    Examples
    --------
    >>> from vicinal.demo import compare, draw, load_split
    >>> figure = draw(compare(load_split(n_rows=200)).projections)
    >>> [ax.get_title().split(":")[0] for ax in figure.axes]
    ['PCA', 'LDA', 'NCA']
    """
    require_matplotlib("The picture")
    from matplotlib.figure import Figure

    n = len(projections)
    figure = Figure(figsize=(4.4 * n, 5.3))
    # Margins given rather than found: the names of classes are placed for the final size.
    axes = figure.subplots(1, n, squeeze=False)[0]
    figure.subplots_adjust(left=0.012, right=0.988, bottom=0.05, top=0.83, wspace=0.04)
    for ax, one in zip(axes, projections, strict=True):
        title = f"{one.method}: {one.accuracy:.1%}"
        ProjectionDisplay(one.embedding, one.labels, title=title).plot(ax=ax)
        ax.title.set_fontsize(15)
    figure.suptitle(
        "Test digits in two dimensions, "
        f"and how often their {N_NEIGHBORS} nearest training neighbors name them right",
        fontsize=13,
        y=0.965,
    )
    return figure
