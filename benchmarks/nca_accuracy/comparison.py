"""Our means beside published ones."""

from dataclasses import dataclass, field

import numpy as np

from benchmarks.common.means import Mean
from benchmarks.common.pages import Page


@dataclass
class Comparison:
    """Finds the means that are below published ones by more than a standard error."""

    source: str
    count: int = 0
    below: list[str] = field(default_factory=list)

    def add(self, where: str, ours: Mean, published: float, error: float | None) -> None:
        """Compare; `error` is the published standard error, where there is one."""
        if ours.error is None:
            return
        self.count += 1
        gap, combined = published - ours.value, float(np.hypot(ours.error, error or 0.0))
        if gap > combined:
            self.below.append(f"- {where}: {ours.words(2)} against {published:g}, {gap:.1f} below")

    def report(self, page: Page) -> None:
        """List what is below, or say that nothing is."""
        if not self.count:
            page.say(f"No comparison with {self.source}: no number, or only one split.\n")
        elif not self.below:
            page.say(f"None of {self.count} is below {self.source} by more than one combined")
            page.say("standard error.\n")
        else:
            page.say(f"Below {self.source} by more than one combined standard error:")
            page.say(f"{len(self.below)} of {self.count}.\n")
            for line in self.below:
                page.say(line)
            page.say()


def cell(published: Mean | float | None, digits: int = 1) -> str:
    if published is None:
        return ""
    return published.words(digits) if isinstance(published, Mean) else f"{published:g}"
