"""Shared by all figures of the guide: colors that are readable on white and on black."""

from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

FOLDER = Path(__file__).parent.parent / "_static" / "guide"
INK = "#7c8794"  # about as far from white as from black
BLUE, ORANGE, GREEN = "#3f8fdd", "#e07b30", "#2fa36b"
CLASSES = (BLUE, ORANGE, GREEN)


def panels(n, width=3.2, height=3.2):
    """A figure of n panels without axes, and the panels."""
    plt.rcParams.update(
        {
            "svg.hashsalt": "vicinal",
            "svg.fonttype": "path",
            "font.size": 12,
            "text.color": INK,
            "axes.titlecolor": INK,
        }
    )
    figure, axes = plt.subplots(1, n, figsize=(width * n, height), layout="constrained")
    axes = [axes] if n == 1 else list(axes)
    for ax in axes:
        ax.set_xticks([])
        ax.set_yticks([])
        for side in ax.spines.values():
            side.set_edgecolor(INK)
            side.set_alpha(0.4)
        ax.patch.set_alpha(0)
    return figure, axes


def write(figure, name):
    """Save the figure as an SVG without a background, the same bytes every time."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    figure.savefig(FOLDER / f"{name}.svg", transparent=True, metadata={"Date": None})
    plt.close(figure)
