"""Lines of Python that repeat a fit."""

import platform
from importlib.metadata import version

from sklearn.base import BaseEstimator, clone

from vicinal import __version__
from vicinal.pipelines import steps_of

__all__ = ["python_snippet", "versions"]


def versions() -> str:
    """What was used, in one line."""
    names = ("numpy", "scipy", "scikit-learn", "numba")
    parts = [f"{name} {version(name)}" for name in names]
    return ", ".join([f"vicinal {__version__}", *parts, f"Python {platform.python_version()}"])


def python_snippet(model: BaseEstimator, supervised: bool, data_name: str | None = None) -> str:
    """Code that makes the model again, with its parameters.

    Parameters
    ----------
    model : estimator or pipeline
    supervised : bool
        Whether it is fitted with labels.
    data_name : str, optional
        Where the rows are from.

    Returns
    -------
    str

    Examples
    --------
    >>> from vicinal import LocalComponents
    >>> from vicinal.report.page.snippet import python_snippet
    >>> print(python_snippet(LocalComponents(covariance="diag"), False))
    # vicinal ...
    from vicinal import LocalComponents
    <BLANKLINE>
    # X: the rows
    model = LocalComponents(covariance='diag')
    model.fit(X)
    """
    fresh = clone(model)
    imports = sorted({_import(part) for part in [fresh, *steps_of(fresh)]})
    where = f" of {data_name}" if data_name else ""
    known = f"# X: the rows{where}" + ("; y: their classes" if supervised else "")
    made = fresh.__repr__(N_CHAR_MAX=10**6)
    shortened = ["# (an array is shortened with '...' here)"] if "..." in made else []
    fit = "model.fit(X, y)" if supervised else "model.fit(X)"
    head = f"# {versions()}"
    return "\n".join([head, *imports, "", known, *shortened, f"model = {made}", fit])


def _import(estimator: BaseEstimator) -> str:
    """How a user imports its class."""
    module, name = type(estimator).__module__, type(estimator).__name__
    if module.split(".")[0] == "vicinal":
        return f"from vicinal import {name}"
    public = [part for part in module.split(".") if not part.startswith("_")]
    return f"from {'.'.join(public)} import {name}"
