import subprocess
import sys
from unittest.mock import patch

import numpy as np
import pytest
from saving.cases import (
    CASES,
    FRAME,
    NAMES,
    NEW,
    ONE_CLOUD,
    X,
    Y,
    answers,
    assert_same,
    fitted,
    nca,
)
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import vicinal
from vicinal import (
    CoincidenceClassifier,
    DivergenceEmbedding,
    DivergenceNeighbors,
    LatentCoincidence,
    LocalComponents,
)
from vicinal.saving.trusted import TRUSTED

pytest.importorskip("skops")

PUBLIC = [getattr(vicinal, name) for name in vicinal.__all__]
ESTIMATORS = [each for each in PUBLIC if isinstance(each, type) and issubclass(each, BaseEstimator)]


@pytest.fixture
def round_trip(tmp_path):
    def save_and_load(model):
        path = tmp_path / "model.skops"
        vicinal.save(model, path)
        return vicinal.load(path)

    return save_and_load


@pytest.mark.parametrize("name", CASES)
def test_all_of_a_model_comes_back(name, round_trip):
    model = fitted(name)
    again = round_trip(model)
    assert_same(model, again)
    if hasattr(model, "n_features_in_"):
        assert_same(answers(model), answers(again))
    clone(again)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_parameter_that_a_file_does_not_know_has_its_default(kind):
    """It came with a later version than the one that wrote the file."""
    defaults, state = kind().get_params(deep=False), kind().__getstate__()
    for name in defaults:
        again = kind.__new__(kind)
        again.__setstate__({key: value for key, value in state.items() if key != name})
        assert again.get_params(deep=False) == defaults


def test_every_trusted_class_is_needed(tmp_path):
    from skops.io import get_untrusted_types

    needed = set()
    for name in CASES:
        vicinal.save(fitted(name), tmp_path / "model")
        needed.update(get_untrusted_types(file=tmp_path / "model"))
    assert needed == set(TRUSTED)


@pytest.mark.parametrize("name", ["nca", "nca stream", "nca stream after fit", "nca weights"])
def test_a_supervised_stream_goes_on_as_if_never_saved(name, round_trip):
    model = round_trip(fitted(name))
    for following in (model, again := round_trip(model)):
        following.set_params(random_state=1).partial_fit(NEW, Y[::3]).partial_fit(X, Y)
    assert_same(model, again)


@pytest.mark.parametrize(
    "name", ["local full", "local stream", "local stream after fit", "local each, stream"]
)
def test_a_stream_of_densities_goes_on_as_if_never_saved(name, round_trip):
    model = round_trip(fitted(name))
    rows = FRAME if hasattr(model, "feature_names_in_") else X
    for following in (model, again := round_trip(model)):
        following.set_params(random_state=1, covariance="full").partial_fit(rows)
    assert_same(model, again)


def test_a_random_state_goes_on_from_where_it_was(round_trip):
    model = LocalComponents(random_state=np.random.RandomState(3)).fit(X)
    again = round_trip(model)
    assert_same(model.sample(5), again.sample(5))


