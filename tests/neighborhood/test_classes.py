import numpy as np
import pytest
from numpy.testing import assert_allclose

from vicinal.neighborhood import LAWS, choose_engine, class_log_masses, classes, law_named
from vicinal.neighborhood.abilities import Workload


@pytest.mark.parametrize("few", [0, 10**9])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("law", LAWS)
def test_masses_are_sums_over_the_keys_of_each_class(monkeypatch, law, weighted, few):
    monkeypatch.setattr(classes, "_FEW_PAIRS", few)
    rng = np.random.default_rng(0)
    queries, keys = rng.normal(size=(20, 3)), rng.normal(size=(31, 3))
    labels = np.array([0, 2, 3])[rng.integers(0, 3, 31)]  # nobody is of class 1
    log_weights = rng.normal(size=31) if weighted else None
    named = law_named(law, degrees_of_freedom=3.0)
    engine, _ = choose_engine("auto", Workload(20, 31, 3, law=named), tolerance=0.0, n_jobs=1)
    scales = (1.0, 0.3)
    found = class_log_masses(queries, keys, labels, 4, log_weights, named, engine, scales)
    for scale, log_masses in zip(scales, found, strict=True):
        k = named.mass(scale**2 * np.square(queries[:, None] - keys[None]).sum(axis=-1), 3)
        k = k * np.exp(log_weights) if weighted else k
        expected = np.stack([k[:, labels == c].sum(axis=1) for c in range(4)], axis=1)
        assert_allclose(np.exp(log_masses), expected, rtol=1e-10, atol=1e-300)


def test_far_queries_keep_finite_masses():
    keys, labels = np.eye(3), np.array([0, 1, 1])
    named = law_named("gaussian", degrees_of_freedom=3.0)
    engine, _ = choose_engine("auto", Workload(1, 3, 3, law=named), tolerance=0.0, n_jobs=1)
    found = class_log_masses(np.full((1, 3), 1e4), keys, labels, 2, None, named, engine)
    assert np.isfinite(found).all()
