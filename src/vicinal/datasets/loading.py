"""Load a data set by name, from the nearest place that has it."""

import difflib
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vicinal.datasets import openml
from vicinal.datasets.digests import REFERENCE, class_digests, content_digest
from vicinal.datasets.errors import DatasetMismatch, DatasetUnavailable
from vicinal.datasets.registry import REGISTRY, DatasetSpec
from vicinal.datasets.storage import Table, cache_folder, data_folder, read_npz, write_npz

if TYPE_CHECKING:
    from sklearn.utils import Bunch


def names() -> list[str]:
    """Names of all data sets that :func:`load` knows.

    Returns
    -------
    list of str
        The names, sorted.

    Examples
    --------
    >>> from vicinal import datasets
    >>> len(datasets.names())
    23
    >>> datasets.names()[:3]
    ['balance-scale', 'bupa', 'ecoli']
    """
    return sorted(REGISTRY)


def is_available(name: str, *, data_home: str | os.PathLike[str] | None = None) -> bool:
    """Say whether :func:`load` can find a data set without the network.

    It only looks for a copy; checksums are compared on loading.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    data_home : path-like, optional
        Folder of ``.npz`` files; by default the environment variable
        ``VICINAL_DATA``.

    Returns
    -------
    bool
        Whether ``load(name, data_home=data_home, download=False)`` finds a copy.

    Examples
    --------
    >>> from vicinal import datasets
    >>> datasets.is_available("iris")
    True
    """
    spec = _find(name)
    try:
        folder = data_folder(data_home)
    except DatasetUnavailable:
        return False
    in_folder = folder is not None and _file_in(folder, spec).is_file()
    return in_folder or spec.embedded is not None or _file_in(cache_folder(), spec).is_file()


def load(
    name: str,
    *,
    data_home: str | os.PathLike[str] | None = None,
    download: bool = True,
    verify: bool = True,
) -> "Bunch":
    """Load a benchmark data set, in its original scale.

    The set is taken from the first of these places that has it:

    1. ``<name>.npz`` in the folder ``data_home``, or else in the folder named
       by the environment variable ``VICINAL_DATA``;
    2. scikit-learn itself, for iris, wine and wdbc;
    3. the cache of earlier downloads: the folder named by the environment
       variable ``VICINAL_CACHE``, or else the user's cache folder;
    4. OpenML, if ``download`` is true and OpenML has the same rows.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    data_home : path-like, optional
        Folder of ``.npz`` files with arrays ``X``, ``y`` and perhaps ``train``.
    download : bool, default=True
        Whether the network may be used.
    verify : bool, default=True
        Whether to compare checksums and refuse a copy that differs from the
        reference. With ``verify=False`` a differing copy is returned as it is;
        one that came from OpenML is then not cached.

    Returns
    -------
    sklearn.utils.Bunch
        With the attributes

        - ``data``: array of shape (n, D);
        - ``target``: int64 labels 0..C-1 of shape (n,);
        - ``train``: bool mask of the customary training rows, or None where
          there is no customary split or the rows are in another order;
        - ``target_names``: list of class names, in label order;
        - ``name``: the name;
        - ``DESCR``: what it is, where it is from, what to know about it.

    Raises
    ------
    ValueError
        If there is no data set of that name.
    DatasetUnavailable
        If no copy of the data set can be had.
    DatasetMismatch
        If a copy was found and is not the reference copy.

    Examples
    --------
    >>> from vicinal import datasets
    >>> iris = datasets.load("iris")
    >>> iris.data.shape, iris.target_names
    ((150, 4), ['setosa', 'versicolor', 'virginica'])
    """
    spec = _find(name)
    folder = data_folder(data_home)
    table = (
        _from_folder(spec, folder, verify)
        or _from_sklearn(spec, verify)
        or _from_cache(spec, verify)
        or (_from_openml(spec, verify) if download else None)
    )
    if table is None:
        raise DatasetUnavailable(_what_was_tried(spec, folder))
    return _as_bunch(spec, table)


