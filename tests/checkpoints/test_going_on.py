"""What users see of checkpoints: whose they are, when they are refused, what a fit leaves."""

import pydoc
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from checkpoints.cases import FITS, X_IRIS, Y_IRIS, bits
from checkpoints.mortal import killed
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import vicinal
import vicinal.files
from vicinal import LocalComponents, ModeClustering, NeighborhoodComponents
from vicinal.fitting.checkpoints import identity
from vicinal.fitting.checkpoints import journal as journal_module
from vicinal.nca.learning import NeighborhoodProblem

FILES = ("fit", "fit.before")


@pytest.fixture(autouse=True)
def at_every_news(monkeypatch):
    monkeypatch.setattr(journal_module, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(journal_module, "LARGEST_SHARE", np.inf)
    monkeypatch.setattr(vicinal.files, "_sync", lambda file: None)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "fit"


def model(path=None, **parameters):
    chosen = {"solver": "lbfgs", "max_iter": 12, "random_state": 0, **parameters}
    return NeighborhoodComponents(2, checkpoint=path, **chosen)


def fitted(path=None, X=X_IRIS, y=Y_IRIS, sample_weight=None, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model(path, **parameters).fit(X, y, sample_weight)


@pytest.mark.parametrize("name", FITS)
def test_a_checkpoint_changes_nothing(path, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = bits(FITS[name]()(None))
        assert bits(FITS[name]()(path)) == whole
        once = path.read_bytes()
        assert bits(FITS[name]()(path)) == whole  # after its end
    assert path.read_bytes() == once
    assert {file.name for file in path.parent.iterdir()} <= {"fit", "fit.before"}


def test_a_finished_fit_is_not_made_again(path, monkeypatch):
    whole = fitted(path)

    def never(*args):
        raise AssertionError("nothing was left to compute")

    monkeypatch.setattr(NeighborhoodProblem, "_evaluated", never)
    assert bits(fitted(path)) == bits(whole)


def test_warnings_come_again(path):
    for _ in range(2):
        with pytest.warns(ConvergenceWarning, match="max_iter=3 reached"):
            model(path, max_iter=3, tol=0.0).fit(X_IRIS, Y_IRIS)


@pytest.mark.parametrize("init", ["random", "auto"])
def test_a_seed_that_nobody_gave_stays_the_same(tmp_path, path, monkeypatch, init):
    """Another process draws other numbers, unless the checkpoint has them."""
    chosen = {"random_state": None, "init": init, "solver": "adam", "batching": "random"}
    np.random.seed(1)  # noqa: NPY002
    whole = fitted(tmp_path / "whole", **chosen, max_iter=30, batch_size=40)
    np.random.seed(1)  # noqa: NPY002
    killed(monkeypatch, 12, lambda: fitted(path, **chosen, max_iter=30, batch_size=40))
    np.random.seed(2)  # noqa: NPY002
    assert bits(fitted(path, **chosen, max_iter=30, batch_size=40)) == bits(whole)
    np.random.seed(3)  # noqa: NPY002
    assert bits(fitted(path, **chosen, max_iter=30, batch_size=40)) == bits(whole)


def test_ctrl_c_leaves_a_checkpoint(path):
    whole = fitted()

    evaluated, n = NeighborhoodProblem._evaluated, []

    def interrupted(self, parameters, *points):
        n.append(1)
        if len(n) == 6:
            raise KeyboardInterrupt
        return evaluated(self, parameters, *points)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NeighborhoodProblem, "_evaluated", interrupted)
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            first = model(path).fit(X_IRIS, Y_IRIS)
    assert 1 <= first.n_iter_ < whole.n_iter_
    assert bits(fitted(path)) == bits(whole)


@pytest.mark.parametrize("call", [5, 12])
@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("coincidence", "vicinal.coincidence.trial.Turn._check"),
        ("classifier", "vicinal.coincidence.classifier.CoincidenceClassifier._problem"),
        ("mixture", "vicinal.local_components.mixture.trials.MixtureDensity.log_density"),
        ("modes", "vicinal.local_components.density.ParzenDensity.climb"),
    ],
)
def test_ctrl_c_anywhere_leaves_a_checkpoint(path, name, where, call):
    """Also where a fit takes it as a wish to end with the best so far, between two runs."""
    of, _, method = where.rpartition(".")
    usual, n = getattr(pydoc.locate(of), method), []

    def interrupted(*args, **kwargs):
        n.append(1)
        if len(n) == (2 if name == "classifier" else call):
            raise KeyboardInterrupt
        return usual(*args, **kwargs)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = bits(FITS[name]()(None))
        with pytest.MonkeyPatch.context() as patch, suppress(KeyboardInterrupt):
            patch.setattr(where, interrupted)
            FITS[name]()(path)
        assert len(n) >= 2
        assert bits(FITS[name]()(path)) == whole


