"""How closeness falls off with distance: k(s) and -k'(s) of the squared distance s.

A law is a value that knows itself: whoever weighs pairs asks it, and nobody asks which one it is.
Engines in NumPy take any law; compiled kernels have code for those with a `code`
(`kernels/weights.py`, `kernels/bounds.py`). docs/extending.md adds one.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from numbers import Real
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from vicinal.neighborhood import shared_numbers
from vicinal.neighborhood.shared_numbers import LawNumbers

__all__ = [
    "COMPACT",
    "GAUSSIAN",
    "GAUSSIAN_MIXTURES",
    "LAWS",
    "LOG2E",
    "Compact",
    "Gaussian",
    "Law",
    "Student",
    "law_named",
]

LOG2E = math.log2(math.e)

# Degrees of freedom for which all that is computed of them is a number, and a good one.
_DEGREES = 0.1, 1e6


@dataclass(frozen=True)
class Law(ABC):
    """A kernel of the squared distance, with k(0) = 1.

    Attributes
    ----------
    name : str
        What users type.
    code : int or None
        What compiled kernels branch on; None: they have nothing for this law.
    support : float
        Squared distance from which on k is 0. Sums over a law with support are of size 1; those
        over any other are kept relative to their largest term, since they may underflow.
    squared_width : float
        k(|z|² / squared_width) is the kernel with the identity as its scale matrix; of exp(-s), the
        standard Gaussian.
    is_gaussian_mixture : bool
        Whether it is a mixture of Gaussians of several widths, as exact EM needs it.
    knows_dimension : bool
        Whether k depends on the number of dimensions.
    widest_box : float
        Largest squared diagonal, in the law's units, of points that walk a tree together.
    """

    name: ClassVar[str]
    code: ClassVar[int | None] = None
    support: ClassVar[float] = np.inf
    squared_width: ClassVar[float] = 1.0
    is_gaussian_mixture: ClassVar[bool] = False
    knows_dimension: ClassVar[bool] = False
    widest_box: ClassVar[float] = 1.0

    @abstractmethod
    def log_mass(self, s: NDArray, d: int) -> NDArray:
        """log k(s) in d dimensions, elementwise."""

    @abstractmethod
    def decay(self, s: NDArray, d: int) -> NDArray | float:
        """-k'(s) / k(s), elementwise: how fast log k falls."""

    @abstractmethod
    def log_normalizer(self, d: int) -> float:
        """log of 1 / ∫ k(|z|²) dz in d dimensions: what makes the kernel a density."""

    @property
    def scale(self) -> float:
        """What points are multiplied by, so that s comes in the law's own units."""
        return 1.0

    @property
    def has_support(self) -> bool:
        """Whether k is 0 beyond some distance."""
        return self.support < np.inf

    def mass(self, s: NDArray, d: int) -> NDArray:
        """k(s), elementwise."""
        return np.exp(self.log_mass(s, d))

    def slope(self, s: NDArray, d: int) -> NDArray:
        """-k'(s), elementwise."""
        return self.decay(s, d) * self.mass(s, d)

    def log_slope(self, s: NDArray, d: int) -> NDArray:
        """log of -k'(s), elementwise."""
        return self.log_mass(s, d) + np.log(self.decay(s, d))

    def exponents(
        self, s: NDArray, d: int, base: NDArray | float = 0.0, out: NDArray | None = None
    ) -> NDArray:
        """`base` + log2 k of squared distances in the law's units, elementwise."""
        log_mass = self.log_mass(s / self.scale**2, d)
        return np.add(base, LOG2E * log_mass, out=out, dtype=s.dtype)

    def decays(self, s: NDArray, d: int) -> NDArray | float:
        """-k' / k of squared distances in the law's units, elementwise; a number if it is one."""
        return self.decay(s / self.scale**2, d)

    def steepness(self, d: int) -> float:
        """What an error of s, in the law's units, becomes in an exponent, at most."""
        return 1.0

    def numbers(self, d: int) -> LawNumbers:
        """The law in d dimensions for compiled kernels."""
        if self.code is None:
            raise ValueError(f"there are no compiled kernels for the {self.name} law.")
        return LawNumbers(self.code, scale=self.scale)

    def draw_widths(self, n: int, rng: np.random.RandomState) -> NDArray | float:
        """Random widths of the Gaussians that the kernel is a mixture of, shape (n, 1)."""
        raise TypeError(f"the {self.name} law is no mixture of Gaussians.")

    def squared(self, d: int) -> tuple["Law", float]:
        """A law and a factor c with k(s)² = law(c s) in d dimensions."""
        raise TypeError(f"the {self.name} law has no square that is a mixture of Gaussians.")