def _find(name: str) -> DatasetSpec:
    if isinstance(name, str) and name in REGISTRY:
        return REGISTRY[name]
    close = difflib.get_close_matches(str(name).lower(), REGISTRY, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise ValueError(f"name={name!r} is not a data set.{hint} Choose one of {', '.join(names())}.")


def _file_in(folder: Path, spec: DatasetSpec) -> Path:
    return folder / f"{spec.name}.npz"


def _from_folder(spec: DatasetSpec, folder: Path | None, verify: bool) -> Table | None:
    if folder is None or not _file_in(folder, spec).is_file():
        return None
    return read_npz(_file_in(folder, spec), sha256=REFERENCE[spec.name].file if verify else None)


def _from_sklearn(spec: DatasetSpec, verify: bool) -> Table | None:
    if spec.embedded is None:
        return None
    import sklearn.datasets

    X, y = getattr(sklearn.datasets, spec.embedded)(return_X_y=True)
    table = Table(X, y.astype(np.int64))
    if verify:
        _check_content(spec, table, "scikit-learn's copy", "Use another version of scikit-learn")
    return table


def _from_cache(spec: DatasetSpec, verify: bool) -> Table | None:
    path = _file_in(cache_folder(), spec)
    if not path.is_file():
        return None
    table = read_npz(path)
    if verify:
        _check_content(spec, table, f"the cached file {str(path)!r}", "Delete the file")
    return table


def _from_openml(spec: DatasetSpec, verify: bool) -> Table | None:
    if spec.openml_id is None:
        return None
    table = openml.fetch(spec, verify=verify)
    if table.foreign_names is None:  # a later load must not take a differing copy for a good one
        _to_cache(spec, table)
    return table


def _to_cache(spec: DatasetSpec, table: Table) -> None:
    path = _file_in(cache_folder(), spec)
    try:
        write_npz(path, table)
    except OSError as error:
        warnings.warn(
            f"{spec.name!r} was downloaded but could not be cached in {str(path)!r} ({error}). "
            "Set the environment variable VICINAL_CACHE to a writable folder.",
            stacklevel=4,  # the caller of load
        )


def _check_content(spec: DatasetSpec, table: Table, where: str, remedy: str) -> None:
    expected = REFERENCE[spec.name].content
    found = content_digest(class_digests(table.X, table.y))
    if found != expected:
        raise DatasetMismatch(
            f"{spec.name!r}: {where} differs from the reference: expected content digest "
            f"{expected}, found {found}. {remedy}, or pass verify=False to use it as it is."
        )


def _what_was_tried(spec: DatasetSpec, folder: Path | None) -> str:
    files = f"no {spec.name}.npz in {str(folder)!r}" if folder else "VICINAL_DATA is not set"
    remedy = f"set VICINAL_DATA (or data_home) to a folder with {spec.name}.npz"
    if spec.openml_id is None:
        network = f"not downloadable ({spec.no_openml})"
    else:
        network = "download=False forbids OpenML"
        remedy += ", or pass download=True"
    return (
        f"The data set {spec.name!r} is not available: {files}; not embedded in scikit-learn; "
        f"not cached in {str(cache_folder())!r}; {network}. To get it, {remedy}."
    )


def _as_bunch(spec: DatasetSpec, table: Table) -> "Bunch":
    from sklearn.utils import Bunch

    return Bunch(
        data=table.X,
        target=table.y,
        train=table.train,
        target_names=list(table.foreign_names or spec.class_names),
        name=spec.name,
        DESCR=_describe(spec, table),
    )


def _describe(spec: DatasetSpec, table: Table) -> str:
    n, d = table.X.shape
    parts = [
        f"{spec.title}. {n} rows, {d} features, {len(np.unique(table.y))} classes.",
        f"Source: {spec.source}. License: {spec.license}.",
        spec.notes,
    ]
    if table.foreign_names is not None:
        parts.append("This copy is from OpenML and differs from the reference.")
    if table.train is not None:
        parts.append(f"Customary split: {table.train.sum()} training rows, the rest for testing.")
    elif spec.n_train is not None:
        parts.append(
            "The customary split is left out, because the rows of this copy are not known to be "
            "in the customary order."
        )
    if spec.no_openml:
        parts.append(f"Not downloadable: {spec.no_openml}.")
    return " ".join(part for part in parts if part)
