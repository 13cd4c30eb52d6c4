"""What a comparison found: numbers for every method, and a verdict."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from vicinal.report.comparing import words
from vicinal.report.comparing.differences import Difference, in_accuracy, in_log_loss
from vicinal.report.comparing.methods import BASELINE, DEFAULT
from vicinal.report.comparing.scores import MethodScores

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]
    from matplotlib.axes import Axes

    from vicinal.report.displays.comparison import ComparisonDisplay

__all__ = ["Comparison"]


@dataclass(frozen=True, repr=False)
class Comparison:
    """How well several methods predict the classes of rows they have not seen.

    Printed, it is a table with the verdict below.

    Attributes
    ----------
    methods : tuple of MethodScores
        What was measured, one for every method.
    n_rows, n_features, n_classes : int
        Of what was compared on.
    n_components : int
        The small number of dimensions.
    folds : str
        How rows were held out, in words.
    skipped : mapping of str to str
        Methods that were left out, and why.
    notes : tuple of str
        What to keep in mind about rows and folds.
    interrupted : bool
        Whether Ctrl-C ended it before all folds were done.

    See Also
    --------
    vicinal.report.compare : Makes one.

    Notes
    -----
    The verdict is about `NeighborhoodComponents` with default settings and all dimensions,
    which is settled before anything is measured; no other learned metric takes its place
    where it did better by chance. It stands against the best of the baselines on the same
    rows of the same folds. See `difference` for the interval.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal.report import compare
    >>> result = compare(*load_iris(return_X_y=True), methods=["raw", "nca"], random_state=0)
    >>> result.n_rows, result.n_features, result.n_classes
    (150, 4, 3)
    >>> print(result)
    150 rows, 4 features, 3 classes; 5 folds, 3 times over...
    """

    methods: tuple[MethodScores, ...]
    n_rows: int
    n_features: int
    n_classes: int
    n_components: int
    folds: str
    skipped: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    interrupted: bool = False

    @cached_property
    def difference(self) -> Difference | None:
        """NeighborhoodComponents against the best baseline, in accuracy.

        The interval of the difference is Student's, with the standard error over folds
        corrected for training rows that they share (Nadeau & Bengio, 2003), or that over
        rows where it is larger; its upper end allows for the choice of the best baseline.
        None where there is nothing to compare, or one fold only.
        """
        ours, others = self._ours(is_small=False), self._baselines()
        return in_accuracy(ours, others) if ours and others else None

    @cached_property
    def difference_small(self) -> Difference | None:
        """NeighborhoodComponents in few dimensions against baselines in as many or fewer."""
        ours = self._ours(is_small=True)
        others = [one for one in self._baselines() if one.n_components <= self.n_components]
        return in_accuracy(ours, others) if ours and others else None

    @cached_property
    def difference_log_loss(self) -> Difference | None:
        """NeighborhoodComponents against the baseline of lowest log-loss."""
        ours, others = self._ours(is_small=False), self._baselines()
        return in_log_loss(ours, others) if ours and others else None

    @property
    def headline(self) -> str:
        """What was compared on."""
        return words.headline(self)

    @property
    def verdict(self) -> str:
        """Whether learning a metric helps, in a sentence."""
        if self.difference is not None:
            return words.about_accuracy(self.difference)
        return (
            "There is no verdict: it takes two folds of NeighborhoodComponents in all "
            "dimensions and of a baseline."
        )

    @property
    def findings(self) -> tuple[str, ...]:
        """The verdict, and what was found about few dimensions and about probabilities."""
        found = [self.verdict]
        if self.difference_small is not None:
            found.append(words.about_few_dimensions(self.difference_small, self.n_components))
        if self.difference_log_loss is not None:
            found.append(words.about_probabilities(self.difference_log_loss))
        return tuple(found)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What to keep in mind: notes, methods left out, warnings of fits."""
        return tuple(words.remarks(self))

    def records(self) -> list[dict[str, Any]]:
        """Numbers of every method, a flat dict each.

        Returns
        -------
        list of dict
        """
        return [_record(one) for one in self.methods]

    def differences(self) -> dict[str, dict[str, Any] | None]:
        """What the findings are about, as numbers.

        Returns
        -------
        dict of str to dict or None
            "accuracy", "accuracy_small" and "log_loss": see `difference`, `difference_small`
            and `difference_log_loss`.
        """
        found = {
            "accuracy": self.difference,
            "accuracy_small": self.difference_small,
            "log_loss": self.difference_log_loss,
        }
        return {name: None if one is None else one.as_dict() for name, one in found.items()}

    def to_frame(self) -> "pd.DataFrame":
        """Numbers of every method as a table of pandas, a row each.

        Returns
        -------
        pandas.DataFrame
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                "Comparison.to_frame needs pandas: pip install pandas, or use records()"
            ) from error
        return pd.DataFrame(self.records()).set_index("method")

    def plot(self, ax: "Axes | None" = None) -> "ComparisonDisplay":
        """Draw accuracies with their intervals.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw. None: a new figure.

        Returns
        -------
        ComparisonDisplay
        """
        from vicinal.report.displays.comparison import ComparisonDisplay

        return ComparisonDisplay.from_comparison(self, ax=ax)

    def __str__(self) -> str:
        table = words.text_table(words.HEADINGS, [words.cells(one) for one in self.methods])
        parts = [self.headline, table, "\n".join(self.findings)]
        return "\n\n".join([*parts, "\n".join(f"- {one}" for one in self.remarks)])

    # In notebooks, the name of the result alone shows it.
    __repr__ = __str__

    def _baselines(self) -> list[MethodScores]:
        return [one for one in self.methods if one.role == BASELINE and self._is_judged(one)]

    def _ours(self, *, is_small: bool) -> MethodScores | None:
        found = [one for one in self.methods if one.name == DEFAULT and one.is_small == is_small]
        return next(filter(self._is_judged, found), None)

    @staticmethod
    def _is_judged(scores: MethodScores) -> bool:
        """Whether there are folds enough to tell how sure it is."""
        return len(scores.fold_accuracies) > 1


def _record(scores: MethodScores) -> dict[str, Any]:
    low, high = scores.accuracy_interval
    return {
        "method": scores.label,
        "role": scores.role,
        "n_components": scores.n_components,
        "accuracy": scores.accuracy,
        "accuracy_error": scores.accuracy_error,
        "accuracy_low": low,
        "accuracy_high": high,
        "log_loss": scores.log_loss,
        "log_loss_error": scores.log_loss_error,
        "seconds": scores.seconds,
    }
