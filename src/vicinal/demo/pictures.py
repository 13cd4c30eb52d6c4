"""Showing what was found: a figure, and a page."""

from pathlib import Path
from typing import TYPE_CHECKING

from vicinal.demo.comparison import N_DENSITY_COMPONENTS, N_NEIGHBORS, Comparison, Projection
from vicinal.report import ProjectionDisplay, write_report
from vicinal.report.support import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from vicinal.report.page.parts import Section

__all__ = ["draw", "write_page"]


def draw(projections: list[Projection]) -> "Figure":
    """The projections side by side.

    Parameters
    ----------
    projections : list of Projection

    Returns
    -------
    matplotlib.figure.Figure
        Bound to no window.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.demo import Projection, draw
    >>> points, labels = np.random.default_rng(0).normal(size=(50, 2)), np.arange(50) % 3
    >>> figure = draw([Projection("PCA", points, labels, 0.5)])
    >>> figure.axes[0].get_title()
    'PCA: 50.0%'
    """
    require_matplotlib("The picture")
    from matplotlib.figure import Figure

    n_rows = -(-len(projections) // 3)
    n_columns = min(3, len(projections))
    figure = Figure(figsize=(4.4 * n_columns, 4.6 * n_rows + 0.7))
    # Margins given rather than found: the names of classes are placed for the final size.
    axes = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    top = 1 - 1.0 / figure.get_figheight()
    figure.subplots_adjust(left=0.012, right=0.988, bottom=0.03, top=top, wspace=0.04, hspace=0.12)
    for ax, one in zip(axes, projections, strict=False):
        title = f"{one.method}: {one.accuracy:.1%}"
        ProjectionDisplay(one.embedding, one.labels, title=title).plot(ax=ax)
        ax.title.set_fontsize(15)
    figure.suptitle(
        "Test digits in two dimensions, "
        f"and how often their {N_NEIGHBORS} nearest training neighbors name them right",
        fontsize=13,
        y=1 - 0.3 / figure.get_figheight(),
    )
    return figure


def write_page(result: Comparison, path: Path, command: str | None = None) -> None:
    """Write the report: the comparison, and all about NCA in the plane.

    Parameters
    ----------
    result : Comparison
    path : Path
    command : str, optional
        What repeats it.
    """
    split = result.split
    write_report(
        result.model,
        split.X_train,
        split.y_train,
        path,
        X_test=split.X_test,
        y_test=split.y_test,
        feature_names=[f"pixel {row},{column}" for row in range(8) for column in range(8)],
        title="vicinal demo: images of digits",
        data_name="the digits of scikit-learn (load_digits), pixels divided by 16",
        command=command,
        extras=[_metrics_section(result), _densities_section(result)],
    )


def _metrics_section(result: Comparison) -> "Section":
    from vicinal.report.page.figures import figure_picture
    from vicinal.report.page.parts import Section, Table

    rows = [
        [
            score.method,
            score.learns_from,
            str(score.n_components),
            f"{score.accuracy:.1%}",
            "-" if score.fit_seconds is None else f"{score.fit_seconds:.2f}",
        ]
        for score in result.scores
    ]
    table = Table(
        ["Method", "Learns from", "Dimensions#", f"{N_NEIGHBORS}-NN test accuracy#", "Fit, s#"],
        rows,
        best=[i for i, score in enumerate(result.scores) if score.is_ours],
    )
    text = (
        f"{len(result.split.y_test)} test images, named by their {N_NEIGHBORS} nearest among "
        f"{len(result.split.y_train)} training images. vicinal's in bold."
    )
    alt = "Test digits in the plane by " + ", ".join(one.method for one in result.projections)
    return Section(
        "Metrics and embeddings, side by side",
        [text],
        [figure_picture(draw(result.projections), alt)],
        table,
    )


def _densities_section(result: Comparison) -> "Section":
    from vicinal.report.page.parts import Section, Table

    rows = [
        [one.method, f"{one.log_density:.2f}", f"{one.fit_seconds:.2f}"] for one in result.densities
    ]
    table = Table(
        ["Density", "Mean log-density of test images#", "Fit, s#"],
        rows,
        best=[i for i, one in enumerate(result.densities) if one.is_ours],
    )
    text = f"Of the first {N_DENSITY_COMPONENTS} principal components; the higher, the likelier."
    return Section("Densities, side by side", [text], [], table)
