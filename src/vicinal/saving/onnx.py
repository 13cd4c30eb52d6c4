"""The projection of a linear model as an ONNX graph, for programs without Python."""

import json
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

import vicinal
from vicinal.files import check_target, whole_file
from vicinal.metric import LinearMapMixin
from vicinal.pipelines import steps_of

__all__ = ["export_onnx"]

# Old enough for every onnxruntime of the last years; nothing newer is needed.
_OPSET, _IR_VERSION = 15, 8

# An operator of ONNX and the constants it takes beside the numbers that flow through.
Operation = tuple[str, tuple[NDArray | float, ...]]


def export_onnx(
    model: BaseEstimator, path: str | os.PathLike[str], *, dtype: DTypeLike | None = None
) -> None:
    """Export the `transform` of a linear model to an ONNX file.

    Parameters
    ----------
    model : NeighborhoodComponents, LocalComponents, LatentCoincidence or Pipeline
        Fitted model. A pipeline may also contain scikit-learn scalers (StandardScaler,
        MinMaxScaler, MaxAbsScaler, RobustScaler) and PCA.
    path : path-like
        File to write; the usual suffix is ``.onnx``. An existing file is replaced.
    dtype : {"float32", "float64"}, optional
        Type of the numbers in the graph, its input and its output. None: that of the map.

    Notes
    -----
    Needs the extra ``vicinal[onnx]``. The graph has an input ``X`` of shape (n, n_features) and an
    output ``Z`` of shape (n, n_components), for any n. Its metadata contain the version of vicinal,
    the class of the model, and the feature names as JSON.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import onnxruntime
    >>> from sklearn.datasets import load_iris
    >>> import vicinal
    >>> X, y = load_iris(return_X_y=True)
    >>> model = vicinal.NeighborhoodComponents(n_components=2).fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "iris.onnx")
    ...     vicinal.export_onnx(model, path)
    ...     session = onnxruntime.InferenceSession(path)
    >>> Z = session.run(["Z"], {"X": X})[0]
    >>> bool(abs(Z - model.transform(X)).max() < 1e-12)
    True
    """
    onnx = _onnx()
    steps = _steps(model)
    precision = _precision(dtype, steps)
    check_target(path, "the graph")
    graph = _graph([operation for step in steps for operation in _operations(step)], precision)
    exported = onnx.helper.make_model(
        graph,
        producer_name="vicinal",
        producer_version=vicinal.__version__,
        opset_imports=[onnx.helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
    )
    onnx.helper.set_model_props(exported, _properties(model, steps))
    onnx.checker.check_model(exported, full_check=True)
    with whole_file(path) as stream:
        stream.write(exported.SerializeToString())


# ------------------------------------------------------------------------------ what can be written


def _steps(model: BaseEstimator) -> list[BaseEstimator]:
    """Fitted steps, exactly one of them a linear map of ours."""
    steps = steps_of(model)
    for step in steps:
        if not isinstance(step, tuple(_OPERATIONS)):
            names = ", ".join(kind.__name__ for kind in _OPERATIONS if kind is not LinearMapMixin)
            raise TypeError(
                f"{type(step).__name__} cannot be exported: ONNX files are for transform of "
                "NeighborhoodComponents, LocalComponents and LatentCoincidence, alone or in a "
                f"pipeline with {names}."
            )
        check_is_fitted(step)
    if sum(isinstance(step, LinearMapMixin) for step in steps) != 1:
        raise ValueError("the pipeline must have one linear model of vicinal among its steps.")
    return steps


def _precision(dtype: DTypeLike | None, steps: list[BaseEstimator]) -> np.dtype:
    if dtype is None:
        return next(step.components_.dtype for step in steps if isinstance(step, LinearMapMixin))
    precision = np.dtype(dtype)
    if precision not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"dtype={dtype!r} is not one of 'float32', 'float64'.")
    return precision


