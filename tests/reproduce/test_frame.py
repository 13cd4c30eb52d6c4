"""The frame of reproduce/: units, lines that survive, verdicts by rule, pages."""

import json
import math
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("reproduce", reason="reproduce/ is not here")

from benchmarks.common.means import Mean
from reproduce import gallery, report, running
from reproduce.__main__ import main
from reproduce.experiment import (
    MODES,
    Experiment,
    Measured,
    NothingToDraw,
    Paper,
    drawable,
    units,
)
from reproduce.lines import Lines, measured
from reproduce.means import means, means_of, whole_grids
from reproduce.pages import verdict_table
from reproduce.papers import PAPERS, chosen
from reproduce.verdicts import Verdict, judge, of_claim, of_number, shown

CONFIG = """
[squares.full]
runs = 3
base = [2, 3]
power = 2

[squares.quick]
runs = 1
base = [2]
power = 2
"""
EXPECTED = """
[squares.numbers]
"2/value" = "5.0 ± 0.1"
"3/value" = "12.00"

[[squares.claims]]
says = "larger numbers have larger squares"
order = "2/value < 3/value < 100"
"""


class Toy:
    """A paper of one item, which tells what was measured, and may be interrupted."""

    def __init__(self, folder, monkeypatch):
        (folder / "config.toml").write_text(CONFIG)
        (folder / "expected.toml").write_text(EXPECTED)
        monkeypatch.setattr(Paper, "folder", folder)
        self.seen, self.interrupt_after = [], math.inf
        self.item = Experiment("squares", "Table 1, squares", self.measure)
        self.paper = Paper("toy", "A toy", (self.item,))
        self.path = folder / "results" / "full" / "squares.jsonl"

    def measure(self, unit):
        if len(self.seen) >= self.interrupt_after:
            raise KeyboardInterrupt
        self.seen.append(unit)
        return {"value": unit["base"] ** unit["power"] + unit["seed"], "curve": [1, 2]}

    def run(self, mode="full", **options):
        return running.run(self.paper, self.item, mode, **options)


@pytest.fixture
def toy(tmp_path, monkeypatch):
    return Toy(tmp_path, monkeypatch)


def test_units_are_all_combinations_and_seeds_change_last():
    found = units({"runs": 2, "set": ["a", "b"], "n": 5})
    words = [(unit["seed"], unit["set"], unit["n"]) for unit in found]
    assert words == [(0, "a", 5), (0, "b", 5), (1, "a", 5), (1, "b", 5)]


def of_a_process(unit):
    return {"value": unit["base"], "process": os.getpid()}


def test_units_are_shared_out_among_processes(toy):
    item = Experiment("squares", "Table 1, squares", of_a_process)
    assert running.run(toy.paper, item, "full", jobs=2)
    lines = Lines(toy.path).of(units(toy.paper.settings(item, "full")))
    assert len(lines) == 6
    assert os.getpid() not in {line.found["process"] for line in lines}
    assert all(line.found["value"] == line.unit["base"] for line in lines)


def test_a_run_goes_on_where_it_was_interrupted(toy):
    toy.interrupt_after = 4
    with pytest.raises(KeyboardInterrupt):
        toy.run()
    assert "4 of 6 units" in toy.path.with_suffix(".md").read_text()
    toy.interrupt_after = math.inf
    assert toy.run()
    assert toy.seen == units(toy.paper.settings(toy.item, "full"))  # none of them twice
    assert toy.run()
    assert len(toy.seen) == 6
    assert toy.run(again=True)
    assert len(toy.seen) == 12


def test_a_run_that_has_no_time_left_begins_nothing(toy):
    assert not toy.run(minutes=-1)
    assert toy.seen == []


def test_whoever_stops_a_run_is_told_that_it_can_go_on(monkeypatch, capsys):
    def stop(*args, **wishes):
        raise KeyboardInterrupt

    monkeypatch.setattr("reproduce.__main__.run", stop)
    with pytest.raises(SystemExit) as stopped:
        main(["run", "local-components/figure-2"])
    assert stopped.value.code == 130
    assert "the same command goes on" in capsys.readouterr().err


