"""How densities are compared, in words."""

import numpy as np
from sklearn.neighbors import KernelDensity

from benchmarks.density.ours import HEADLINE, VALIDATION, our_methods
from benchmarks.density.peers import COMPONENTS, FLOORS, MOST_FOR_STATSMODELS, WIDTHS

PROTOCOL = """
Mean log-density of test rows, in nats per row: higher is better. Mean ± standard error over random
splits, 75 % training and 25 % test rows (magic, landsat and letter: at most 4000 of each; usps: at
most 1000 and 2000, two splits), the same for all methods. Features are standardized by the training
part, but for usps, where some pixels are almost constant. "Less the best": difference to the
method with the highest mean of all, ours included, ± the standard error of the differences on the
same splits.
Seconds: of fitting, all choices included, and scoring; mean over the splits, each measured once;
numba's compiler ran before. A method that fails on any split has no mean.

The first {n_ours} rows are LocalComponents, default settings but for those said. The headline row
is "{headline}": number of parts, prior, variances that are added and Gaussian directions are chosen
within the training rows. What is tried there was settled on other splits (seeds from 100 on) of the
same sets; what is behind all parts was added after a run without it had failed on the second
split of segment (docs/decisions/0018). pima, segment and letter have rounded values: densities grow
there with how narrow they may become, which for the mixture, as for the least reg_covar, is 1e-6.

The form of local covariances was chosen in view of the first split of iris, wine, wdbc and magic
(docs/decisions/0007).

- KernelDensity (scikit-learn): bandwidth by GridSearchCV, 5 folds, {n_widths} values between
  {lowest:.2g} and {highest:.2g} standard deviations of a feature. leaf_size is n, because with
  smaller leaves the bounds of its tree make the log-density wrong in high dimension: with the
  default by {tree_error:.1f} nats in the mean for normal points in 36 dimensions, bandwidth 0.5.
- gaussian_kde (SciPy): kernels with the shape of the covariance of the data, as wide as Scott's
  rule says, or the best of {n_widths} widths on {validation} of the training rows.
- KDEMultivariate (statsmodels): one bandwidth for each feature, by leave-one-out likelihood. Only
  where n d is at most {most_statsmodels}: every step of its search loops over the rows in Python.
- KDEpy: NaiveKDE, because FFTKDE needs a grid and TreeKDE cuts the kernels off. It has no way to
  choose a bandwidth in more than one dimension: by Scott's rule, n^(-1/(d+4)) standard deviations.
  With that of KernelDensity it would be the same density. It adds 2.2e-16 to every density, which
  is subtracted here; where that is over a thousandth of a density, the method fails.
- GaussianMixture (scikit-learn): full covariances of 1 to 10 components (usps: 1 to 3) by BIC with
  the default reg_covar of 1e-6; or full or tied ones of {components} components and reg_covar of
  {floors} by the likelihood on {validation} of the training rows. One
  component is a single Gaussian.
- FastICA (scikit-learn) with all components, then the product of gaussian_kde of each source, with
  Silverman's bandwidth, times the determinant of the unmixing matrix.

"Not converged": number of splits with a warning of that; by BIC, from any of the fits; by
validation, from the last.
"""


def protocol() -> str:
    return PROTOCOL.strip().format(
        n_ours=len(our_methods()),
        headline=HEADLINE,
        validation=f"{100 * VALIDATION:g} %",
        n_widths=len(WIDTHS),
        lowest=WIDTHS[0],
        highest=WIDTHS[-1],
        tree_error=tree_error(),
        most_statsmodels=MOST_FOR_STATSMODELS,
        components=", ".join(map(str, COMPONENTS)),
        floors=", ".join(f"{floor:g}" for floor in FLOORS),
    )


def tree_error(n: int = 600, d: int = 36, bandwidth: float = 0.5) -> float:
    """Mean error of KernelDensity's log-density with its default leaves."""
    X, points = np.split(np.random.default_rng(0).normal(size=(n + 100, d)), [n])
    by_tree, exact = (
        KernelDensity(bandwidth=bandwidth, leaf_size=size).fit(X).score_samples(points)
        for size in (KernelDensity().leaf_size, n)
    )
    return float((by_tree - exact).mean())
