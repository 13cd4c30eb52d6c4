"""Models in files: save, load, describe."""

import io
import json
import os
from pickle import PickleError
from types import ModuleType
from typing import Any
from zipfile import ZIP_DEFLATED

from sklearn.base import BaseEstimator

import vicinal
from vicinal.files import check_target, whole_file
from vicinal.saving.archive import open_file, read_header, sealed, verify
from vicinal.saving.header import ModelFileError, ModelHeader
from vicinal.saving.trusted import TRUSTED, untrusted
from vicinal.state import writing_a_file

__all__ = ["describe", "load", "save"]


def save(
    model: Any, path: str | os.PathLike[str], *, metadata: dict[str, Any] | None = None
) -> None:
    """Write a model to a file.

    Parameters
    ----------
    model : estimator
        One of vicinal, or a scikit-learn pipeline of such; fitted or not.
    path : path-like
        The usual suffix is ``.skops``. An existing file is replaced; it stays as it
        was if anything goes wrong.
    metadata : dict, optional
        What else to keep, as JSON has it: names of columns, units, a remark.

    See Also
    --------
    load : Get the model back.
    vicinal.saving.describe : What the file says about itself.

    Notes
    -----
    Needs the extra ``vicinal[save]``. The file holds no code, and no more data than
    the model needs. Not kept are callbacks, requests for metadata routing, and the
    UMAP object of a `DivergenceEmbedding`. Pipelines may have other steps of
    scikit-learn, as far as skops trusts them; nearest neighbors with
    ``algorithm="brute"``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> import vicinal
    >>> X, y = load_iris(return_X_y=True)
    >>> model = vicinal.NeighborhoodComponents(n_components=2).fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "iris.skops")
    ...     vicinal.save(model, path, metadata={"unit": "cm"})
    ...     again = vicinal.load(path)
    ...     vicinal.saving.describe(path).metadata
    {'unit': 'cm'}
    >>> bool((again.transform(X) == model.transform(X)).all())
    True
    """
    skops = _skops()
    if not isinstance(model, BaseEstimator):
        raise TypeError(f"model must be an estimator, got {type(model).__name__}: {model!r:.60}")
    header = ModelHeader.of(model, _checked(metadata))
    check_target(path, "the model")
    whole = sealed(_packed(model, skops), header)
    with whole_file(path) as stream:
        stream.write(whole)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save` wrote.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    estimator

    Raises
    ------
    ModelFileError
        A ValueError: the file is no model file, is damaged or was edited, is of a
        newer format, or contains types that vicinal does not know. Nothing of it
        was run.

    See Also
    --------
    save : Write a model to a file, with an example.
    """
    skops = _skops()
    with open_file(path) as file:
        stream = io.BytesIO(file.read())
    header = read_header(stream, path)
    verify(stream, header, path)
    archive = stream.getvalue()
    try:
        unknown = untrusted(archive)
        if not unknown:
            return skops.loads(archive, trusted=list(TRUSTED))
    except (AttributeError, ImportError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise ModelFileError(f"'{path}' cannot be read: {error}{_by_whom(header)}.") from error
    raise ModelFileError(
        f"'{path}' contains {', '.join(unknown)}: vicinal refuses to load it, as it does not know "
        f"what code that would run{_by_whom(header)}."
    )


def describe(path: str | os.PathLike[str]) -> ModelHeader:
    """What a model file says about itself; nothing of the model is read.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    ModelHeader
    """
    with open_file(path) as file:
        return read_header(file, path)


def _packed(model: Any, skops: ModuleType) -> bytes:
    """An archive that `load` would take."""
    refusal = f"this {type(model).__name__} cannot be saved: it contains "
    try:
        with writing_a_file():
            archive = skops.dumps(model, compression=ZIP_DEFLATED)
    except (AttributeError, PickleError, RecursionError, TypeError, ValueError) as error:
        raise TypeError(f"{refusal}what skops cannot write ({error}).") from error
    unknown = untrusted(archive)
    if unknown:
        raise TypeError(
            f"{refusal}{', '.join(unknown)}, which vicinal.load would refuse, as it does not know "
            f"what code that would run{_advice(model)}."
        )
    return archive


def _advice(model: Any) -> str:
    """What to do about the types that users meet first."""
    if hasattr(model, "best_estimator_"):
        return "; save its best_estimator_ instead"
    steps = [step for _, step in getattr(model, "steps", [])]
    if any(getattr(step, "_tree", None) is not None for step in steps):
        return "; nearest neighbors can be saved with algorithm='brute'"
    return ""


def _by_whom(header: ModelHeader) -> str:
    """Which versions met, where they differ."""
    mine = vicinal.__version__
    return "" if header.vicinal == mine else f" (saved by vicinal {header.vicinal}, this is {mine})"


def _skops() -> ModuleType:
    try:
        import skops.io
    except ImportError as error:
        raise ImportError(
            "saving and loading models needs skops: pip install 'vicinal[save]'."
        ) from error
    return skops.io


def _checked(metadata: dict[str, Any] | None) -> dict[str, Any]:
    if metadata is None:
        return {}
    if not isinstance(metadata, dict):
        raise TypeError(f"metadata must be a dict, got {type(metadata).__name__}: {metadata!r:.60}")
    try:
        return json.loads(json.dumps(metadata, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise TypeError(f"metadata must be what JSON can hold: {error}.") from None