def test_some_units_only_may_be_begun(toy):
    assert not toy.run(only={"base": ["3"], "seed": ["0", "2"]})
    assert [(unit["base"], unit["seed"]) for unit in toy.seen] == [(3, 0), (3, 2)]
    assert toy.run()
    assert len(toy.seen) == 6
    with pytest.raises(SystemExit, match="only base=5: no unit of squares has that"):
        toy.run(only={"base": ["5"]})
    with pytest.raises(SystemExit, match="settings of squares are seed, base, power"):
        toy.run(only={"nothing": ["None"]})


def test_measuring_some_units_again_leaves_the_others(toy):
    toy.run()
    assert toy.run(only={"base": ["3"]}, again=True)
    assert [unit["base"] for unit in toy.seen[6:]] == [3, 3, 3]


def test_a_figure_is_drawn_as_soon_as_there_is_something_to_draw(toy):
    from matplotlib.figure import Figure

    def draw(all_measured):
        figure = Figure()
        figure.subplots().plot(drawable(all_measured, "late")[0].found["late"])
        return figure

    def measure(unit):
        return {"value": 1.0, "late": [1, 2] if unit["base"] == 3 else []}

    item = Experiment("squares", "", measure, draw, "What is to be seen.")
    running.run(toy.paper, item, "full", only={"base": ["2"]})
    picture, page = toy.path.with_suffix(".png"), toy.path.with_suffix(".md")
    assert not picture.exists()
    assert "What is to be seen." not in page.read_text()
    running.run(toy.paper, item, "full", only={"base": ["3"]})
    assert picture.exists()
    assert "(squares.png)\n\nWhat is to be seen." in page.read_text()
    running.run(toy.paper, item, "full", only={"base": ["2"]}, again=True, minutes=-1)
    assert picture.exists()


def test_the_best_of_a_part_of_a_grid_is_no_number(toy):
    def best(group):
        yield {"best": max(found["value"] for _, found in group)}

    item = Experiment("squares", "", toy.measure, over=("base",), gather=best)
    running.run(toy.paper, item, "full", only={"base": ["2"]})
    assert "best" not in toy.path.with_suffix(".md").read_text()
    running.run(toy.paper, item, "full", only={"seed": ["0"]})
    assert "| `best` | 9 |" in toy.path.with_suffix(".md").read_text()


def test_other_settings_are_other_units(toy):
    toy.run()
    config = toy.paper.folder / "config.toml"
    config.write_text(config.read_text().replace("power = 2", "power = 3"))
    toy.run()
    assert [unit["power"] for unit in toy.seen] == 6 * [2] + 6 * [3]


@pytest.mark.parametrize("damage", ['{"unit": {"seed"', "[1, 2]", '{"unit": {}}', "null", "\x00"])
def test_a_broken_line_is_told_of_and_measured_again(toy, damage):
    toy.run()
    lines = toy.path.read_text().splitlines()
    toy.path.write_text("\n".join([*lines[:2], damage, *lines[3:]]) + "\n")
    with pytest.warns(UserWarning, match="1 unreadable line"):
        assert toy.run()
    assert len(toy.seen) == 7
    assert toy.seen[-1] == toy.seen[2]
    assert len([json.loads(line) for line in toy.path.read_text().splitlines()]) == 6


def test_items_may_share_what_was_measured(toy, tmp_path):
    first, second = (
        Experiment(name, "", toy.measure, kept_with="both") for name in ("squares", "few-squares")
    )
    config = tmp_path / "config.toml"
    few = CONFIG.replace("squares", "few-squares").replace("[2, 3]", "[3, 4]")
    config.write_text(CONFIG + few)
    running.run(toy.paper, first, "full")
    running.run(toy.paper, second, "full")
    assert [unit["base"] for unit in toy.seen] == 3 * [2, 3] + 3 * [4]
    running.run(toy.paper, second, "full", again=True)  # leaves what only the first one wants
    running.run(toy.paper, first, "full")
    assert [unit["base"] for unit in toy.seen[9:]] == 3 * [3, 4]
    assert report.standing(toy.paper, second).words.startswith("full settings: 6 of 6 units")


def test_what_others_have_measured_does_not_begin_an_item(toy, tmp_path):
    first, second = (
        Experiment(name, "", toy.measure, kept_with="both") for name in ("squares", "few-squares")
    )
    config = tmp_path / "config.toml"
    config.write_text(CONFIG + CONFIG.replace("squares", "few-squares"))
    running.run(toy.paper, first, "full")
    running.run(toy.paper, second, "quick")
    standing = report.standing(toy.paper, second)
    assert standing.words.startswith("quick settings only: 1 of 1")


