"""What is compared: simple rules, scikit-learn's NCA, and the metrics of this library."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from vicinal.coincidence import LatentCoincidence
from vicinal.inputs.checks import check_choice
from vicinal.nca import NeighborhoodComponents
from vicinal.report.comparing.neighbors import NeighborsByFolds

__all__ = ["BASELINE", "DEFAULT", "METHODS", "NAMES", "Method", "Setting", "methods_for"]

# What a method is to the verdict: something simple to be better than, a metric learned by others,
# or one learned by this library.
BASELINE, PEER, OURS = "baseline", "peer", "vicinal"
DEFAULT = "nca"  # what the verdict is about, settled before anything is measured

_VARIANCE = 0.95  # share that principal components keep, where their number is not given
# Square arrays of one number per pair of rows that scikit-learn's NCA holds at its peak: 4.5 were
# measured for 1000 rows, 4.2 for 3000.
_SQUARES = 5
_MOST_BYTES = 8e9


@dataclass(frozen=True)
class Setting:
    """What a method is built for.

    Attributes
    ----------
    n_components : int
        The small number of dimensions.
    n_train, n_features, n_classes : int
        Rows to learn from, and what they have.
    seed : int
    n_jobs : int or None
    """

    n_components: int
    n_train: int
    n_features: int
    n_classes: int
    seed: int
    n_jobs: int | None = None

    def nearest(self, *steps: BaseEstimator) -> NeighborsByFolds:
        """k nearest neighbors after some steps, k chosen by folds."""
        return NeighborsByFolds(make_pipeline(*steps), random_state=self.seed, n_jobs=self.n_jobs)


@dataclass(frozen=True)
class Method:
    """A classifier to be judged.

    Attributes
    ----------
    name : str
        As users choose it; the forms of a method in all and in few dimensions share it.
    label : str
        What it is called in tables and sentences.
    role : str
        `BASELINE`, `PEER` or `OURS`.
    build : callable
        From a `Setting` to a classifier that is not fitted yet.
    is_small : bool
        Whether it is confined to the small number of dimensions.
    widest : callable
        From a `Setting` to the number of dimensions that it has where it is not confined.
    obstacle : callable
        From a `Setting` to why it cannot be done, or to nothing.
    """

    name: str
    label: str
    role: str
    build: Callable[[Setting], BaseEstimator]
    is_small: bool = False
    widest: Callable[[Setting], int] = lambda setting: setting.n_features
    obstacle: Callable[[Setting], str] = lambda setting: ""

    def called(self, setting: Setting) -> str:
        """Its label, with the number of dimensions where it is confined to few."""
        return f"{self.label} ({setting.n_components}-d)" if self.is_small else self.label

    def differs(self, setting: Setting) -> bool:
        """Whether it is another one than the form that is not confined."""
        return not self.is_small or setting.n_components < self.widest(setting)


def _room() -> float:
    """Bytes that scikit-learn's NCA may take: half of what the machine has, as far as known."""
    try:
        return min(_MOST_BYTES, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2)
    except (AttributeError, OSError, ValueError):
        return _MOST_BYTES


def _too_large(setting: Setting) -> str:
    size, room = _SQUARES * 8.0 * setting.n_train**2, _room()
    if size <= room:
        return ""
    return (
        f"it would hold about {_SQUARES} arrays of {setting.n_train:,} × {setting.n_train:,} "
        f"numbers, {size / 1e9:.1f} GB, and {room / 1e9:.1f} GB are allowed"
    )


METHODS: tuple[Method, ...] = (
    Method("raw", "k-NN raw", BASELINE, lambda s: s.nearest(FunctionTransformer())),
    Method("standardized", "k-NN standardized", BASELINE, lambda s: s.nearest(StandardScaler())),
    Method(
        "pca",
        "k-NN after PCA",
        BASELINE,
        lambda s: s.nearest(StandardScaler(), PCA(_VARIANCE, svd_solver="full")),
    ),
    Method(
        "pca",
        "k-NN after PCA",
        BASELINE,
        lambda s: s.nearest(StandardScaler(), PCA(s.n_components, random_state=s.seed)),
        is_small=True,
    ),
    Method(
        "lda",
        "k-NN after LDA",
        BASELINE,
        lambda s: s.nearest(StandardScaler(), LinearDiscriminantAnalysis()),
    ),
    Method(
        "lda",
        "k-NN after LDA",
        BASELINE,
        lambda s: s.nearest(
            StandardScaler(), LinearDiscriminantAnalysis(n_components=s.n_components)
        ),
        is_small=True,
        widest=lambda s: min(s.n_features, s.n_classes - 1),
    ),
    Method(
        "lda",
        "LDA",
        BASELINE,
        lambda s: make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()),
    ),
    Method(
        "sklearn-nca",
        "k-NN after scikit-learn's NCA",
        PEER,
        lambda s: s.nearest(StandardScaler(), NeighborhoodComponentsAnalysis(random_state=s.seed)),
        obstacle=_too_large,
    ),
    Method(
        "coincidence",
        "k-NN after LatentCoincidence",
        OURS,
        lambda s: s.nearest(
            StandardScaler(), LatentCoincidence(random_state=s.seed, n_jobs=s.n_jobs)
        ),
    ),
    Method(
        DEFAULT,
        "NeighborhoodComponents",
        OURS,
        lambda s: make_pipeline(
            StandardScaler(), NeighborhoodComponents(random_state=s.seed, n_jobs=s.n_jobs)
        ),
    ),
    Method(
        DEFAULT,
        "NeighborhoodComponents",
        OURS,
        lambda s: make_pipeline(
            StandardScaler(),
            NeighborhoodComponents(s.n_components, random_state=s.seed, n_jobs=s.n_jobs),
        ),
        is_small=True,
    ),
)
NAMES: tuple[str, ...] = tuple(dict.fromkeys(method.name for method in METHODS))


def methods_for(setting: Setting, names: Sequence[str] | None) -> list[Method]:
    """The methods of some names that differ from each other, in the order of `METHODS`.

    Examples
    --------
    >>> from vicinal.report.comparing.methods import Setting, methods_for
    >>> flowers = Setting(n_components=2, n_train=120, n_features=4, n_classes=3, seed=0)
    >>> [method.called(flowers) for method in methods_for(flowers, ["pca", "lda"])]
    ['k-NN after PCA', 'k-NN after PCA (2-d)', 'k-NN after LDA', 'LDA']
    """
    if isinstance(names, str):
        raise ValueError(f"methods={names!r} must be a list: use [{names!r}].")
    chosen = NAMES if names is None else [check_choice("methods", name, NAMES) for name in names]
    if not len(chosen):
        raise ValueError(f"methods={names!r} is empty: name some of {', '.join(NAMES)}, or None.")
    return [method for method in METHODS if method.name in chosen and method.differs(setting)]
