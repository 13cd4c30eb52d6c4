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
from typer.testing import CliRunner

import vicinal
from vicinal import demo
from vicinal.cli import build_app, main
from vicinal.nca import NeighborhoodComponents

in_the_main_thread = pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(),
    reason="signals reach the main thread only",
)

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def few_rows(monkeypatch):
    monkeypatch.setattr(demo, "load_split", partial(demo.load_split, n_rows=200))


@pytest.fixture
def no_fit(monkeypatch):
    """Whoever fits has not checked first."""

    def fit(self, X, y):
        raise AssertionError("fitted before all was checked")

    monkeypatch.setattr(NeighborhoodComponents, "fit", fit)


def run(*args):
    try:
        runner = CliRunner(mix_stderr=False)
    except TypeError:  # newer ones never mix
        runner = CliRunner()
    return runner.invoke(build_app(), args)


def run_main(capsys, *args):
    """Exit code, stdout and stderr of the entry point."""
    with pytest.raises(SystemExit) as ended:
        main(args)
    if isinstance(ended.value.code, str):  # as the interpreter does with it
        return 1, capsys.readouterr().out, ended.value.code + "\n"
    return ended.value.code, *capsys.readouterr()


def assert_one_line(text, *parts):
    assert text.count("\n") == 1
    assert text.endswith("\n")
    assert "Traceback" not in text
    for part in parts:
        assert part in text


def test_demo_prints_a_table_and_saves_a_picture(few_rows, tmp_path):
    result = run("demo", "--seed", "3")
    assert result.exit_code == 0
    for words in ("140 training and 60 test", "seed 3", "Raw pixels", "PCA", "LDA", "own rule"):
        assert words in result.stdout
    assert "Picture: vicinal-demo.png" in result.stdout
    assert result.stderr == ""  # no progress where there is no terminal
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert (tmp_path / "vicinal-demo.png").read_bytes().startswith(PNG)
    assert len(list(tmp_path.iterdir())) == 1


def test_demo_json(few_rows, tmp_path):
    result = run("demo", "--json", "--output", "digits.svg")
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert set(told) == {"version", "seed", "picture", "data", "n_neighbors", "scores"}
    assert told["version"] == vicinal.__version__
    assert (told["seed"], told["picture"], told["n_neighbors"]) == (0, "digits.svg", 5)
    assert told["data"] == {"name": "digits", "n_train": 140, "n_test": 60}
    described = [(s["method"], s["rule"], s["n_components"]) for s in told["scores"]]
    assert described == [
        ("Raw pixels", "5-NN", 64),
        *[(method, "5-NN", 5) for method in ("PCA", "LDA", "NCA")],
        ("NCA", "own rule", 5),
        *[(method, "5-NN", 2) for method in ("PCA", "LDA", "NCA")],
        ("NCA", "own rule", 2),
    ]
    assert all(0.2 < s["accuracy"] <= 1 for s in told["scores"])
    assert told["scores"][0]["fit_seconds"] is None
    assert all(s["fit_seconds"] > 0 for s in told["scores"][1:])
    assert b"<svg" in (tmp_path / "digits.svg").read_bytes()


def test_same_seed_same_numbers_and_another_seed_others():
    def accuracies(seed):
        scores = demo.compare(demo.load_split(seed, n_rows=200)).scores
        return [score.accuracy for score in scores]

    assert accuracies(0) == accuracies(0) != accuracies(1)


def test_accuracy_is_that_of_neighbors_among_training_points():
    split = demo.load_split(n_rows=200)
    score = demo.compare(split).scores[0]
    distances = ((split.X_test[:, None] - split.X_train[None]) ** 2).sum(axis=2)
    nearest = split.y_train[distances.argsort(axis=1)[:, :5]]
    votes = [[(row == c).sum() for c in range(10)] for row in nearest]
    predicted = [max(range(10), key=row.__getitem__) for row in votes]
    assert score.accuracy == pytest.approx((predicted == split.y_test).mean())


def test_steps_are_told_in_order():
    told = []
    demo.compare(demo.load_split(n_rows=200), lambda *step: told.append(step))
    assert [step for _, step, _ in told] == list(range(1, 8))
    assert {n_steps for _, _, n_steps in told} == {7}
    assert told[-1][0] == "Fitting NCA in 2 dimensions"


def test_no_arguments_show_help(capsys):
    code, out, err = run_main(capsys)
    assert (code, err) == (0, "")
    assert "Usage: vicinal" in out
    assert "demo" in out