@dataclass(frozen=True)
class Gaussian(Law):
    """exp(-s), its own slope (thesis 3.1)."""

    name = "gaussian"
    code = shared_numbers.GAUSSIAN
    squared_width = 2.0
    is_gaussian_mixture = True
    widest_box = 16.0  # docs/decisions/0010

    @property
    def scale(self) -> float:
        """Exponents become powers of two."""
        return float(np.sqrt(LOG2E))

    def log_mass(self, s: NDArray, d: int) -> NDArray:
        """-s."""
        return -s

    def decay(self, s: NDArray, d: int) -> float:
        """1 everywhere."""
        return 1.0

    def exponents(
        self, s: NDArray, d: int, base: NDArray | float = 0.0, out: NDArray | None = None
    ) -> NDArray:
        """`base` - s, since `scale` has made it a power of two."""
        return np.subtract(base, s, out=out, dtype=s.dtype)

    def decays(self, s: NDArray, d: int) -> float:
        """1 everywhere."""
        return 1.0

    def log_normalizer(self, d: int) -> float:
        """log π^(-d/2)."""
        return -0.5 * d * float(np.log(np.pi))

    def draw_widths(self, n: int, rng: np.random.RandomState) -> float:
        """All of them are 1."""
        return 1.0

    def squared(self, d: int) -> tuple[Law, float]:
        """exp(-2s)."""
        return self, 2.0


@dataclass(frozen=True)
class Compact(Law):
    """(1 - s)² inside the unit ball, 0 outside (thesis 4.15, 4.20)."""

    name = "compact"
    code = shared_numbers.COMPACT
    support = 1.0

    def log_mass(self, s: NDArray, d: int) -> NDArray:
        """2 log(1 - s), -inf outside."""
        with np.errstate(divide="ignore"):
            return np.log(self.mass(s, d))

    def decay(self, s: NDArray, d: int) -> NDArray:
        """2 / (1 - s); 0 outside, where nothing is left to fall."""
        inside = np.maximum(1.0 - s, 0.0)
        with np.errstate(divide="ignore"):
            return np.where(inside > 0.0, 2.0 / inside, 0.0)

    def mass(self, s: NDArray, d: int) -> NDArray:
        """(1 - s)², 0 outside."""
        return np.square(np.maximum(1.0 - s, 0.0, dtype=s.dtype))

    def slope(self, s: NDArray, d: int) -> NDArray:
        """2 (1 - s), 0 outside."""
        return 2.0 * np.maximum(1.0 - s, 0.0, dtype=s.dtype)

    def log_slope(self, s: NDArray, d: int) -> NDArray:
        """log of 2 (1 - s), -inf outside."""
        with np.errstate(divide="ignore"):
            return np.log(self.slope(s, d))

    def log_normalizer(self, d: int) -> float:
        """Thesis 4.15, whose 15/16 holds for d = 1 only: d(d+2)(d+4) Γ(d/2) / (16 π^(d/2))."""
        polynomial = np.log(d) + np.log(d + 2.0) + np.log(d + 4.0)
        return float(polynomial + gammaln(0.5 * d) - np.log(16.0) - 0.5 * d * np.log(np.pi))


