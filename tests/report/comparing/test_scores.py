import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import log_loss

from vicinal.report.comparing.intervals import corrected_error, share_interval
from vicinal.report.comparing.scores import FoldScores, MethodScores, log_losses

SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS, st.booleans())
def test_losses_are_those_of_scikit_learn(seed, votes):
    rng = np.random.default_rng(seed)
    y, shares = rng.integers(0, 3, 20), rng.dirichlet([0.3] * 3, 20)
    if votes:  # zeros among them
        shares = rng.multinomial(5, shares) / 5
    expected = log_loss(y, shares, labels=[0, 1, 2])
    assert log_losses(y, shares, np.arange(3)).mean() == pytest.approx(expected)


def test_a_class_that_was_not_learned_has_no_probability():
    losses = log_losses(np.array([1]), np.array([[0.5, 0.5]]), np.array([0, 2]))
    assert losses[0] == pytest.approx(-np.log(np.finfo(float).eps))


def fold(right, losses=None, seconds=1.0, n_components=2, **warned):
    right = np.array(right, dtype=bool)
    losses = np.ones(len(right)) if losses is None else np.array(losses)
    return FoldScores(right, losses, seconds, n_components, warned)


def gathered(found, tests, n_rows):
    about = {"label": "a", "name": "a", "role": "peer", "is_small": False, "test_ratio": 0.5}
    return MethodScores.gathered(found, tests, n_rows, **about)


def test_means_over_folds_and_rows():
    found = [fold([1, 1], [0.1, 0.3]), fold([0, 1, 1], [1.0, 2.0, 3.0]), fold([1], [0.5])]
    tests = [np.array([0, 1]), np.array([2, 3, 0]), np.array([3])]
    scores = gathered(found, tests, 6)
    np.testing.assert_allclose(scores.fold_accuracies, [1, 2 / 3, 1])
    np.testing.assert_allclose(scores.fold_log_losses, [0.2, 2.0, 0.5])
    np.testing.assert_allclose(scores.row_accuracies, [1, 1, 0, 1, np.nan, np.nan])
    np.testing.assert_allclose(scores.row_log_losses, [1.55, 0.3, 1, 1.25, np.nan, np.nan])
    assert scores.accuracy == pytest.approx(8 / 9)
    assert scores.log_loss == pytest.approx(0.9)
    assert scores.accuracy_error == corrected_error(scores.fold_accuracies, 0.5)
    assert scores.log_loss_error == corrected_error(scores.fold_log_losses, 0.5)
    assert scores.accuracy_interval == share_interval(scores.fold_accuracies, 0.5, 4)


def test_the_first_fit_may_be_slow():
    found = [fold([1], seconds=seconds) for seconds in (9.0, 1.0, 2.0)]
    assert gathered(found, [np.array([0])] * 3, 1).seconds == 2.0


def test_dimensions_are_the_most_of_any_fold():
    found = [fold([1], n_components=n) for n in (3, 5, 4)]
    assert gathered(found, [np.array([0])] * 3, 1).n_components == 5


def test_warnings_are_counted_by_kind():
    found = [fold([1]), fold([1], A="one"), fold([1], A="two", B="three")]
    assert gathered(found, [np.array([0])] * 3, 1).warnings == (
        "one (A, in 2 of 3 folds)",
        "three (B, in 1 of 3 folds)",
    )
