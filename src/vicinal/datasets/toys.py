"""The three toy problems of Le Roux and Bach, "Local component analysis", Figure 2.

Each is planar. Section 6.1 of the paper corrupts them progressively by adding
dimensions of white Gaussian noise, and then whitens the result. The generators
add the noise (``n_noise``) and leave the whitening to the user. After whitening
the scale of the noise (``noise_std``) no longer matters.

Rows, their order and their labels do not depend on ``n_noise``, and neither do
the noise columns already there: for one integer seed, a noisier problem is the
same problem with further columns.
"""

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    RandomState = int | np.random.RandomState | None


def make_noisy_gaussians(
    n_samples: int = 1000,
    *,
    n_noise: int = 0,
    noise_std: float = 1.0,
    shuffle: bool = True,
    random_state: "RandomState" = None,
) -> tuple[NDArray, NDArray]:
    """Two Gaussians of unit variance at (-3, 0) and (3, 0), and noise dimensions.

    Figure 2, left, of [1]_.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points, at least 2. Half are of each class; if the number is
        odd, class 0 has one more.
    n_noise : int, default=0
        Number of further dimensions of Gaussian noise.
    noise_std : float, default=1.0
        Standard deviation of the noise dimensions.
    shuffle : bool, default=True
        Whether to shuffle the points. Otherwise they are sorted by class.
    random_state : int, RandomState instance or None, default=None
        Seed or generator; pass an int for the same points at each call.

    Returns
    -------
    X : ndarray of shape (n_samples, 2 + n_noise)
        The points.
    y : ndarray of shape (n_samples,)
        The labels, 0 (left) and 1 (right).

    References
    ----------
    .. [1] N. Le Roux and F. Bach, "Local component analysis", 2011, HAL inria-00617965.

    Examples
    --------
    >>> from vicinal.datasets import make_noisy_gaussians
    >>> X, y = make_noisy_gaussians(100, n_noise=8, random_state=0)
    >>> X.shape, int(y.sum())
    ((100, 10), 50)
    """
    _check_count("n_samples", n_samples, minimum=2)
    _check_noise(n_noise, noise_std)
    centers = np.array([[-3.0, 0.0], [3.0, 0.0]])
    y = _labels([n_samples - n_samples // 2, n_samples // 2])
    generator = _generator(random_state)
    X = centers[y] + generator.standard_normal((n_samples, 2))
    return _finish(X, y, n_noise, noise_std, shuffle, generator)


def make_noisy_circles(
    n_samples: int = 1000,
    *,
    radii: Sequence[float] = (1.0, 2.0),
    ring_std: float = 0.1,
    n_noise: int = 0,
    noise_std: float = 1.0,
    shuffle: bool = True,
    random_state: "RandomState" = None,
) -> tuple[NDArray, NDArray]:
    """Two concentric circles blurred by Gaussian noise, and noise dimensions.

    Figure 2, center, of [1]_. Angles are drawn uniformly: the paper does not
    say, and equidistant ones would not be a sample of any density.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points, at least 2. Half are of each class; if the number is
        odd, class 0 has one more.
    radii : pair of float, default=(1.0, 2.0)
        Radii of the circles, in label order.
    ring_std : float, default=0.1
        Standard deviation of the isotropic noise added in the plane.
    n_noise : int, default=0
        Number of further dimensions of Gaussian noise.
    noise_std : float, default=1.0
        Standard deviation of the noise dimensions.
    shuffle : bool, default=True
        Whether to shuffle the points. Otherwise they are sorted by class.
    random_state : int, RandomState instance or None, default=None
        Seed or generator; pass an int for the same points at each call.

    Returns
    -------
    X : ndarray of shape (n_samples, 2 + n_noise)
        The points.
    y : ndarray of shape (n_samples,)
        The labels: i on the circle of radius ``radii[i]``.

    References
    ----------
    .. [1] N. Le Roux and F. Bach, "Local component analysis", 2011, HAL inria-00617965.

    Examples
    --------
    >>> from vicinal.datasets import make_noisy_circles
    >>> X, y = make_noisy_circles(101, ring_std=0.0, random_state=0)
    >>> X.shape, int(y.sum())
    ((101, 2), 50)
    """
    _check_count("n_samples", n_samples, minimum=2)
    _check_radii(radii)
    _check_std("ring_std", ring_std)
    _check_noise(n_noise, noise_std)
    y = _labels([n_samples - n_samples // 2, n_samples // 2])
    generator = _generator(random_state)
    angle = generator.uniform(0.0, 2.0 * np.pi, n_samples)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    X = np.asarray(radii, dtype=np.float64)[y, None] * circle
    X += ring_std * generator.standard_normal((n_samples, 2))
    return _finish(X, y, n_noise, noise_std, shuffle, generator)


def make_five_gaussians(
    n_samples: int = 1000,
    *,
    n_noise: int = 0,
    noise_std: float = 1.0,
    shuffle: bool = True,
    random_state: "RandomState" = None,
) -> tuple[NDArray, NDArray]:
    """Five Gaussians in a cross, the middle one four times as large, and noise.

    Figure 2, right, of [1]_. The paper does not print the centers; here they
    are (0, 0), (5, 0), (-5, 0), (0, 5) and (0, -5), with unit variance.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points, at least 8. Each outer class has ``n_samples // 8``,
        the middle class has the others.
    n_noise : int, default=0
        Number of further dimensions of Gaussian noise.
    noise_std : float, default=1.0
        Standard deviation of the noise dimensions.
    shuffle : bool, default=True
        Whether to shuffle the points. Otherwise they are sorted by class.
    random_state : int, RandomState instance or None, default=None
        Seed or generator; pass an int for the same points at each call.

    Returns
    -------
    X : ndarray of shape (n_samples, 2 + n_noise)
        The points.
    y : ndarray of shape (n_samples,)
        The labels, 0 in the middle and 1 to 4 outside, in the order above.

    References
    ----------
    .. [1] N. Le Roux and F. Bach, "Local component analysis", 2011, HAL inria-00617965.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.datasets import make_five_gaussians
    >>> X, y = make_five_gaussians(800, random_state=0)
    >>> np.bincount(y)
    array([400, 100, 100, 100, 100])
    """
    _check_count("n_samples", n_samples, minimum=8)
    _check_noise(n_noise, noise_std)
    centers = np.array([[0.0, 0.0], [5.0, 0.0], [-5.0, 0.0], [0.0, 5.0], [0.0, -5.0]])
    outer = n_samples // 8
    y = _labels([n_samples - 4 * outer, outer, outer, outer, outer])
    generator = _generator(random_state)
    X = centers[y] + generator.standard_normal((n_samples, 2))
    return _finish(X, y, n_noise, noise_std, shuffle, generator)


def _labels(counts: Sequence[int]) -> NDArray:
    return np.repeat(np.arange(len(counts), dtype=np.int64), counts)


def _generator(random_state: "RandomState") -> np.random.RandomState:
    from vicinal.inputs.checks import check_seed

    return check_seed(random_state)


def _finish(
    X: NDArray,
    y: NDArray,
    n_noise: int,
    noise_std: float,
    shuffle: bool,
    generator: np.random.RandomState,
) -> tuple[NDArray, NDArray]:
    """Shuffle, then append the noise: it comes last so that it changes nothing else."""
    if shuffle:
        order = generator.permutation(len(X))
        X, y = X[order], y[order]
    # Drawn column by column: further columns leave the first ones as they are.
    noise = noise_std * generator.standard_normal((n_noise, len(X))).T
    return np.hstack([X, noise]), y


def _check_noise(n_noise: int, noise_std: float) -> None:
    _check_count("n_noise", n_noise, minimum=0)
    _check_std("noise_std", noise_std)


def _check_count(argument: str, value: int, *, minimum: int) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{argument}={value!r} is not an integer. Pass an int from {minimum} up.")
    if value < minimum:
        raise ValueError(f"{argument}={value!r} is too small. Pass an int from {minimum} up.")


def _check_std(argument: str, value: float) -> None:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{argument}={value!r} is not a number. Pass a finite float of 0 or more.")
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(
            f"{argument}={value!r} is not a standard deviation. Pass a finite float of 0 or more."
        )


def _check_radii(radii: Sequence[float]) -> None:
    values = np.asarray(radii)
    good = values.shape == (2,) and values.dtype.kind in "iuf"
    if not (good and np.isfinite(values).all() and (values > 0).all()):
        raise ValueError(f"radii={radii!r} is not a pair of radii. Pass two positive floats.")
