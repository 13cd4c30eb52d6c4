"""Engines by their names: which there are, whether what they need is there, and who is asked."""

from vicinal.fitting.loop import warn_user
from vicinal.inputs.checks import check_choice
from vicinal.neighborhood.cluster.presence import (
    asks_workers,
    check_cluster,
    has_cluster,
    is_worker,
)
from vicinal.neighborhood.gpu import device_for_cuda, is_usable

__all__ = ["ENGINES", "FEW_PAIRS", "check_engine", "engine_here", "is_for_workers"]

ENGINES = ("auto", "dense", "low-rank", "cuda", "dask")

# Up to so many pairs it takes about as long to ask a cluster as to compare them here.
FEW_PAIRS = 1_000_000


def check_engine(name: str) -> None:
    """Refuse an engine that is unknown, or whose device or cluster is not there."""
    check_choice("engine", name, ENGINES)
    if name == "cuda":
        device_for_cuda()  # or says what is missing
    if name == "dask" and not is_worker():
        check_cluster()


def engine_here(name: str) -> str:
    """The engine of a fit, for new points: a GPU, or a cluster, only where there is one."""
    if name == "cuda" and not is_usable():
        missing = "there is no CUDA device here: divergences are computed on the CPU."
    elif name == "dask" and not (is_worker() or has_cluster()):
        missing = (
            "no client is open: divergences are computed on this machine. Open a "
            "dask.distributed.Client first, if there is one."
        )
    else:
        return name
    warn_user(f"The model was fitted with engine={name!r}, and {missing}", UserWarning)
    return "auto"


def is_for_workers(name: str, n_pairs: int) -> bool:
    """Whether workers of a cluster compare so many pairs, each of them where it chooses to."""
    asked = name == "dask" and not is_worker()
    return n_pairs > FEW_PAIRS and (asked or (name == "auto" and asks_workers()))
