import json
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from functools import partial

import pytest
from cli.helpers import assert_one_line, run

import vicinal
from vicinal import demo
from vicinal.demo import comparison
from vicinal.nca import NeighborhoodComponents

in_the_main_thread = pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(),
    reason="signals reach the main thread only",
)

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def compared():
    """What a comparison of few images in two dimensions found."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setattr(comparison, "DIMENSIONS", (2,))
        warnings.filterwarnings("ignore", "the neighborhood graph has")  # of so few points
        told = []
        result = demo.compare(demo.load_split(3, n_rows=200), lambda *step: told.append(step))
    return result, told


@pytest.fixture
def no_work(compared, monkeypatch):
    """The comparison is there already."""

    def compare(split, on_step):
        on_step("Fitting", 1, 1)
        return compared[0]

    monkeypatch.setattr(demo, "compare", compare)


@pytest.fixture
def few_rows(monkeypatch):
    monkeypatch.setattr(demo, "load_split", partial(demo.load_split, n_rows=200))


@pytest.fixture
def no_fit(monkeypatch):
    """Whoever fits has not checked first."""

    def fit(self, X, y):
        raise AssertionError("fitted before all was checked")

    monkeypatch.setattr(NeighborhoodComponents, "fit", fit)


def test_demo_prints_tables_and_writes_a_page(no_work, compared, tmp_path):
    result = run("demo", "--seed", "3")
    assert result.exit_code == 0
    for words in (
        "140 training and 60 test",
        "seed 3",
        "Raw pixels",
        "PCA",
        "NeighborhoodComponents *",
        "LatentCoincidence *",
        "LocalComponents *",
        "DivergenceEmbedding *",
        "KernelDensity",
    ):
        assert words in result.stdout
    assert "Report: vicinal-demo.html" in result.stdout
    assert result.stderr == ""  # no progress where there is no terminal
    assert max(map(len, result.stdout.splitlines())) <= 80
    page = (tmp_path / "vicinal-demo.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "Metrics and embeddings, side by side" in page
    assert "60 test images" in page
    # The table and what the page finds out about the model by itself.
    learned = next(s for s in compared[0].scores if s.method == "NeighborhoodComponents")
    assert (
        f'>Learned</th><td class="number">2</td><td class="number">{learned.accuracy:.1%}<' in page
    )
    assert len(list(tmp_path.iterdir())) == 1


def test_demo_json_and_picture(no_work, tmp_path):
    result = run("demo", "--json", "--output", "digits.html", "--picture", "digits.png")
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert told["version"] == vicinal.__version__
    assert (told["seed"], told["report"], told["n_neighbors"]) == (0, "digits.html", 5)
    assert told["data"] == {"name": "digits", "n_train": 140, "n_test": 60}
    assert [(s["method"], s["n_components"]) for s in told["scores"][:3]] == [
        ("Raw pixels", 64),
        ("LocalComponents", 64),
        ("PCA", 2),
    ]
    assert all(0.2 < s["accuracy"] <= 1 for s in told["scores"])
    assert told["scores"][0]["fit_seconds"] is None
    assert all(s["fit_seconds"] > 0 for s in told["scores"][1:])
    assert len(told["densities"]) == 4
    assert (tmp_path / "digits.png").read_bytes().startswith(PNG)


def test_accuracy_is_that_of_neighbors_among_training_points(compared):
    split, score = compared[0].split, compared[0].scores[0]
    distances = ((split.X_test[:, None] - split.X_train[None]) ** 2).sum(axis=2)
    nearest = split.y_train[distances.argsort(axis=1)[:, :5]]
    votes = [[(row == c).sum() for c in range(10)] for row in nearest]
    predicted = [max(range(10), key=row.__getitem__) for row in votes]
    assert score.accuracy == pytest.approx((predicted == split.y_test).mean())


def test_every_family_is_there(compared):
    result = compared[0]
    ours = {one.method for one in result.scores + result.densities if one.is_ours}
    assert ours == {
        "NeighborhoodComponents",
        "LocalComponents",
        "LocalComponents, mixture",
        "LatentCoincidence",
        "DivergenceEmbedding",
    }
    assert [one.method for one in result.projections][:2] == ["PCA", "LDA"]
    assert result.model.components_.shape == (2, 64)


def test_seeds_are_splits():
    first, again, other = (demo.load_split(seed, n_rows=200) for seed in (0, 0, 1))
    assert (first.X_test == again.X_test).all()
    assert (first.X_test != other.X_test).any()


def test_steps_are_told_in_order(compared):
    told = compared[1]
    assert [step for _, step, _ in told] == list(range(1, len(told) + 1))
    assert {n_steps for _, _, n_steps in told} == {len(told)}
    assert told[-1][0] == "Fitting LocalComponents, mixture"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--output", "nowhere/demo.html"], "'nowhere' does not exist"),
        (["--output", "folder.png"], "not a regular file"),
        (["--picture", "demo.xyz"], ".png, .pdf or .svg"),
        (["--picture", "folder.png"], "not a regular file"),
    ],
)
def test_output_that_cannot_be_written(no_fit, tmp_path, options, said):
    (tmp_path / "folder.png").mkdir()
    result = run("demo", *options)
    assert (result.exit_code, result.stdout) == (1, "")
    assert_one_line(result.stderr, said, options[1].split("/")[0])


def test_output_folder_that_is_not_writable(no_fit, monkeypatch):
    # Root may write everywhere, so the answer of the system is made up.
    monkeypatch.setattr(os, "access", lambda *args, **more: False)
    result = run("demo")
    assert result.exit_code == 1
    assert_one_line(result.stderr, "not writable")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_output_never_replaces_what_is_no_file(no_fit, tmp_path):
    os.mkfifo(tmp_path / "pipe.html")
    assert run("demo", "--output", "pipe.html").exit_code == 1
    assert (tmp_path / "pipe.html").is_fifo()


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_impossible_seed(no_fit, seed):
    result = run("demo", "--seed", str(seed))
    assert result.exit_code == 1
    assert_one_line(result.stderr, f"seed={seed}")


def test_unforeseen_error_is_one_line_unless_debug(few_rows, monkeypatch):
    def fit(self, X, y):
        raise ZeroDivisionError("by\nzero")

    monkeypatch.setattr(NeighborhoodComponents, "fit", fit)
    result = run("demo")
    assert result.exit_code == 1
    assert_one_line(result.stderr, "ZeroDivisionError: by zero", "--debug")
    assert isinstance(run("demo", "--debug").exception, ZeroDivisionError)


def test_warnings_are_one_line(no_work, monkeypatch):
    def warn(*args, **more):
        warnings.warn("stopped\nearly", UserWarning, stacklevel=2)
        return compare(*args, **more)

    compare = demo.compare
    monkeypatch.setattr(demo, "compare", warn)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        result = run("demo", "--json")
    json.loads(result.stdout)
    assert_one_line(result.stderr, "vicinal: warning: stopped early")


@pytest.mark.parametrize("missing", ["matplotlib", "plotly", "jinja2"])
def test_without_what_the_page_needs_nothing_is_fitted(no_fit, monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    result = run("demo")
    assert (result.exit_code, result.stdout) == (1, "")
    assert_one_line(result.stderr, missing, "pip install 'vicinal[report]'")


def test_interrupt_leaves_nothing_behind(few_rows, tmp_path, monkeypatch):
    def fit(self, X, y):
        raise KeyboardInterrupt

    monkeypatch.setattr(NeighborhoodComponents, "fit", fit)
    result = run("demo")
    assert (result.exit_code, result.stdout) == (130, "")
    assert_one_line(result.stderr, "interrupted")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("stop", [KeyboardInterrupt, OSError("disk full")])
def test_interrupt_while_saving_keeps_the_old_picture(no_work, tmp_path, monkeypatch, stop):
    from matplotlib.figure import Figure

    def savefig(self, stream, **options):
        stream.write(b"half a pict")
        raise stop

    monkeypatch.setattr(Figure, "savefig", savefig)
    (tmp_path / "demo.png").write_bytes(b"old")
    stopped = run("demo", "--picture", "demo.png")
    assert stopped.exit_code == (130 if stop is KeyboardInterrupt else 1)
    assert [(f.name, f.read_bytes()) for f in tmp_path.iterdir()] == [("demo.png", b"old")]


@in_the_main_thread
def test_ctrl_c_inside_a_fit_ends_the_command(few_rows, tmp_path, monkeypatch):
    # Used as a library, a fit takes Ctrl-C as a wish to keep the best so far and returns.
    fit, end = NeighborhoodComponents.fit, time.monotonic() + 10
    press = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))

    def fit_for_long(self, X, y):
        if press.ident is None:
            press.start()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            while press.is_alive() and time.monotonic() < end:
                fit(self.set_params(tol=0.0, max_iter=10_000), X, y)
        return self

    monkeypatch.setattr(NeighborhoodComponents, "fit", fit_for_long)
    result = run("demo")
    assert result.exit_code == 130
    assert_one_line(result.stderr, "interrupted")
    assert list(tmp_path.iterdir()) == []
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@in_the_main_thread
def test_ctrl_c_inside_a_finalizer_ends_the_command_too(few_rows, tmp_path, monkeypatch):
    fits = []

    class Finalized:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)

    def fit(self, X, y):
        fits.append(self)
        Finalized()
        return self

    monkeypatch.setattr(NeighborhoodComponents, "fit", fit)
    monkeypatch.setattr(
        comparison, "_compile", lambda split: NeighborhoodComponents().fit(None, None)
    )
    result = run("demo")
    assert result.exit_code == 130
    assert_one_line(result.stderr, "interrupted")
    assert len(fits) == 1
    assert list(tmp_path.iterdir()) == []


def test_real_process(tmp_path):
    command = [sys.executable, "-m", "vicinal.cli", "demo"]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert told["data"] == {"name": "digits", "n_train": 1257, "n_test": 540}
    accuracy = {(s["method"], s["n_components"]): s["accuracy"] for s in told["scores"]}
    # What the demo is there to show. (The order of LDA and NCA in the plane can be chance.)
    assert accuracy["NeighborhoodComponents", 2] > accuracy["PCA", 2] + 0.05
    assert accuracy["NeighborhoodComponents", 5] > accuracy["PCA", 5]
    assert accuracy["DivergenceEmbedding", 2] > accuracy["Isomap", 2]
    density = {one["method"]: one["log_density"] for one in told["densities"]}
    mixture = density.pop("LocalComponents, mixture")
    assert density["LocalComponents"] == max(density.values())
    assert mixture > density["LocalComponents"] + 0.5
    page = (tmp_path / "vicinal-demo.html").read_text()
    assert "vicinal demo --json" in page
    assert len(page) < 6_000_000
    failed = subprocess.run(
        [*command, "-o", "no/x.html"], capture_output=True, text=True, check=False
    )
    assert (failed.returncode, failed.stdout) == (1, "")
    assert_one_line(failed.stderr, "'no' does not exist")
