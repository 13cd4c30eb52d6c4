"""Units of the features, always by the training part."""

import numpy as np
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from benchmarks.common.splits import Split


def varying(part: Split) -> Split:
    """Without the columns that are constant in the training part."""
    varies = np.ptp(part.X, axis=0) > 0
    return part.mapped(lambda points: points[:, varies])


def standardized(part: Split) -> Split:
    """Columns that vary, with mean 0 and variance 1 in the training part."""
    return standard_units(varying(part))


def standard_units(part: Split) -> Split:
    """Mean 0 and variance 1 in the training part; constant columns become 0."""
    return part.mapped(StandardScaler().fit(part.X).transform)


def principal_components(part: Split, n_components: int) -> Split:
    """Coordinates along the first principal components of the training part."""
    return part.mapped(PCA(n_components, svd_solver="covariance_eigh").fit(part.X).transform)
