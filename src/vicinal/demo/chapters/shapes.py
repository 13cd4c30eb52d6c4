"""Shapes: a map of digits without labels, by distances that know the local shape of the data."""

from sklearn.manifold import Isomap

from vicinal.demo.chapter import Chapter, Outcome, Split, Tell, fit_timed, named_right
from vicinal.demo.chapters.digits import load_pixels
from vicinal.demo.panels import Points
from vicinal.divergence import DivergenceEmbedding

__all__ = ["tell_shapes"]


def tell_shapes(seed: int, tell: Tell, n_rows: int | None = None) -> Chapter:
    """New images in a map of two dimensions."""
    X, y = load_pixels(n_rows)
    split = Split.of(X, y, seed)
    outcomes, panels = [], []
    for model in (Isomap(n_neighbors=15), DivergenceEmbedding(method="isomap", random_state=0)):
        name = type(model).__name__
        tell(f"drawing a map without labels: {name}")
        seconds = fit_timed(model, split.X_train)
        is_ours = isinstance(model, DivergenceEmbedding)
        outcomes.append(Outcome(name, is_ours, named_right(split, model), seconds))
        panels.append(Points(model.transform(split.X_test), list(split.y_test)))
    return Chapter(
        key="shapes",
        title="Shapes",
        data=f"digits: {len(X)} images on a map of two dimensions; no labels",
        trouble="A straight line between two images can leave the surface that they lie on.",
        cure="DivergenceEmbedding also compares the shape of the data around each image.",
        measure=f"{len(split.y_test)} new images whose 5 nearest on the map name the right digit",
        outcomes=outcomes,
        panels=(panels[0], panels[1]),
    )
