"""The objective of neighborhood component analysis as a loss, with exact gradients.

    forward    Z ──► Engine.rows ──► log p_i, loss                           nca/equations.py
    backward   Engine.columns ──► dL/dz_i = 2 (Σ_j C_ij (z_i - z_j) + ...)   neighborhood/scatter.py

Nothing is ever held for all pairs of a batch: torch sees one step, from points to a number.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from vicinal.inputs.checks import check_choice, check_prior
from vicinal.nca.checks import check_combination
from vicinal.nca.criteria import CRITERIA
from vicinal.nca.equations import Objective, look_around, response
from vicinal.neighborhood import (
    ENGINES,
    LAWS,
    Engine,
    Workload,
    choose_engine,
    key_pulls,
    law_named,
    query_pulls,
)
from vicinal.neighborhood.arrays import on_host
from vicinal.neighborhood.threads import computing
from vicinal.torch.batches import Batch, checked_batch

__all__ = ["NeighborhoodLoss"]


class NeighborhoodLoss(nn.Module):
    """Neighborhood component analysis as a loss: how often rows pick neighbors of another class.

    Each row of a batch picks another row, nearer ones with higher probability. With p_i the
    probability that row i picks a row of its own class, the loss is the mean of 1 - p_i or of -log
    p_i. This is neighborhood component analysis with a network in place of the linear map.
    Gradients are exact, and memory grows with the number of rows in a batch, not of their pairs.

    Parameters
    ----------
    objective : {"accuracy", "log"}, default="accuracy"
        "accuracy": 1 - mean p. "log": -mean log p. The only member of a class in a batch cannot
        pick its own class, p = 0: it counts 1 under "accuracy" and 0 under "log", and has no
        gradient.
    kernel : {"gaussian", "compact", "student"}, default="gaussian"
        Weight of a neighbor at squared distance s. "gaussian": exp(-s). "compact": (1 - s)² within
        the unit ball; a row with no other in reach has p = 0 and no gradient (only with
        "accuracy"). "student": (1 + s/ν)^(-(ν + d)/2).
    degrees_of_freedom : float, default=3.0
        Degrees of freedom ν of ``kernel="student"``.
    prior : {"empirical", "uniform"} or array-like of shape (n_classes,), default="empirical"
        Prior probabilities of the classes; p is a posterior probability under class-conditional
        densities. "empirical": classic NCA, in which all rows have the same weight. "uniform": the
        same for all classes in a batch. With an array, labels are positions in it.
    engine : {"auto", "blocked", "fused", "tree", "radius", "adaptive", "cuda"}, default="auto"
        How the sums over pairs are computed. "auto" follows the tensors: tensors on a GPU stay
        there, and large tensors in host memory are sent to a GPU if there is one.

    Notes
    -----
    There is no temperature: kernels have the widths above in the units of the points, and a network
    learns the scale of its outputs. If the outputs are normalized, multiply them by a number.

    Half precision and bfloat16, as under autocast, are computed in float32, everything else in the
    dtype of the points, by any engine; gradients have the dtype of their inputs. Second-order
    gradients, gradients with respect to weights and priors, and transforms of ``torch.func`` are
    not defined. Each call checks once that all points are finite, which waits for the GPU.
    ``torch.compile`` leaves the loss out of its graphs, so ``fullgraph=True`` is an error.

    The gradient with respect to the points is derived in ``docs/equations/nca.md``.

    Examples
    --------
    >>> import torch
    >>> from vicinal.torch import NeighborhoodLoss
    >>> _ = torch.manual_seed(0)
    >>> X, y = torch.randn(60, 5), torch.arange(60) % 3
    >>> X[:, 0] += 3.0 * y  # what tells classes apart
    >>> network, loss = torch.nn.Linear(5, 2), NeighborhoodLoss()
    >>> optimizer = torch.optim.Adam(network.parameters(), lr=0.1)
    >>> before = loss(network(X), y).item()
    >>> for _ in range(50):
    ...     optimizer.zero_grad()
    ...     error = loss(network(X), y)
    ...     error.backward()
    ...     optimizer.step()
    >>> error.item() < 0.5 * before
    True
    """

    def __init__(
        self,
        objective: str = "accuracy",
        kernel: str = "gaussian",
        degrees_of_freedom: float = 3.0,
        prior: Any = "empirical",
        engine: str = "auto",
    ) -> None:
        super().__init__()
        self.objective = check_choice("objective", objective, CRITERIA)
        self.kernel = check_choice("kernel", kernel, LAWS)
        self.degrees_of_freedom = degrees_of_freedom
        self.prior = _checked_prior(prior)
        self.engine = check_choice("engine", engine, ("auto", *ENGINES))
        self._criterion = CRITERIA[objective]
        self._law = law_named(kernel, degrees_of_freedom=degrees_of_freedom)
        check_combination(self._criterion, self._law, None)

    @torch.compiler.disable  # it would trace what computes with NumPy and compile that anew
    def forward(
        self,
        Z: Tensor,
        y: Tensor,
        sample_weight: Tensor | None = None,
        *,
        keys: Tensor | None = None,
        key_labels: Tensor | None = None,
    ) -> Tensor:
        """Compute the loss of a batch.

        Parameters
        ----------
        Z : Tensor of shape (n, d)
            Points, mapped by a network.
        y : Tensor of int, shape (n,)
            Class labels.
        sample_weight : Tensor of shape (n,), optional
            Weight k counts as k copies of the row.
        keys : Tensor of shape (m, d), optional
            Points to pick from, such as a memory bank; none of them is identified with a point of
            Z. None: each row picks from the other rows of the batch. Keys get gradients, too.
        key_labels : Tensor of int, shape (m,), optional
            Class labels of the keys.

        Returns
        -------
        Tensor without dimensions
            The loss.
        """
        batch, n_classes = self._counted(checked_batch(Z, y, sample_weight, keys, key_labels))
        goal = Objective(self._law, self._criterion, self.prior, n_classes)
        learns = Z.requires_grad or (keys is not None and keys.requires_grad)
        step = _Step(batch, goal, self._chosen(batch), torch.is_grad_enabled() and learns)
        return _SoftNeighborhoods.apply(Z, keys, step)

    def extra_repr(self) -> str:
        """What the loss is made of, for print."""
        names = ("objective", "kernel", "degrees_of_freedom", "prior", "engine")
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in names)

    def _counted(self, batch: Batch) -> tuple[Batch, int]:
        """The batch with labels from 0 on, and the number of classes, where a prior needs them."""
        if not isinstance(self.prior, str):
            return batch.among(len(self.prior)), len(self.prior)
        # Labels that are only compared may be any, and nobody waits for a device to count them.
        return (batch, 0) if self.prior == "empirical" else batch.renumbered()

    def _chosen(self, batch: Batch) -> Engine:
        """The engine for points of that number, precision and device."""
        (n, d), device = batch.points.shape, batch.points.device.type
        dtype = str(batch.precision).removeprefix("torch.")
        work = Workload(n, batch.n_keys, d, law=self._law, dtype=dtype, device=device)
        return choose_engine(self.engine, work, precision=dtype)[0]


class _Step(NamedTuple):
    """All that one evaluation depends on, beside the points as torch follows them."""

    batch: Batch
    goal: Objective
    engine: Engine
    learns: bool


class _SoftNeighborhoods(torch.autograd.Function):
    """From points to the loss, and back."""

    @staticmethod
    def forward(ctx: Any, Z: Tensor, keys: Tensor | None, step: _Step) -> Tensor:
        """One rows pass."""
        goal, batch = step.goal, step.batch
        with _computing(Z):
            queries, others = batch.queries, batch.others
            looked = look_around(goal, step.engine, queries, others, moments=step.learns)
            found = response(goal, looked, queries.weights)
            # What points add that are sure of their class, 1 or log 1: what is missing is the loss.
            most = float(goal.criterion.terms(np.zeros(1))[0][0])
            loss = (most - found.value / queries.total).to(batch.precision)
        ctx.save_for_backward(Z, keys)
        ctx.step, ctx.looked, ctx.coefficients = step, looked, found.coefficients
        ctx.total = queries.total
        return loss

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        """One columns pass, where keys learn; (3.5) in Z."""
        if torch.is_grad_enabled():  # not once_differentiable, which is silent where it may be
            raise RuntimeError(
                "NeighborhoodLoss has no gradients of gradients: leave out create_graph=True."
            )
        Z, keys = ctx.saved_tensors  # an error where points were changed since
        pairs, rows, coefficients = ctx.looked.pairs, ctx.looked.rows, ctx.coefficients
        of_keys = None
        with _computing(Z):
            unit = -2.0 * gradient / ctx.total
            of_queries = unit * query_pulls(pairs, rows, coefficients)
            if keys is None or ctx.needs_input_grad[1]:
                terms = ctx.step.goal.law, rows.log_slope, coefficients
                of_keys = unit * key_pulls(pairs, ctx.step.engine.columns(pairs, *terms))
            if keys is None:  # points are both
                return (of_queries + of_keys).to(Z.dtype), None, None
        return of_queries.to(Z.dtype), None if of_keys is None else of_keys.to(keys.dtype), None


def _checked_prior(prior: Any) -> Any:
    """A name, or probabilities of as many classes as there are numbers."""
    if getattr(prior, "requires_grad", False):
        raise ValueError("prior requires a gradient, and the loss gives it none: detach it.")
    given = on_host(prior) if isinstance(prior, Tensor) else prior
    return check_prior(given, np.size(given))


@contextmanager
def _computing(points: Tensor) -> Iterator[None]:
    """In the precision that was settled, and on the host on threads of ours."""
    device = points.device.type
    threads = computing() if device == "cpu" else nullcontext()
    with torch.autocast(device, enabled=False), threads:
        yield
