"""SpectrumDisplay: how many directions a model uses, and for what."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import column_or_1d

from vicinal.inputs.checks import check_count
from vicinal.report.drawing.axes import LONGEST, draw_legend, frame
from vicinal.report.drawing.base import BaseDisplay
from vicinal.report.names import shortened
from vicinal.report.numbers.fitted import entering, fitted_model, map_of, titled
from vicinal.report.numbers.units import drawing_unit
from vicinal.report.support import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["SpectrumDisplay"]

_LOG_FROM = 30.0  # ratio of the largest to the smallest value from which the axis is logarithmic


class SpectrumDisplay(BaseDisplay):
    """Spectrum of a fitted model: the values of its directions, in order.

    The values depend on the model. For `LocalComponents`: ratios of the variance of the kernels to
    that of the data, direction by direction. The lower the ratio, the more local structure; at 1,
    the kernels are as wide as the data, as in directions modeled by a Gaussian. For models with a
    linear map: its singular values, or the standard deviations of projected data. For
    `DivergenceEmbedding`: its eigenvalues.

    Parameters
    ----------
    values : array-like of shape (n_directions,)
        Values to plot.
    n_gaussian : int, default=0
        Number of values, the last ones, that belong to Gaussian directions.
    value_name : str, default="value"
        Label of the value axis.
    reference : float, optional
        Where to draw a horizontal line.
    title : str, optional
        Title of the plot.
    note : str, optional
        Note to show below the plot.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the plot.
    figure_ : matplotlib Figure
        Figure that contains the axes.
    line_ : matplotlib Line2D
        Values of the local directions, or of all directions.
    gaussian_line_ : matplotlib Line2D or None
        Values of the Gaussian directions.
    split_ : matplotlib Line2D or None
        Line between the two.
    note_ : matplotlib Annotation or None
        The note below the plot.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from vicinal.report import SpectrumDisplay
    >>> display = SpectrumDisplay([0.1, 0.3, 1.0, 1.0], n_gaussian=2)
    >>> display = display.plot(ax=Figure().subplots())
    >>> display.gaussian_line_.get_xdata().tolist()
    [3, 4]
    """

    line_: "Line2D"
    gaussian_line_: "Line2D | None"
    split_: "Line2D | None"

    def __init__(
        self,
        values: ArrayLike,
        *,
        n_gaussian: int = 0,
        value_name: str = "value",
        reference: float | None = None,
        title: str | None = None,
        note: str = "",
    ) -> None:
        self.values = values
        self.n_gaussian = n_gaussian
        self.value_name = value_name
        self.reference = reference
        self.title = title
        self.note = note

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: ArrayLike | None = None,
        *,
        title: str | None = None,
        ax: "Axes | None" = None,
    ) -> "SpectrumDisplay":
        """Plot the spectrum of a fitted model.

        Parameters
        ----------
        estimator : fitted model, or a pipeline that ends in one
            `LocalComponents`, a model with a linear map `components_`, or one with `eigenvalues_`.
        X : array-like of shape (n_samples, n_features), optional
            Data to compare the kernels with (None: the training set), or to project (None: singular
            values of the map alone).
        title : str, optional
            Title of the plot. None: the name of the model.
        ax : matplotlib Axes, optional
            Axes to draw on. None: a new figure.

        Returns
        -------
        SpectrumDisplay

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from sklearn.datasets import load_iris
        >>> from vicinal import LocalComponents
        >>> from vicinal.report import SpectrumDisplay
        >>> model = LocalComponents(gaussian="search").fit(load_iris().data)
        >>> display = SpectrumDisplay.from_estimator(model, ax=Figure().subplots())
        >>> display.note_.get_text()
        '3 directions are local, 1 is Gaussian; at 1 kernels are as wide as the data'
        """
        require_matplotlib("SpectrumDisplay.from_estimator")
        model = fitted_model(estimator)
        named: dict[str, Any] = {"title": titled(title, estimator)}
        rows = None if X is None else entering(estimator, X)
        if hasattr(model, "gaussian_components_"):
            return cls(**_of_kernels(model, rows), **named).plot(ax=ax)
        if hasattr(model, "eigenvalues_"):
            _refuse(rows, model)
            return cls(model.eigenvalues_, value_name="eigenvalue", **named).plot(ax=ax)
        if hasattr(model, "embedding_"):
            raise TypeError(
                f"estimator is a {type(model).__name__} without eigenvalues_: it has no spectrum. "
                'DivergenceEmbedding has one with method="isomap", "laplacian" or "mds".'
            )
        return cls(**_of_map(map_of(estimator), rows), **named).plot(ax=ax)

    def plot(self, ax: "Axes | None" = None) -> "SpectrumDisplay":
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on. None: a new figure.

        Returns
        -------
        SpectrumDisplay
            The display, with `ax_`, `figure_` and the artists set.
        """
        values = np.asarray(column_or_1d(self.values), dtype=np.float64)
        if not len(values) or not np.isfinite(values).all():
            raise ValueError("values must be finite numbers, at least one.")
        check_count("n_gaussian", self.n_gaussian, 0, len(values), " (number of values)")
        unit, said = drawing_unit(float(np.abs(values).max()))
        ax = self._begin(ax)
        self._draw(ax, values / unit, unit)
        _axes(ax, values / unit, f"{self.value_name}{said}")
        self._finish(self.note)
        return self

    def _draw(self, ax: "Axes", values: NDArray, unit: float) -> None:
        from vicinal.report.drawing.colors import LINES, edge

        if self.reference is not None:
            height = self.reference / unit
            ax.axhline(height, color=edge(0.6), linewidth=0.9, linestyle=(0, (4, 3)))
        n_local = len(values) - self.n_gaussian
        places = np.arange(1, len(values) + 1)
        size = float(np.clip(120 / len(values), 2, 7))
        style: dict[str, Any] = {"markersize": size, "linewidth": 1.2}
        label = f"local, Parzen: {n_local}"
        local = slice(n_local)
        (self.line_,) = ax.plot(
            places[local], values[local], "o-", color=LINES[0], label=label, **style
        )
        self.gaussian_line_ = self.split_ = None
        if self.n_gaussian:
            rest, label = slice(n_local, None), f"Gaussian: {self.n_gaussian}"
            (self.gaussian_line_,) = ax.plot(
                places[rest], values[rest], "s-", color=LINES[1], label=label, **style
            )
            self.split_ = ax.axvline(n_local + 0.5, color=edge(0.5), linewidth=0.9)
            draw_legend(ax)


