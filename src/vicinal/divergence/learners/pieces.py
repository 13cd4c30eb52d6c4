"""Graphs of several components: each embedded for itself, and set side by side."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from vicinal.divergence.graph import part_of, pieces_of
from vicinal.divergence.learners.learner import Embedded, Learner, Settings
from vicinal.divergence.space import Space

__all__ = ["Pieces", "embed_pieces", "extend_pieces"]

# Room between two components, as a share of the widest.
_ROOM = 0.5


@dataclass(frozen=True)
class Pieces:
    """What new points need where components stand side by side.

    Attributes
    ----------
    labels : ndarray of int, shape (n,)
        The component of every training point.
    maps : tuple
        What the learner needs for new points of each.
    shifts : ndarray of shape (n_pieces,)
        By how much each was moved along the first coordinate.
    """

    labels: NDArray
    maps: tuple[Any, ...]
    shifts: NDArray


@dataclass
class _OfPiece:
    """Settings for one component, which may have too few points for all coordinates."""

    n_components: int
    n_graph_neighbors: int | None
    scale: float | None
    scale_quantile: float
    lle_weights: str
    method_params: dict[str, Any] | None
    n_jobs: int | None


def embed_pieces(
    learner: Learner,
    space: Space,
    graph: csr_matrix,
    settings: Settings,
    rng: np.random.Generator,
) -> Embedded:
    """Each component as if there were no others; from left to right in the order of their points.

    Coordinates that a component is too small for are 0.
    """
    names = _OfPiece.__dataclass_fields__
    ours = _OfPiece(**{name: getattr(settings, name) for name in names})
    n_pieces, labels = pieces_of(graph)
    members = [np.flatnonzero(labels == piece) for piece in range(n_pieces)]
    found = [_embed_piece(learner, space, graph, ours, rng, rows) for rows in members]
    shifts = _side_by_side([part.coordinates for part in found])
    coordinates = np.zeros((len(labels), settings.n_components))
    for rows, part, shift in zip(members, found, shifts, strict=True):
        coordinates[rows, : part.coordinates.shape[1]] = part.coordinates
        coordinates[rows, 0] += shift
    pieces = Pieces(labels, tuple(part.map for part in found), shifts)
    return Embedded(coordinates, pieces)


def extend_pieces(
    learner: Learner, space: Space, graph: csr_matrix, points: NDArray, embedded: Embedded
) -> NDArray:
    """New points in the component of their nearest training point."""
    pieces, known = embedded.map, embedded.coordinates.astype(np.float64)
    assert learner.extend is not None  # otherwise there is no transform
    out = np.zeros((graph.shape[0], known.shape[1]))
    where = pieces.labels[graph.indices[graph.indptr[:-1]]]
    for piece in np.unique(where):
        new, rows = np.flatnonzero(where == piece), np.flatnonzero(pieces.labels == piece)
        part, width = known[rows], min(known.shape[1], len(rows) - 1)
        part[:, 0] -= pieces.shifts[piece]
        if width:
            old = Embedded(part[:, :width], pieces.maps[piece])
            edges = part_of(graph, new, rows)
            out[new, :width] = learner.extend(space.part(rows), edges, points[new], old)
        out[new, 0] += pieces.shifts[piece]
    return out


def _embed_piece(
    learner: Learner,
    space: Space,
    graph: csr_matrix,
    settings: _OfPiece,
    rng: np.random.Generator,
    rows: NDArray,
) -> Embedded:
    width = min(settings.n_components, len(rows) - 1)
    if width == 0:
        return Embedded(np.zeros((1, 1)))
    own = replace(settings, n_components=width)
    return learner.embed(space.part(rows), part_of(graph, rows, rows), own, rng)


def _side_by_side(parts: list[NDArray]) -> NDArray:
    """Shifts along the first coordinate, so that no two overlap."""
    low = np.array([part[:, 0].min() for part in parts])
    widths = np.array([np.ptp(part[:, 0]) for part in parts])
    room = _ROOM * widths.max() if widths.max() > 0 else 1.0
    starts = np.append(0.0, np.cumsum(widths + room)[:-1])
    return starts - low
