"""One order of additions: that of a binary tree over blocks, whoever adds up what.

A node (level, place) is the sum over blocks place · 2^level to (place + 1) · 2^level - 1. A part of
the tree is a dict of nodes. Parts are joined in any order and in any company: only neighbors that
make a node of the next level are ever added, the left one first. So sums over the blocks of one
worker can be added up there, and the last bit does not know how blocks were shared out.
"""

from collections.abc import Callable
from typing import Any

__all__ = ["Part", "alone", "joined", "whole"]

Node = tuple[int, int]
Part = dict[Node, Any]


def alone(place: int, value: Any) -> Part:
    """The part of a tree that is one block."""
    return {(0, place): value}


def joined(merge: Callable[..., Any], n_blocks: int, *parts: Part) -> Part:
    """Several parts of the tree over so many blocks as one, merged as far as neighbors are there.

    Examples
    --------
    >>> left, right = alone(0, "a"), alone(1, "b")
    >>> joined("".join, 3, left)
    {(0, 0): 'a'}
    """
    nodes: Part = {}
    for part in parts:
        for node, value in part.items():
            _put(nodes, merge, n_blocks, node, value)
    return nodes


def whole(part: Part) -> Any:
    """The sum over all blocks, of a part that is the tree."""
    (value,) = part.values()
    return value


def _put(nodes: Part, merge: Callable[..., Any], n_blocks: int, node: Node, value: Any) -> None:
    """Take a node up the tree, as far as its neighbors are there, or there will be none."""
    level, place = node
    while (1 << level) < n_blocks:
        neighbor = (level, place ^ 1)
        if neighbor in nodes:
            other = nodes.pop(neighbor)
            value = merge(other, value) if place & 1 else merge(value, other)
        elif (place ^ 1) << level < n_blocks:
            break
        level, place = level + 1, place >> 1
    nodes[level, place] = value
