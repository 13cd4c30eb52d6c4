"""Blocks are shared out evenly, and sums do not know how."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("dask", reason="the extra dask is not installed")

from vicinal.neighborhood.cluster.homes import Home, shared_out
from vicinal.neighborhood.cluster.merging import alone, joined, whole


def added(one, other):
    """Which tells in which order things were added."""
    return f"({one}+{other})"


def reference(names):
    """Neighbors first, level by level; who has none goes up alone."""
    while len(names) > 1:
        pairs = [names[i : i + 2] for i in range(0, len(names), 2)]
        names = [added(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return names[0]


def test_the_order_of_additions():
    parts = [alone(i, name) for i, name in enumerate("abcde")]
    assert whole(joined(added, 5, *parts)) == "(((a+b)+(c+d))+e)"


@given(st.data())
def test_one_order_of_additions_whoever_adds_up(data):
    n = data.draw(st.integers(1, 40))
    shares = data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    order = data.draw(st.permutations(range(n)))
    parts = [
        joined(added, n, *(alone(i, str(i)) for i in order if shares[i] == share))
        for share in data.draw(st.permutations(range(5)))
    ]
    half = joined(added, n, *parts[:2])
    assert whole(joined(added, n, half, *parts[2:])) == reference([str(i) for i in range(n)])


@given(st.data())
def test_nobody_has_more_than_a_share(data):
    threads = data.draw(st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 4), min_size=1))
    known = st.lists(st.sampled_from("abcdefgh"), max_size=3, unique=True)  # g and h are gone
    holders = data.draw(st.lists(known, min_size=1, max_size=50))
    homes = shared_out(holders, threads)
    n, total = len(holders), sum(threads.values())
    assert len(homes) == n
    for worker, each in threads.items():
        mine = [home for home in homes if home.worker == worker]
        assert len(mine) <= -(-n * each // total)
        sizes = [mine.count(Home(worker, thread)) for thread in range(each)]
        assert sum(sizes) == len(mine)
        assert max(sizes) <= -(-len(mine) // each)


def test_blocks_stay_where_they_are_while_shares_are_even():
    holders = [["a"], ["b"], ["b"], ["a"]]
    found = shared_out(holders, {"a": 1, "b": 1})
    assert [home.worker for home in found] == ["a", "b", "b", "a"]


def test_what_everybody_holds_is_shared_out_by_neighbors():
    found = shared_out([["a", "b"]] * 6, {"a": 1, "b": 2})
    assert found == [Home("b", 0)] * 2 + [Home("b", 1)] * 2 + [Home("a", 0)] * 2


def test_sums_say_how_large_they_are():
    """Or Dask takes megabytes of sums for nothing, and moves them about."""
    from dask.sizeof import sizeof

    from vicinal.neighborhood import ColumnSums, RowSums
    from vicinal.neighborhood.cluster.running import Parcel

    sums = RowSums.empty(2, 1000, 5)
    assert sizeof(sums) >= 2 * 1000 * 8 * 8
    assert sizeof({(0, 0): sums}) >= 2 * 1000 * 8 * 8
    assert sizeof(ColumnSums.empty(1000, 5)) >= 1000 * 6 * 8
    assert sizeof(Parcel(queries=np.zeros((1000, 5)), own=None)) >= 1000 * 5 * 8
