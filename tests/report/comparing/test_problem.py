import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris
from sklearn.model_selection import ShuffleSplit

from vicinal.report.comparing.problem import Problem

X, y = load_iris(return_X_y=True)


def classes_of(*counts):
    """Rows and classes, so many of each."""
    labels = np.repeat(np.array(list("abcdefg"))[: len(counts)], counts)
    return np.random.default_rng(0).normal(size=(len(labels), 3)), labels


def test_folds_cover_every_row_as_often_as_is_said():
    problem = Problem.of(X, y)
    assert problem.how == "5 folds, 3 times over"
    assert len(problem.folds) == 15
    tests = np.concatenate([test for _, test in problem.folds])
    assert (np.bincount(tests) == 3).all()
    for train, test in problem.folds:
        assert not set(train) & set(test)
        assert np.bincount(problem.y[test]).tolist() == [10, 10, 10]
    assert problem.test_ratio == pytest.approx(0.25)
    assert (problem.n_train, problem.n_classes, problem.notes) == (120, 3, ())


@pytest.mark.parametrize(
    ("n", "how"), [(999, "3 times over"), (1000, "twice"), (1999, "twice"), (2000, "5 folds")]
)
def test_few_rows_are_cut_more_often(n, how):
    problem = Problem.of(np.arange(n)[:, None], np.arange(n) % 2)
    assert problem.how.endswith(how)


def test_folds_follow_the_seed():
    one, same, other = (Problem.of(X, y, seed=seed) for seed in (1, 1, 2))
    assert all((a[1] == b[1]).all() for a, b in zip(one.folds, same.folds, strict=True))
    assert any((a[1] != b[1]).any() for a, b in zip(one.folds, other.folds, strict=True))


def test_other_ways_to_split():
    problem = Problem.of(X, y, cv=ShuffleSplit(4, test_size=30, random_state=0))
    assert (problem.how, problem.test_ratio) == ("4 folds", 0.25)
    halves = [(np.arange(0, 150, 2), np.arange(1, 150, 2))]
    assert len(Problem.of(X, y, cv=halves).folds) == 1
    with pytest.raises(ValueError, match="n_repeats=2 is for a number of folds, and cv is a list"):
        Problem.of(X, y, cv=halves, n_repeats=2)


def test_many_rows_are_sampled_and_it_is_said():
    rows, labels = classes_of(600, 300, 100)
    problem = Problem.of(rows, labels, max_samples=100, seed=3)
    assert np.bincount(problem.y).tolist() == [59, 30, 11]  # sums are rounded, not shares
    assert "100 of 1,000 rows" in problem.notes[0]
    other = Problem.of(rows, labels, max_samples=100, seed=4)
    assert (problem.X != other.X).any()
    assert Problem.of(rows, labels, max_samples=1000).notes == ()


def test_a_class_with_few_rows_is_named():
    rows, labels = classes_of(30, 30, 3, 4)
    note = Problem.of(rows, labels).notes[0]
    assert note.startswith("class c (and 1 more) has 3 rows, fewer than the 5 folds")
    assert "no training row has it" in Problem.of(*classes_of(30, 30, 1)).notes[0]


def test_folds_are_as_many_as_the_largest_class_allows():
    assert Problem.of(*classes_of(3, 3)).how.startswith("3 folds")


@pytest.mark.parametrize("cv", [40, np.int64(40)])
def test_fewer_folds_than_were_asked_for_are_told(cv):
    problem = Problem.of(*classes_of(30, 30), cv=cv)
    # Every fold has a row of each class, and no note says otherwise.
    assert problem.notes == ("40 folds were asked for; 30 can be made, as no class has more rows",)
    assert Problem.of(*classes_of(30, 30), cv=30).notes == ()


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (np.zeros(150), "1 class"),
        (np.linspace(0, 1, 150), "numbers with fractions in 150 rows, as in a regression"),
        (np.arange(150), "150 different values in 150 rows, as in a regression"),
        (np.r_[np.zeros(149), 1], "fewer than two have two rows"),
        (np.array(["a", None] * 75, dtype=object), "names no class .* in 75 of 150 rows"),
    ],
)
def test_what_are_no_classes(labels, said):
    with pytest.raises(ValueError, match=said):
        Problem.of(X, labels)


def test_whole_numbers_as_floats_are_classes():
    assert Problem.of(X, y.astype(float)).n_classes == 3


def test_missing_values_are_named():
    gaps = X.copy()
    gaps[4, 2] = gaps[7, 1] = np.nan
    with pytest.raises(ValueError, match="2 in all, the first in row 4 of column 2: fill them"):
        Problem.of(gaps, y)
    frame = pd.DataFrame(gaps, columns=list("abcd"))
    with pytest.raises(ValueError, match="row 4 of column 'c'"):
        Problem.of(frame, y)


@pytest.mark.parametrize("words", [["red", "blue"], ["red", None], [1.5, {}]])
def test_text_is_named(words):
    frame = pd.DataFrame(X, columns=list("abcd")).assign(color=words * 75)
    with pytest.raises(ValueError, match=r"no number, in column 'color' .*OneHotEncoder"):
        Problem.of(frame, y)


def test_what_is_no_table():
    with pytest.raises(ValueError, match="Expected 2D array"):
        Problem.of(X[:, 0], y)
    with pytest.raises(TypeError, match="Sparse data was passed"):
        Problem.of(csr_array(X), y)


def test_classes_that_no_sampled_row_has():
    rows, labels = np.arange(200.0)[:, None], np.repeat(np.arange(62), [40, 40, *[2] * 60])
    problem = Problem.of(rows, labels, max_samples=30)
    assert problem.n_classes == len(np.unique(problem.y)) == problem.y.max() + 1 <= 30


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"cv": 1}, "cv=1 must be"),
        ({"n_repeats": 0}, "n_repeats=0 must be"),
        ({"max_samples": 5}, "max_samples=5 must be"),
    ],
)
def test_impossible_numbers(options, said):
    with pytest.raises(ValueError, match=said):
        Problem.of(X, y, **options)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (np.ones((150, 2)), "X is the same in every row"),
        (X * 1e200, "X reaches 7.9e.200, too large"),
        (X[:, :1] * 0 + 1e-200 * X[:, :1], "X varies by .* too little"),
    ],
)
def test_rows_that_tell_nothing(rows, said):
    with pytest.raises(ValueError, match=said):
        Problem.of(rows, y)


def test_as_many_labels_as_rows():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        Problem.of(X, y[:-1])
