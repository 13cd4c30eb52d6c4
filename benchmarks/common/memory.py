"""Memory of this process."""

import threading
from pathlib import Path


def peak_memory() -> float:
    """Largest resident memory of this process so far, in MB."""
    return memory_now("VmHWM")


def memory_now(field: str) -> float:
    """A field of /proc/self/status in MB: "VmHWM" (largest resident), "RssAnon" (now, no files).

    Where there is no such file, the largest resident memory the system tells of. That is only
    second best, because Linux starts a child's count at what its parent had.
    """
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        lines = []
    found = [line.split()[1] for line in lines if line.startswith(f"{field}:")]
    if found:
        return int(found[0]) / 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class MemoryWatch:
    """Largest anonymous memory while a block of code runs, in MB above its beginning.

    Pages of a memory-mapped file do not count: the system can drop them at any time.
    """

    def __init__(self, every: float = 0.05) -> None:
        self.every = every

    def __enter__(self) -> "MemoryWatch":
        self.before = self.peak = memory_now("RssAnon")
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        self._look()

    @property
    def above(self) -> float:
        """The peak less what there was before."""
        return self.peak - self.before

    def _watch(self) -> None:
        while not self._done.wait(self.every):
            self._look()

    def _look(self) -> None:
        self.peak = max(self.peak, memory_now("RssAnon"))
