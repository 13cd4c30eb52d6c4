"""Whose checkpoint it is: the model, the versions, the data and the parameters of a fit."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from vicinal.fitting.checkpoints.packing import DamagedError
from vicinal.neighborhood.arrays import is_chunked
from vicinal.neighborhood.cluster.sharing import said_of_blocks

__all__ = ["Identity", "digest"]

# Parameters that change nothing about what is learned.
_IDLE = ("checkpoint", "memory_limit", "n_jobs", "verbose")

# Whose versions decide on the last bits. The own one comes with the package, not with its files.
_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")

# What a warm start goes on from, where it was fitted before.
_LEARNED = ("components_", "_scatter", "recipe_")

# Bytes that are hashed at a time, and characters of a value in a message.
_BLOCK, _SHOWN = 2**24, 60


@dataclass(frozen=True)
class Identity:
    """What must be the same for a fit to go on.

    Attributes
    ----------
    model : str
        Name of the estimator and of the method that fits it.
    versions : dict of str to str
    data : dict of str to str
        Digests of what the method was called with, by name.
    parameters : dict of str to (str, str)
        Digest and words of each.
    """

    model: str
    versions: dict[str, str]
    data: dict[str, str]
    parameters: dict[str, tuple[str, str]]

    @classmethod
    def of(cls, model: BaseEstimator, method: str, data: Mapping[str, Any]) -> "Identity":
        """Of a fit that is about to begin."""
        from vicinal import __version__

        known = {name: digest(value) for name, value in data.items()}
        if getattr(model, "warm_start", False):
            learned = {name: vars(model)[name] for name in _LEARNED if name in vars(model)}
            known["what warm_start goes on from"] = digest(learned)
        return cls(
            f"{type(model).__name__}.{method}",
            {"vicinal": __version__, **{name: version(name) for name in _PACKAGES}},
            known,
            {name: (digest(value), _words(value)) for name, value in _parameters(model).items()},
        )

    def check(self, found: Any, path: Path) -> None:
        """Refuse the identity that a checkpoint has, where it is another one."""
        if not isinstance(found, Identity):
            raise DamagedError("there is no word of whose checkpoint it is")
        refuse = partial(_refuse, path)
        if found.model != self.model:
            refuse(f"of {found.model}, and not of {self.model}")
        for name, here in self.versions.items():
            if (there := found.versions.get(name, "another")) != here:
                refuse(f"of {name} {there}, and here is {name} {here}")
        for name, here in self.data.items():
            if found.data.get(name) != here:
                refuse(f"of a fit to other data: {name} is another")
        for name, (here, words) in self.parameters.items():
            there, other = found.parameters.get(name, ("", "unknown"))
            if there != here:
                refuse(f"of a fit with {name}={other}, and not {name}={words}")


def _refuse(path: Path, why: str) -> None:
    raise ValueError(
        f"checkpoint='{path}' is {why}: delete it to begin anew, or name another file."
    )


def _parameters(model: BaseEstimator) -> dict[str, Any]:
    """All that matter, those of a model within it, too."""
    every = model.get_params(deep=True)
    return {name: every[name] for name in every if name.rpartition("__")[2] not in _IDLE}


def digest(value: Any) -> str:
    """Letters that differ wherever values do, and never by the layout of an array."""
    found = hashlib.sha256()
    _feed(found, value)
    return found.hexdigest()


def _feed(found: Any, value: Any) -> None:
    if isinstance(value, BaseEstimator):  # its parameters are looked at one by one
        value = type(value).__name__
    if isinstance(value, np.random.RandomState):
        value = value.get_state(legacy=False)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        _feed_array(found, value)
    elif issparse(value):
        found.update(f"{value.shape} sparse".encode())
        _feed(found, [value.data, value.indices, value.indptr])
    elif is_chunked(value):
        found.update(f"{value.shape} {value.dtype.str} on a cluster".encode())
        _feed(found, said_of_blocks(digest, value))
    elif isinstance(value, dict):
        _feed(found, list(value.items()))
    elif isinstance(value, list | tuple):
        found.update(f"{len(value)} parts".encode())
        for part in value:
            _feed(found, part)
    else:
        found.update(repr(value).encode())


def _feed_array(found: Any, array: np.ndarray) -> None:
    found.update(f"{array.shape} {array.dtype.str}".encode())
    if array.dtype.kind == "O":
        _feed(found, array.tolist())
        return
    rows = array.reshape(-1) if array.ndim == 0 else array
    step = max(1, _BLOCK // max(1, rows[:1].nbytes))
    for start in range(0, len(rows), step):
        found.update(np.ascontiguousarray(rows[start : start + step]).tobytes())


def _words(value: Any) -> str:
    """A value for a message."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} ({digest(value)[:8]})"
    if isinstance(value, np.random.RandomState):
        return f"a RandomState in another state ({digest(value)[:8]})"
    if isinstance(value, BaseEstimator):
        return type(value).__name__
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({digest(value)[:8]})"
