"""Density estimators of other libraries."""

import numpy as np
from scipy.stats import gaussian_kde
from sklearn.decomposition import FastICA
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity

from benchmarks.density.ours import ByValidation
from benchmarks.density.runs import Density, LeftOut, Method

MOST_FOR_STATSMODELS = 2000  # n d: that of wine is 1729
WIDTHS = np.logspace(-1.25, 0.25, 20)  # of kernels, as shares of the standard deviation
MANY_FEATURES = 100  # a mixture then has at most three components by BIC
COMPONENTS = (1, 2, 3, 5, 7, 10)
FLOORS = (1e-6, 1e-4, 1e-3, 1e-2, 1e-1)


def kernel_density(X: np.ndarray, seed: int) -> Density:
    # All rows in one leaf: the bounds of the tree are wrong in high dimension.
    model = KernelDensity(leaf_size=len(X))
    grid = {"bandwidth": spread(X) * WIDTHS}
    return GridSearchCV(model, grid, cv=5).fit(X).best_estimator_.score_samples


def spread(X: np.ndarray) -> float:
    """Root of the mean variance of a feature: 1 in standard units."""
    return float(np.sqrt(X.var(axis=0).mean()))


def scipy_density(factor: float | None = None) -> Method:
    """Kernels with the shape of the covariance, `factor` times as wide (None: by Scott's rule)."""

    def fit(X: np.ndarray, seed: int) -> Density:
        model = gaussian_kde(X.T, bw_method=factor)
        return lambda points: model.logpdf(points.T)

    return fit


def statsmodels_density(X: np.ndarray, seed: int) -> Density:
    if X.size > MOST_FOR_STATSMODELS:
        raise LeftOut("left out: a loop over the rows in Python for every step of its search")
    from statsmodels.nonparametric.kernel_density import KDEMultivariate

    model = KDEMultivariate(X, "c" * X.shape[1], bw="cv_ml")
    return lambda points: np.log(model.pdf(points))


def kdepy_density(X: np.ndarray, seed: int) -> Density:
    from KDEpy import NaiveKDE

    n, d = X.shape
    model = NaiveKDE(bw=spread(X) * n ** (-1 / (d + 4))).fit(X)
    return lambda points: log_of_kdepy(model.evaluate(points))


def log_of_kdepy(densities: np.ndarray) -> np.ndarray:
    """Without the 2e-16 that KDEpy adds to every density "for contour plotting"."""
    added = np.finfo(float).eps
    lost = int((~(densities > 1000 * added)).sum())
    if lost:
        count = f"{lost} of {len(densities)}"
        raise ValueError(f"{count} test points have densities near the 2e-16 that it adds to all")
    return np.log(densities - added)


def mixture(n_components: int, floor: float, covariances: str = "full") -> Method:
    """`floor`: what is added to the variances."""

    def fit(X: np.ndarray, seed: int) -> Density:
        model = GaussianMixture(
            n_components, covariance_type=covariances, reg_covar=floor, random_state=seed
        )
        return model.fit(X).score_samples

    return fit


def mixture_by_bic(X: np.ndarray, seed: int) -> Density:
    most = 3 if X.shape[1] > MANY_FEATURES else 10
    models = [GaussianMixture(k, random_state=seed).fit(X) for k in range(1, most + 1)]
    return min(models, key=lambda model: model.bic(X)).score_samples


def independent_components(X: np.ndarray, seed: int) -> Density:
    """Product of densities of the sources, each by kernels with Silverman's bandwidth."""
    if np.linalg.matrix_rank(X - X.mean(axis=0)) < X.shape[1]:  # FastICA would divide by rounding
        raise ValueError("singular covariance")
    ica = FastICA(whiten="unit-variance", random_state=seed).fit(X)
    log_volume = np.linalg.slogdet(ica.components_)[1]
    sources = [gaussian_kde(source, "silverman") for source in ica.transform(X).T]

    def log_density(points: np.ndarray) -> np.ndarray:
        columns = ica.transform(points).T
        logs = [model.logpdf(column) for model, column in zip(sources, columns, strict=True)]
        return np.sum(logs, axis=0) + log_volume

    return log_density


def mixtures(covariances: str) -> ByValidation:
    """Gaussian mixtures of several numbers of components and floors."""
    return ByValidation(
        {
            f"{k} components, reg_covar {floor:g}": mixture(k, floor, covariances)
            for k in COMPONENTS
            for floor in FLOORS
        }
    )


def peers() -> dict[str, Method]:
    factors = {f"factor {factor:.2g}": scipy_density(factor) for factor in WIDTHS}
    return {
        "KernelDensity, 5-fold CV": kernel_density,
        "gaussian_kde, Scott": scipy_density(),
        "gaussian_kde, by validation": ByValidation(factors),
        "KDEMultivariate, cv_ml": statsmodels_density,
        "KDEpy NaiveKDE, Scott": kdepy_density,
        "GaussianMixture, BIC": mixture_by_bic,
        "GaussianMixture, by validation": mixtures("full"),
        "GaussianMixture, tied, by validation": mixtures("tied"),
        "FastICA + gaussian_kde": independent_components,
    }
