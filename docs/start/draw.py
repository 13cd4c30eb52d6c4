"""Draw the two decision pictures: ``python docs/start/draw.py``.

Their colors are readable on light and on dark pages, and their numbers are those of the source.
"""

from dataclasses import dataclass
from html import escape
from pathlib import Path

from vicinal.neighborhood import engine

HERE = Path(__file__).parent

WIDTH, GAP, LEFT, RIGHT = 536, 28, 226, 244
LINE, PADDING = 19, 12
BLUE, ORANGE, GRAY = "#2f7fb5", "#e0702d", "#808a94"


@dataclass(frozen=True)
class Step:
    """A question, and what to use if the answer is yes; without one, what remains."""

    question: tuple[str, ...]
    name: tuple[str, ...]
    why: tuple[str, ...]

    @property
    def height(self) -> int:
        """Of the taller of its two boxes."""
        return max(len(self.question), len(self.name) + len(self.why)) * LINE + 2 * PADDING


MODELS = (
    Step(
        ("Does every row have", "a label?"),
        ("NeighborhoodComponents",),
        ("metric, map, classifier",),
    ),
    Step(
        ("Do you know pairs that", "belong together, or not?"),
        ("LatentCoincidence",),
        ("metric, probability", "that two rows match"),
    ),
    Step(
        ("Do you want densities,", "outliers or samples?"),
        ("LocalComponents",),
        ("density without", "a bandwidth to choose"),
    ),
    Step(
        ("Do you want clusters", "without giving a number?"),
        ("ModeClustering",),
        ("modes of that density",),
    ),
    Step(
        ("Do you want distances", "along local shapes?"),
        ("DivergenceNeighbors",),
        ("for metric=", '"precomputed"'),
    ),
    Step(
        ("Do you want a picture", "of those distances?"),
        ("DivergenceEmbedding",),
        ("Isomap, t-SNE, UMAP …",),
    ),
)


def power(number: int) -> str:
    """A round number, written briefly."""
    digit, exponent = f"{number:.0e}".split("e+")
    raised = str(int(exponent)).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{digit} · 10{raised}"


ENGINES = (
    Step(
        ("A Dask array,", "and an open client?"),
        ("dask",),
        ("on the workers", "of the cluster"),
    ),
    Step(
        ("Tensors on a GPU, or a GPU", f"and {power(engine.GPU_WORK)} pair visits?"),
        ("cuda",),
        ("fused kernels on the GPU",),
    ),
    Step(
        (f"At most {power(engine.SMALL_WORK)}", "pair visits?"),
        ("blocked",),
        ("NumPy, done before", "a compiler would start"),
    ),
    Step(
        (
            f"At most {engine.TREE_MAX_DIMS} dimensions and",
            f"{power(engine.TREE_PAIRS)} pairs, or a",
            f"tolerance, {engine.TOLERANT_MAX_DIMS} dimensions",
            f"and {power(engine.TOLERANT_PAIRS)} pairs?",
        ),
        ("adaptive",),
        ("trees if few pairs", "matter, otherwise fused"),
    ),
    Step((f"At most {engine.FUSED_MAX_DIMS} dimensions?",), ("fused",), ("one compiled sweep",)),
    Step((), ("blocked",), ("matrix products,", "compiled weights")),
)


def picture(title: str, steps: tuple[Step, ...]) -> str:
    """The picture as SVG."""
    parts, top = [], 2
    for i, step in enumerate(steps):
        parts += row(step, top, last=i == len(steps) - 1)
        top += step.height + GAP
    height = top - GAP + 2
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}" role="img" font-size="15" '
            'font-family="system-ui, -apple-system, Segoe UI, Roboto, Arial, sans-serif">',
            f"<title>{escape(title)}</title>",
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            f'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="{GRAY}"/></marker>'
            "</defs>",
            *parts,
            "</svg>",
            "",
        ]
    )


def row(step: Step, top: int, last: bool) -> list[str]:
    """A question on the left, its answer on the right, arrows between them and to the next."""
    middle, bottom, right = top + step.height // 2, top + step.height, WIDTH - RIGHT - 2
    answer = box(right, top, RIGHT, step.height, BLUE, "#e8f2f9", step.name, step.why)
    if not step.question:
        start = f"M{2 + LEFT // 2} {top - GAP + 2}V{middle}H{right - 2}"
        return [*answer, arrow(start)]
    parts = box(2, top, LEFT, step.height, ORANGE, "#fdf0e7", (), step.question) + answer
    parts += [arrow(f"M{2 + LEFT + 2} {middle}H{right - 2}"), word("yes", LEFT + 31, middle - 7)]
    if not last:
        parts += [
            arrow(f"M{2 + LEFT // 2} {bottom + 2}v{GAP - 4}"),
            word("no", 2 + LEFT // 2 + 20, bottom + 19),
        ]
    return parts


def box(
    x: int,
    y: int,
    width: int,
    height: int,
    edge: str,
    fill: str,
    bold: tuple[str, ...],
    plain: tuple[str, ...],
) -> list[str]:
    """A box with centered lines of text, the bold ones first."""
    parts = [
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="8" '
        f'fill="{fill}" stroke="{edge}" stroke-width="1.5"/>'
    ]
    line = y + (height - LINE * (len(bold) + len(plain))) / 2 + 14.5
    for i, text in enumerate(bold + plain):
        weight = ' font-weight="600"' if i < len(bold) else ""
        parts.append(
            f'<text x="{x + width / 2:g}" y="{line + i * LINE:g}" text-anchor="middle" '
            f'fill="#1c2733"{weight}>{escape(text)}</text>'
        )
    return parts


def arrow(path: str) -> str:
    """A line with a tip."""
    return f'<path d="{path}" fill="none" stroke="{GRAY}" stroke-width="2" marker-end="url(#tip)"/>'


def word(text: str, x: int, y: int) -> str:
    """A word beside an arrow."""
    return (
        f'<text x="{x}" y="{y}" text-anchor="middle" fill="{GRAY}" font-weight="600">{text}</text>'
    )


PICTURES = {
    "which-model.svg": picture("Which model do I need?", MODELS),
    "which-engine.svg": picture("Which engine runs?", ENGINES),
}

if __name__ == "__main__":
    for name, text in PICTURES.items():
        (HERE / name).write_text(text, "utf-8")
