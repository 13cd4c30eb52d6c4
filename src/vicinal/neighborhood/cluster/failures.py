"""What is wrong with a cluster, in words of ours."""

import sys
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager

from vicinal.neighborhood.cluster.presence import needed

__all__ = ["ClusterError", "telling_what_failed"]


class ClusterError(RuntimeError):
    """A cluster, not what was computed there, has failed."""


@contextmanager
def telling_what_failed() -> Iterator[None]:
    """Say what is wrong with a cluster in words of ours; errors of tasks pass as they are."""
    # Arrays of the user go to the workers as parts of a graph, so that they can be sent again.
    # Not before distributed is loaded: with this setting its own would be taken away again.
    loud = "distributed.admin.large-graph-warning-threshold"
    quiet = {loud: "1TB"} if "distributed" in sys.modules else {}
    try:
        with needed("dask").config.set(quiet):
            yield
    except (CancelledError, Exception) as error:
        told = _in_words(error)
        if told is None:
            raise
        raise ClusterError(told) from error


def _in_words(error: BaseException) -> str | None:
    """What to say of an error of the cluster; None for errors of what was computed there."""
    is_theirs = type(error).__module__.partition(".")[0] == "distributed"
    if type(error).__name__ == "KilledWorker":
        return (
            "several workers in a row were lost while they worked on the same block, as a rule "
            "because they were out of memory: give workers more memory (memory_limit of the "
            f"cluster), or fewer threads each. Dask says: {error}"
        )
    if is_theirs or isinstance(error, CancelledError | TimeoutError):
        return (
            "the connection to the cluster was lost, or nobody answered in time: look whether its "
            "scheduler runs, open a new Client and fit again (the model is as it was before); "
            "distributed.comm.timeouts in Dask's configuration says how long to wait. "
            f"Dask says: {type(error).__name__}: {error}"
        )
    return None