def test_another_process_gets_the_same_bits(tmp_path):
    vicinal.save(fitted("nca"), tmp_path / "model.skops")
    np.save(tmp_path / "new.npy", NEW)
    code = (
        "import numpy, vicinal\n"
        "found = vicinal.load('model.skops').predict_proba(numpy.load('new.npy'))\n"
        "numpy.save('found.npy', found)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
    assert_same(fitted("nca").predict_proba(NEW), np.load(tmp_path / "found.npy"))


def test_memory_mapped_data(tmp_path, round_trip):
    mapped = np.memmap(tmp_path / "data", dtype=np.float64, mode="w+", shape=X.shape)
    halves = np.memmap(tmp_path / "halves", dtype=np.float32, mode="w+", shape=X.shape)
    mapped[:] = halves[:] = X
    labels = np.memmap(tmp_path / "labels", dtype=np.int64, mode="w+", shape=Y.shape)
    labels[:] = Y
    for model in (
        nca().fit(mapped, labels),
        LatentCoincidence(random_state=0).fit(mapped, labels),
        CoincidenceClassifier().fit(halves, labels),
        LocalComponents().fit(mapped),
        LocalComponents().partial_fit(mapped),
        DivergenceNeighbors().fit(mapped),
        DivergenceNeighbors().fit(halves),
    ):
        assert_same(answers(model), answers(round_trip(model)))


def test_the_projected_neighbors_of_a_pipeline(round_trip):
    rule = KNeighborsClassifier(3, algorithm="brute")
    model = make_pipeline(StandardScaler(), nca(), rule).fit(X, NAMES)
    assert_same(model.predict_proba(NEW), round_trip(model).predict_proba(NEW))


def test_scikit_learn_warns_of_its_own_older_steps(tmp_path, monkeypatch):
    model = make_pipeline(StandardScaler(), nca()).fit(X, Y)
    with monkeypatch.context() as patch:
        patch.setattr("sklearn.base.__version__", "1.5.0")
        vicinal.save(model, tmp_path / "model")
    with pytest.warns(InconsistentVersionWarning) as warned:
        vicinal.load(tmp_path / "model")
    assert {str(w.message).split()[4] for w in warned} == {"StandardScaler", "Pipeline"}


# ------------------------------------------------------------------------------- what is left out


def test_umap_itself_is_left_out(round_trip):
    model = DivergenceEmbedding(method="tsne", gamma=0.1, random_state=0)
    model.set_params(method_params={"max_iter": 250}).fit(X)
    # As UMAP's object, which takes 10 s to compile, this one has what cannot be written.
    model.estimator_.compiled = (i for i in "a")
    model._fitted_with["method"] = "umap"  # what is set later does not matter
    again = round_trip(model)
    assert not hasattr(again, "estimator_")
    assert_same(model.embedding_, again.embedding_)
    assert hasattr(model, "estimator_")


@pytest.mark.parametrize("method", ["isomap", "laplacian", "lle", "mds"])
def test_parameters_set_after_the_fit_do_not_come_back(round_trip, method):
    model = DivergenceEmbedding(method=method, gamma=0.1, random_state=0).fit(ONE_CLOUD)
    before = model.transform(ONE_CLOUD[:9] + 0.01)
    other = {"method": "tsne", "divergence": "riemann", "lle_weights": "coordinates", "gamma": 9.0}
    again = round_trip(model.set_params(**other))
    assert_same(again.transform(ONE_CLOUD[:9] + 0.01), before)


def test_callbacks_are_left_out(round_trip):
    callback = pytest.importorskip("sklearn.callback")
    model = nca(max_iter=3).set_callbacks(callback.ProgressBar())
    assert not hasattr(round_trip(model), "_skl_callbacks")
    assert hasattr(model, "_skl_callbacks")


@pytest.mark.parametrize("model", [nca(), LocalComponents(), CoincidenceClassifier()], ids=str)
def test_metadata_requests_are_left_out(model, round_trip):
    with config_context(enable_metadata_routing=True):
        for method in ("set_fit_request", "set_score_request"):
            if hasattr(model, method):
                getattr(model, method)(sample_weight=True)
        assert hasattr(model, "_metadata_request")
        assert not hasattr(round_trip(model), "_metadata_request")


# ------------------------------------------------------------------------------------------- sizes


def incompressible(n, d):
    return np.random.default_rng(0).normal(size=(n, d))


def made_when_asked_for(X):
    with patch("vicinal.divergence.local._STORED_NUMBERS", 0):
        return DivergenceNeighbors(5, n_graph_neighbors=5, n_candidates=20).fit(X)


@pytest.mark.parametrize(
    ("fit", "needed"),
    [
        # 1000 rows of 20 features would be 160 kB.
        (lambda X, y: nca(max_iter=2, tol=1.0).fit(X, y), 8 * (1000 * 2 + 2 * 20)),
        (lambda X, y: LocalComponents(max_iter=2, tol=1.0).fit(X), 8 * (1000 * 20 + 5 * 20 * 20)),
        (
            lambda X, y: LocalComponents(covariance="local", smoothing=50, max_iter=2, tol=1.0).fit(
                X[:, :6]
            ),
            8 * (1000 * 6 + 1000 * 6 * 6),
        ),
        (
            lambda X, y: DivergenceNeighbors(5).fit(X),
            8 * (1000 * 20 + 1000 * 5 * 20 + 1000 * 5),
        ),
        (
            # Directions would be 5 times the points.
            lambda X, y: made_when_asked_for(X),
            8 * 1000 * 20 + 4 * 1000 * 5 + 8 * 1000 * 3,
        ),
        (
            # The lengths of all shortest paths would be 8 MB.
            lambda X, y: DivergenceEmbedding(n_neighbors=5, random_state=0).fit(X[:, :3]),
            8 * (1000 * 3 + 1000 * 3 * 3 + 1000 * 4 + 1000 * 4) + 12 * 1000 * 16,
        ),
    ],
    ids=["nca", "local", "local each", "divergence", "divergence many", "isomap"],
)
def test_files_hold_what_the_model_needs_and_little_else(fit, needed, tmp_path):
    X = incompressible(1000, 20)
    model = fit(X, X[:, 0] > 0)
    vicinal.save(model, tmp_path / "model")
    assert (tmp_path / "model").stat().st_size < 1.05 * needed + 10_000


def test_pickles_keep_the_lengths_out_and_find_them_again():
    import pickle

    model = fitted("isomap")
    assert_same(answers(model), answers(pickle.loads(pickle.dumps(model))))