def test_runs_at_the_same_time_keep_what_the_others_find(tmp_path):
    first, second = (Lines(tmp_path / "x.jsonl") for _ in range(2))
    for n in (1, 2):
        first.add({"seed": 0, "n": n}, {"value": 2.0}, 0.1)
        second.add({"seed": 1, "n": n}, {"value": 3.0}, 0.1)
    units_of_both = [{"seed": seed, "n": n} for seed in (0, 1) for n in (1, 2)]
    assert Lines(tmp_path / "x.jsonl").missing(units_of_both) == []
    second.forget(units_of_both[:1])
    second.add(units_of_both[-1], {"value": 4.0}, 0.1)
    assert Lines(tmp_path / "x.jsonl").missing(units_of_both) == units_of_both[:1]


def test_a_place_for_results_is_looked_for_before_anything_is_measured(toy):
    toy.path.parent.parent.write_text("a file where the folder should be")
    with pytest.raises(SystemExit, match="results cannot be kept in"):
        toy.run()
    assert toy.seen == []


def test_lines_are_found_whatever_the_order_of_their_settings(tmp_path):
    Lines(tmp_path / "x.jsonl").add({"seed": 0, "n": 1}, {"value": 2.0}, 0.1)
    assert Lines(tmp_path / "x.jsonl").missing([{"n": 1, "seed": 0}]) == []


def test_means_are_named_by_what_is_varied():
    pairs = [("a", 1.0), ("a", 3.0), ("b", 5.0)]
    all_measured = [
        Measured({"seed": i, "set": name, "n": 5}, {"x": value, "points": [1]})
        for i, (name, value) in enumerate(pairs)
    ]
    assert means(all_measured, ["set"]) == {"a/x": Mean(2.0, 1.0, 2), "b/x": Mean(5.0, None, 1)}


def test_numbers_are_gathered_over_what_has_no_name():
    def best_and_all(group):
        yield {"best": max(found["x"] for _, found in group)}
        yield from ({"each": found["x"]} for _, found in group)

    item = Experiment("grid", "", dict, over=("k",), gather=best_and_all)
    settings = {"runs": 1, "k": [1, 2], "set": ["a", "b"]}
    all_measured = [
        Measured(unit, {"x": 10.0 * unit["k"] + (unit["set"] == "b")}) for unit in units(settings)
    ]
    found = means_of(item, settings, all_measured)
    assert {name: mean.value for name, mean in found.items()} == {
        "a/best": 20.0,
        "a/each": 15.0,
        "b/best": 21.0,
        "b/each": 16.0,
    }
    assert found["a/each"].error == pytest.approx(5.0)


@pytest.mark.parametrize(
    ("ours", "printed", "verdict"),
    [
        (Mean(19.5, 0.1), "19.09 ± 0.39", Verdict.AGREES),
        (Mean(19.5, 0.1), "19.09 ± 0.10", Verdict.DIFFERS),
        (Mean(19.099), "19.09", Verdict.AGREES),  # twice half of the last digit
        (Mean(19.101), "19.09", Verdict.DIFFERS),
        (Mean(-0.1, 0.01), "-0.10 ± 0.03", Verdict.AGREES),
        (Mean(0.1, 0.01), "-0.10 ± 0.03", Verdict.DIFFERS),
        (Mean(19.5), "19.09 ± 0.39", Verdict.AGREES),  # one run: the paper's noise only
        (Mean(math.nan, math.nan), "19.09", Verdict.DIFFERS),
        (Mean(25.0, 4.0, 5), "19.09", Verdict.AGREES),
        (Mean(25.0, 4.0, 4), "19.09", Verdict.DIFFERS),  # too few runs to tell an error
    ],
)
def test_numbers_agree_within_noise_and_rounding(ours, printed, verdict):
    assert of_number("x", printed, [], {"x": ours}) == verdict


def test_a_number_may_keep_its_place():
    ours = {"a": Mean(1.0), "b": Mean(2.0), "c": Mean(1.5)}
    assert of_number("a", "100", ["a < b"], ours) == Verdict.ORDERING
    assert of_number("b", "100", ["a < b < c"], ours) == Verdict.DIFFERS
    assert of_number("a", "100", ["a < b < c"], ours) == Verdict.ORDERING  # c < b is not its fault
    assert of_number("a", "100", ["a < b", "a = c"], ours) == Verdict.ORDERING  # c: cannot be told
    assert of_number("a", "100", ["a = c"], ours) == Verdict.DIFFERS
    assert of_number("missing", "100", [], ours) == Verdict.MISSING


