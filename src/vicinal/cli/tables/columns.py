"""Which columns of a table a model looks at."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from vicinal.cli.tables.contents import (
    category_labels,
    is_identifier,
    is_number,
    is_text,
    kind_of,
    stray_word,
)
from vicinal.cli.tables.table import Table, unnamed_columns
from vicinal.cli.wording import closest, counted, plural, some

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

__all__ = ["Columns", "Selection", "check_column", "resolve"]

_ALL = "all"


@dataclass(frozen=True)
class Selection:
    """What was asked for on the command line.

    Attributes
    ----------
    only, drop, one_hot : sequence of str
        As typed: names of columns, possibly several with commas between them.
    """

    only: Sequence[str] = ()
    drop: Sequence[str] = ()
    one_hot: Sequence[str] = ()


@dataclass(frozen=True)
class Columns:
    """The columns a model looks at.

    Attributes
    ----------
    sources : tuple of str
        Names in the table.
    is_named : bool
        Whether these are names of the data, or stand in where it had none.
    categories : dict of str to list of str
        Of those columns that become one column for each category.
    target : str or None
        The column of classes.
    n_candidates : int or None
        Columns to choose from, all but the target. None: there was no choice.
    """

    sources: tuple[str, ...]
    is_named: bool = True
    categories: dict[str, list[str]] = field(default_factory=dict)
    target: str | None = None
    n_candidates: int | None = None

    @property
    def features(self) -> list[str]:
        """Names of the numbers that the model is given."""
        names: list[str] = []
        for source in self.sources:
            values = self.categories.get(source)
            names += [source] if values is None else [f"{source}={value}" for value in values]
        return names

    @property
    def told(self) -> str:
        """How many features there are, and from which columns they come."""
        columns, n_features = counted(self.sources), len(self.features)
        return columns if n_features == len(self.sources) else f"{n_features}, from {columns}"

    @classmethod
    def chosen(cls, table: Table, selection: Selection, target: str | None) -> "Columns":
        """Columns of a table that a model is to be fitted to."""
        target = table.target if target is None else target
        if target is not None:
            check_column(table, target, "--target")
        sources = _candidates(table, selection, target)
        categories = _categories(table, selection, sources)
        _refuse_words(table, [name for name in sources if name not in categories])
        n_candidates = table.frame.width - (target is not None)
        chosen = cls(tuple(sources), table.is_named, categories, target, n_candidates)
        _refuse_twins(chosen.features, table.name)
        return chosen

    @classmethod
    def remembered(cls, model: "BaseEstimator", metadata: dict[str, Any]) -> "Columns":
        """Columns that a saved model knows; one that was saved in Python may know less of them."""
        names = getattr(model, "feature_names_in_", None)
        sources = metadata.get("columns")
        if sources is None and names is not None:
            sources = [str(name) for name in names]
        is_named = metadata.get("named", sources is not None)
        if sources is None:
            sources = unnamed_columns(model.n_features_in_)
        return cls(
            tuple(sources),
            is_named,
            metadata.get("categories", {}),
            metadata.get("target"),
            metadata.get("n_candidates"),
        )

    def as_metadata(self) -> dict[str, Any]:
        """What is saved with the model, for `remembered`."""
        return {
            "columns": list(self.sources),
            "named": self.is_named,
            "categories": self.categories,
            "target": self.target,
            "n_candidates": self.n_candidates,
        }

    def target_in(self, table: Table) -> str | None:
        """The column of classes in another table: that of the same name, or its own."""
        return self.target if self.target in table.frame.columns else table.target

    def names_in(self, table: Table) -> list[str]:
        """What another table calls these: the same, or what stands in their places."""
        known = {*table.frame.columns}
        missing = [name for name in self.sources if name not in known]
        if self.is_named and table.is_named and missing:
            sources = {*self.sources}
            others = [name for name in table.frame.columns if name not in sources]
            hint = closest(missing[0], others) if len(missing) == 1 else ""
            raise ValueError(
                f"{table.name} lacks {plural(len(missing), 'column')} that the model needs: "
                f"{some(missing)}.{hint}"
            )
        if not missing and table.is_named:
            return list(self.sources)
        return self._by_position(table)

    def _by_position(self, table: Table) -> list[str]:
        target = self.target_in(table)
        names = [name for name in table.frame.columns if name != target]
        # A matrix of the same width: the names that stand in are the same positions.
        if not self.is_named and len(names) == self.n_candidates and {*self.sources} <= {*names}:
            return list(self.sources)
        if len(names) != len(self.sources):
            raise ValueError(
                f"the model was fitted with {plural(len(self.sources), 'feature')}, {table.name} "
                f"has {len(names)}"
            )
        return names


def check_column(table: Table, name: str, option: str) -> None:
    """Raise an error where the table has no such column."""
    if name not in table.frame.columns:
        known = table.frame.columns
        raise ValueError(
            f"{table.name} has no column {name!r} ({option}).{closest(name, known)} It has "
            f"{some(known)}."
        )


def resolve(table: Table, typed: Sequence[str], option: str) -> list[str]:
    """Names of columns; what is no name itself is several with commas between them."""
    names: list[str] = []
    for text in typed:
        parts = [text] if text in table.frame.columns else [t.strip() for t in text.split(",")]
        for name in parts:
            check_column(table, name, option)
        names += parts
    return list(dict.fromkeys(names))


def _candidates(table: Table, selection: Selection, target: str | None) -> list[str]:
    only = resolve(table, selection.only, "--columns")
    drop = resolve(table, selection.drop, "--drop")
    if target in only:
        raise ValueError(f"{target!r} is the target: it cannot be one of --columns, too")
    names = only or [name for name in table.frame.columns if name != target]
    names = [name for name in names if name not in drop]
    if not names:
        raise ValueError(f"{table.name} has no columns left to learn from")
    return names


def _categories(table: Table, selection: Selection, sources: list[str]) -> dict[str, list[str]]:
    typed = [text for text in selection.one_hot if text != _ALL]
    names = resolve(table, typed, "--one-hot")
    for name in names:
        if name not in sources:
            raise ValueError(f"--one-hot {name}: this column is not learned from")
    if _ALL in selection.one_hot:
        names += [name for name in sources if is_text(table.frame[name])]
    return {name: _values(table, name) for name in sources if name in names}


def _values(table: Table, name: str) -> list[str]:
    column = table.frame[name]
    if not is_text(column) and not column.dtype.is_integer() and not is_number(column):
        raise ValueError(f"--one-hot {name}: {kind_of(column)} has no categories; --drop it")
    n_rows = table.n_rows
    labels = category_labels(table if table.distinct is None else table.distinct(name), name)
    values = labels.drop_nulls().unique().sort().to_list()
    if is_identifier(labels, n_rows):
        raise ValueError(
            f"--one-hot {name}: {len(values)} different values in {n_rows} rows are no "
            f"categories; --drop {name}"
        )
    return values


def _refuse_twins(features: list[str], name: str) -> None:
    """Raise an error where a category makes a column that is there already."""
    twins = [feature for feature, times in Counter(features).items() if times > 1]
    if twins:
        raise ValueError(
            f"{name} has a column {twins[0]!r}, and --one-hot would make another: --drop one"
        )


def _refuse_words(table: Table, names: list[str]) -> None:
    """Raise an error where some columns do not hold numbers."""
    words = [name for name in names if not is_number(table.frame[name])]
    if not words:
        return
    if len(words) > 1:
        raise ValueError(
            f"{len(words)} columns of {table.name} are no numbers: {some(words)}; use --one-hot "
            "for those with categories, --drop for others, or --columns to name those to use"
        )
    name, column = words[0], table.frame[words[0]]
    advice = f"--drop {name}, or --columns to name those to use"
    if is_text(column) and not is_identifier(category_labels(table, name), table.n_rows):
        advice = f"--one-hot {name} for its categories, {advice}"
    raise ValueError(
        f"column {name!r} of {table.name} is {kind_of(column)}{stray_word(table, column)}; "
        f"use {advice}"
    )