def test_help_has_an_example():
    assert "Example: vicinal demo --seed 1 --output digits.png" in run("demo", "--help").stdout


def test_version(capsys):
    assert run_main(capsys, "--version") == (0, f"vicinal {vicinal.__version__}\n", "")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["demo", "--sead", "1"], "--sead"),
        (["demo", "--seed", "one"], "--seed"),
        (["dance"], "dance"),
    ],
)
def test_wrong_arguments(capsys, args, said):
    code, out, err = run_main(capsys, *args)
    assert (code, out) == (2, "")
    assert_one_line(err, said, "--help'")


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("nowhere/demo.png", "'nowhere' does not exist"),
        ("demo.xyz", ".png, .pdf or .svg"),
        ("demo", ".png, .pdf or .svg"),
        ("folder.png", "not a regular file"),
    ],
)
def test_output_that_cannot_be_written(no_fit, tmp_path, output, said):
    (tmp_path / "folder.png").mkdir()
    result = run("demo", "--output", output)
    assert (result.exit_code, result.stdout) == (1, "")
    assert_one_line(result.stderr, said, output.split("/")[0])


def test_output_folder_that_is_not_writable(no_fit, monkeypatch):
    # Root may write everywhere, so the answer of the system is made up.
    monkeypatch.setattr(os, "access", lambda *args, **more: False)
    result = run("demo")
    assert result.exit_code == 1
    assert_one_line(result.stderr, "not writable")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_output_never_replaces_what_is_no_file(no_fit, tmp_path):
    os.mkfifo(tmp_path / "pipe.png")
    assert run("demo", "--output", "pipe.png").exit_code == 1
    assert (tmp_path / "pipe.png").is_fifo()


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


def test_warnings_are_one_line(few_rows, monkeypatch):
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


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_the_extra_for_the_command_line(capsys, monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    code, out, err = run_main(capsys, "demo")
    assert (code, out) == (1, "")
    assert_one_line(err, "needs the extra 'cli': pip install 'vicinal[cli]'")


def test_without_matplotlib_nothing_is_fitted(no_fit, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run("demo")
    assert (result.exit_code, result.stdout) == (1, "")
    assert_one_line(result.stderr, "pip install 'vicinal[report]'")


def test_interrupt_leaves_nothing_behind(few_rows, tmp_path, monkeypatch):
    def fit(self, X, y):
        raise KeyboardInterrupt

    monkeypatch.setattr(NeighborhoodComponents, "fit", fit)
    result = run("demo")
    assert (result.exit_code, result.stdout) == (130, "")
    assert_one_line(result.stderr, "interrupted")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("stop", [KeyboardInterrupt, OSError("disk full")])
def test_interrupt_while_saving_keeps_the_old_picture(few_rows, tmp_path, monkeypatch, stop):
    from matplotlib.figure import Figure

    def savefig(self, stream, **options):
        stream.write(b"half a pict")
        raise stop

    monkeypatch.setattr(Figure, "savefig", savefig)
    (tmp_path / "vicinal-demo.png").write_bytes(b"old")
    assert run("demo").exit_code == (130 if stop is KeyboardInterrupt else 1)
    assert [(f.name, f.read_bytes()) for f in tmp_path.iterdir()] == [("vicinal-demo.png", b"old")]


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
    monkeypatch.setattr(demo, "_compile", lambda split: NeighborhoodComponents().fit(None, None))
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
    accuracy = {(s["method"], s["n_components"], s["rule"]): s["accuracy"] for s in told["scores"]}
    # What the demo is there to show. (The order of LDA and NCA in the plane can be chance.)
    assert accuracy["NCA", 2, "5-NN"] > accuracy["PCA", 2, "5-NN"] + 0.05
    assert accuracy["NCA", 5, "5-NN"] > accuracy["PCA", 5, "5-NN"]
    assert (tmp_path / "vicinal-demo.png").read_bytes().startswith(PNG)
    failed = subprocess.run(
        [*command, "-o", "no/x.png"], capture_output=True, text=True, check=False
    )
    assert (failed.returncode, failed.stdout) == (1, "")
    assert_one_line(failed.stderr, "'no' does not exist")


def test_importing_the_command_line_is_light():
    heavy = "typer", "rich", "numpy", "sklearn", "matplotlib"
    code = f"import sys, vicinal.cli; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
