"""Whatever the parameters are: killed some times after some writing, and the same in the end."""

import warnings

import numpy as np
import pytest
from checkpoints.cases import X_IRIS, Y_IRIS, bits
from checkpoints.mortal import Killed
from effort import scaled

import vicinal.files
from tests.hostile.settings import CHOICES
from vicinal import (
    CoincidenceClassifier,
    DivergenceEmbedding,
    LatentCoincidence,
    LocalComponents,
    ModeClustering,
    NeighborhoodComponents,
)
from vicinal.fitting.checkpoints import journal as journal_module

KINDS = (
    *(NeighborhoodComponents, NeighborhoodComponents, LocalComponents, LocalComponents),
    *(LatentCoincidence, CoincidenceClassifier, ModeClustering),
    *(DivergenceEmbedding, DivergenceEmbedding),
)
WITHOUT_CLASSES = (LocalComponents, ModeClustering, DivergenceEmbedding)


@pytest.fixture(autouse=True)
def often(monkeypatch):
    monkeypatch.setattr(journal_module, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(journal_module, "LARGEST_SHARE", np.inf)
    monkeypatch.setattr(vicinal.files, "_sync", lambda file: None)


def drawn(rng):
    """An estimator with some parameters that are not those by default, and what to fit it to."""
    kind = KINDS[rng.integers(len(KINDS))]
    choices = CHOICES[kind]
    names = rng.choice(sorted(choices), min(len(choices), rng.integers(1, 5)), replace=False)
    chosen = {name: choices[name][rng.integers(len(choices[name]))] for name in names}
    parameters = {"random_state": 0, "max_iter": int(rng.integers(2, 20)), **chosen}
    if kind in (ModeClustering, DivergenceEmbedding):
        del parameters["max_iter"]
    X = X_IRIS[::3].astype(rng.choice(["float32", "float64"]))
    return kind, parameters, (X,) if kind in WITHOUT_CLASSES else (X, Y_IRIS[::3])


def dying(after):
    """In place of what writes: after so many writings the process is no more."""
    store, n = journal_module.store, []

    def mortal(*args):
        n.append(1)
        if len(n) > after:
            raise Killed
        store(*args)

    return mortal


@pytest.mark.parametrize("seed", range(scaled(24)))
def test_killed_and_the_same(tmp_path, seed):
    rng = np.random.default_rng(seed)
    kind, parameters, data = drawn(rng)

    def fitted(checkpoint):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return bits(kind(**parameters, checkpoint=checkpoint).fit(*data))

    try:
        whole = fitted(None)
    except (TypeError, ValueError):  # no such combination, which other tests look at
        return
    for _ in range(3):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(journal_module, "store", dying(int(rng.integers(20))))
            try:
                fitted(tmp_path / "fit")
            except Killed:
                continue
    assert fitted(tmp_path / "fit") == whole