@pytest.mark.parametrize(
    ("order", "verdict"),
    [
        ("a < b < 3", Verdict.ORDERING),
        ("b < a", Verdict.DIFFERS),
        ("a = c < b", Verdict.ORDERING),  # within two standard errors of the difference
        ("a = b", Verdict.DIFFERS),
        ("a < nobody", Verdict.MISSING),
        ("d = e", Verdict.UNTOLD),  # measured once: no error to tell by
        ("h = d", Verdict.UNTOLD),  # or too few times
        ("d = nobody", Verdict.MISSING),
        ("h = a", Verdict.DIFFERS),
        ("a = e", Verdict.ORDERING),
        ("a < d", Verdict.DIFFERS),  # a tie
        ("i < d", Verdict.DIFFERS),  # but for the order in which numbers were added
        ("-0.5 < f < 0.5", Verdict.ORDERING),
        ("f < -0.5", Verdict.DIFFERS),
        ("g < 1", Verdict.DIFFERS),
    ],
)
def test_claims_are_chains(order, verdict):
    ours = {"a": Mean(1.0, 0.1), "b": Mean(2.0, 0.1), "c": Mean(1.2, 0.1)}
    ours |= {"d": Mean(1.0), "e": Mean(1.1), "f": Mean(-0.2), "g": Mean(math.nan)}
    ours |= {"h": Mean(2.0, 9.0, 4), "i": Mean(1.0 - 1e-15)}
    assert of_claim(order, ours) == verdict


@pytest.mark.parametrize("order", ["a <= b", "a <", "a", "a > b", ""])
def test_what_is_no_chain_is_told_of(order):
    with pytest.raises(ValueError, match="no chain"):
        of_claim(order, {"a": Mean(1.0), "b": Mean(2.0)})


@pytest.mark.parametrize(
    ("mean", "words"),
    [
        (None, "-"),
        (Mean(1.23456789), "1.2346"),
        (Mean(80.46, 0.0), "80.46 ± 0"),
        (Mean(80.46, 1e-15), "80.46 ± 0"),
        (Mean(0.0, 0.0), "0 ± 0"),
        (Mean(0.46977, 2.4e-5), "0.469770 ± 0.000024"),
        (Mean(-0.1234, 0.0123), "-0.123 ± 0.012"),
        (Mean(1206.84, 88.3), "1206.8 ± 88.3"),
        (Mean(math.nan, math.nan), "nan ± nan"),
        (Mean(math.inf, math.nan), "inf ± nan"),
    ],
)
def test_numbers_are_shown_with_the_digits_their_error_bears(mean, words):
    assert shown(mean) == words


def test_the_report_counts_verdicts(toy, tmp_path, monkeypatch):
    toy.run()
    report.write_report([toy.paper], tmp_path / "page" / "papers.md")
    text = (tmp_path / "page" / "papers.md").read_text()
    assert "| A toy | full | 1 | 1 | 2 | 0 | 0 | 0 |" in text
    assert "| A toy | quick" not in text
    assert "| [Table 1, squares](#table-1-squares) | full | 6 of 6 | 1 | 2 | 0 | 0 | 0 |" in text
    assert "| `2/value` | 5.0 ± 0.1 | 5.00 ± 0.58 | agrees within noise |" in text
    assert "full settings: 6 of 6 units" in text


def test_a_part_of_a_full_run_and_what_is_no_result_are_counted_apart(toy, tmp_path):
    toy.run(only={"base": ["3"]})
    report.write_report([toy.paper], tmp_path / "papers.md")
    text = (tmp_path / "papers.md").read_text()
    assert "| A toy | full, in part | 1 | 0 | 1 | 0 | 0 | 2 |" in text
    assert "| A toy | full |" not in text
    (tmp_path / "expected.toml").write_text('[squares]\nabout = "data"\n' + EXPECTED)
    report.write_report([toy.paper], tmp_path / "papers.md")
    assert "| A toy | data | 1 | 0 | 1 | 0 | 0 | 2 |" in (tmp_path / "papers.md").read_text()


