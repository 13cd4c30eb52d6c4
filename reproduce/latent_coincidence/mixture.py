"""Section 3.1: one model for each class around its mean, and other Gaussians of classes."""

import warnings
from collections.abc import Sequence

from matplotlib.figure import Figure
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NearestCentroid

from benchmarks.common.splits import Split
from reproduce.experiment import Measured, Unit
from reproduce.latent_coincidence.drawing import draw_errors
from reproduce.latent_coincidence.parts import part_of
from vicinal import CoincidenceClassifier

# Covariances of classes of few rows, or with a constant column, are singular.
_SHRINKAGE = 0.01

METHODS = {
    "nearest-mean": "nearest mean",
    "lda": "Gaussians, one covariance (LDA)",
    "qda": "Gaussians, a covariance each (QDA)",
    "lca": "LCA by EM",
    "lca-maximum": "LCA, likelihood maximized",
}


def measure(unit: Unit) -> dict[str, float]:
    """Test errors in percent; mean log-likelihood of a pair by EM and at the maximum."""
    part = part_of(unit)
    p = min(unit["n_components"], part.X.shape[1])
    by_em = coincidence(part, p, solver="em-endpoints", max_iter=unit["iterations"], tol=0.0)
    best = coincidence(part, p, solver="lbfgs")
    others = {
        "nearest-mean": NearestCentroid(),
        "lda": LinearDiscriminantAnalysis(),
        "qda": QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=_SHRINKAGE),
    }
    found = {name: error(part, model.fit(part.X, part.y)) for name, model in others.items()}
    return found | {
        "lca": error(part, by_em),
        "lca-maximum": error(part, best),
        "likelihood": float(by_em.log_likelihood_.mean()) / len(part.y),
        "likelihood-maximum": float(best.log_likelihood_.mean()) / len(part.y),
    }


def coincidence(part: Split, p: int, **options: object) -> CoincidenceClassifier:
    """One model of the poster for each class, from principal components."""
    model = CoincidenceClassifier(p, init="pca", **options)
    with warnings.catch_warnings():  # the number of iterations is part of the settings
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(part.X, part.y)


def error(part: Split, model: object) -> float:
    """Test error in percent."""
    return 100 * float((model.predict(part.X_test) != part.y_test).mean())


def draw(all_measured: Sequence[Measured]) -> Figure:
    """Errors with maps of most dimensions, a row for each set."""
    most = max(unit["n_components"] for unit, _ in all_measured)
    shown = [one for one in all_measured if one.unit["n_components"] == most]
    return draw_errors(shown, METHODS, "test error (%)")