@pytest.mark.parametrize("n_init", [1, 3])
def test_a_callback_that_stops_leaves_a_checkpoint(path, monkeypatch, n_init):
    """What comes after its wish, as other starts, is not kept: it would have come later."""
    whole = fitted(n_init=n_init)
    told = "vicinal.nca.fits.ScikitLearnCallbacks.__call__"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(told, lambda self, update: update.iteration == 4)
        first = fitted(path, n_init=n_init)
    assert first.n_iter_ == 4
    assert bits(fitted(path, n_init=n_init)) == bits(whole)


def test_an_interrupted_choice_goes_on(path, monkeypatch):
    whole = LocalComponents(random_state=0).fit(X_IRIS[::3])
    killed(
        monkeypatch, 9, lambda: LocalComponents(checkpoint=path, random_state=0).fit(X_IRIS[::3])
    )
    found = LocalComponents(checkpoint=path, random_state=0).fit(X_IRIS[::3])
    assert bits(found) == bits(whole)


OTHERS = {
    "X is another": {"X": X_IRIS + 1e-9},
    "y is another": {"y": np.roll(Y_IRIS, 1)},
    "sample_weight is another": {"sample_weight": np.full(150, 2.0)},
    r"solver='lbfgs', and not solver='cg'": {"solver": "cg"},
    r"random_state=0, and not random_state=1": {"random_state": 1},
    r"tol=1e-05, and not tol=0.1": {"tol": 0.1},
    r"init='auto', and not init=an array of shape \(2, 4\) \(\w{8}\)": {"init": np.eye(2, 4)},
}


@pytest.mark.parametrize("why", OTHERS)
def test_another_fit_is_refused(path, why):
    fitted(path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=f"checkpoint='{path}' is .*{why}: delete it to begin"):
        fitted(path, **OTHERS[why])
    assert path.read_bytes() == before


def test_what_changes_nothing_is_not_refused(path, capsys):
    whole = fitted(path)
    assert bits(fitted(path, n_jobs=1, verbose=1).set_params(n_jobs=None, verbose=0)) == bits(whole)
    assert f"NeighborhoodComponents: goes on from '{path}'" in capsys.readouterr().err
    fitted(path, X=np.asfortranarray(X_IRIS))
    assert capsys.readouterr().err == ""


def test_another_state_of_a_random_state_is_refused(path):
    seed = np.random.RandomState(0)
    fitted(path, random_state=seed)
    with pytest.raises(ValueError, match="with random_state=a RandomState in another state"):
        fitted(path, random_state=seed)  # which has drawn numbers since


def test_another_model_is_refused(path):
    fitted(path)
    with pytest.raises(ValueError, match=r"of NeighborhoodComponents\.fit, and not of Local"):
        LocalComponents(checkpoint=path).fit(X_IRIS)


