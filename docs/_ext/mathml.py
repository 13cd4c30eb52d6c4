"""Formulas as MathML, which browsers draw by themselves: no script, and nothing to fetch."""

import re
from html import escape

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.typing import ExtensionMetadata

LOGGER = logging.getLogger(__name__)

# What docutils has no word for, in words that it has.
WORDS = {
    r"\tfrac": r"\frac",
    r"\dfrac": r"\frac",
    r"\lVert": r"\Vert",
    r"\rVert": r"\Vert",
    r"\lvert": r"\vert",
    r"\rvert": r"\vert",
    r"\dots": r"\ldots",
    r"\boldsymbol": r"\mathbf",
}

LINES = r"\begin{align*} %s \end{align*}"

# What docutils leaves to the browser, and browsers do badly: bars of a norm that grow on one side
# only, and functions that stick to what they are of ("logp").
TOUCHES = [
    (r"<mo>([‖|∥])</mo>", r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>'),
    (
        r'(<mo>&ApplyFunction;</mo>\s*)(?!<mo stretchy="false"|\s)',
        r'\1<mspace width="0.17em"/>',
    ),
]


def translated(code: str) -> str:
    """TeX in the words that docutils knows."""
    return re.sub(r"\\[A-Za-z]+", lambda word: WORDS.get(word[0], word[0]), code)


def mathml(node: nodes.Node, display: bool) -> str:
    """The formula of a node; where docutils does not know a word of it, TeX, and a warning."""
    code = translated(node.astext())
    has_lines = r"\\" in code and r"\begin" not in code
    try:
        formula = latex2mathml.tex2mathml(LINES % code if has_lines else code, as_block=display)
    except Exception as problem:
        LOGGER.warning("formula without MathML: %s: %s", problem, code, location=node)
        return f"<code>{escape(node.astext())}</code>"
    for plain, better in TOUCHES:
        formula = re.sub(plain, better, formula)
    return formula


def _inline(translator: nodes.NodeVisitor, node: nodes.math) -> None:
    translator.body.append(f'<span class="math">{mathml(node, False)}</span>')
    raise nodes.SkipNode


def _display(translator: nodes.NodeVisitor, node: nodes.math_block) -> None:
    identity = f' id="{node["ids"][0]}"' if node.get("ids") else ""
    number = f'<span class="eqno">({node["number"]})</span>' if node.get("number") else ""
    translator.body.append(f'<div class="math-block"{identity}>{mathml(node, True)}{number}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> ExtensionMetadata:
    """Add the renderer that `html_math_renderer` names."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
