"""The guide says what happens: its commands are run, one after the other; so are other pages'."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
from cli.helpers import done, flowers, run_main
from cli.test_pipes import shell

DOCS = Path(__file__).parents[2] / "docs"
GUIDE = DOCS / "command-line.md"
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
SCRIPT = re.compile(r"```bash\n(.*?)```", re.DOTALL)

# Other pages with commands, and where those that are not run below are.
OTHERS = ("checkpoints.md", "start/first-steps.md")
ELSEWHERE = {
    "scale.md": "tests/rows/test_page.py",
    "start/which-model.md": "the guide, by fewer methods: compare alone takes long",
    "start/install.md": ".ci/run, as the README's; the demo in tests/cli/commands/test_demo.py",
}


def steps(page=GUIDE):
    """Commands and what they are said to print."""
    text = "".join(BLOCK.findall(page.read_text()))
    for step in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = step.partition("\n")
        yield shlex.split(command), output


def spaced(text):
    """Words between single blanks, to be compared across line breaks."""
    return " ".join(text.split())


@pytest.mark.filterwarnings("default")
def test_the_commands_of_the_guide(capsys, monkeypatch, tmp_path):
    monkeypatch.delenv("VICINAL_DATA", raising=False)
    for (program, *args), told in steps():
        if program == "cat":
            Path(args[0]).write_text(told)
            continue
        assert program == "vicinal"
        code, out, err = run_main(capsys, *args)
        assert code == 0 or (code == 1 and told), err  # an error must be part of the guide
        for part in told.split("..."):
            assert spaced(part) in spaced(err + out), args
    assert {path.name for path in tmp_path.iterdir()} >= {"iris.html", "outliers.csv"}


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs a shell")
def test_the_pipes_of_the_guide():
    (script,) = SCRIPT.findall(GUIDE.read_text())
    done("datasets", "iris", "-q", "-o", "new.csv")
    done("datasets", "wine", "-q", "-o", "wine.csv")
    done("fit", "wine.csv", "-m", "local", "-t", "cultivar", "-q", "-o", "density.skops")
    joined = shell(f"set -e\n{script}")
    assert joined.returncode == 0, joined.stderr
    assert "species,component1" in joined.stdout


@pytest.mark.parametrize("page", OTHERS)
def test_the_commands_of_other_pages(page, capsys):
    flowers(30, 0).drop("id").write_csv("table.csv")
    for (program, *args), _ in steps(DOCS / page):
        code, _, err = run_main(capsys, *args)
        assert (program, code) == ("vicinal", 0), err


def test_no_page_has_commands_that_nobody_runs():
    found = {
        path.relative_to(DOCS).as_posix()
        for path in DOCS.rglob("*.md")
        if BLOCK.search(text := path.read_text()) or SCRIPT.search(text)
    }
    assert found == {"command-line.md", *OTHERS, *ELSEWHERE}
