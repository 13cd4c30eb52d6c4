"""Checkpoints: a fit that was killed goes on where it was, and ends as if nothing had happened.

`opening.py` is where a fit begins, `journal.py` what it writes down, `packing.py` how that becomes
bytes, `storage.py` the file, `identity.py` whose file it is. See docs/decisions/0025.
"""

from vicinal.fitting.checkpoints.journal import chance, current, cut_short, remembered
from vicinal.fitting.checkpoints.opening import checkpointed, lent

__all__ = ["chance", "checkpointed", "current", "cut_short", "lent", "remembered"]
