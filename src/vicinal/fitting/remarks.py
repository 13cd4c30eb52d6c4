"""Warnings that point at the user's own line."""

import inspect
import warnings

__all__ = ["warn_user"]

# Not the user's own lines.
_OURS = ("vicinal", "sklearn", "contextlib")


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn with the user's own line, past scikit-learn's decorators and pipelines."""
    warnings.warn(message, category, stacklevel=_users_level())


def _users_level() -> int:
    """Stack level, seen from the caller, of the first frame that is neither ours nor sklearn's."""
    level, frame = 0, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in _OURS:
        level, frame = level + 1, frame.f_back
    return level
