"""From the parameter `checkpoint` of an estimator to the journal of its fit."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from vicinal.files import check_target
from vicinal.fitting.checkpoints.identity import Identity
from vicinal.fitting.checkpoints.journal import Journal, current, written_by
from vicinal.fitting.checkpoints.locking import locked
from vicinal.fitting.checkpoints.packing import DamagedError, unpack
from vicinal.fitting.checkpoints.storage import as_path, load
from vicinal.fitting.progress import say
from vicinal.fitting.remarks import warn_user

__all__ = ["checkpointed", "lent"]

# Whether the next fit within this one is part of it, and writes into its journal.
_is_lent: ContextVar[bool] = ContextVar("is_lent", default=False)


@contextmanager
def checkpointed(model: BaseEstimator, method: str, data: Mapping[str, Any]) -> Iterator[None]:
    """Let a fit write its journal to ``model.checkpoint``, and go on from there.

    Parameters
    ----------
    model : estimator
    method : str
        Which fits it.
    data : mapping of str to array
        What it is called with.

    Raises
    ------
    ValueError
        Where the checkpoint is that of another fit.
    BlockingIOError
        Where another fit uses it at the moment.
    """
    journal = current() if _is_lent.get() else None
    with ExitStack() as own:
        if model.checkpoint is not None:
            path = as_path(model.checkpoint)
            check_target(path, "the checkpoint")
            own.enter_context(locked(path))
            journal = own.enter_context(closing(_opened(model, method, data, path)))
            if isinstance(model.random_state, np.random.RandomState):
                journal.watch(model.random_state)
        token = _is_lent.set(False)
        try:
            with written_by(journal):
                yield
        finally:
            _is_lent.reset(token)


@contextmanager
def lent() -> Iterator[None]:
    """Let a fit within this one, if it has no checkpoint of its own, be part of this one's."""
    token = _is_lent.set(current() is not None)
    try:
        yield
    finally:
        _is_lent.reset(token)


def _opened(model: BaseEstimator, method: str, data: Mapping[str, Any], path: Path) -> Journal:
    """A new journal, or one with what was written in the file."""
    identity, content = Identity.of(model, method, data), load(path)
    if content is None:
        return Journal(path, identity, {})
    try:
        identity.check(unpack(content["identity"], (Identity,)), path)
        journal = Journal(path, identity, content["entries"])
    except (DamagedError, LookupError, TypeError) as error:
        warn_user(
            f"the checkpoint '{path}' is damaged ({error}): the fit begins anew.", UserWarning
        )
        return Journal(path, identity, {})
    say(type(model).__name__, f"goes on from '{path}'", model.verbose)
    return journal
