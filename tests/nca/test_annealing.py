import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from vicinal import NeighborhoodComponents
from vicinal.nca.annealing import ORDERS, anneal


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("annealing", ORDERS)  # True is one of them
@pytest.mark.parametrize("settings", [{}, {"kernel": "compact"}, {"init": "pca"}], ids=str)
def test_annealing_ends_in_a_good_map_of_low_rank(wine, annealing, settings):
    model = NeighborhoodComponents(2, annealing=annealing, **settings).fit(*wine)
    assert model.components_.shape == (2, 13)
    assert model.score(*wine) > 0.97


def test_true_is_the_projected_variance(wine):
    by_name, by_flag = (
        NeighborhoodComponents(2, annealing=annealing).fit(*wine)
        for annealing in ("projected", True)
    )
    assert_allclose(by_name.components_, by_flag.components_)


def test_annealing_comes_before_batches(wine):
    model = NeighborhoodComponents(
        2, annealing=True, solver="adam", batching="random", batch_size=60, max_iter=100,
        random_state=0,
    ).fit(*wine)  # fmt: skip
    assert model.n_iter_ == 100
    assert model.score(*wine) > 0.95


def test_each_order_drops_the_row_it_names():
    """A flat objective moves nothing, so only the penalty and the choice are seen."""
    covariance = np.diag([9.0, 1.0, 4.0])
    A = np.diag([1.0, 2.0, 0.5])
    P = np.eye(3)
    left = {
        name: np.flatnonzero(
            anneal(lambda B: (0.0, np.zeros_like(B)), A, P, 2, covariance, name).any(axis=0)
        ).tolist()
        for name in ORDERS
    }
    # variance along the row: 9, 1, 4; after the map: 9, 4, 1; squared norms: 1, 4, 0.25
    assert left == {"variance": [0, 2], "projected": [0, 1], "row": [0, 1]}


def test_rows_fade_while_the_others_adjust():
    """Only the sum of two rows matters: what the fading one loses the other takes over."""

    def objective(B):
        gap = B.sum(axis=0) - 3.0
        return -float(np.square(gap).sum()), np.tile(-2 * gap, (len(B), 1))

    A = np.array([[1.0, 1.0], [2.0, 2.0]])
    left = anneal(objective, A, np.eye(2), 1, np.eye(2), "row")
    assert left.shape == (1, 2)
    assert (left > 2.5).all()


@pytest.mark.parametrize("n_components", [None, 13])
def test_nothing_to_anneal_is_refused(wine, n_components):
    with pytest.raises(ValueError, match=r"annealing=True fades dimensions out .* keeps all 13"):
        NeighborhoodComponents(n_components, annealing=True).fit(*wine)


def test_an_unknown_order_is_named(wine):
    with pytest.raises(ValueError, match="annealing='slow' is unknown: use one of True, False, 'v"):
        NeighborhoodComponents(2, annealing="slow").fit(*wine)
