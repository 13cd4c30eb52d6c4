"""Divergence spaces: a Gaussian for every point, and divergences between them for distances."""
