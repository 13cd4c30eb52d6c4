import numpy as np
from numpy.testing import assert_allclose

from vicinal.coincidence.equations import CoincidenceData, LatentMap, log_likelihood
from vicinal.coincidence.learning import CoincidenceProblem
from vicinal.coincidence.neighbors import LabeledPoints, labeled_pairs
from vicinal.coincidence.scales import LocalScales, with_local_scales
from vicinal.neighborhood.pair_list import PairList


def test_a_point_has_the_median_of_the_anchors_around_it():
    anchors, kappa2 = np.arange(30.0)[:, None], np.arange(30.0) + 1
    scales = LocalScales(anchors, kappa2)
    assert_allclose(scales.at(np.array([[0.0], [29.0]])), [5.5, 25.5])
    assert_allclose(scales.of_others()[[0, 29]], [6.5, 24.5])
    alone = LocalScales(anchors[:1], kappa2[:1])
    assert_allclose(alone.at(anchors), 1.0)
    assert_allclose(alone.of_others(), 1.0)


def test_size_and_noise_are_the_likeliest_for_scales_of_others():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(120, 3)), rng.integers(0, 3, 120)
    X[:, 0] += labels
    first, second, coincide = labeled_pairs(LabeledPoints(X, labels), 3, "all")
    data = CoincidenceData(X, PairList(first, second, 120), coincide, first)
    problem = CoincidenceProblem(data, 3, local=True)
    start = problem.unpack(problem.pack(LatentMap(np.eye(3), 0.3, np.ones(120))))
    latent = with_local_scales(problem, start)
    assert_allclose(np.log(latent.kappa2).mean(), 0.0, atol=1e-12)
    unit = np.exp(np.log(start.kappa2).mean())
    assert_allclose(latent.kappa2, start.kappa2 / unit)
    around = LocalScales(X @ start.W.T, latent.kappa2).of_others()

    def likelihood(size, noise):
        return log_likelihood(data, LatentMap(size * latent.W, noise * latent.sigma2, around))

    for size, noise in ((1.05, 1.0), (0.95, 1.0), (1.0, 1.1), (1.0, 0.9)):
        assert likelihood(size, noise) <= likelihood(1.0, 1.0) + 1e-6
