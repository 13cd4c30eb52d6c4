"""Classical scaling: it gives Euclidean distances back, and takes others."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from vicinal.divergence.learners.mds import classical_scaling


def test_scaling_of_euclidean_distances_gives_them_back():
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(40, 3)), rng.normal(size=(5, 3))
    found = classical_scaling(np.square(cdist(X, X)), 3, rng)
    assert_allclose(cdist(found.coordinates, found.coordinates), cdist(X, X), atol=1e-8)
    extended = found.extended(np.square(cdist(new, X)))
    assert_allclose(cdist(extended, found.coordinates), cdist(new, X), atol=1e-8)


def test_scaling_clips_what_no_space_has():
    squared = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 9.0], [1.0, 9.0, 0.0]])  # 3 > 1 + 1
    found = classical_scaling(squared, 3, np.random.default_rng(0))
    assert (found.eigenvalues >= 0).all()
    assert np.isfinite(found.coordinates).all()
    assert np.isfinite(found.extended(squared)).all()
