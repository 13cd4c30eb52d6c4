"""What is compared: from a split to predicted probabilities of the test part."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.coincidence.fits import SCIKIT_LEARN, Lmnn, fit_apart
from benchmarks.common.splits import Split

KS = (1, 3, 5, 7, 9, 15, 25)

# Of a class, for LMNN to find three targets in 80 % of the rows.
_MEMBERS = 8

# From a split (raw, standardized), the dimension and a seed to classes and probabilities.
Found = tuple[np.ndarray, np.ndarray]


class Task(NamedTuple):
    """A split in both units, the dimension, the seed, and what peers may take."""

    raw: Split
    standard: Split
    d: int
    seed: int
    seconds: float
    metric_learn: str | None


def knn(part: Split) -> Found:
    """k nearest neighbors, k by five folds of the training part."""
    ks = [k for k in KS if k <= 0.8 * len(part.X)]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": ks}, cv=folds)
    model = search.fit(part.X, part.y)
    return model.classes_, model.predict_proba(part.X_test)


def by_map(part: Split, A: np.ndarray) -> Split:
    """Both parts under a linear map."""
    return part.mapped(lambda points: points @ A.T)


def default(task: Task) -> Found:
    """Nothing said but the dimension, columns in their own units."""
    from vicinal import NeighborhoodComponents

    d = None if task.d == task.raw.X.shape[1] else task.d
    model = NeighborhoodComponents(d, random_state=task.seed).fit(task.raw.X, task.raw.y)
    return model.classes_, model.predict_proba(task.raw.X_test)


def classic(task: Task) -> Found:
    """The thesis's NCA, without a penalty, by its rule."""
    from vicinal import NeighborhoodComponents

    part = task.standard
    d = min(task.d, part.X.shape[1])
    model = NeighborhoodComponents(d, regularization=0.0).fit(part.X, part.y)
    return model.classes_, model.predict_proba(part.X_test)


def rca(task: Task) -> Found:
    """The start with the rule: one update that is not taken."""
    from vicinal import NeighborhoodComponents

    part = task.standard
    d = min(task.d, part.X.shape[1])
    model = NeighborhoodComponents(d, regularization=0.0, max_iter=1, tol=1e9)
    model.fit(part.X, part.y)
    return model.classes_, model.predict_proba(part.X_test)


def lda(task: Task) -> Found:
    """Linear discriminants as a classifier."""
    model = LinearDiscriminantAnalysis().fit(task.standard.X, task.standard.y)
    return model.classes_, model.predict_proba(task.standard.X_test)


def lda_knn(task: Task) -> Found:
    """k-NN along the first discriminants."""
    part = task.standard
    model = LinearDiscriminantAnalysis().fit(part.X, part.y)
    return knn(part.mapped(lambda points: model.transform(points)[:, : task.d]))


def pca_knn(task: Task) -> Found:
    """k-NN along the first principal components."""
    d = min(task.d, *task.standard.X.shape)
    return knn(task.standard.mapped(PCA(d, random_state=0).fit(task.standard.X).transform))


def sklearn_nca(task: Task) -> Found:
    """scikit-learn's NCA, then k-NN."""
    part = task.standard
    d = min(task.d, part.X.shape[1])
    model = SCIKIT_LEARN.format(dimension=d, updates=50)
    return knn(by_map(part, fit_apart(model, part.X, part.y, seconds=task.seconds).components))


def lmnn(task: Task) -> Found:
    """LMNN, learned from classes that have targets, then k-NN among all."""
    part = task.standard
    learn = Lmnn(task.metric_learn, task.seconds)
    classes, counts = np.unique(part.y, return_counts=True)
    has_targets = np.isin(part.y, classes[counts >= _MEMBERS])
    known = part._replace(X=part.X[has_targets], y=part.y[has_targets])
    return knn(by_map(part, learn(known, min(task.d, part.X.shape[1]), task.seed)))


class Method(NamedTuple):
    """A name, what it does, and in which cells: "full", "2" or both."""

    name: str
    run: Callable[[Task], Found]
    cells: tuple[str, ...] = ("full", "2")
    is_slow: bool = False


METHODS = (
    Method("default", default),
    Method("k-NN (raw)", lambda task: knn(task.raw), ("full",)),
    Method("k-NN", lambda task: knn(task.standard), ("full",)),
    Method("PCA, k-NN", pca_knn, ("2",)),
    Method("LDA", lda, ("full",)),
    Method("LDA, k-NN", lda_knn),
    Method("RCA", rca),
    Method("classic NCA", classic),
    Method("scikit-learn NCA, k-NN", sklearn_nca, is_slow=True),
    Method("LMNN, k-NN", lmnn, is_slow=True),
)
