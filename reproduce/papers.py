"""The table of papers."""

from reproduce.divergence_spaces import DIVERGENCE_SPACES
from reproduce.experiment import Experiment, Paper
from reproduce.fast_metric_learning import FAST_METRIC_LEARNING
from reproduce.latent_coincidence import LATENT_COINCIDENCE
from reproduce.local_components import LOCAL_COMPONENTS

PAPERS: tuple[Paper, ...] = (
    FAST_METRIC_LEARNING,
    LOCAL_COMPONENTS,
    LATENT_COINCIDENCE,
    DIVERGENCE_SPACES,
)


def chosen(name: str) -> list[tuple[Paper, Experiment]]:
    """Items by an id, "paper/item", or all of a paper."""
    items = [
        (paper, experiment)
        for paper in PAPERS
        for experiment in paper.experiments
        if name in (paper.name, f"{paper.name}/{experiment.name}")
    ]
    if not items:
        raise SystemExit(f"id={name!r} is no item and no paper: see `python -m reproduce list`")
    return items
