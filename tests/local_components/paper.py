"""The paper's model: no penalty but for one that is given."""

from functools import partial

from vicinal import LocalComponents

__all__ = ["Paper"]

Paper = partial(LocalComponents, regularization=0.0)
