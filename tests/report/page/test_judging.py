from typing import ClassVar

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from vicinal import NeighborhoodComponents
from vicinal.report.page import judging
from vicinal.report.page.judging import (
    StageAccuracy,
    judge_between,
    judge_by_folds,
    judge_within,
)
from vicinal.report.page.stages import Stage, stages_of

X, Y = load_iris(return_X_y=True)


def test_interval_is_wilsons():
    right = np.arange(100) < 90
    expected = binomtest(90, 100).proportion_ci(0.95, "wilson")
    found = StageAccuracy("", 1, right[:, None], 1).interval
    assert found == pytest.approx((expected.low, expected.high), abs=1e-6)


def test_within_is_leave_one_out():
    # No two distances are the same, as they are among the iris: which is nearer is then open.
    points, labels = X[::3], Y[::3]
    points = points + np.random.default_rng(0).normal(scale=0.1, size=points.shape)
    verdict = judge_within([Stage("All", points), Stage("Two", points[:, 2:])], labels, 5, False)
    assert verdict.caution == ""
    for one, space in zip(verdict.stages, (points, points[:, 2:]), strict=True):
        for k in range(1, 7):
            expected = cross_val_score(KNeighborsClassifier(k), space, labels, cv=LeaveOneOut())
            np.testing.assert_array_equal(one.right[:, k - 1], expected == 1)
        assert one.accuracy == one.right[:, 4].mean()


def test_within_warns_where_labels_were_learned_from():
    assert "flattered" in judge_within([Stage("Raw", X)], Y, 5, supervised=True).caution


@pytest.mark.parametrize("how", ["within", "between", "folds"])
def test_many_rows_are_judged_by_a_sample(monkeypatch, how):
    monkeypatch.setattr(judging, "MOST_JUDGED", 30)
    monkeypatch.setattr(judging, "MOST_KNOWN", 60)
    raw = [Stage("Raw", X)]
    if how == "within":
        verdict = judge_within(raw, Y, 5, supervised=False)
        assert verdict.how == "30 of 150 rows, each named by its 5 nearest among 60 others."
    elif how == "between":
        verdict = judge_between(raw, Y, raw, Y, 5)
        assert "30 of 150 test rows" in verdict.how
        assert "among 60 of 150 training rows" in verdict.how
    else:
        monkeypatch.setattr(judging, "MOST_JUDGED", 9)
        verdict = judge_by_folds(NeighborhoodComponents(2, tol=0.1), X, Y, 5, 3)
        assert f"{len(verdict.stages[0].correct)} of 150 rows, each" in verdict.how
    assert 20 < len(verdict.stages[0].correct) <= 30
    assert verdict.stages[0].accuracy > 0.8


def test_between_train_and_test():
    train, test = X[::2], X[1::2]
    verdict = judge_between([Stage("Raw", train)], Y[::2], [Stage("Raw", test)], Y[1::2], 3)
    expected = KNeighborsClassifier(3).fit(train, Y[::2]).score(test, Y[1::2])
    assert verdict.stages[0].accuracy == pytest.approx(expected)
    assert "75 test rows" in verdict.how


class Peeking(NeighborhoodComponents):
    """Remembers the rows it was fitted to."""

    seen: ClassVar[list] = []

    def fit(self, X, y):
        Peeking.seen.append(X)
        return super().fit(X, y)


def test_folds_judge_rows_the_copy_has_not_seen():
    model = Peeking(n_components=2, max_iter=50)
    Peeking.seen.clear()
    verdict = judge_by_folds(model, X, Y, 5, 5)
    assert [len(rows) for rows in Peeking.seen] == [120] * 5
    assert [one.name for one in verdict.stages] == ["Raw features", "Learned"]
    assert all(len(one.correct) == 150 for one in verdict.stages)
    assert verdict.stages[1].accuracy > 0.9
    assert not hasattr(model, "components_")


def test_folds_with_a_class_smaller_than_their_number():
    y = Y.copy()
    y[:2] = 3
    model = NeighborhoodComponents(n_components=2, max_iter=5)
    assert len(judge_by_folds(model, X, y, 5, 5).stages[0].correct) == 150


def test_gain_is_paired():
    rng = np.random.default_rng(0)
    one, other = rng.random(400) < 0.8, rng.random(400) < 0.7
    first, second = (StageAccuracy("", 1, right[:, None], 1) for right in (one, other))
    gain, low, high = first.gain_over(second)
    assert gain == pytest.approx(one.mean() - other.mean())
    discordant = np.array([(one & ~other).sum(), (other & ~one).sum()]) / 400
    error = np.sqrt((discordant.sum() - np.diff(discordant)[0] ** 2) / 400)
    assert (high - low) / 2 == pytest.approx(1.959964 * error)


def test_stages_of_a_model_that_places_nothing():
    class Nothing(BaseEstimator):
        def fit(self, X):
            self.fitted_ = True
            return self

    with pytest.raises(TypeError, match="Nothing places no rows"):
        stages_of(Nothing().fit(X), X)
