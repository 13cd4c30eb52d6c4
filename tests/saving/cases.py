"""Fitted models of every kind, what they answer, and when two of them are the same."""

import warnings
from functools import cache
from unittest.mock import patch

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import (
    CoincidenceClassifier,
    DivergenceEmbedding,
    DivergenceNeighbors,
    LatentCoincidence,
    LocalComponents,
    ModeClustering,
    NeighborhoodComponents,
)

X, Y = load_iris(return_X_y=True)
X, Y = X[::2], Y[::2]
NEW = X[::3] + 0.05
NAMES = np.array(["setosa", "versicolor", "<virginica>"])[Y]
WEIGHTS = np.arange(len(X)) % 3 + 0.5
FRAME = pd.DataFrame(X, columns=["sepal length", "b", "ç", "<d>"])
PAIRS = np.stack([X[:30], X[10:40]], axis=1)
COINCIDE = np.arange(30) % 2
ONE_CLOUD = X[Y > 0]
TWO_CLOUDS = np.vstack([ONE_CLOUD, ONE_CLOUD + 50.0])
GIVEN = np.abs(X[:, None, 0] - X[:, 0])
FLAT = np.random.default_rng(0).normal(size=(60, 4))


def nca(**parameters):
    return NeighborhoodComponents(2, **parameters)


def local(**parameters):
    return LocalComponents(**parameters)


def embedding(method, **parameters):
    return DivergenceEmbedding(method=method, gamma=0.1, random_state=0, **parameters)


def side_by_side(method):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there are two components
        return embedding(method, disconnected="separate").fit(TWO_CLOUDS)


def many_points():
    """As where the directions of all points have no room."""
    with patch("vicinal.divergence.local._STORED_NUMBERS", 0):
        return DivergenceNeighbors(n_graph_neighbors=5, n_candidates=20).fit(X)


CASES = {
    "nca": lambda: nca().fit(X, Y),
    "nca unfitted": lambda: nca(init=np.eye(2, 4)),
    "nca names": lambda: nca(random_state=np.random.RandomState(5)).fit(FRAME, NAMES),
    "nca float32": lambda: nca().fit(X.astype(np.float32), Y),
    "nca columns first": lambda: nca().fit(np.asfortranarray(X), Y),
    "nca weights": lambda: nca(prior=[0.2, 0.3, 0.5]).fit(X, Y, WEIGHTS),
    "nca student": lambda: nca(kernel="student", degrees_of_freedom=2.0).fit(X, Y),
    "nca compact": lambda: nca(kernel="compact").fit(X, Y),
    "nca background": lambda: nca(kernel="compact", background=True).fit(X, Y),
    "nca neighbors": lambda: nca(n_neighbors=5).fit(X, NAMES),
    "nca batches": lambda: nca(batching="random", batch_size=30, max_iter=20).fit(X, Y),
    "nca stream": lambda: nca(batch_size=20, random_state=0).partial_fit(
        X, Y, sample_weight=WEIGHTS
    ),
    "nca stream after fit": lambda: nca(reservoir_size=40).fit(X, Y).partial_fit(NEW, Y[::3]),
    "nca data frame": lambda: nca().set_output(transform="pandas").fit(FRAME, NAMES),
    "local full": lambda: local().fit(X),
    "local diag": lambda: local(covariance="diag").fit(X, sample_weight=WEIGHTS),
    "local spherical": lambda: local(covariance="spherical", early_stopping=True).fit(X),
    "local low rank": lambda: local(covariance="low_rank", rank=1, random_state=3).fit(X),
    "local given": lambda: LocalComponents(covariance=[0.1] * X.shape[1]).fit(X),
    "local rule": lambda: LocalComponents(covariance="scott", kernel="student").fit(X),
    "local each": lambda: local(covariance="local", smoothing=20).fit(X),
    "local search": lambda: local(gaussian="search", regularization="auto", random_state=0).fit(X),
    "local two penalties": lambda: local(gaussian="em", regularization=(0.1, 0.2)).fit(X),
    "local mixture": lambda: local(n_mixture=2, regularization=0.1, random_state=0).fit(X),
    "local float32": lambda: local().fit(X.astype(np.float32)),
    "local columns first": lambda: local(gaussian="search").fit(np.asfortranarray(X)),
    "local view of columns": lambda: local().fit(np.asfortranarray(np.repeat(X, 2, axis=0))[::2]),
    "local stream": lambda: local(batch_size=20, random_state=0).partial_fit(X),
    "local stream after fit": lambda: local(gaussian="em").fit(X, None, WEIGHTS).partial_fit(NEW),
    "local each, stream": lambda: local(covariance="local", smoothing=20).fit(FRAME),
    "clusters": lambda: ModeClustering(random_state=0).fit(FRAME, None, WEIGHTS),
    "clusters of a mixture": lambda: ModeClustering(local(n_mixture=2), random_state=0).fit(X),
    "coincidence": lambda: LatentCoincidence(random_state=0).fit(FRAME, NAMES),
    "coincidence local": lambda: LatentCoincidence(2, scale="local", random_state=0).fit(X, Y),
    "coincidence pairs": lambda: LatentCoincidence().fit_pairs(PAIRS, COINCIDE),
    "coincidence threshold": lambda: (
        LatentCoincidence().fit_pairs(PAIRS, COINCIDE).calibrate_threshold(PAIRS, COINCIDE)
    ),
    "coincidence local pairs": lambda: LatentCoincidence(scale="local").fit_pairs(PAIRS, COINCIDE),
    "coincidence classes": lambda: CoincidenceClassifier(2).fit(FRAME, NAMES),
    "divergence": lambda: DivergenceNeighbors().fit(X),
    "divergence graph": lambda: DivergenceNeighbors(n_graph_neighbors=5).fit(X.astype(np.float32)),
    "divergence many": lambda: many_points(),
    "divergence diagonal": lambda: DivergenceNeighbors(
        3, covariance="shrunk-diagonal", gamma=0.1
    ).fit(FLAT),
    "divergence auto": lambda: DivergenceNeighbors("growth").fit(X),
    "divergence euclidean": lambda: DivergenceNeighbors(divergence="euclidean").fit(X),
    "isomap side by side": lambda: side_by_side("isomap"),
    "isomap": lambda: embedding("isomap").fit(ONE_CLOUD),
    "isomap float32": lambda: embedding("isomap").fit(ONE_CLOUD.astype(np.float32)),
    "laplacian": lambda: embedding("laplacian", n_neighbors="energy").fit(ONE_CLOUD),
    "laplacian side by side": lambda: side_by_side("laplacian"),
    "divergence given": lambda: DivergenceNeighbors(metric="precomputed").fit(GIVEN),
    "lle": lambda: embedding("lle").fit(ONE_CLOUD),
    "mds": lambda: embedding("mds").fit(ONE_CLOUD),
    "tsne": lambda: embedding("tsne", method_params={"max_iter": 250}).fit(ONE_CLOUD),
    "neighbors by a metric": lambda: KNeighborsClassifier(
        metric=fitted("nca").get_metric(), algorithm="brute"
    ).fit(X, NAMES),
    "pipeline": lambda: make_pipeline(StandardScaler(), nca()).fit(FRAME, NAMES),
    "best of a search": lambda: (
        GridSearchCV(nca(tol=0.1), {"kernel": ["gaussian", "compact"]}, cv=2)
        .fit(X, Y)
        .best_estimator_
    ),
}


