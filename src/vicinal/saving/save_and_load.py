"""Models in files: save, load, describe."""

import io
import os
from pickle import PickleError
from types import ModuleType
from typing import Any
from zipfile import ZIP_DEFLATED

import numpy as np
from sklearn.base import BaseEstimator

import vicinal
from vicinal.files import check_target, whole_file
from vicinal.pipelines import steps_of
from vicinal.saving.archive import blaming, open_file, opened, read_header, sealed, verify
from vicinal.saving.contracts import check_contracts
from vicinal.saving.header import ModelFileError, ModelHeader, step_names
from vicinal.saving.schema import check_members, read_schema
from vicinal.saving.text import printable
from vicinal.saving.trusted import TRUSTED, untrusted
from vicinal.state import writing_a_file

__all__ = ["describe", "load", "save"]

_MOST_NAMED = 10


def save(
    model: BaseEstimator, path: str | os.PathLike[str], *, metadata: dict[str, Any] | None = None
) -> None:
    """Save a model to a file.

    Parameters
    ----------
    model : estimator
        Estimator of vicinal, or a scikit-learn pipeline that contains one; fitted or not.
    path : path-like
        File to write; the usual suffix is ``.skops``. An existing file is replaced, or left
        unchanged if anything goes wrong.
    metadata : dict, optional
        Additional information to save, as JSON: column names, units, a remark.

    See Also
    --------
    load : Load the model again.
    vicinal.saving.describe : Read what the file says about itself.

    Notes
    -----
    Needs the extra ``vicinal[save]``. The file contains no code, and no more data than the model
    needs. Callbacks, metadata routing requests, and the UMAP object of a `DivergenceEmbedding` are
    not saved. Pipelines may contain other scikit-learn steps, as far as skops trusts them; nearest
    neighbors only with ``algorithm="brute"``.

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
    header = _header(model, {} if metadata is None else metadata)
    check_target(path, "the model")
    whole = sealed(_packed(model, skops), header)
    _check_readable(model, whole)
    with whole_file(path) as stream:
        stream.write(whole)


def load(path: str | os.PathLike[str]) -> BaseEstimator:
    """Load a model that was saved with `save`.

    Parameters
    ----------
    path : path-like
        File to read.

    Returns
    -------
    estimator
        The model.

    Raises
    ------
    ModelFileError
        A ValueError: the file is not a model file, is damaged or was edited, has a newer format,
        contains types that vicinal does not know or parts that do not fit together, or claims to be
        much larger than it is. Nothing in it was run.
    OSError
        The file does not exist or cannot be opened.

    See Also
    --------
    save : Save a model, with an example.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> import vicinal
    >>> model = vicinal.LocalComponents().fit(load_iris().data)
    >>> with TemporaryDirectory() as folder:
    ...     vicinal.save(model, Path(folder, "iris.skops"), metadata={"unit": "cm"})
    ...     again = vicinal.load(Path(folder, "iris.skops"))
    >>> type(again).__name__
    'LocalComponents'
    """
    skops = _skops()
    with open_file(path) as file:
        stream = io.BytesIO(file.read())
    header = read_header(stream, path)
    verify(stream, header, path)
    archive = stream.getvalue()
    with blaming(path, "cannot be read", _by_whom(header)):
        unknown = _unknown(archive)
        if unknown:
            raise ModelFileError(
                f"'{path}' contains {_listed(unknown)}: vicinal refuses to load it, as it does not "
                f"know what code that would run{_by_whom(header)}."
            )
        with np.errstate(over="raise", invalid="raise"):  # some parts are computed from others
            model = skops.loads(archive, trusted=list(TRUSTED))
        if not isinstance(model, BaseEstimator) or step_names(model) != header.steps:
            raise ValueError("it is not the model that its header speaks of")
        check_contracts(model)
    return model


def describe(path: str | os.PathLike[str]) -> ModelHeader:
    """Read what a model file says about itself, without loading the model.

    Parameters
    ----------
    path : path-like
        File to read.

    Returns
    -------
    ModelHeader
        Versions, model, steps, and metadata.

    Raises
    ------
    ModelFileError
        A ValueError: the file is not a model file, its header is damaged, or it has a newer format.
    OSError
        The file does not exist or cannot be opened.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> import vicinal
    >>> model = vicinal.LocalComponents().fit(load_iris().data)
    >>> with TemporaryDirectory() as folder:
    ...     vicinal.save(model, Path(folder, "iris.skops"), metadata={"unit": "cm"})
    ...     header = vicinal.saving.describe(Path(folder, "iris.skops"))
    >>> header.model, header.metadata
    ('LocalComponents', {'unit': 'cm'})
    """
    with open_file(path) as file:
        return read_header(file, path)


def _packed(model: BaseEstimator, skops: ModuleType) -> bytes:
    """The archive of skops."""
    try:
        with writing_a_file():
            return skops.dumps(model, compression=ZIP_DEFLATED)
    except (AttributeError, PickleError, RecursionError, TypeError, ValueError) as error:
        raise TypeError(
            f"this {type(model).__name__} cannot be saved: it contains what skops cannot write "
            f"({error})."
        ) from error


def _check_readable(model: BaseEstimator, archive: bytes) -> None:
    """Refuse to write what `load` would refuse to read."""
    refusal = f"this {type(model).__name__} cannot be saved: "
    try:
        unknown = _unknown(archive)
        check_contracts(model)
    except ValueError as error:
        raise ValueError(f"{refusal}{error}.") from error
    if unknown:
        raise TypeError(
            f"{refusal}it contains {_listed(unknown)}, which vicinal.load would refuse, as it does "
            f"not know what code that would run{_advice(model)}."
        )


def _unknown(archive: bytes) -> list[str]:
    """Types that may not be loaded; a ValueError where anything else is wrong with an archive."""
    with opened(io.BytesIO(archive)) as source:
        schema = read_schema(source)
        found = untrusted(archive, schema)
        if not found:  # arrays of unknown types may be of any kind
            check_members(source, schema)
    return found


def _advice(model: BaseEstimator) -> str:
    """What to do about the types that users meet first."""
    if hasattr(model, "best_estimator_"):
        return "; save its best_estimator_ instead"
    if any(getattr(step, "_tree", None) is not None for step in steps_of(model)):
        return "; nearest neighbors can be saved with algorithm='brute'"
    return ""


def _by_whom(header: ModelHeader) -> str:
    """Which versions met, where they differ."""
    mine, theirs = vicinal.__version__, printable(header.vicinal, 40)
    return "" if theirs == mine else f" (saved by vicinal {theirs}, this is {mine})"


def _listed(names: list[str]) -> str:
    """Some of the names that a file has in it, fit to be shown."""
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(printable(name, 100) for name in names[:_MOST_NAMED]) + more


def _skops() -> ModuleType:
    try:
        import skops.io
    except ImportError as error:
        raise ImportError(
            "saving and loading models needs skops: pip install 'vicinal[save]'."
        ) from error
    return skops.io


def _header(model: BaseEstimator, metadata: dict[str, Any]) -> ModelHeader:
    """The header of a file, as it will be read again."""
    if not isinstance(metadata, dict):
        raise TypeError(f"metadata must be a dict, got {type(metadata).__name__}: {metadata!r:.60}")
    try:
        return ModelHeader.from_json(ModelHeader.of(model, metadata).to_json())
    except (RecursionError, TypeError, ValueError) as error:
        raise TypeError(f"metadata must be what JSON can hold: {error}.") from None
