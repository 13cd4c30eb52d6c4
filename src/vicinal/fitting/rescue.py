"""What a fit on a device leaves behind when the device is lost: copies on the host."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from vicinal.fitting.update import Update, arrived
from vicinal.neighborhood.arrays import is_numpy, on_host
from vicinal.neighborhood.gpu import is_device_failure

__all__ = ["Copies"]

# Seconds of a fit that may be lost with a device.
UNSAFE = 1.0


@dataclass
class Copies:
    """Of all updates and the best of them, as they were when they were last copied.

    Attributes
    ----------
    updates : list of Update
    best : Update or None
        None where nothing was copied: all is on the host anyway.
    """

    updates: list[Update] = field(default_factory=list)
    best: Update | None = None

    def follow(self, updates: Sequence[Update], best: Update | None) -> None:
        """Copy now and then; where there is a score, since who has one has waited already."""
        last = updates[-1]
        if best is None or is_numpy(last.parameters):
            return
        is_late = self.best is None or last.time - self.updates[-1].time > UNSAFE
        if is_late or not math.isnan(last.validation):
            self.take(updates, best)

    def take(self, updates: Sequence[Update], best: Update) -> None:
        """Copy all that is new; this waits for the device."""
        new = arrived([*updates[len(self.updates) :], best])
        self.best = replace(new.pop(), parameters=on_host(best.parameters))
        self.updates += new

    def rescued(self, updates: Sequence[Update], best: Update) -> tuple[list[Update], Update]:
        """After a failure: all, if the device still gives it away, or else what was copied."""
        if self.best is None:
            return list(updates), best
        try:
            self.take(updates, best)
        except Exception as error:
            if not is_device_failure(error):
                raise
        return self.updates, self.best
