"""Data sets from OpenML, brought into the form of the reference files.

OpenML orders rows and names classes in its own way. What must agree with the
reference is the content: the same rows, grouped into the same classes (see
:mod:`vicinal.datasets.digests`). Labels are then given to classes by their
rows, not by their names, and are exactly the reference labels.
"""

from http.client import HTTPException
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vicinal.datasets.digests import (
    REFERENCE,
    class_digests,
    class_tags,
    content_digest,
    order_digest,
)
from vicinal.datasets.errors import DatasetMismatch, DatasetUnavailable
from vicinal.datasets.registry import DatasetSpec
from vicinal.datasets.storage import Table


def fetch(spec: DatasetSpec, *, verify: bool) -> Table:
    """Download a data set and bring it into reference form.

    With ``verify=False``, a copy whose content differs from the reference is
    returned as OpenML has it, with OpenML's class names and without a split.
    """
    raw = _download(spec)
    X = _features(spec, raw)
    names, codes = _codes(spec, raw)
    classes = class_digests(X, codes)
    if content_digest(classes) == REFERENCE[spec.name].content:
        return _as_reference(spec, X, codes, classes)
    if verify:
        raise DatasetMismatch(
            f"OpenML's copy of {spec.name!r} (data_id={spec.openml_id}) differs from the reference "
            f"in its rows or classes: found {X.shape[0]} rows, {X.shape[1]} features, {len(names)} "
            f"classes; expected {spec.n_samples}, {spec.n_features}, {len(spec.class_names)}, and "
            "the same values. Pass verify=False to accept it, or set VICINAL_DATA to a folder "
            f"with {spec.name}.npz."
        )
    return _as_is(spec, X, codes, names)


def _download(spec: DatasetSpec) -> Any:
    from sklearn.datasets import fetch_openml

    try:
        # Not cached by scikit-learn: the converted copy is cached here.
        return fetch_openml(
            data_id=spec.openml_id, as_frame=False, cache=False, parser=_parser(spec)
        )
    except (OSError, ValueError, HTTPException) as error:
        raise DatasetUnavailable(
            f"The download of {spec.name!r} from OpenML (data_id={spec.openml_id}) failed: "
            f"{error}. Try again later, or set VICINAL_DATA to a folder with {spec.name}.npz."
        ) from error


def _parser(spec: DatasetSpec) -> str:
    # pandas ("auto") is much faster on the large sets, but not all its versions read a
    # decimal to the nearest float64. The difference is lost in float32 and in uint8.
    return "auto" if spec.dtype != "float64" and find_spec("pandas") else "liac-arff"


def _features(spec: DatasetSpec, raw: Any) -> NDArray:
    data = raw.data.toarray() if hasattr(raw.data, "toarray") else raw.data
    try:
        X = np.asarray(data, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DatasetMismatch(
            f"OpenML's copy of {spec.name!r} (data_id={spec.openml_id}) has features that are not "
            f"numbers ({error}). Set VICINAL_DATA to a folder with {spec.name}.npz."
        ) from error
    # A column that numbers the rows is not always marked as an identifier.
    keep = [name.lower() != "id" for name in raw.feature_names]
    return X[:, keep]


def _codes(spec: DatasetSpec, raw: Any) -> tuple[list[str], NDArray]:
    """Class names, and for each row the position of its class among them."""
    if raw.target is None:
        raise DatasetMismatch(
            f"OpenML's copy of {spec.name!r} (data_id={spec.openml_id}) has no single label "
            f"column. Set VICINAL_DATA to a folder with {spec.name}.npz."
        )
    names, codes = np.unique(np.asarray(raw.target).astype(str), return_inverse=True)
    return [str(name).strip(" '") for name in names], codes.astype(np.int64)


def _as_reference(spec: DatasetSpec, X: NDArray, codes: NDArray, classes: list[str]) -> Table:
    reference = REFERENCE[spec.name]
    labels = [reference.class_tags.index(tag) for tag in class_tags(classes)]
    y = np.array(labels, dtype=np.int64)[codes]
    train = None
    if spec.n_train is not None and order_digest(X, y) == reference.order:
        train = np.arange(len(X)) < spec.n_train
    return Table(X.astype(spec.dtype), y, train)


def _as_is(spec: DatasetSpec, X: NDArray, codes: NDArray, names: list[str]) -> Table:
    known = set(names) == set(spec.class_names)
    ordered = list(spec.class_names) if known else sorted(names, key=_numbers_first)
    labels = np.array([ordered.index(name) for name in names], dtype=np.int64)
    return Table(X, labels[codes], None, tuple(ordered))


def _numbers_first(name: str) -> tuple[float, str]:
    """Sort "2" before "10", and both before words."""
    try:
        return float(name), name
    except ValueError:
        return float("inf"), name