def _axes(ax: "Axes", values: NDArray, value_name: str) -> None:
    from matplotlib.ticker import MaxNLocator

    frame(ax, open_=True)
    if values.min() > 0 and values.max() > _LOG_FROM * values.min():
        ax.set_yscale("log")
    elif values.min() >= 0:
        ax.set_ylim(0, 1.08 * values.max() or 1.0)
    ax.set_xlim(0.5, len(values) + 0.5)
    ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))
    ax.set_xlabel("direction", fontsize=9)
    ax.set_ylabel(shortened(value_name, LONGEST), fontsize=9, parse_math=False)


def _of_kernels(model: BaseEstimator, rows: NDArray | None) -> dict[str, Any]:
    """Variances of kernels over those of data, in directions in which neither has correlations."""
    weights = None
    if rows is None:
        points = model._density.points
        rows, weights = points.X, points.weights
    local = _spread(rows @ model.components_.T, weights)
    gaussian = _spread(rows @ model.gaussian_components_.T, weights)
    tiny = np.finfo(float).tiny  # of data that do not vary
    n, n_gaussian = len(local), len(gaussian)
    note = f"{n} direction{'s are' if n > 1 else ' is'} local"
    if n_gaussian:
        note += f", {n_gaussian} {'are' if n_gaussian > 1 else 'is'} Gaussian"
    note += "; at 1 kernels are as wide as the data"
    return {
        "values": 1.0 / np.maximum(np.concatenate([local, gaussian]), tiny),
        "n_gaussian": n_gaussian,
        "value_name": "variance of kernels / variance of data",
        "reference": 1.0,
        "note": note,
    }


def _of_map(A: NDArray, rows: NDArray | None) -> dict[str, Any]:
    if rows is None:
        values, name = np.linalg.svd(A, compute_uv=False), "singular value of the map"
    else:
        values, name = np.sqrt(_spread(rows @ A.T)), "standard deviation of projected data"
    note = f"effective rank {effective_rank(values):.1f} of {len(values)}"
    return {"values": values, "value_name": name, "note": note}


def _spread(Z: NDArray, weights: NDArray | None = None) -> NDArray:
    """Variances of points along their principal directions, the largest first."""
    if Z.shape[1] == 0:
        return np.empty(0)
    covariance = np.cov(Z.T, bias=True, aweights=weights).reshape(Z.shape[1], -1)
    return np.maximum(np.linalg.eigvalsh(covariance)[::-1], 0.0)


def effective_rank(values: NDArray) -> float:
    """Number of directions that share squared distances, by the entropy of their shares.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.report.displays.spectrum import effective_rank
    >>> effective_rank(np.array([2.0, 2.0, 0.0]))
    2.0
    """
    shares = np.square(values) / (np.square(values).sum() or 1.0)
    shares = shares[shares > 0]
    return float(np.exp(-np.sum(shares * np.log(shares))))


def _refuse(rows: NDArray | None, model: BaseEstimator) -> None:
    if rows is not None:
        raise ValueError(f"X has no meaning for the eigenvalues_ of a {type(model).__name__}.")
