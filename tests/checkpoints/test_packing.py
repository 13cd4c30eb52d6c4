"""Values become bytes and come back bit for bit; nothing else comes back."""

import json
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as of_numpy

from vicinal.fitting import State
from vicinal.fitting.checkpoints.kinds import OF_A_FIT
from vicinal.fitting.checkpoints.packing import DamagedError, pack, unpack


class Pair(NamedTuple):
    one: object
    other: object


@dataclass(frozen=True)
class Box:
    content: object


class Color(Enum):
    RED = 1


KINDS = (Pair, Box, Color)


def there_and_back(value, like=None):
    return unpack(b"".join(pack(value, KINDS)), KINDS, like)


def same(one, other):
    """Equal to the bit, and of the same type."""
    assert type(one) is type(other)
    if isinstance(one, np.ndarray | np.generic):
        assert (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())
    elif isinstance(one, float):
        assert one.hex() == other.hex()
    elif isinstance(one, dict):
        same(list(one.items()), list(other.items()))
    elif isinstance(one, Box):
        same(one.content, other.content)
    elif isinstance(one, tuple | list):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            same(a, b)
    else:
        assert one == other


leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | of_numpy.arrays(
        of_numpy.floating_dtypes(endianness="=") | of_numpy.integer_dtypes(endianness="="),
        of_numpy.array_shapes(min_dims=0, min_side=0),
    )
    | of_numpy.from_dtype(np.dtype("float32"))
    | st.just(Color.RED)
)
values = st.recursive(
    leaves,
    lambda parts: (
        st.lists(parts)
        | st.lists(parts).map(tuple)
        | st.dictionaries(st.text() | st.integers(), parts)
        | st.builds(Pair, parts, parts)
        | st.builds(Box, parts)
    ),
    max_leaves=8,
)


@given(values)
def test_values_come_back(value):
    same(there_and_back(value), value)


def test_states_of_generators_come_back():
    for generator in (np.random.default_rng(0), np.random.default_rng(2**31)):
        state = generator.bit_generator.state
        assert there_and_back(state) == state
    state = np.random.RandomState(0).get_state(legacy=False)
    same(there_and_back(state), state)


@pytest.mark.parametrize("order", "CF")
def test_arrays_keep_their_layout(order):
    array = np.asarray(np.arange(12.0).reshape(3, 4), order=order)
    found = there_and_back(array)
    same(found, array)
    assert found.flags.c_contiguous == array.flags.c_contiguous
    assert found.flags.writeable


def test_parts_of_arrays_come_back():
    array = np.arange(20.0).reshape(4, 5)
    for part in (array[::2, 1:], array[:0], array.T[1:3]):
        same(there_and_back(part), np.array(part))


def test_what_is_no_data_is_refused():
    for value in (object(), lambda: 0, {1, 2}, np.array([None]), State(1, 2)):
        with pytest.raises(TypeError, match="cannot be part of a checkpoint"):
            pack(value, KINDS)


def test_only_kinds_that_are_named_are_made():
    data = b"".join(pack(Box(1), KINDS))
    with pytest.raises(DamagedError):
        unpack(data, (Pair,))


@pytest.mark.parametrize(
    ("layout", "tree"),
    [
        ([["|O", [1], "C"]], {"array": 0}),
        ([["<f8", [10**12], "C"]], {"array": 0}),
        ([["<f8", [-1], "C"]], {"array": 5}),
        ([], {"kind": "os.system", "fields": ["true"]}),
        ([], {"eval": "1"}),
        ([], {"tuple": 3}),
    ],
)
def test_nonsense_is_refused(layout, tree):
    text = json.dumps([layout, tree]).encode()
    with pytest.raises(DamagedError):
        unpack(len(text).to_bytes(8, "little") + text, KINDS)


@given(st.binary(max_size=60))
def test_any_bytes_are_a_value_or_refused(data):
    try:
        unpack(data, KINDS)
    except DamagedError:
        return


def test_every_state_of_a_solver_can_be_part_of_it():
    def below(kind):
        return {kind}.union(*(below(each) for each in kind.__subclasses__()))

    ours = {kind for kind in below(State) if kind.__module__.startswith("vicinal.")}
    assert ours <= set(OF_A_FIT)
