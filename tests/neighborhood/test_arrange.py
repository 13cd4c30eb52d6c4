import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from neighborhood.cases import cases

from vicinal.neighborhood import Pairs
from vicinal.neighborhood.arrange import arrange, rectangles
from vicinal.neighborhood.sums import ColumnSums, RowSums


def keep_dtype(dtype, reach):
    return dtype


@given(case=cases(dimensions=(1,)), data=st.data())
def test_rectangles_cover_every_pair_once_and_in_the_right_part(case, data):
    arranged = arrange(case.pairs, case.law, keep_dtype)
    n, m, _ = case.pairs.shape
    a, b = sorted(data.draw(st.tuples(st.integers(0, n), st.integers(0, n))))
    c, e = sorted(data.draw(st.tuples(st.integers(0, m), st.integers(0, m))))
    if a == b or c == e:
        return
    seen = np.zeros((n, m), dtype=int)
    part = np.zeros((n, m), dtype=int)
    for piece in rectangles(arranged.queries, arranged.keys, slice(a, b), slice(c, e)):
        seen[piece.out, piece.into] += 1
        part[piece.out, piece.into] = piece.part
    inside = np.zeros((n, m), dtype=int)
    inside[a:b, c:e] = 1
    np.testing.assert_array_equal(seen, inside)
    if case.pairs.query_labels is not None:
        query_labels = case.pairs.query_labels[arranged.queries.order]
        key_labels = case.pairs.key_labels[arranged.keys.order]
        same = query_labels[:, None] == key_labels[None, :]
        np.testing.assert_array_equal(part[a:b, c:e], same[a:b, c:e])


@given(case=cases(dimensions=(2,)))
def test_own_and_owner_are_the_same_pairs(case):
    arranged = arrange(case.pairs, case.law, keep_dtype)
    from_queries = {(i, j) for i, j in enumerate(arranged.own) if j >= 0}
    from_keys = {(i, j) for j, i in enumerate(arranged.owner) if i >= 0}
    assert from_queries == from_keys
    own = case.pairs.own
    assert len(from_queries) == (0 if own is None else (own >= 0).sum())
    for i, j in from_queries:
        assert own[arranged.queries.order[i]] == arranged.keys.order[j]


def test_sums_return_to_the_order_of_the_caller():
    order = np.array([2, 0, 1])
    rows = RowSums(*(np.arange(3.0)[None] for _ in range(3)), np.arange(3.0)[None, :, None])
    np.testing.assert_array_equal(rows.at(order).mass, [[1, 2, 0]])
    columns = ColumnSums(np.arange(3.0), np.arange(3.0)[:, None])
    np.testing.assert_array_equal(columns.at(order).moment[:, 0], [1, 2, 0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"keys": np.zeros((3, 4))}, "queries have 2 coordinates and keys 4"),
        ({"keys": np.zeros(3)}, "two-dimensional"),
        ({"query_labels": np.zeros(3, int)}, "labels for queries and keys, or for neither"),
        ({"key_log_weights": np.zeros(2)}, r"key_log_weights has shape \(2,\), expected \(3,\)"),
        ({"own": np.array([0, 1, 3])}, "own must lie between -1 and 2"),
        ({"own": np.array([0, 1, 1])}, "own names a key twice"),
    ],
)
def test_pairs_that_do_not_fit_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Pairs(**{"queries": np.zeros((3, 2)), "keys": np.zeros((3, 2)), **arguments})
