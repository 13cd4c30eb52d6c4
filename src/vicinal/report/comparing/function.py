"""compare: whether learning a metric helps on these rows."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from vicinal.inputs.checks import check_count, check_seed
from vicinal.report.comparing.comparison import Comparison
from vicinal.report.comparing.measuring import Measured, measure
from vicinal.report.comparing.methods import Method, Setting, methods_for
from vicinal.report.comparing.problem import Problem
from vicinal.report.comparing.progress import audience
from vicinal.report.comparing.scores import MethodScores

if TYPE_CHECKING:
    from sklearn.model_selection import BaseCrossValidator

__all__ = ["compare"]


def compare(
    X: ArrayLike,
    y: ArrayLike,
    *,
    n_components: int = 2,
    cv: "int | BaseCrossValidator | Iterable[Any]" = 5,
    n_repeats: int | None = None,
    methods: Sequence[str] | None = None,
    max_samples: int | None = 2000,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Comparison:
    """Find out whether learning a metric helps on these rows.

    `NeighborhoodComponents` and `LatentCoincidence`, with default settings, are compared
    with k nearest neighbors on raw and on standardized features, after PCA and after LDA,
    with LDA itself and with scikit-learn's NCA. All are judged on the same folds, by rows
    that they have not seen: scaling, k and all else is learned from the training rows.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Numbers; missing values are refused.
    y : array-like of shape (n_samples,)
        Classes.
    n_components : int, default=2
        Number of dimensions to project to, where it is smaller than that of features,
        besides all of them.
    cv : int, cross-validation generator or iterable, default=5
        Number of folds with the same shares of classes, or any way of scikit-learn to
        split rows.
    n_repeats : int, optional
        How often folds are made anew. None: three times up to 999 rows, twice up to 1999.
    methods : sequence of str, optional
        What to compare, of "raw", "standardized", "pca", "lda", "sklearn-nca",
        "coincidence" and "nca". None: all.
    max_samples : int or None, default=2000
        Of more rows take a sample, in which every class keeps its share. None: all rows.
    random_state : int, RandomState instance or None, default=None
        For the sample, the folds and the models.
    n_jobs : int, optional
        Threads of models and of searches for neighbors. Methods are fitted one after the
        other, so that their times can be compared.
    verbose : int, default=0
        1: show a line with what is being done and the time left.

    Returns
    -------
    Comparison
        After Ctrl-C that of the folds that were done.

    See Also
    --------
    ComparisonDisplay : The picture.
    NeighborsAccuracyDisplay : Fitted models against the number of neighbors.

    Notes
    -----
    Log-losses are those of `predict_proba`. A probability of 0, as k-NN has for classes
    without neighbors, counts as 2e-16, as in scikit-learn's `log_loss`.

    scikit-learn's NCA holds arrays with a number for every two rows; where these would take
    more than half of the machine's memory (or 8 GB) it is left out, which `skipped` says. What
    cannot be fitted to a fold is left out, too, with its message.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from vicinal.report import compare
    >>> X, y = load_wine(return_X_y=True)
    >>> result = compare(X, y, methods=["raw", "nca"], random_state=0)
    >>> result.verdict.partition(":")[0]
    'Learning a metric helps on this table'
    >>> [one.label for one in result.methods]
    ['k-NN raw', 'NeighborhoodComponents', 'NeighborhoodComponents (2-d)']
    """
    seed = int(check_seed(random_state).randint(2**31 - 1))
    check_count("n_components", n_components, 1)
    problem = Problem.of(X, y, cv=cv, n_repeats=n_repeats, max_samples=max_samples, seed=seed)
    setting = Setting(
        n_components, problem.n_train, problem.X.shape[1], problem.n_classes, seed, n_jobs
    )
    chosen = methods_for(setting, methods)
    with audience(verbose) as (watch, interrupts):
        measured = measure(problem, chosen, setting, watch, interrupts)
    return _comparison(problem, chosen, setting, measured)


def _comparison(
    problem: Problem, methods: Sequence[Method], setting: Setting, measured: Measured
) -> Comparison:
    labeled = {method.called(setting): method for method in methods}
    n_done = min(map(len, measured.folds.values()), default=0)
    notes = problem.notes
    if measured.interrupted:
        notes += (f"interrupted after {n_done} of {len(problem.folds)} folds",)
    return Comparison(
        tuple(_scores(problem, labeled[one], one, measured) for one in measured.folds),
        n_rows=len(problem.y),
        n_features=setting.n_features,
        n_classes=problem.n_classes,
        n_components=setting.n_components,
        folds=problem.how,
        skipped=measured.skipped,
        notes=notes,
        interrupted=measured.interrupted,
    )


def _scores(problem: Problem, method: Method, label: str, measured: Measured) -> MethodScores:
    found = measured.folds[label]
    return MethodScores.gathered(
        found,
        [test for _, test in problem.folds[: len(found)]],
        len(problem.y),
        label=label,
        name=method.name,
        role=method.role,
        is_small=method.is_small,
        test_ratio=problem.test_ratio,
    )
