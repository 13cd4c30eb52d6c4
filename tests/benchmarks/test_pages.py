"""Pages of results, the command lines they name, and what is written in their tables."""

import re

import pytest

pages = pytest.importorskip("benchmarks.common.pages", reason="benchmarks/ is not here")

from benchmarks.common.command import arguments, shown_command  # noqa: E402
from benchmarks.common.means import Mean  # noqa: E402
from benchmarks.common.records import Records  # noqa: E402
from benchmarks.common.timing import in_turns  # noqa: E402


def test_a_page_says_command_date_machine_and_versions(capsys):
    page = pages.Page("A title", ["pytest"])
    title, *fields = [line for line in page.lines if line]
    assert title == "# A title\n"
    assert re.fullmatch(r"- command: `python -m \S+.*`", fields[0])
    assert re.fullmatch(r"- date: \d{4}-\d\d-\d\d", fields[1])
    assert re.fullmatch(r"- machine: .+, \d+ cores, \w+", fields[2])
    versions = "Python .+, vicinal .+, numpy .+, scipy .+, scikit-learn .+, numba .+, pytest .+"
    assert re.fullmatch(f"- versions: {versions}", fields[3])
    assert capsys.readouterr().out == "\n".join(page.lines) + "\n"


def test_a_page_is_saved_as_it_was_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(pages, "RESULTS", tmp_path)
    page = pages.Page("A title")
    row = page.table(["set", "d"])
    row("iris", 2)
    page.save("page")
    printed = capsys.readouterr().out
    assert (tmp_path / "page.md").read_text() == printed
    assert printed.endswith("| set | d |\n|---|---|\n| iris | 2 |\n")


def test_a_section_of_another_program_has_its_place_on_a_page(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "RESULTS", tmp_path)
    page, tests = pages.Page("Speed"), pages.Page("Tests", is_section=True)
    page.say("## Passes\n\nfast")
    tests.save_as_section("page")  # alone, before there is a page
    page.save("page", keep=["Tests"])
    both = "\n".join([*page.lines, "", *tests.lines]).rstrip() + "\n"
    assert (tmp_path / "page.md").read_text() == both
    tests.say("all passed")
    tests.save_as_section("page")  # in place of the one before
    page.save("page", keep=["Tests"])
    assert (tmp_path / "page.md").read_text() == both + "\nall passed\n"
    assert "## Tests\n\n- command: " in both


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ([], ""),
        (["--save", "--n", "10"], " --n 10"),
        (["--metric-learn", "/home/me/env/bin/python"], " --metric-learn PYTHON"),
        (["--torch=env/bin/python", "--limit=5"], " --torch=PYTHON --limit=5"),
        (["--raw", "mine.jsonl", "--folder", "here"], " --raw FILE --folder FOLDER"),
        (["--figure", "/tmp/peers.png"], " --figure peers.png"),
        (["--contenders", "vicinal, 1 thread"], " --contenders 'vicinal, 1 thread'"),
    ],
)
def test_the_command_of_a_page_names_no_folder_of_a_machine(words, shown):
    assert shown_command("benchmarks.kde", words) == "python -m benchmarks.kde" + shown


def test_every_benchmark_can_write_its_page():
    assert arguments("What it does.").parse_args(["--save"]).save


@pytest.mark.parametrize(
    ("mean", "words"),
    [
        (Mean.of([1.0]), "1.0"),
        (Mean.of([1.0, 3.0]), "2.0 ± 1.0"),
        (Mean.of_shares([0.25, 0.75]), "50.0 ± 25.0"),
    ],
)
def test_means_have_an_error_where_there_are_several(mean, words):
    assert mean.words() == words
    assert mean.words(1, "+") == f"+{words}"


def test_what_was_measured_is_known_to_the_next_run(tmp_path):
    path = tmp_path / "rows.jsonl"
    first = Records(path, ["set", "seed"])
    first.add({"set": "iris", "seed": 0, "seconds": 1.0})
    first.add({"set": "iris", "seed": 0, "seconds": 2.0})
    again = Records(path, ["set", "seed"])
    assert again.get(("iris", 0))["seconds"] == 2.0
    assert again.get(("iris", 1)) is None


def test_measurements_take_turns():
    order = []
    measures = {name: lambda name=name: order.append(name) or len(order) for name in "ab"}
    assert in_turns(measures, 2) == {"a": [1, 3], "b": [2, 4]}
    assert order == ["a", "b", "a", "b"]
