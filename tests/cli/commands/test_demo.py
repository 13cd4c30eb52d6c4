import json
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from functools import partial

import numpy as np
import pytest
from cli.helpers import assert_one_line, run
from scipy.stats import sem
from sklearn.metrics import roc_auc_score

import vicinal
from vicinal import demo
from vicinal.demo import story
from vicinal.demo.chapters import noise, pairs
from vicinal.nca import NeighborhoodComponents

in_the_main_thread = pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(),
    reason="signals reach the main thread only",
)

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def told():
    """The story of few images, and what was said while it was told."""
    steps = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of so few points
        story = demo.tell_story(3, lambda *step: steps.append(step), n_digits=300)
    return story, steps


@pytest.fixture
def no_work(told, monkeypatch):
    """The story is there already."""

    def tell_story(seed, on_step):
        on_step("fitting", 1, 1)
        return told[0]

    monkeypatch.setattr(demo, "tell_story", tell_story)


@pytest.fixture
def few_rows(monkeypatch):
    monkeypatch.setattr(demo, "tell_story", partial(demo.tell_story, n_digits=300))


@pytest.fixture
def no_fit(monkeypatch):
    """Whoever fits has not checked first."""

    def fit(self, X, y):
        raise AssertionError("fitted before all was checked")

    monkeypatch.setattr(NeighborhoodComponents, "fit", fit)


def test_demo_tells_the_story_and_writes_a_page(no_work, told, tmp_path):
    result = run("demo", "--seed", "3")
    assert result.exit_code == 0
    for words in (
        "seed 3",
        "54 new wines",
        "as measured",
        "StandardScaler",
        "NeighborhoodComponents",
        "LatentCoincidence",
        "LocalComponents",
        "DivergenceEmbedding",
        "KernelDensity",
        *(chapter.trouble for chapter in told[0].chapters),
        *(chapter.gain_said() for chapter in told[0].chapters),
    ):
        assert words in result.stdout
    assert "Pictures, before and after: vicinal-demo.html" in result.stdout
    assert result.stderr == ""  # no progress where there is no terminal
    assert max(map(len, result.stdout.splitlines())) <= 80
    page = (tmp_path / "vicinal-demo.html").read_text()
    assert page.startswith("<!doctype html>")
    assert page.count("data:image/png") >= len(told[0].chapters)
    # The chapter and what the page finds out about the model by itself.
    learned = told[0].chapters[0].after.value
    assert f'>Learned</th><td class="number">2</td><td class="number">{learned:.1%}<' in page
    assert len(list(tmp_path.iterdir())) == 1


def test_demo_json_and_picture(no_work, tmp_path):
    result = run("demo", "--json", "--output", "story.html", "--picture", "story.png")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["version"] == vicinal.__version__
    assert (found["seed"], found["report"]) == (0, "story.html")
    names = ["units", "noise", "pairs", "density", "shapes"]
    assert [chapter["chapter"] for chapter in found["chapters"]] == names
    for chapter in found["chapters"]:
        ours = [method["is_ours"] for method in chapter["methods"]]
        assert ours == [False] * (len(ours) - 1) + [True]
        values = [method["value"] for method in chapter["methods"]]
        assert chapter["gain"] == pytest.approx(values[-1] - values[0])
        assert chapter["gain_error"] > 0
        assert chapter["methods"][-1]["fit_seconds"] > 0
    assert (tmp_path / "story.png").read_bytes().startswith(PNG)


def test_picture_is_named_where_it_was_written(no_work):
    result = run("demo", "--picture", "story.png")
    assert "vicinal-demo.html and story.png" in result.stdout


def test_accuracy_is_that_of_neighbors_among_training_points(told):
    split, before = told[0].split, told[0].chapters[0].before
    distances = ((split.X_test[:, None] - split.X_train[None]) ** 2).sum(axis=2)
    nearest = split.y_train[distances.argsort(axis=1)[:, :5]]
    votes = [[(row == c).sum() for c in range(3)] for row in nearest]
    predicted = [max(range(3), key=row.__getitem__) for row in votes]
    assert before.value == pytest.approx((predicted == split.y_test).mean())


def test_gain_and_its_error_are_of_the_same_rows(told):
    chapter = told[0].chapters[1]
    differences = chapter.after.values - chapter.before.values
    assert chapter.gain == pytest.approx(differences.mean())
    assert chapter.gain_error == pytest.approx(sem(differences))


def test_how_often_the_same_class_is_nearer():
    Z, y = np.random.default_rng(0).normal(size=(12, 2)), np.arange(12) % 3
    found = pairs._same_nearer(Z, y)
    for i, share in enumerate(found):
        others = np.delete(np.arange(12), i)
        distances = np.linalg.norm(Z[others] - Z[i], axis=1)
        assert share == pytest.approx(roc_auc_score(y[others] == y[i], -distances))


def test_digits_stand_in_a_frame_of_noise():
    X = np.arange(2 * 64.0).reshape(2, 64)
    images = noise._framed(X, seed=0).reshape(2, 16, 16)
    assert (images[:, 4:12, 4:12].reshape(2, 64) == X).all()
    assert (images[:, :4] != images[::-1, :4]).any()


def test_seeds_are_splits():
    first, again, other = (demo.load_wines(seed) for seed in (0, 0, 1))
    assert (first.X_test == again.X_test).all()
    assert (first.X_test != other.X_test).any()


def test_chapters_are_told_in_order(told):
    steps = told[1]
    assert [number for _, number, _ in steps] == sorted(number for _, number, _ in steps)
    assert {number for _, number, _ in steps} == {1, 2, 3, 4, 5}
    assert {n_chapters for _, _, n_chapters in steps} == {5}


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
        return tell_story(*args, **more)

    tell_story = demo.tell_story
    monkeypatch.setattr(demo, "tell_story", warn)
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
    monkeypatch.setattr(story, "_compile", lambda split: NeighborhoodComponents().fit(None, None))
    result = run("demo")
    assert result.exit_code == 130
    assert_one_line(result.stderr, "interrupted")
    assert len(fits) == 1
    assert list(tmp_path.iterdir()) == []


def test_real_process(tmp_path):
    command = [sys.executable, "-m", "vicinal.cli", "demo"]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    # What the demo is there to show: a gain that is no chance, in every chapter.
    for chapter in found["chapters"]:
        assert chapter["gain"] > 2 * chapter["gain_error"], chapter["chapter"]
        values = [method["value"] for method in chapter["methods"]]
        assert values[-1] == max(values), chapter["chapter"]
    page = (tmp_path / "vicinal-demo.html").read_text()
    assert "vicinal demo --json" in page
    assert len(page) < 6_000_000
    failed = subprocess.run(
        [*command, "-o", "no/x.html"], capture_output=True, text=True, check=False
    )
    assert (failed.returncode, failed.stdout) == (1, "")
    assert_one_line(failed.stderr, "'no' does not exist")