@pytest.mark.parametrize("package", ["vicinal", "scipy"])
def test_another_version_is_refused(path, monkeypatch, package):
    fitted(path)
    monkeypatch.setattr(vicinal, "__version__", "9.9" if package == "vicinal" else "0.2.0")
    version = identity.version
    other = {"scipy": "9.9"} if package == "scipy" else {}
    monkeypatch.setattr(identity, "version", lambda name: other.get(name) or version(name))
    with pytest.raises(ValueError, match=f"is of {package} .*, and here is {package} 9.9: delete"):
        fitted(path)


def test_a_warm_start_from_another_map_is_refused(path):
    first = fitted(path, warm_start=True)
    with pytest.raises(ValueError, match="what warm_start goes on from is another"):
        first.fit(X_IRIS, Y_IRIS)


def test_a_parameter_within_a_parameter_is_named(path):
    ModeClustering(LocalComponents(tol=1e-6), random_state=0, checkpoint=path).fit(X_IRIS[::5])
    with pytest.raises(ValueError, match="with density__tol=1e-06, and not density__tol=1e-05"):
        ModeClustering(LocalComponents(tol=1e-5), random_state=0, checkpoint=path).fit(X_IRIS[::5])


@pytest.mark.parametrize("value", [3, b"fit", ["fit"]])
def test_what_is_no_path_is_refused(value):
    with pytest.raises(TypeError, match=r"checkpoint=.* must be the path of a file, or None"):
        fitted(value)


def test_a_path_where_nothing_can_be_written_is_refused_at_once(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"folder .* does not exist"):
        fitted(tmp_path / "nowhere" / "fit")
    with pytest.raises(OSError, match="not a regular file"):
        fitted(tmp_path)


def test_a_file_that_is_no_checkpoint_is_refused(path):
    path.write_text("sepal_length,sepal_width\n")
    with pytest.raises(ValueError, match="is a file that is no checkpoint"):
        fitted(path)
    assert path.read_text() == "sepal_length,sepal_width\n"


def test_a_damaged_checkpoint_costs_one_generation(path, monkeypatch):
    whole = fitted()
    killed(monkeypatch, 8, lambda: fitted(path))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.warns(UserWarning, match="goes on from the one before"):
        found = fitted(path)
    assert bits(found) == bits(whole)


def test_two_damaged_ones_cost_the_fit(path):
    whole = fitted(path)
    for name in FILES:
        content = path.with_name(name).read_bytes()
        path.with_name(name).write_bytes(content[:200])
    with pytest.warns(UserWarning, match="begins anew"):
        assert bits(fitted(path)) == bits(whole)


def test_a_fit_within_a_fit_has_no_part_in_its_checkpoint(path, monkeypatch):
    whole = fitted()

    told = []

    def fits(self, update):
        told.append(update)
        if len(told) % 10 == 1:  # not those of the fit within
            fitted(max_iter=2)
        return False

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vicinal.nca.fits.ScikitLearnCallbacks.__call__", fits)
        killed(monkeypatch, 6, lambda: fitted(path))
    assert bits(fitted(path)) == bits(whole)


def test_a_saved_model_does_not_tell_where_it_was_fitted(path, tmp_path):
    vicinal.save(fitted(path), tmp_path / "model.skops")
    loaded = vicinal.load(tmp_path / "model.skops")
    assert loaded.checkpoint is None
    assert_array_equal(loaded.predict(X_IRIS), fitted(path).predict(X_IRIS))


def test_it_is_a_parameter_like_others(path):
    assert clone(model(path)).get_params()["checkpoint"] == path
    assert model().get_params()["checkpoint"] is None
    assert isinstance(fitted(str(path)).checkpoint, str)
    assert Path(fitted(str(path)).checkpoint).exists()


def test_usually_little_is_written(path, monkeypatch):
    """A fit shorter than the time between two writings has one, in the end."""
    monkeypatch.undo()
    written = []
    store = journal_module.store
    monkeypatch.setattr(journal_module, "store", lambda *args: written.append(store(*args)))
    monkeypatch.setattr(journal_module, "LEAST_SECONDS", 1e6)
    fitted(path)
    assert len(written) == 1
