"""How a fitted model shows itself in notebooks: a diagram, and the facts of its fit below it."""

from html import escape
from typing import Any

from sklearn.base import BaseEstimator

from vicinal.facts import facts_in_words

__all__ = ["RepresentationMixin"]

# Letters and lines take the color of the page's text, so that they can be read on light and dark.
_TABLE = (
    '<table class="vicinal-facts" style="border-collapse: collapse; margin: 0.5em 0 0.5em 1em; '
    "font-family: monospace; font-size: 0.9em; color: inherit; "
    'background: transparent; border: none">'
    '<caption style="text-align: left; font-weight: bold; padding: 0.2em 0.6em; '
    'white-space: nowrap; color: inherit">About the fit</caption><tbody>{rows}</tbody></table>'
)
_LINE = "border: none; border-top: 1px solid rgba(128, 128, 128, 0.4); text-align: left; "
_ROW = (
    '<tr style="background: transparent; color: inherit">'
    f'<th scope="row" style="{_LINE}padding: 0.2em 0.6em; font-weight: normal; opacity: 0.75; '
    'white-space: nowrap; vertical-align: top">{label}</th>'
    f'<td style="{_LINE}padding: 0.2em 0.6em; max-width: 40em; white-space: normal; '
    'overflow-wrap: anywhere">{text}</td></tr>'
)


class RepresentationMixin:
    """scikit-learn's diagram, and the facts of the fit below it.

    Within another estimator's diagram nothing is added.
    """

    def _repr_html_inner(self) -> str:
        return with_facts(super()._repr_html_inner(), self)  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = with_facts(bundle["text/html"], self)
        return bundle


def with_facts(diagram: str, model: BaseEstimator) -> str:
    """A diagram in HTML with a table of facts; as it is where there are none."""
    facts = facts_in_words(model)
    if not facts:
        return diagram
    rows = [_ROW.format(label=escape(label), text=escape(text)) for label, text in facts.items()]
    return diagram + _TABLE.format(rows="".join(rows))