def test_headings_of_the_report_are_its_marks():
    titles = [item.what for paper in PAPERS for item in paper.experiments]
    assert len({report.anchor(title) for title in titles}) == len(titles)
    assert report.anchor("Figure 3.2, Euclid's start") == "figure-32-euclids-start"


def test_pages_are_brought_up_to_other_expectations(toy):
    toy.run()
    page, expected = toy.path.with_suffix(".md"), toy.paper.folder / "expected.toml"
    page.write_text(page.read_text().replace("- command: ", "- command: once upon a time "))
    expected.write_text(EXPECTED.replace("12.00", "10.00"))
    report.refresh_pages([toy.paper])
    assert "- command: once upon a time " in page.read_text()
    assert "| `3/value` | 10.00 | 10.00 ± 0.58 | agrees within noise |" in page.read_text()
    assert "6 of 6 units" in page.read_text()


@pytest.mark.parametrize(
    ("written", "page"), [(report._page, report.PAGE), (gallery._page, gallery.GALLERY)]
)
def test_pages_are_those_of_the_results(written, page):
    """`python -m reproduce report` writes both: after every run whose results are kept."""
    text = "\n".join(written(PAPERS, page.parent)).rstrip() + "\n"
    assert text == page.read_text("utf-8")


def test_the_gallery_has_figures_with_what_the_paper_says(toy, tmp_path):
    from matplotlib.figure import Figure

    def draw(all_measured):
        figure = Figure()
        figure.subplots().plot([found["value"] for _, found in all_measured])
        return figure

    item = Experiment("squares", "Figure 1", toy.measure, draw, "What it shows.")
    running.run(toy.paper, item, "full")
    paper = Paper("toy", "A toy", (item,))
    gallery.write_gallery([paper], tmp_path / "figures.md")
    text = (tmp_path / "figures.md").read_text()
    assert "### Figure 1\n\n![squares](results/full/squares.png)\n\nWhat it shows." in text
    claim = "| larger numbers have larger squares | `2/value < 3/value < 100`: 5.00 ± 0.58, 10.00"
    assert claim in text
    assert "2 printed numbers are judged, too. [All of it](papers.md#figure-1)" in text
    toy.path.with_suffix(".png").unlink()
    gallery.write_gallery([paper], tmp_path / "figures.md")
    assert "Figure 1" not in (tmp_path / "figures.md").read_text()


def test_the_report_says_where_only_a_quick_run_was_made(toy):
    assert report.standing(toy.paper, toy.item).words == "not run"
    toy.run("quick")
    standing = report.standing(toy.paper, toy.item)
    assert standing.words.startswith("quick settings only: 1 of 1")
    verdicts = [one.verdict for one in standing.judged]
    assert verdicts == [Verdict.ORDERING, Verdict.MISSING, Verdict.MISSING]  # 4 is below 100


def test_a_data_set_that_is_not_here_is_named(toy, monkeypatch):
    monkeypatch.setattr(running.datasets, "is_available", lambda name: False)
    item = Experiment("squares", "", toy.measure, needs=("usps",))
    with pytest.raises(running.datasets.DatasetUnavailable, match=r"usps.*VICINAL_DATA"):
        running.run(toy.paper, item, "quick")


def test_a_reader_of_the_list_may_leave_before_its_end():
    root = Path(__file__).parents[2]
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "reproduce", "list"]
    with open(writer, "wb") as closed:
        done = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, cwd=root, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_command_line_lists_every_item_and_refuses_others(capsys):
    main(["list"])
    out = capsys.readouterr().out
    assert all(
        f"{paper.name}/{item.name}: " in out for paper in PAPERS for item in paper.experiments
    )
    with pytest.raises(SystemExit, match="'nobody' is no item"):
        main(["run", "nobody"])
    for words in (["--only", "set"], ["--jobs", "0"], ["--jobs", "many"]):
        with pytest.raises(SystemExit):
            main(["run", "local-components/figure-2", *words])
        assert words[0] in capsys.readouterr().err
    assert [item for _, item in chosen(PAPERS[0].name)] == list(PAPERS[0].experiments)


def test_a_setting_may_be_named_twice_and_items_without_data_are_told_of(monkeypatch):
    asked = {}

    def note(paper, item, mode, *, only, **wishes):
        asked[item.name] = only
        if item.name == "figure-5":
            raise running.datasets.DatasetUnavailable("figure-5 needs usps")

    monkeypatch.setattr("reproduce.__main__.run", note)
    with pytest.raises(SystemExit, match="local-components/figure-5: figure-5 needs usps"):
        main(["run", "local-components", "--only", "set=a,b", "--only", "set=c"])
    assert list(asked) == [item.name for item in PAPERS[1].experiments]  # all, to the last
    assert asked["figure-5"] == {"set": ["a", "b", "c"]}


