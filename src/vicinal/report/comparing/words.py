"""What a comparison says: sentences and a table, in words."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vicinal.facts import duration
from vicinal.report.comparing.differences import BETTER, UNCLEAR, WORSE, Difference
from vicinal.report.comparing.methods import OURS
from vicinal.report.comparing.scores import MethodScores

if TYPE_CHECKING:
    from vicinal.report.comparing.comparison import Comparison

__all__ = [
    "HEADINGS",
    "about_accuracy",
    "about_few_dimensions",
    "about_probabilities",
    "cells",
    "headline",
    "remarks",
    "text_table",
]

HEADINGS = ("Method", "Dim.", "Accuracy", "Interval", "Log-loss", "Fit")

_LEGEND = (
    "Intervals are at 95%; ± is one standard error; * marks methods of vicinal.",
    "The end of a difference in our favor allows for the choice of the best.",
    "A fit includes the choice of k of k-NN, by folds of its training rows.",
    "Log-loss counts a probability of 0, as of a class without neighbors, as 2e-16.",
)
_ON_THIS_TABLE = {
    BETTER: "Learning a metric helps on this table",
    UNCLEAR: "There is no clear difference on this table",
    WORSE: "Learning a metric does not help on this table",
}
_IN_FEW = {BETTER: "it helps", UNCLEAR: "there is no clear difference", WORSE: "it does not help"}
_PROBABILITIES = {BETTER: "better", UNCLEAR: "not clearly better or worse", WORSE: "worse"}


def about_accuracy(difference: Difference) -> str:
    """Whether a learned metric names more rows right than the best baseline."""
    return f"{_ON_THIS_TABLE[difference.conclusion]}: {_accuracies(difference)}"


def about_few_dimensions(difference: Difference, n_components: int) -> str:
    """Whether it does in few dimensions, against projections to as many or fewer."""
    where = "1 dimension" if n_components == 1 else f"{n_components} dimensions"
    return f"In {where} {_IN_FEW[difference.conclusion]}: {_accuracies(difference)}"


def about_probabilities(difference: Difference) -> str:
    """Whether its probabilities are better than the best ones of baselines."""
    ours, other = difference.ours, difference.other
    change, low, high = (
        _signed(-one, 3) for one in (difference.gain, difference.high, difference.low)
    )
    return (
        f"The probabilities of {ours.label} are {_PROBABILITIES[difference.conclusion]}: log-loss "
        f"{ours.log_loss:.3f} (± {ours.log_loss_error:.3f}) against {other.log_loss:.3f} "
        f"(± {other.log_loss_error:.3f}) with {_best(difference)}; difference {change} "
        f"(95% interval {low} to {high})."
    )


def _accuracies(difference: Difference) -> str:
    gain, low, high = (
        _signed(100 * one, 1) for one in (difference.gain, difference.low, difference.high)
    )
    return (
        f"{_share(difference.ours)} with {difference.ours.label} against "
        f"{_share(difference.other)} with {_best(difference)}; difference {gain} points "
        f"(95% interval {low} to {high})."
    )


def _signed(number: float, digits: int) -> str:
    """A number with its sign, but for a minus before nothing."""
    return f"{round(number, digits) + 0.0:+.{digits}f}"


def _share(scores: MethodScores) -> str:
    return f"{scores.accuracy:.1%} (± {100 * scores.accuracy_error:.1f})"


def _best(difference: Difference) -> str:
    n = difference.n_others
    return difference.other.label + (f", the best of {n} baselines" if n > 1 else "")


def headline(comparison: "Comparison") -> str:
    """What was compared on."""
    return (
        f"{comparison.n_rows:,} rows, {comparison.n_features:,} features, "
        f"{comparison.n_classes:,} classes; {comparison.folds}"
    )


def cells(scores: MethodScores) -> list[str]:
    """What a table says about a method, under `HEADINGS`."""
    low, high = scores.accuracy_interval
    return [
        scores.label + (" *" if scores.role == OURS else ""),
        str(scores.n_components),
        f"{scores.accuracy:.1%}",
        f"{100 * low:.1f}-{100 * high:.1f}",
        f"{scores.log_loss:.3f}",
        duration(scores.seconds),
    ]


def remarks(comparison: "Comparison") -> list[str]:
    """What to keep in mind: about rows, methods left out, warnings of fits, and the numbers."""
    said = [_ended(f"{note[:1].upper()}{note[1:]}") for note in comparison.notes]
    for why in dict.fromkeys(comparison.skipped.values()):
        labels = [label for label, reason in comparison.skipped.items() if reason == why]
        said.append(f"Left out: {', '.join(labels)}: {_ended(why)}")
    said += [
        f"{one.label} warned: {_ended(text)}" for one in comparison.methods for text in one.warnings
    ]
    return [*said, *_LEGEND]


def _ended(text: str) -> str:
    return f"{text.rstrip('.')}."


def text_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in plain text, numbers to the right.

    Examples
    --------
    >>> from vicinal.report.comparing.words import text_table
    >>> print(text_table(["Method", "Dim."], [["raw", "13"], ["LDA", "2"]]))
    Method  Dim.
    raw       13
    LDA        2
    """
    lines = [list(headings), *(list(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            [first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(rest, widths[1:], strict=True))]
        )
        for first, *rest in lines
    )
