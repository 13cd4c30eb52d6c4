"""All methods on the splits of a set."""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.common.means import Mean
from benchmarks.common.records import Records
from benchmarks.common.scaling import standard_units
from benchmarks.common.splits import Split, unlabeled_split
from benchmarks.density.ours import HEADLINE, our_methods
from benchmarks.density.peers import peers
from benchmarks.density.runs import Method, Run, measure
from vicinal import datasets

TEST_SHARE = 0.25


class Rules(NamedTuple):
    """What of a set is used, and how."""

    most_train: int | None = None
    most_test: int | None = None
    standardize: bool = True
    most_splits: int | None = None


SETS = {
    "iris": Rules(),
    "wine": Rules(),
    "wdbc": Rules(),
    "magic": Rules(4000, 4000),
    "landsat": Rules(4000, 4000),
    "pima": Rules(),
    "segment": Rules(),
    "letter": Rules(4000, 4000),
    # Some pixels are almost constant: in standard units they would be nearly all there is.
    "usps": Rules(1000, 2000, standardize=False, most_splits=2),
}


def random_split(X: np.ndarray, rules: Rules, seed: int) -> Split:
    """At most so many rows as the rules say, in the units they ask for."""
    part = unlabeled_split(X, seed, TEST_SHARE)
    part = Split(part.X[: rules.most_train], part.X_test[: rules.most_test])
    return standard_units(part) if rules.standardize else part


class Comparison:
    """All methods on the splits of a set."""

    def __init__(self, name: str, n_splits: int, records: Records) -> None:
        self.name, self.rules, self.records = name, SETS[name], records
        self.n_splits = min(n_splits, self.rules.most_splits or n_splits)
        self.peers = peers()
        self.methods = {**our_methods(), **self.peers}
        self.runs: dict[str, list[Run]] = {method: [] for method in self.methods}

    def run(self, asked: Sequence[str] | None, known_only: bool = False) -> None:
        """Every method on every split, or those whose names have one of the words asked for.

        With `known_only` nothing is measured: methods whose records are whole are taken.
        """
        methods = {
            name: method
            for name, method in self.methods.items()
            if (not asked or any(word in name for word in asked))
            and (not known_only or self.is_known(name))
        }
        for seed, part in enumerate(self.splits()):
            (self.n_train, self.d), self.n_test = part.X.shape, len(part.X_test)
            for name, method in methods.items():
                run = self.measured(name, method, part, seed)
                self.runs[name].append(run)
                said = run.problem or f"{run.score:.3f}"
                line = f"{self.name}, split {seed}, {name}: {said}, {run.seconds:.1f} s"
                print(line, file=sys.stderr, flush=True)

    def measured(self, name: str, method: Method, part: Split, seed: int) -> Run:
        """What is known of an earlier run, or what is measured now."""
        key = {"set": self.name, "split": seed, "method": name}
        row = self.records.get(tuple(key.values()))
        if row is None:
            row = self.records.add({**key, **measure(method, part, seed)._asdict()})
        return Run(**{field: row[field] for field in Run._fields})

    def is_known(self, method: str) -> bool:
        """Whether every split has been measured."""
        keys = ((self.name, seed, method) for seed in range(self.n_splits))
        return all(self.records.get(key) is not None for key in keys)

    def splits(self) -> Iterator[Split]:
        """The same for every method, all in double precision."""
        X = datasets.load(self.name, download=False).data.astype(np.float64)
        for seed in range(self.n_splits):
            yield random_split(X, self.rules, seed)

    def scores(self, method: str) -> np.ndarray:
        """One for each split."""
        return np.array([run.score for run in self.runs[method]])

    def works(self, method: str) -> bool:
        """Whether there is a score for every split."""
        return bool(self.runs[method]) and not any(run.problem for run in self.runs[method])

    def best(self, methods: Sequence[str] | None = None) -> str | None:
        """The one with the highest mean; of all methods, unless some are given."""
        working = [name for name in methods or self.methods if self.works(name)]
        return max(working, key=lambda name: self.scores(name).mean(), default=None)

    def best_peer(self) -> str | None:
        """The best that is not ours."""
        return self.best(list(self.peers))

    def above(self, method: str, other: str) -> Mean:
        """By how much a method is better than another, from pairs of scores."""
        return Mean.of(self.scores(method) - self.scores(other))

    def problem(self, method: str) -> str:
        """Why there is no mean, and how often."""
        problems = [run.problem for run in self.runs[method] if run.problem] or ["not run"]
        most, _ = Counter(problems).most_common(1)[0]
        times = "" if len(problems) == self.n_splits else f" ({len(problems)} of {self.n_splits} ×)"
        return most + times

    def choices(self, method: str) -> str:
        """What a method chose, and how often."""
        chosen = Counter(run.choice for run in self.runs[method] if run.choice)
        return "; ".join(f"{name} ({count} ×)" for name, count in chosen.most_common())

    def verdict(self) -> str:
        """How the headline row stands to the best one."""
        if not self.works(HEADLINE):
            return "fails"
        gap = self.above(HEADLINE, self.best() or HEADLINE)
        if gap.value >= 0:
            return "best"
        if gap.error is None:
            return "below the best"
        return "within one s.e." if -gap.value <= gap.error else "below by more than one s.e."
