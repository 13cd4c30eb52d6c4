"""Every script of the gallery runs, draws a picture and warns of nothing."""

import runpy
from pathlib import Path

import pytest
import sklearn

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(EXAMPLES.rglob("plot_*.py"))  # none in an installed package


def name_of(script):
    return f"{script.parent.name}/{script.stem}"


@pytest.fixture
def pyplot(monkeypatch):
    """Matplotlib without a screen, as it was when the script is over."""
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    monkeypatch.setattr(plt, "show", lambda *args, **options: None)
    with matplotlib.rc_context():
        yield plt
    plt.close("all")


def missing(error):
    """The package other than vicinal that is not installed, which vicinal may say in its words."""
    for cause in (error, error.__cause__):
        if isinstance(cause, ModuleNotFoundError) and not cause.name.startswith("vicinal"):
            return cause.name
    return None


def run(script):
    """Run a script as sphinx-gallery does, or skip it where a package is missing."""
    try:
        with sklearn.config_context():
            runpy.run_path(str(script), run_name="__main__")
    except ImportError as error:
        if missing(error) is None:
            raise
        pytest.skip(f"{missing(error)} is not installed")


# What other packages will retire one day is no fault of a script.
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("script", SCRIPTS, ids=name_of)
def test_a_script_draws(script, pyplot):
    run(script)
    assert pyplot.get_fignums(), "no picture"
    for number in pyplot.get_fignums():
        pyplot.figure(number).canvas.draw()


@pytest.mark.parametrize("script", SCRIPTS, ids=name_of)
def test_a_script_has_a_title(script):
    lines = script.read_text("utf-8").splitlines()
    assert lines[0].endswith('"""'), "the title begins on a line of its own"
    title, rule = lines[1:3]
    assert set(rule) == {"="}
    assert len(rule) == len(title)


def test_every_room_has_a_header():
    rooms = {script.parent for script in SCRIPTS}
    assert all((room / "GALLERY_HEADER.rst").exists() for room in rooms)
