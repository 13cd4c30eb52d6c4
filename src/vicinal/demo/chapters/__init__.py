"""The chapters, each with a file of its own: a function that fits, judges and returns a Chapter."""

from vicinal.demo.chapters.density import tell_density
from vicinal.demo.chapters.noise import tell_noise
from vicinal.demo.chapters.pairs import tell_pairs
from vicinal.demo.chapters.shapes import tell_shapes
from vicinal.demo.chapters.units import load_wines, tell_units

__all__ = [
    "load_wines",
    "tell_density",
    "tell_noise",
    "tell_pairs",
    "tell_shapes",
    "tell_units",
]
