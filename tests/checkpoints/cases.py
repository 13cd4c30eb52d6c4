"""Fits of every kind, small enough to be killed many times, and all bits of what they learn."""

import hashlib
from dataclasses import fields, is_dataclass

import numpy as np
from scipy.sparse import issparse
from sklearn.datasets import load_iris, load_wine

from vicinal import (
    CoincidenceClassifier,
    DivergenceEmbedding,
    LatentCoincidence,
    LocalComponents,
    ModeClustering,
    NeighborhoodComponents,
)

__all__ = ["FITS", "bits", "fit"]

X_WINE, Y_WINE = load_wine(return_X_y=True)
X_IRIS, Y_IRIS = load_iris(return_X_y=True)
PAIRS = np.random.default_rng(0).integers(0, len(X_IRIS), (300, 2))


def nca(X, y, n_components=2, random_state=0, **parameters):
    model = NeighborhoodComponents(n_components, random_state=random_state, **parameters)
    return lambda checkpoint: model.set_params(checkpoint=checkpoint).fit(X, y)


def local(X, **parameters):
    model = LocalComponents(random_state=0, **parameters)
    return lambda checkpoint: model.set_params(checkpoint=checkpoint).fit(X)


def coincidence(**parameters):
    model = LatentCoincidence(2, random_state=0, **parameters)
    return lambda checkpoint: model.set_params(checkpoint=checkpoint).fit(X_IRIS, Y_IRIS)


def pairs(**parameters):
    model = LatentCoincidence(2, random_state=0, **parameters)
    same = Y_IRIS[PAIRS[:, 0]] == Y_IRIS[PAIRS[:, 1]]
    return lambda checkpoint: model.set_params(checkpoint=checkpoint).fit_pairs(PAIRS, same, X_IRIS)


def batched(solver, batching, **parameters):
    fitted = {"max_iter": 40, "batch_size": 50, **parameters}
    return nca(X_WINE, Y_WINE, solver=solver, batching=batching, **fitted)


def classifier():
    model = CoincidenceClassifier(2, max_iter=20)
    return lambda checkpoint: model.set_params(checkpoint=checkpoint).fit(X_IRIS, Y_IRIS)


def modes():
    model = ModeClustering(random_state=0)
    return lambda checkpoint: model.set_params(checkpoint=checkpoint).fit(X_IRIS[::3])


def embedding(method, X=X_IRIS, random_state=0, **parameters):
    model = DivergenceEmbedding(method=method, random_state=random_state, **parameters)
    return lambda checkpoint: model.set_params(checkpoint=checkpoint).fit(X)


# From a name to what makes a new model and returns what fits it, given a checkpoint or None.
FITS = {
    "folds, lbfgs": lambda: nca(X_WINE, Y_WINE),
    "dimensions by folds": lambda: nca(X_IRIS[::2], Y_IRIS[::2], "auto"),
    "cg, several starts": lambda: nca(X_WINE, Y_WINE, solver="cg", n_init=3, max_iter=10),
    "bold driver, random start": lambda: nca(
        X_WINE, Y_WINE, solver="bold-driver", init="random", max_iter=20
    ),
    "sgd, random batches": lambda: batched("sgd", "random"),
    "adam, farthest": lambda: batched("adam", "farthest"),
    "adam, projection": lambda: batched("adam", "projection", regularization=0.0),
    "adam, stochastic": lambda: batched(
        "adam", "stochastic", init="random", random_state=np.random.RandomState(3)
    ),
    "subsample": lambda: nca(X_WINE, Y_WINE, batching="subsample", batch_size=100),
    "annealing": lambda: nca(X_IRIS, Y_IRIS, annealing=True, solver="lbfgs", max_iter=10),
    "local components": lambda: local(X_IRIS[::2]),
    "shape by folds": lambda: local(X_IRIS[::5], covariance="auto", gaussian="auto"),
    "plain em": lambda: local(X_IRIS, accelerate=False, regularization=1e-3, max_iter=30),
    "search": lambda: local(X_IRIS[::2], gaussian="search"),
    "stochastic em": lambda: local(X_IRIS, batch_size=40, max_iter=30, early_stopping=True),
    "per point": lambda: local(X_IRIS[::3], covariance="local", max_iter=15),
    "mixture": lambda: local(X_IRIS[::5], n_mixture=2),
    "coincidence": coincidence,
    "coincidence, em": lambda: coincidence(solver="em", max_iter=20),
    "pairs": pairs,
    "pairs, early stopping": lambda: pairs(early_stopping=True),
    "classifier": classifier,
    "modes": modes,
    "embedding, sizes by energy": lambda: embedding("laplacian", n_neighbors="energy"),
    "embedding, candidates": lambda: embedding("lle", n_candidates=30),
    "embedding, t-sne": lambda: embedding(
        "tsne", method_params={"perplexity": 8.0, "max_iter": 250}
    ),
}

# What belongs to a process, and not to what was learned.
_NOT_LEARNED = ("time", "checkpoint", "random_state")


def fit(name, checkpoint):
    """The bits of a new model of this kind after its fit."""
    return bits(FITS[name]()(checkpoint))


def bits(model):
    """A digest of all that a model knows, the last bit of every number included."""
    found = hashlib.sha256()
    _feed(found, model)
    return found.hexdigest()


def _feed(found, value):
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        found.update(f"{value.dtype} {value.shape}".encode() + value.tobytes())
    elif isinstance(value, dict):
        for name in sorted(value, key=str):
            if name not in _NOT_LEARNED:
                found.update(str(name).encode())
                _feed(found, value[name])
    elif issparse(value):
        _feed(found, [value.shape, value.data, value.indices, value.indptr])
    elif isinstance(value, list | tuple | np.ndarray):
        for part in value:
            _feed(found, part)
    elif is_dataclass(value):
        _feed(found, {field.name: getattr(value, field.name) for field in fields(value)})
    elif type(value).__module__.startswith("vicinal"):
        _feed(found, vars(value))
    else:
        found.update(repr(value).encode())
