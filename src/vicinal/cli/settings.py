"""Parameters of estimators from the command line."""

import inspect
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vicinal.cli.running import WrongUsage
from vicinal.cli.wording import closest

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

__all__ = ["merge", "parse_setting", "parse_value"]

# The command line shows progress itself.
_SHOWN = "verbose"

_PYTHON = {"True": True, "False": False, "None": None}


def parse_value(text: str) -> Any:
    """A value as JSON or Python would read it, else the text itself.

    Parameters
    ----------
    text : str

    Returns
    -------
    None, bool, int, float, str, list or dict

    Examples
    --------
    >>> from vicinal.cli.settings import parse_value
    >>> [parse_value(text) for text in ("3", "1e-3", "true", "None", "log", '"3"', "[0.1, 1]")]
    [3, 0.001, True, None, 'log', '3', [0.1, 1]]
    """
    text = text.strip()
    if text in _PYTHON:
        return _PYTHON[text]
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return text


def parse_setting(text: str) -> tuple[str, Any]:
    """Name and value of "name=value".

    Parameters
    ----------
    text : str

    Returns
    -------
    name : str
    value : object

    Examples
    --------
    >>> from vicinal.cli.settings import parse_setting
    >>> parse_setting("regularization=auto")
    ('regularization', 'auto')
    """
    name, sign, value = text.partition("=")
    name = name.strip()
    if not sign or not name:
        raise WrongUsage(f"--set {text!r} must have the form name=value")
    return name, parse_value(value)


def merge(
    estimator: "type[BaseEstimator]",
    model: str,
    settings: Sequence[str],
    options: dict[str, tuple[str, Any]],
) -> dict[str, Any]:
    """Parameters for an estimator from --set and from options of their own.

    Parameters
    ----------
    estimator : class of estimators
    model : str
        What the command line calls it.
    settings : sequence of str
        Each "name=value".
    options : dict
        From the name of a parameter to its option and value, None where not given.

    Returns
    -------
    dict
    """
    known = [name for name in inspect.signature(estimator).parameters if name != _SHOWN]
    given = {name: option for name, option in options.items() if option[1] is not None}
    for name, (option, _) in given.items():
        if name not in known:
            raise WrongUsage(f"{option} has no meaning for {model}: there is no {name}")
    parameters = {name: value for name, (_, value) in given.items()}
    for name, value in map(parse_setting, settings):
        if name not in known:
            raise WrongUsage(
                f"--set {name}: {model} has no such parameter.{closest(name, known)} It has "
                f"{', '.join(known)}"
            )
        if name in parameters:
            twice = given[name][0] if name in given else "--set"
            raise WrongUsage(f"--set {name}: {twice} has set it already")
        parameters[name] = value
    _check_seed(parameters.get("random_state"))
    return parameters


def _check_seed(seed: Any) -> None:
    if isinstance(seed, int) and not 0 <= seed < 2**32:
        raise WrongUsage(f"--set random_state={seed} must lie between 0 and {2**32 - 1}")
