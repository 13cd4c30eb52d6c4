"""What the tests of displays share."""

import numpy as np
from matplotlib.figure import Figure


def new_axes(**options):
    return Figure(figsize=(6.4, 4.8), **options).subplots()


def blobs(n_classes, n, n_components=2, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % n_classes
    centers = 4 * rng.standard_normal((n_classes, n_components))
    return centers[labels] + rng.standard_normal((n, n_components)), labels


def note(display):
    return "" if display.note_ is None else display.note_.get_text()


def words(artists):
    return [artist.get_text() for artist in artists]
