"""Learners: ways to make coordinates from divergences. Each is a file, all stand in one table."""

from collections.abc import Callable

from vicinal.divergence.learners.isomap import ISOMAP
from vicinal.divergence.learners.laplacian import LAPLACIAN
from vicinal.divergence.learners.learner import Embedded, Graph, Learner
from vicinal.divergence.learners.lle import LLE
from vicinal.divergence.learners.mds import MDS
from vicinal.divergence.learners.tsne import T_SNE
from vicinal.divergence.learners.umap import UMAP
from vicinal.inputs.checks import check_choice

__all__ = ["LEARNERS", "Embedded", "Graph", "Learner", "learner_named", "learners_that", "one_of"]

LEARNERS: dict[str, Learner] = {
    learner.name: learner for learner in (ISOMAP, LAPLACIAN, LLE, MDS, T_SNE, UMAP)
}


def learner_named(method: str) -> Learner:
    """The learner that users call so; any other name is refused with the list of all."""
    return LEARNERS[check_choice("method", method, LEARNERS)]


def learners_that(fit: Callable[[Learner], bool]) -> list[str]:
    """Names of the learners for which something holds."""
    return [learner.name for learner in LEARNERS.values() if fit(learner)]


def one_of(fit: Callable[[Learner], bool]) -> str:
    """Names of the learners for which something holds, in words: "isomap", "lle" or "mds"."""
    *others, last = (f'"{name}"' for name in learners_that(fit))
    return f"{', '.join(others)} or {last}" if others else last
