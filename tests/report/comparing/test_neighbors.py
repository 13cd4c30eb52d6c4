import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine, make_classification
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal.report.comparing.neighbors import NUMBERS, NeighborsByFolds

X, y = load_wine(return_X_y=True)


@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_search_that_a_user_would_type(seed):
    points, classes = make_classification(
        150, 6, n_informative=3, n_classes=3, flip_y=0.2, random_state=seed
    )
    steps = StandardScaler(), PCA(3)
    search = GridSearchCV(
        make_pipeline(*steps, KNeighborsClassifier()),
        {"kneighborsclassifier__n_neighbors": NUMBERS},
        cv=StratifiedKFold(3, shuffle=True, random_state=seed),
    ).fit(points[:100], classes[:100])
    model = NeighborsByFolds(make_pipeline(*steps), random_state=seed)
    model.fit(points[:100], classes[:100])
    assert model.n_neighbors_ == search.best_params_["kneighborsclassifier__n_neighbors"]
    np.testing.assert_array_equal(model.predict(points[100:]), search.predict(points[100:]))
    np.testing.assert_array_equal(
        model.predict_proba(points[100:]), search.predict_proba(points[100:])
    )


def test_nothing_is_learned_from_new_rows():
    model = NeighborsByFolds(StandardScaler(), random_state=0).fit(X[::2], y[::2])
    np.testing.assert_allclose(model.transformer_.mean_, X[::2].mean(axis=0))


def test_few_rows():
    model = NeighborsByFolds(StandardScaler(), random_state=0).fit(X[[0, 1, 60, 61, 62]], y[:5] * 0)
    assert model.n_neighbors_ == 1
    alone = clone(model).fit(X[[0, 60, 130]], np.array([0, 1, 2]))
    assert alone.n_neighbors_ == 1
    tiny = clone(model).fit(X[[0, 1, 60]], np.array([0, 0, 1]))  # a class with one row
    assert tiny.classes_.tolist() == [0, 1]
