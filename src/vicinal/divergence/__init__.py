"""Divergence spaces: distances as divergences between the Gaussians around points."""

from vicinal.divergence.embedding import DivergenceEmbedding
from vicinal.divergence.function import local_gaussians, paired, pairwise
from vicinal.divergence.neighbors import DivergenceNeighbors
from vicinal.divergence.paths import density_paths

__all__ = [
    "DivergenceEmbedding",
    "DivergenceNeighbors",
    "density_paths",
    "local_gaussians",
    "paired",
    "pairwise",
]
