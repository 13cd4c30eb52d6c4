"""Class-conditional models: CoincidenceClassifier beside LDA and QDA."""

import argparse
import warnings

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

from benchmarks.coincidence.cases import CLASS_CASES, splits_of
from benchmarks.coincidence.scores import Scores
from benchmarks.common.pages import Page
from benchmarks.common.sets import available
from benchmarks.common.splits import Split
from vicinal import CoincidenceClassifier

# The project's spec of latent coincidence analysis: test error in %.
CLASS_REFERENCE = {
    "usps": {"ours": 5.8, "LDA": 12.4, "QDA": 7.3},
    "segment": {"ours": 7.7, "LDA": 9.6, "QDA": 13.5},
    "ionosphere": {"ours": 8.1, "LDA": 13.0, "QDA": 14.2},
}


def our_classifier(part: Split, d: int) -> float:
    model = CoincidenceClassifier(d, random_state=0).fit(part.X, part.y)
    return error_of(model.predict(part.X_test), part)


def lda(part: Split, d: int) -> float:
    return error_of(LinearDiscriminantAnalysis().fit(part.X, part.y).predict(part.X_test), part)


def error_of(predicted: np.ndarray, part: Split) -> float:
    """Share of wrong labels in %."""
    return 100 * float((predicted != part.y_test).mean())


class Qda:
    """QDA, regularized where a class's covariance is singular."""

    def __init__(self) -> None:
        self.n_singular = 0

    def __call__(self, part: Split, d: int) -> float:
        """Test error in %."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                model = QuadraticDiscriminantAnalysis().fit(part.X, part.y)
        except (np.linalg.LinAlgError, UserWarning):
            self.n_singular += 1
            model = QuadraticDiscriminantAnalysis(reg_param=0.01).fit(part.X, part.y)
        return error_of(model.predict(part.X_test), part)


def report_classes(page: Page, options: argparse.Namespace) -> None:
    page.say("## Class-conditional models: test error in %\n")
    page.say("Splits as above. QDA with reg_param=0.01 where a class has a singular covariance, in")
    page.say("so many splits. In parentheses: the reference.\n")
    names = available(page, CLASS_CASES, options.sets)
    models = ("CoincidenceClassifier", "LDA", "QDA", "QDA regularized")
    row = page.table(["set", "rows", "D", "d", *models])
    for name in names:
        row(name, *class_cells(name, options.splits))
    page.say()


def class_cells(name: str, n_splits: int) -> list[object]:
    """Training rows, D and d, the errors of all models, and how often QDA was regularized."""
    case, qda, shape = CLASS_CASES[name], Qda(), (0, 0, 0)
    models = {"ours": our_classifier, "LDA": lda, "QDA": qda}
    scores = {model: Scores() for model in models}
    for _, part in splits_of(name, case, n_splits):
        d = case.dimension or part.X.shape[1]
        shape = (*part.X.shape, d)
        for model, measure in models.items():
            scores[model].add(lambda: measure(part, d))  # noqa: B023
    known = CLASS_REFERENCE[name]
    cells = [f"{score.words()} ({known[model]})" for model, score in scores.items()]
    return [*shape, *cells, f"{qda.n_singular} of {len(scores['QDA'].values)}"]