@dataclass(frozen=True)
class Student(Law):
    """(1 + s/ν)^(-(ν + d)/2), Student's t in d dimensions: heavy tails.

    A mixture of Gaussians whose precisions are Gamma(ν/2, ν/2).

    Attributes
    ----------
    degrees_of_freedom : float
        ν. 1: Cauchy's law; the larger, the closer to a Gaussian.
    """

    degrees_of_freedom: float = 3.0

    name = "student"
    code = shared_numbers.STUDENT
    is_gaussian_mixture = True
    knows_dimension = True
    widest_box = 4.0

    def __post_init__(self) -> None:
        (least, most), nu = _DEGREES, self.degrees_of_freedom
        if isinstance(nu, bool) or not isinstance(nu, Real):
            raise TypeError(f"degrees_of_freedom={nu!r} must be a number.")
        if not least <= nu <= most:
            raise ValueError(
                f"degrees_of_freedom={nu!r} must lie between {least:g} and {most:g}; the more, the "
                "closer to kernel='gaussian'."
            )

    @property
    def scale(self) -> float:
        """ν drops out: k = (1 + s)^(-(ν + d)/2)."""
        return float(1.0 / np.sqrt(self.degrees_of_freedom))

    def log_mass(self, s: NDArray, d: int) -> NDArray:
        """-(ν + d)/2 · log(1 + s/ν)."""
        return -self._power(d) * np.log1p(s / self.degrees_of_freedom)

    def decay(self, s: NDArray, d: int) -> NDArray:
        """(ν + d)/2 / (ν + s): half of what EM for a mixture of scales weighs a pair with."""
        return self._power(d) / (self.degrees_of_freedom + s)

    def exponents(
        self, s: NDArray, d: int, base: NDArray | float = 0.0, out: NDArray | None = None
    ) -> NDArray:
        """`base` - (ν + d)/2 · log2(1 + s), ν having dropped out."""
        out = np.log1p(s, out=out)
        out = np.multiply(-self._power(d) * LOG2E, out, out=out, dtype=s.dtype)
        return np.add(base, out, out=out, dtype=s.dtype)

    def decays(self, s: NDArray, d: int) -> NDArray:
        """(ν + d)/2 / ν / (1 + s)."""
        return (self._power(d) / self.degrees_of_freedom) / (1.0 + s)

    def log_normalizer(self, d: int) -> float:
        """log of Γ((ν + d)/2) / (Γ(ν/2) (νπ)^(d/2))."""
        nu = self.degrees_of_freedom
        spread = 0.5 * d * float(np.log(nu * np.pi))
        return float(gammaln(self._power(d)) - gammaln(0.5 * nu)) - spread

    def steepness(self, d: int) -> float:
        """(ν + d)/2, at s = 0."""
        return self._power(d)

    def numbers(self, d: int) -> LawNumbers:
        """Power and decay depend on d."""
        power, decay = self._power(d), self._power(d) / self.degrees_of_freedom
        return LawNumbers(self.code, power, decay, float(np.log2(decay)), self.scale)

    def draw_widths(self, n: int, rng: np.random.RandomState) -> NDArray:
        """sqrt(ν / χ²_ν)."""
        nu = self.degrees_of_freedom
        return np.sqrt(nu / rng.chisquare(nu, (n, 1)))

    def squared(self, d: int) -> tuple[Law, float]:
        """Student's law of 2ν + d degrees of freedom; of the most there are, nearly."""
        nu = self.degrees_of_freedom
        more = min(2.0 * nu + d, _DEGREES[1])
        return Student(more), 2.0 * more * (nu + d) / (nu * (more + d))

    def _power(self, d: int) -> float:
        return 0.5 * (self.degrees_of_freedom + d)


GAUSSIAN, COMPACT = Gaussian(), Compact()

LAWS: dict[str, type[Law]] = {law.name: law for law in (Gaussian, Compact, Student)}

# Names of those that EM for a density is exact for.
GAUSSIAN_MIXTURES = tuple(name for name, law in LAWS.items() if law.is_gaussian_mixture)


def law_named(name: str, **numbers: float) -> Law:
    """The law users call that, with those of the numbers that are its own."""
    if name not in LAWS:
        known = ", ".join(repr(each) for each in LAWS)
        raise ValueError(f"kernel={name!r} is unknown: use one of {known}.")
    law = LAWS[name]
    own = {field.name for field in fields(law)}
    return law(**{key: value for key, value in numbers.items() if key in own})