def _operations(step: BaseEstimator) -> list[Operation]:
    return next(tell(step) for kind, tell in _OPERATIONS.items() if isinstance(step, kind))


def _standard(step: StandardScaler) -> list[Operation]:
    found: list[Operation] = [("Sub", (step.mean_,))] if step.with_mean else []
    return [*found, ("Div", (step.scale_,))] if step.with_std else found


def _min_max(step: MinMaxScaler) -> list[Operation]:
    bounds: list[Operation] = [("Clip", tuple(map(float, step.feature_range)))] if step.clip else []
    return [("Mul", (step.scale_,)), ("Add", (step.min_,)), *bounds]


def _max_abs(step: MaxAbsScaler) -> list[Operation]:
    clips = getattr(step, "clip", False)  # since scikit-learn 1.8
    return [("Div", (step.scale_,)), *([("Clip", (-1.0, 1.0))] if clips else [])]


def _robust(step: RobustScaler) -> list[Operation]:
    found: list[Operation] = [("Sub", (step.center_,))] if step.with_centering else []
    return [*found, ("Div", (step.scale_,))] if step.with_scaling else found


def _pca(step: PCA) -> list[Operation]:
    found: list[Operation] = [("Sub", (step.mean_,)), ("MatMul", (step.components_.T,))]
    if not step.whiten:
        return found
    scale = np.sqrt(step.explained_variance_)
    return [*found, ("Div", (np.maximum(scale, np.finfo(scale.dtype).eps),))]


def _linear_map(step: LinearMapMixin) -> list[Operation]:
    return [("MatMul", (step.components_.T,))]


_OPERATIONS: dict[type, Callable[[Any], list[Operation]]] = {
    LinearMapMixin: _linear_map,
    StandardScaler: _standard,
    MinMaxScaler: _min_max,
    MaxAbsScaler: _max_abs,
    RobustScaler: _robust,
    PCA: _pca,
}


# --------------------------------------------------------------------------------------- writing it


def _graph(operations: list[Operation], precision: np.dtype) -> Any:
    """One operator after the other, from X to Z."""
    onnx = _onnx()
    kind = onnx.helper.np_dtype_to_tensor_dtype(precision)
    nodes, constants, flowing = [], [], "X"
    for position, (operator, arguments) in enumerate(operations):
        names = [f"{operator.lower()}_{position}_{i}" for i in range(len(arguments))]
        for name, argument in zip(names, arguments, strict=True):
            array = np.ascontiguousarray(argument, dtype=precision).reshape(np.shape(argument))
            constants.append(onnx.numpy_helper.from_array(array, name))
        following = "Z" if position == len(operations) - 1 else f"step_{position}"
        nodes.append(onnx.helper.make_node(operator, [flowing, *names], [following]))
        flowing = following
    shapes = list(_widths(operations))
    X = onnx.helper.make_tensor_value_info("X", kind, ["n", shapes[0]])
    Z = onnx.helper.make_tensor_value_info("Z", kind, ["n", shapes[-1]])
    return onnx.helper.make_graph(nodes, "transform", [X], [Z], constants)


def _widths(operations: list[Operation]) -> Iterator[int]:
    """Numbers of features before and after every matrix product."""
    for operator, arguments in operations:
        if operator == "MatMul":
            yield from np.shape(arguments[0])


def _properties(model: BaseEstimator, steps: list[BaseEstimator]) -> dict[str, str]:
    linear = next(step for step in steps if isinstance(step, LinearMapMixin))
    properties = {"vicinal": vicinal.__version__, "model": type(linear).__name__}
    if hasattr(model, "feature_names_in_"):
        properties["feature_names"] = json.dumps(list(model.feature_names_in_))
    return properties


def _onnx() -> Any:
    try:
        import onnx
    except ImportError as error:
        raise ImportError(
            "ONNX files need the package onnx: pip install 'vicinal[onnx]'."
        ) from error
    return onnx
