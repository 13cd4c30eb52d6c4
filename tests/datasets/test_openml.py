from dataclasses import replace
from http.client import HTTPException

import numpy as np
import pytest
from scipy.sparse import csr_array

from vicinal import datasets
from vicinal.datasets import DatasetMismatch, DatasetUnavailable, storage
from vicinal.datasets.registry import REGISTRY

# OpenML's own spelling of classes: other names, in another order.
FOREIGN = np.array(["'2'", "10", "1"], dtype=object)


def sorted_rows(X, y):
    table = np.column_stack([X, y])
    return table[np.lexsort(table.T[::-1])]


def served_in_order(openml, tiny):
    openml.serve(tiny.X, FOREIGN[tiny.y])


def served_shuffled(openml, tiny):
    order = np.random.RandomState(3).permutation(len(tiny.X))
    openml.serve(tiny.X[order], FOREIGN[tiny.y[order]])
    return order


def test_a_copy_in_the_same_order_becomes_the_reference(tiny, openml):
    served_in_order(openml, tiny)
    bunch = datasets.load("tiny")
    np.testing.assert_array_equal(bunch.data, tiny.X.astype(np.float32))
    np.testing.assert_array_equal(bunch.target, tiny.y)
    np.testing.assert_array_equal(bunch.train, np.arange(12) < 8)
    assert bunch.data.dtype == np.float32
    assert bunch.target.dtype == np.int64
    assert bunch.target_names == ["red", "green", "blue"]
    assert "8 training rows" in bunch.DESCR


def test_a_shuffled_copy_gets_the_reference_labels_but_no_split(tiny, openml):
    order = served_shuffled(openml, tiny)
    bunch = datasets.load("tiny")
    np.testing.assert_array_equal(bunch.data, tiny.X[order].astype(np.float32))
    np.testing.assert_array_equal(bunch.target, tiny.y[order])
    assert bunch.target_names == ["red", "green", "blue"]
    assert bunch.train is None
    assert "split is left out" in bunch.DESCR


@pytest.mark.parametrize("serve", [served_in_order, served_shuffled])
def test_a_download_is_cached_and_not_repeated(serve, tiny, openml, cache):
    serve(openml, tiny)
    first = datasets.load("tiny")
    assert [path.name for path in cache.iterdir()] == ["tiny.npz"]
    assert datasets.is_available("tiny")
    second = datasets.load("tiny", download=False)
    assert len(openml.calls) == 1
    assert first.keys() == second.keys()
    for key in first:
        np.testing.assert_array_equal(first[key], second[key])


def test_openml_is_asked_by_id_for_plain_arrays(tiny, openml):
    served_in_order(openml, tiny)
    datasets.load("tiny")
    (call,) = openml.calls
    assert call["data_id"] == 12345
    assert call["as_frame"] is False


@pytest.mark.parametrize(
    ("dtype", "pandas", "parser"),
    [
        ("float32", True, "auto"),
        ("float32", False, "liac-arff"),
        ("float64", True, "liac-arff"),
    ],
)
def test_pandas_parses_where_it_is_there_and_exact(
    dtype, pandas, parser, tiny, openml, monkeypatch
):
    monkeypatch.setitem(REGISTRY, "tiny", replace(tiny.spec, dtype=dtype))
    monkeypatch.setattr("vicinal.datasets.openml.find_spec", lambda name: pandas or None)
    served_in_order(openml, tiny)
    assert datasets.load("tiny").data.dtype == dtype
    assert openml.calls[0]["parser"] == parser


def test_sparse_rows_and_a_column_of_row_numbers_are_dealt_with(tiny, openml):
    numbered = np.column_stack([np.arange(12), tiny.X])
    openml.serve(csr_array(numbered), FOREIGN[tiny.y], ["ID", "a", "b", "c"])
    np.testing.assert_array_equal(datasets.load("tiny").data, tiny.X.astype(np.float32))


def changed_value(X, y):
    X[5, 1] += 0.5
    return X, y


def missing_row(X, y):
    return X[:-1], y[:-1]


def swapped_labels(X, y):
    y[[0, 1]] = y[[1, 0]]
    return X, y


def missing_value(X, y):
    X[2, 2] = np.nan
    return X, y


