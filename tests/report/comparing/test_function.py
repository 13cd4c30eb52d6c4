import numpy as np
import pandas as pd
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine

from vicinal.report import compare
from vicinal.report.comparing import function

X, y = load_wine(return_X_y=True)
QUICK = {"cv": 3, "n_repeats": 1, "random_state": 0}


@pytest.fixture(scope="module")
def wine():
    return compare(X[::2], y[::2], cv=2, n_repeats=1, random_state=0)


def test_all_methods_on_wine(wine):
    accuracy = {one.label: one.accuracy for one in wine.methods}
    assert len(accuracy) == 10
    assert not wine.skipped
    assert accuracy["k-NN raw"] < 0.8  # one feature in large units
    assert min(value for name, value in accuracy.items() if name != "k-NN raw") > 0.9
    assert wine.headline == "89 rows, 13 features, 3 classes; 2 folds"
    dimensions = {one.label: one.n_components for one in wine.methods}
    assert dimensions["k-NN raw"] == dimensions["NeighborhoodComponents"] == 13
    assert dimensions["NeighborhoodComponents (2-d)"] == dimensions["LDA"] == 2
    assert 2 < dimensions["k-NN after PCA"] < 13
    for one in wine.methods:
        assert len(one.fold_accuracies) == 2
        assert np.isfinite(one.row_accuracies).all()
        low, high = one.accuracy_interval
        assert low <= one.accuracy <= high
        assert 0 <= one.log_loss < 37


def test_a_seed_makes_it_repeatable(wine):
    again = compare(X[::2], y[::2], methods=["lda", "nca"], cv=2, n_repeats=1, random_state=0)
    known = {one.label: one for one in wine.methods}
    for one in again.methods:  # what else is compared does not matter
        np.testing.assert_array_equal(one.row_accuracies, known[one.label].row_accuracies)


def test_a_table_with_names_of_columns_and_classes():
    frame = pd.DataFrame(X).rename(columns="x{}".format)
    named = compare(frame, np.array(["c", "a", "b"])[y], methods=["raw"], **QUICK)
    plain = compare(X, np.array([2, 0, 1])[y], methods=["raw"], **QUICK)
    np.testing.assert_array_equal(
        named.methods[0].fold_accuracies, plain.methods[0].fold_accuracies
    )


@examples(6)
@given(st.integers(0, 2**32 - 1))
def test_rows_of_a_class_may_change_places(seed):
    """With the same folds: nothing but distances and classes counts."""
    rng = np.random.default_rng(seed)
    points, classes = load_iris(return_X_y=True)
    is_test = np.arange(150) % 3 == 0
    order = np.arange(150)
    for part in (3 * is_test + classes == code for code in range(6)):
        order[part] = rng.permutation(order[part])
    cut = [(np.flatnonzero(~is_test), np.flatnonzero(is_test))]
    first, again = (
        compare(points[places], classes, methods=["lda"], cv=cut, random_state=0).methods[-1]
        for places in (np.arange(150), order)
    )
    assert first.accuracy == again.accuracy
    assert first.log_loss == pytest.approx(again.log_loss)


def test_features_without_classes_do_not_help():
    """Noise: the answer must not be yes."""
    rng = np.random.default_rng(0)
    noise, classes = rng.normal(size=(120, 5)), rng.integers(0, 2, 120)
    found = compare(noise, classes, methods=["raw", "lda", "nca"], **QUICK)
    assert found.difference.conclusion != "better"
    assert found.difference_small.conclusion != "better"


def test_a_feature_in_large_units_is_what_learning_helps_against():
    rng = np.random.default_rng(0)
    classes = np.arange(150) % 3
    points = np.c_[3 * np.eye(3)[classes] + rng.normal(size=(150, 3)), 100 * rng.normal(size=150)]
    found = compare(points, classes, methods=["raw", "nca"], n_repeats=1, random_state=0)
    assert found.verdict.startswith("Learning a metric helps on this table: ")


def test_a_class_of_one_row():
    points, classes = np.r_[X[:100], X[-1:]], np.r_[y[:100], 2]
    found = compare(points, classes, methods=["raw", "lda", "nca"], **QUICK)
    assert not found.skipped
    assert "class 2 has 1 row" in found.notes[0]
    lonely = [one.row_log_losses[-1] for one in found.methods]
    np.testing.assert_allclose(lonely, -np.log(np.finfo(float).eps))


def test_many_rows():
    found = compare(X, y, methods=["raw"], max_samples=60, **QUICK)
    assert found.n_rows == 60
    assert "a sample of 60 of 178 rows" in found.notes[0]
    assert compare(X, y, methods=["raw"], max_samples=None, **QUICK).n_rows == 178


def test_progress(capsys):
    compare(X, y, methods=["raw"], verbose=1, **QUICK)
    told = capsys.readouterr().err
    assert "compare: fold 1 of 3, k-NN raw" in told
    assert told.endswith("compare: done\n")


def test_an_interrupt_is_told(monkeypatch):
    measured = function.measure

    def interrupted(*args):
        found = measured(*args)
        for folds in found.folds.values():
            del folds[2:]
        found.interrupted = True
        return found

    monkeypatch.setattr(function, "measure", interrupted)
    found = compare(X, y, methods=["raw", "lda"], **QUICK)
    assert found.interrupted
    assert found.notes == ("interrupted after 2 of 3 folds",)
    assert np.isnan(found.methods[0].row_accuracies).any()
    assert len(found.methods[0].fold_accuracies) == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"n_components": 0}, "n_components=0 must be"),
        ({"methods": ["svm"]}, "methods='svm' is unknown"),
        ({"random_state": -1}, "random_state=-1 must be"),
    ],
)
def test_impossible_arguments(options, said):
    with pytest.raises(ValueError, match=said):
        compare(X, y, **options)