ITEMS = [(paper, item) for paper in PAPERS for item in paper.experiments]
DRAWN = [(paper, item) for paper, item in ITEMS if item.draw is not None]


def quick_results(paper, item):
    """As they are kept in the repository."""
    lines = Lines(running.results_folder(paper, "quick") / item.lines_file)
    return measured(lines.of(units(paper.settings(item, "quick"))))


@pytest.mark.parametrize(("paper", "item"), DRAWN, ids=lambda part: part.name)
def test_figures_are_drawn_from_what_was_measured_and_nothing_is_cut_off(paper, item):
    figure = item.draw(quick_results(paper, item))
    figure.draw_without_rendering()  # titles and ticks, too
    assert all(ax.has_data() for ax in figure.axes)
    ink, sheet = figure.get_tightbbox(), figure.bbox_inches
    assert min(ink.x0, ink.y0) > -0.02
    assert ink.x1 < sheet.x1 + 0.02
    assert ink.y1 < sheet.y1 + 0.02
    assert item.caption


@pytest.mark.parametrize(("paper", "item"), DRAWN, ids=lambda part: part.name)
def test_figures_are_drawn_of_a_part_of_the_units(paper, item):
    """Whoever stops a run after its first unit, or begins some units only, gets no error."""
    settings, found = paper.settings(item, "quick"), quick_results(paper, item)
    later = [one for one in found if one.unit["seed"] > 0]
    for part in (found[:1], found[-1:], later):
        if known := whole_grids(item, settings, part):
            with suppress(NothingToDraw):
                item.draw(known)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("paper", "item"), ITEMS, ids=lambda part: part.name)
def test_pages_of_items_have_the_verdicts_of_their_results(paper, item, mode):
    settings, folder = paper.settings(item, mode), running.results_folder(paper, mode)
    page = folder / f"{item.name}.md"
    if not page.exists():
        pytest.skip("it was not run")
    found = measured(Lines(folder / item.lines_file).of(units(settings)))
    judged = judge(paper.expected(item), means_of(item, settings, found))
    assert set(verdict_table(judged) if judged else ()) <= set(page.read_text().splitlines())


@pytest.mark.parametrize(("paper", "item"), ITEMS, ids=lambda part: part.name)
def test_every_item_has_settings_and_expectations_that_fit_them(paper, item):
    """A name that no unit could have would be "not run" for ever."""
    settings = paper.settings(item, "full")
    assert set(settings) == set(paper.settings(item, "quick"))
    words = {
        "/".join(str(unit[name]) for name in item.naming(settings))
        for unit in units({**settings, "runs": 1})
    }
    expected = paper.expected(item)
    named = set(expected.get("numbers", {}))
    for claim in expected.get("claims", []):
        parts = (part.strip() for part in claim["order"].replace("=", "<").split("<"))
        named |= {part for part in parts if not part.replace(".", "").removeprefix("-").isdigit()}
    assert {name.rpartition("/")[0] for name in named} <= words
    found = means_of(item, paper.settings(item, "quick"), quick_results(paper, item))
    assert {_last(name) for name in named} <= {_last(name) for name in found}
    assert set(expected) <= {"numbers", "claims", "about"}
    assert expected.get("about", "data") == "data"


def _last(name):
    """What `measure` calls a number."""
    return name.rpartition("/")[2]


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_every_paper_has_a_readme_and_no_other_settings(paper):
    assert (paper.folder / "README.md").exists()
    for name in ("config.toml", "expected.toml"):
        text = (paper.folder / name).read_text()
        tables = {line.strip("[]\n").split(".")[0] for line in text.splitlines() if line[:1] == "["}
        assert tables <= {item.name for item in paper.experiments}


def test_a_judged_item_shows_numbers_before_claims(toy):
    judged = judge(toy.paper.expected(toy.item), {"2/value": Mean(5.0), "3/value": Mean(10.0)})
    assert [one.name for one in judged] == ["2/value", "3/value", "2/value < 3/value < 100"]
    assert judged[-1].ours == "5, 10, 100"