@cache
def fitted(name):
    """The model of a case; not to be changed."""
    return CASES[name]()


def answers(model):
    """All that can be asked of a fitted model."""
    new = NEW
    if getattr(model, "feature_names_in_", None) is not None:
        new = pd.DataFrame(NEW, columns=model.feature_names_in_)
    if getattr(model, "metric", None) == "precomputed":
        new = GIVEN[::3]
    pairs = {"pair_distance", "pair_score", "pair_probability", "predict_pairs"}
    found = {
        name: getattr(model, name)(PAIRS if name in pairs else new)
        for name in ("transform", "predict", "predict_proba", "score_samples", "modes", *pairs)
        if hasattr(model, name)
    }
    if hasattr(model, "sample") and isinstance(model.random_state, int):
        found["sample"] = model.sample(7)
    for name in ("get_mahalanobis_matrix", "get_feature_names_out"):
        if hasattr(model, name):
            found[name] = getattr(model, name)()
    return found


def assert_same(one, other, where="model"):
    """Two objects have the same types and bits all through."""
    assert type(one) is type(other), where
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype, where
        assert one.shape == other.shape, where
        if one.flags.contiguous or one.flags.f_contiguous:  # else a view with gaps
            assert one.flags.c_contiguous == other.flags.c_contiguous, where
        assert (
            one.tolist() == other.tolist()
            if one.dtype == object
            else (one.tobytes() == other.tobytes())
        ), where
    elif isinstance(one, dict):
        assert list(one) == list(other), where
        for key in one:
            assert_same(one[key], other[key], f"{where}[{key!r}]")
    elif isinstance(one, tuple | list):
        assert len(one) == len(other), where
        for i, (a, b) in enumerate(zip(one, other, strict=True)):
            assert_same(a, b, f"{where}[{i}]")
    elif isinstance(one, np.random.RandomState):
        assert_same(one.get_state(), other.get_state(), where)
    elif isinstance(one, np.random.Generator):
        assert_same(one.bit_generator.state, other.bit_generator.state, where)
    elif isinstance(one, pd.DataFrame):
        pd.testing.assert_frame_equal(one, other, check_exact=True)
    elif issparse(one):
        parts = [(m.shape, m.data, m.indices, m.indptr) for m in (one, other)]
        assert_same(*parts, where)
    elif type(one).__module__.split(".")[0] in ("vicinal", "sklearn"):
        # Lengths of shortest paths are not saved, but found again when they are asked for.
        states = [{**vars(o), "lengths": getattr(o, "lengths", None)} for o in (one, other)]
        assert set(states[0]) == set(states[1]), where
        for name in states[0]:
            assert_same(states[0][name], states[1][name], f"{where}.{name}")
    else:
        assert one == other or (one != one and other != other), where