@pytest.mark.parametrize("damage", [changed_value, missing_row, swapped_labels, missing_value])
def test_a_differing_copy_is_refused_and_not_cached(damage, tiny, openml, cache):
    X, y = damage(tiny.X.copy(), tiny.y.copy())
    openml.serve(X, FOREIGN[y])
    with pytest.raises(DatasetMismatch, match=r"copy of 'tiny' \(data_id=12345\).*verify=False"):
        datasets.load("tiny")
    bunch = datasets.load("tiny", verify=False)
    np.testing.assert_array_equal(bunch.data, X)
    assert bunch.train is None
    assert "differs from the reference" in bunch.DESCR
    assert not cache.exists()


def test_an_accepted_differing_copy_keeps_openmls_classes_in_number_order(tiny, openml):
    openml.serve(tiny.X + 1, FOREIGN[tiny.y])
    bunch = datasets.load("tiny", verify=False)
    assert bunch.target_names == ["1", "2", "10"]
    np.testing.assert_array_equal(bunch.target, np.array([1, 2, 0])[tiny.y])


def test_an_accepted_differing_copy_keeps_our_order_where_names_match(tiny, openml):
    openml.serve(tiny.X + 1, np.array(["red", "green", "blue"], dtype=object)[tiny.y])
    bunch = datasets.load("tiny", verify=False)
    assert bunch.target_names == ["red", "green", "blue"]
    np.testing.assert_array_equal(bunch.target, tiny.y)


def test_words_and_missing_labels_are_refused(tiny, openml):
    openml.serve(np.array([["a", "b", "c"]] * 12, dtype=object), FOREIGN[tiny.y])
    with pytest.raises(DatasetMismatch, match=r"not numbers.*VICINAL_DATA"):
        datasets.load("tiny")
    openml.serve(tiny.X, None)
    with pytest.raises(DatasetMismatch, match="no single label column"):
        datasets.load("tiny")


@pytest.mark.parametrize(
    "error", [OSError("no route"), ValueError("unknown id"), HTTPException("cut off")]
)
def test_a_failed_download_says_what_to_do(error, tiny, openml):
    openml.answer = error
    with pytest.raises(DatasetUnavailable, match=rf"failed: {error}.*VICINAL_DATA") as caught:
        datasets.load("tiny")
    assert caught.value.__cause__ is error


def test_no_download_if_not_allowed(tiny, openml):
    served_in_order(openml, tiny)
    with pytest.raises(DatasetUnavailable):
        datasets.load("tiny", download=False)
    assert openml.calls == []


def test_a_damaged_cache_is_noticed(tiny, openml, cache):
    served_in_order(openml, tiny)
    datasets.load("tiny")
    X = tiny.X.copy()
    X[0, 0] += 1
    storage.write_npz(cache / "tiny.npz", storage.Table(X, tiny.y))
    with pytest.raises(DatasetMismatch, match=r"cached file '.*tiny\.npz' differs.*Delete"):
        datasets.load("tiny")
    np.testing.assert_array_equal(datasets.load("tiny", verify=False).data, X)


def test_a_cache_that_cannot_be_written_only_warns(tiny, openml, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("VICINAL_CACHE", str(tmp_path / "file"))
    served_in_order(openml, tiny)
    with pytest.warns(UserWarning, match="could not be cached.*VICINAL_CACHE") as caught:
        bunch = datasets.load("tiny")
    assert caught[0].filename == __file__
    assert len(bunch.data) == 12


# mnist takes the same path and would take longer than all the others together.
DOWNLOADABLE = [spec.name for spec in REGISTRY.values() if spec.openml_id and spec.name != "mnist"]


@pytest.mark.parametrize("name", DOWNLOADABLE)
def test_shuffled_copies_of_real_sets_become_the_reference(
    name, reference_folder, monkeypatch, openml
):
    spec = REGISTRY[name]
    expected = datasets.load(name)
    monkeypatch.delenv("VICINAL_DATA")
    rng = np.random.RandomState(0)
    order = rng.permutation(spec.n_samples)
    labels = rng.permutation(len(spec.class_names)).astype(str).astype(object)
    openml.serve(expected.data[order].astype(np.float64), labels[expected.target[order]])
    bunch = datasets.load(name)
    np.testing.assert_array_equal(
        sorted_rows(bunch.data, bunch.target), sorted_rows(expected.data, expected.target)
    )
    assert bunch.data.dtype == expected.data.dtype
    assert bunch.target_names == expected.target_names
    assert bunch.train is None
    assert openml.calls[0]["data_id"] == spec.openml_id
