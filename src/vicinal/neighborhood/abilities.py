"""What an engine can do, and what it promises: said by the engine, read by whoever picks one."""

from collections.abc import Callable
from dataclasses import dataclass, field

from vicinal.neighborhood.arrays import device_of, dtype_of
from vicinal.neighborhood.devices import current_device, current_precision
from vicinal.neighborhood.laws import GAUSSIAN, Law
from vicinal.neighborhood.pairs import Pairs

__all__ = ["NO_KERNELS", "PRECISIONS", "Abilities", "Workload", "is_compiled", "work_of"]

# What users may ask for; "auto": as the engine has it.
PRECISIONS = ("auto", "float64", "float32", "tf32")

# Of an engine that only has compiled kernels.
NO_KERNELS = 'has no compiled kernels for the {law} law: use engine="auto"'


@dataclass(frozen=True)
class Workload:
    """What the choice of an engine depends on.

    Attributes
    ----------
    n_queries, n_keys : int
    n_dims : int
        Coordinates that distances are made of.
    n_evaluations : int
        How often the pairs are looked at.
    law : Law
    dtype : str
        That engines for CPUs would find the points in: "float64" or "float32".
    device : str
        Where they are, "cpu" or "cuda"; as `devices.data_on` says unless it is given.
    precision : str
        What users ask for, one of `PRECISIONS`.
    given : str or None
        Precision of the tensors that users gave, as `devices.data_on` says unless it is given;
        None: they gave NumPy's arrays.
    """

    n_queries: int
    n_keys: int
    n_dims: int
    n_evaluations: int = 1
    law: Law = GAUSSIAN
    dtype: str = "float64"
    device: str = field(default_factory=current_device)
    precision: str = "auto"
    given: str | None = field(default_factory=current_precision)

    @property
    def wants_other_precision(self) -> bool:
        """Whether a precision is asked for that is not that of the points."""
        return self.precision not in ("auto", self.dtype)

    @property
    def pairs(self) -> int:
        """Pairs of one evaluation."""
        return self.n_queries * self.n_keys

    @property
    def pair_visits(self) -> int:
        """Pairs, counted once per evaluation."""
        return self.pairs * self.n_evaluations


@dataclass(frozen=True)
class Abilities:
    """What an engine takes, and the multiple of rounding error it promises.

    Attributes
    ----------
    takes : callable
        Whether it computes with a law.
    wrong_law : str
        What to say of a law that it does not take, "{law}" standing for its name: the end of a
        sentence that begins with the engine.
    dtypes : tuple of str
    devices : tuple of str
    precisions : tuple of str or None
        Those it computes in, whatever the points are in; None: in that of the points.
    most_dims : int or None
        Largest number of coordinates that distances are made of; None: any.
    ulps : float
        Every exponent errs by at most (ulps + d) ulp of the largest squared norm, after centering,
        times the law's steepness.
    """

    takes: Callable[[Law], bool]
    wrong_law: str = "cannot compute with the {law} law"
    dtypes: tuple[str, ...] = ("float64", "float32")
    devices: tuple[str, ...] = ("cpu",)
    precisions: tuple[str, ...] | None = None
    most_dims: int | None = None
    ulps: float = 16.0

    def check(self, engine: str, work: Workload) -> None:
        """Refuse what the engine cannot do: nothing is ever computed as something else."""
        reason = self._why_not(work)
        if reason is not None:
            raise ValueError(f'engine="{engine}" {reason}.')

    def _why_not(self, work: Workload) -> str | None:
        if not self.takes(work.law):
            return self.wrong_law.format(law=work.law.name)
        if work.dtype not in self.dtypes:
            return f"computes in {' or '.join(self.dtypes)}, not in {work.dtype}: convert the data"
        if work.device not in self.devices:
            return f"runs on {' or '.join(self.devices)}, and the data are on {work.device}"
        if work.precision not in ("auto", *(self.precisions or (work.dtype,))):
            return (
                f"would compute this in {work.dtype}, not in precision={work.precision!r}: leave "
                "precision='auto', or use engine='cuda' where there is a GPU"
            )
        if self.most_dims is not None and work.n_dims > self.most_dims:
            return (
                f"takes at most {self.most_dims} dimensions, not {work.n_dims}: use 'auto', and "
                "data in the memory of the host"
            )
        return None


def is_compiled(law: Law) -> bool:
    """Whether compiled kernels have code for a law."""
    return law.code is not None


def work_of(pairs: Pairs, law: Law) -> Workload:
    """One evaluation of a law over pairs."""
    n, m, _ = pairs.shape
    dtype, device = dtype_of(pairs.queries, pairs.keys), device_of(pairs.queries)
    return Workload(n, m, pairs.near.stop, law=law, dtype=dtype, device=device)
