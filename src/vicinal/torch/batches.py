"""Batches as users have them: refused by the name of the argument, or ready for the equations."""

from typing import NamedTuple

import torch
from torch import Tensor

from vicinal.inputs.checks import check_total_weight
from vicinal.inputs.points import LabeledPoints

__all__ = ["Batch", "checked_batch"]


class Batch(NamedTuple):
    """Points and what is known about them.

    Attributes
    ----------
    points : Tensor of shape (n, d)
    labels : Tensor of int64, shape (n,)
    weights : Tensor of shape (n,) or None
    keys : Tensor of shape (m, d) or None
        Points to be looked at, where they are not the points themselves.
    key_labels : Tensor of int64, shape (m,), or None
    """

    points: Tensor
    labels: Tensor
    weights: Tensor | None
    keys: Tensor | None
    key_labels: Tensor | None

    @property
    def n_keys(self) -> int:
        """Number of points that are looked at."""
        return len(self.points if self.keys is None else self.keys)

    @property
    def precision(self) -> torch.dtype:
        """What the batch is computed in: that of the points, or float32 for shorter numbers."""
        dtypes = [self.points.dtype] if self.keys is None else [self.points.dtype, self.keys.dtype]
        return torch.float64 if torch.float64 in dtypes else torch.float32

    @property
    def queries(self) -> LabeledPoints:
        """The points that look, in the precision of the batch."""
        weights = None if self.weights is None else self.weights.to(self.precision)
        return LabeledPoints(self.points.to(self.precision), weights, labels=self.labels)

    @property
    def others(self) -> LabeledPoints | None:
        """The keys, in the precision of the batch."""
        if self.keys is None:
            return None
        return LabeledPoints(self.keys.to(self.precision), labels=self.key_labels)

    def renumbered(self) -> tuple["Batch", int]:
        """The batch with labels from 0 on, in their order, and the number of classes."""
        known = [self.labels] if self.key_labels is None else [self.labels, self.key_labels]
        classes, found = torch.unique(torch.cat(known), return_inverse=True)
        labels, rest = found[: len(self.labels)], found[len(self.labels) :]
        key_labels = None if self.key_labels is None else rest
        return self._replace(labels=labels, key_labels=key_labels), len(classes)

    def among(self, n_classes: int) -> "Batch":
        """The batch, if its labels count classes from 0 on."""
        for name, labels in (("y", self.labels), ("key_labels", self.key_labels)):
            if labels is not None and not ((labels >= 0) & (labels < n_classes)).all():
                raise ValueError(
                    f"{name} has labels that are not from 0 to {n_classes - 1}, the positions in "
                    "prior."
                )
        return self


def checked_batch(
    Z: Tensor,
    y: Tensor,
    sample_weight: Tensor | None,
    keys: Tensor | None,
    key_labels: Tensor | None,
) -> Batch:
    """A batch that can be computed with."""
    _check_points("Z", Z)
    labels = _checked_labels("y", y, "Z", Z)
    weights = None if sample_weight is None else _checked_weights(sample_weight, Z)
    if (keys is None) != (key_labels is None):
        missing = "keys" if keys is None else "key_labels"
        raise ValueError(f"{missing} is missing: give both keys and key_labels, or neither.")
    if keys is None or key_labels is None:
        if len(Z) < 2:
            raise ValueError(f"Z has {len(Z)} rows, but a row needs others to look at: give 2.")
        return Batch(Z.detach(), labels, weights, None, None)
    _check_points("keys", keys)
    _check_device("keys", keys, "Z", Z)
    if len(Z) == 0 or len(keys) == 0:
        raise ValueError(f"Z has {len(Z)} rows and keys has {len(keys)}: give at least 1 of each.")
    if keys.shape[1] != Z.shape[1]:
        raise ValueError(f"keys has {keys.shape[1]} columns, but Z has {Z.shape[1]}.")
    known = _checked_labels("key_labels", key_labels, "keys", keys)
    return Batch(Z.detach(), labels, weights, keys.detach(), known)


def _check_points(name: str, points: Tensor) -> None:
    _check_tensor(name, points)
    if not points.dtype.is_floating_point:
        raise TypeError(f"{name} has dtype {points.dtype}: convert it to a floating dtype.")
    if points.ndim != 2 or points.shape[1] == 0:
        raise ValueError(f"{name} has shape {tuple(points.shape)}, expected (n, d) with d > 0.")
    if not torch.isfinite(points).all():
        raise ValueError(f"{name} has entries that are NaN or infinite.")


def _checked_labels(name: str, labels: Tensor, of: str, points: Tensor) -> Tensor:
    """Labels in int64, with which arrays can be indexed."""
    _check_tensor(name, labels)
    if labels.dtype.is_floating_point or labels.dtype.is_complex:
        raise TypeError(f"{name} has dtype {labels.dtype}: labels are integers, as in y.long().")
    _check_row_values(name, labels, of, points)
    return labels.long()


def _checked_weights(weights: Tensor, points: Tensor) -> Tensor:
    _check_tensor("sample_weight", weights)
    _check_row_values("sample_weight", weights, "Z", points)
    if weights.dtype.is_complex:
        raise TypeError(f"sample_weight has dtype {weights.dtype}: weights are real numbers.")
    if not (torch.isfinite(weights) & (weights >= 0)).all() or not weights.any():
        raise ValueError("sample_weight must be finite numbers of at least 0, and not all 0.")
    check_total_weight(weights.sum(dtype=torch.float64).item())
    if weights.requires_grad:
        raise ValueError(
            "sample_weight requires a gradient, and the loss gives it none: detach it."
        )
    return weights


def _check_row_values(name: str, values: Tensor, of: str, points: Tensor) -> None:
    if values.shape != (len(points),):
        raise ValueError(
            f"{name} has shape {tuple(values.shape)}, expected ({len(points)},): one for each row "
            f"of {of}."
        )
    _check_device(name, values, of, points)


def _check_device(name: str, values: Tensor, of: str, points: Tensor) -> None:
    if values.device != points.device:
        raise ValueError(
            f"{name} is on {values.device} and {of} on {points.device}: move one to the other."
        )


def _check_tensor(name: str, values: Tensor) -> None:
    if not isinstance(values, Tensor):
        raise TypeError(f"{name} is of type {type(values).__name__}: give a torch.Tensor.")
