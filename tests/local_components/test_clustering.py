import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from vicinal import LocalComponents, ModeClustering


@pytest.mark.filterwarnings("ignore:LocalComponents with regularization='auto'")
@parametrize_with_checks(
    [
        ModeClustering(),
        ModeClustering(LocalComponents(covariance="local", smoothing=10)),
        ModeClustering(LocalComponents(n_mixture=2)),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
