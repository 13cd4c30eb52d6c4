"""The page in a real browser, opened as a file."""

import re

import numpy as np
import pytest
from report.page.conftest import EVIL
from sklearn.decomposition import PCA
from sklearn.preprocessing import FunctionTransformer

from vicinal import NeighborhoodComponents
from vicinal.report import write_report
from vicinal.report.page.parts import Section, Table

# What Chromium says of a machine without a graphics card, and of how old versions of plotly draw.
ABOUT_SPEED = ("GL Driver Message", "Canvas2D: Multiple readback operations")


class Opened:
    """A page, and what it complained about."""

    def __init__(self, browser, path, before=None, **options):
        self.troubles = []
        self.fetched = []
        self.page = browser.new_page(viewport={"width": 1200, "height": 900}, **options)
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("request", lambda request: self.fetched.append(request.url))
        if before:
            self.page.add_init_script(before)
        self.page.goto(path.as_uri())
        self.page.wait_for_function("document.querySelector('#said').textContent !== ''")

    def _hear(self, message):
        if message.type in ("error", "warning") and not any(
            hint in message.text for hint in ABOUT_SPEED
        ):
            self.troubles.append(message.text)

    def run(self, script):
        return self.page.evaluate(script)

    def color(self, selector, which="color"):
        return self.run(f"getComputedStyle(document.querySelector('{selector}'))['{which}']")


@pytest.fixture(scope="module")
def opened(chromium, iris_page):
    found = Opened(chromium, iris_page)
    yield found
    found.page.close()


def pixel_of(opened, row):
    """Where a row is drawn, in pixels of the window."""
    return opened.page.evaluate(
        """(row) => {
          const plot = document.getElementById("plot"), { xaxis, yaxis } = plot._fullLayout;
          const box = plot.querySelector(".nsewdrag").getBoundingClientRect();
          const trace = plot.data.find((t) => (t.customdata || []).includes(row));
          const i = trace.customdata.indexOf(row);
          return [box.x + xaxis.l2p(trace.x[i]), box.y + yaxis.l2p(trace.y[i])];
        }""",
        row,
    )


def test_opens_without_complaint_and_fetches_nothing(opened, iris_page):
    assert opened.troubles == []
    assert all(url.startswith(("file:", "data:", "blob:")) for url in opened.fetched)
    assert opened.run("document.querySelectorAll('#plot .trace').length") >= 3
    assert not opened.page.is_visible("#still")


def test_user_text_is_text(opened):
    assert opened.run("window.evil") is None
    assert opened.page.inner_text("h1") == EVIL
    assert opened.page.title() == EVIL
    shown = opened.page.inner_text("#toggles")
    assert EVIL in shown
    assert "virginica & <b>co</b>" in shown
    assert "{{ 7 * 7 }}" in opened.page.inner_text("main")


def test_every_point_is_in_the_picture(opened, iris, iris_model):
    traces = opened.run("document.getElementById('plot').data.map((t) => [t.customdata, t.x, t.y])")
    rows = np.concatenate([np.array(t[0]) for t in traces[:3]])
    assert sorted(rows) == list(range(150))
    drawn = np.concatenate([np.column_stack(t[1:]) for t in traces[:3]])[np.argsort(rows)]
    Z = iris_model.transform(iris.data)
    gaps, true = np.linalg.norm(drawn - drawn[0], axis=1), np.linalg.norm(Z - Z[0], axis=1)
    np.testing.assert_allclose(gaps / gaps.max(), true / true.max(), atol=1e-4)


def test_hover_tells_the_row_and_its_class(opened):
    opened.page.locator("#plot").scroll_into_view_if_needed()
    opened.page.mouse.move(*pixel_of(opened, 149))
    opened.page.wait_for_selector("#plot .hovertext")
    said = opened.page.locator("#plot .hovertext").text_content()
    assert re.search(r"row \d+", said)
    assert opened.run("window.evil") is None


def test_a_click_chooses_a_row(opened):
    opened.page.locator("#plot").scroll_into_view_if_needed()
    opened.page.mouse.click(*pixel_of(opened, 41))  # an outlier: nobody else is there
    opened.page.wait_for_function("document.querySelector('#row').value === '41'")
    assert "Row 41" in opened.page.inner_text("#said")
    assert opened.page.locator("#after tbody tr").count() == 6
    star = opened.run("document.getElementById('plot').data.at(-1)")
    assert star["name"] == "chosen"
    assert len(star["x"]) == 1


def test_neighbors_are_those_of_the_metrics(opened, iris, iris_model):
    opened.page.fill("#row", "100")
    opened.page.keyboard.press("Enter")
    opened.page.wait_for_function("document.querySelector('#row').value === '100'")
    for table, points in (
        ("before", iris_model[:-1].transform(iris.data)),
        ("after", iris_model.transform(iris.data)),
    ):
        distances = np.linalg.norm(points - points[100], axis=1)
        lines = opened.page.locator(f"#{table} tbody tr").all_inner_texts()
        cells = [line.split("\t") for line in lines]
        assert cells[0][0] == "100"
        shown = [float(line[2]) for line in cells[1:]]
        np.testing.assert_allclose(shown, np.sort(distances)[1:6], rtol=1e-3)
        np.testing.assert_allclose(
            [distances[int(line[0])] for line in cells[1:]], shown, rtol=1e-3
        )
    labels = iris.target == iris.target[100]
    own = [labels[int(line[0])] for line in cells[1:]]
    assert f"{sum(own)} after" in opened.page.inner_text("#said")


def test_next_and_previous_by_keyboard(opened):
    opened.page.fill("#row", "7")
    opened.page.keyboard.press("Tab")  # to "Previous"; leaving the field chooses
    opened.page.keyboard.press("Tab")
    opened.page.keyboard.press("Enter")
    assert "Row 8," in opened.page.inner_text("#said")
    opened.page.keyboard.press("Shift+Tab")
    opened.page.keyboard.press("Enter")
    assert "Row 7," in opened.page.inner_text("#said")


def test_a_row_that_is_not_there(opened):
    opened.page.fill("#row", "4000")
    opened.page.keyboard.press("Enter")
    assert opened.page.inner_text("#said") == "There is no row 4000 on this page."


def test_classes_can_be_hidden(opened):
    def visible():
        return opened.run("document.getElementById('plot').data.slice(0, 3).map((t) => t.visible)")

    first = opened.page.locator("#toggles input").first
    first.focus()
    opened.page.keyboard.press("Space")
    assert visible() == [False, True, True]
    opened.page.click("#none")
    assert visible() == [False, False, False]
    opened.page.click("#all")
    assert visible() == [True, True, True]


def test_dark_and_light(opened):
    light = opened.color("body", "backgroundColor")
    opened.page.click("#theme")
    assert opened.page.get_attribute("#theme", "aria-pressed") == "true"
    dark = opened.color("body", "backgroundColor")
    assert brightness(dark) < 60 < 200 < brightness(light)
    assert opened.run("document.getElementById('plot').layout.paper_bgcolor") == "#14171c"
    # Pictures by matplotlib follow: their ink is the page's.
    ink = opened.color("figure svg text", "fill")
    assert brightness(ink) > 180
    opened.page.click("#theme")
    assert opened.color("body", "backgroundColor") == light


def test_dark_where_the_reader_wishes_it(chromium, iris_page):
    found = Opened(chromium, iris_page, color_scheme="dark")
    assert brightness(found.color("body", "backgroundColor")) < 60
    assert found.page.inner_text("#theme") == "Light"
    assert found.troubles == []
    found.page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast(chromium, iris_page, scheme):
    found = Opened(chromium, iris_page, color_scheme=scheme)
    paper = luminance(found.color("body", "backgroundColor"))
    for selector in ("h1", "header p", ".facts dt", "th", "td", "footer p", "figcaption"):
        if found.page.locator(selector).count():
            ink = luminance(found.color(selector))
            bright, dim = max(ink, paper), min(ink, paper)
            assert (bright + 0.05) / (dim + 0.05) >= 4.5, selector
    found.page.close()


def test_pictures_have_words(opened):
    kinds = "main img, main svg:not([aria-hidden]), main [role=img]"
    silent = f"[...document.querySelectorAll('{kinds}')]"
    silent += ".filter((e) => !e.closest('#plot') || e.id === 'plot')"
    silent += ".filter((e) => !(e.alt || e.getAttribute('aria-label'))).length"
    assert opened.run(silent) == 0
    assert "150 rows" in opened.page.get_attribute("#plot", "aria-label")
    assert opened.run("document.documentElement.lang") == "en"
    unnamed = "[...document.querySelectorAll('input')].filter((e) => !e.labels.length).length"
    assert opened.run(unnamed) == 0


def test_names_in_pictures_do_not_meet(opened):
    ids = opened.run("[...document.querySelectorAll('main [id]')].map((e) => e.id)")
    ours = [one for one in ids if not one.startswith(("defs-", "topdefs-", "legend", "clip"))]
    assert len(set(ours)) == len(ours)


def test_without_scripts_there_is_a_still_picture(chromium, iris_page):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(iris_page.as_uri())
    assert page.is_visible("#still img")
    assert not page.is_visible("#choice")
    assert "percentage points" in page.inner_text("main")
    context.close()


def test_prints(opened):
    opened.page.emulate_media(media="print")
    assert not opened.page.is_visible("#theme")
    assert not opened.page.is_visible("#classes")
    assert not opened.page.is_visible("#plot")
    assert opened.page.is_visible("#still img")
    assert brightness(opened.color("body", "backgroundColor")) > 240
    opened.page.emulate_media(media="screen")


def test_a_phone_can_show_it(chromium, iris_page):
    found = Opened(chromium, iris_page)
    found.page.set_viewport_size({"width": 390, "height": 800})
    found.page.wait_for_function("document.documentElement.scrollWidth <= 390")
    found.page.close()


LONG = "".join(np.random.default_rng(0).choice(list("abcdefghijKLMNOPQRSTUVW_0123456789"), 500))


@pytest.fixture(scope="module")
def long_page(iris, iris_model, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "long.html"
    names = [LONG[i:] + LONG[:i] for i in range(4)]
    write_report(
        iris_model,
        iris.data,
        iris.target,
        path,
        cv=None,
        class_names=names[:3],
        feature_names=names,
        title=LONG,
        data_name=LONG,
        command=f"vicinal report {LONG}",
        extras=[Section(LONG, [LONG], table=Table([LONG, "b#"], [[LONG, "1"]], LONG))],
    )
    return path


# What is not in a box of its own that can be scrolled, nor a part of a picture.
BEYOND = """(width) => [...document.querySelectorAll("body *")].filter((e) =>
  !e.closest(".scroll, pre, svg, #plot, script, style, .skip") &&
  e.getBoundingClientRect().right > width + 1).map((e) => e.tagName)"""


@pytest.mark.parametrize("width", [320, 768, 1400])
def test_long_words_break(chromium, long_page, width):
    found = Opened(chromium, long_page)
    found.page.set_viewport_size({"width": width, "height": 900})
    found.page.wait_for_timeout(200)
    assert found.run("document.documentElement.scrollWidth") <= width
    assert found.page.evaluate(BEYOND, width) == []
    assert found.page.inner_text("h1") == LONG
    found.page.close()


def test_long_words_break_on_paper(chromium, long_page):
    found = Opened(chromium, long_page)
    found.page.set_viewport_size({"width": 700, "height": 900})
    found.page.emulate_media(media="print")
    inside = BEYOND.replace(".scroll, pre, ", "")  # nothing can be scrolled there
    assert found.page.evaluate(inside, 700) == []
    assert found.run("document.documentElement.scrollWidth") <= 700
    found.page.close()


def test_long_names_do_not_cover_the_picture(chromium, long_page):
    found = Opened(chromium, long_page)
    found.page.locator("#plot").scroll_into_view_if_needed()
    found.page.mouse.move(*pixel_of(found, 41))
    found.page.wait_for_selector("#plot .hovertext")
    text, plot = found.page.locator("#plot .hovertext").bounding_box(), found.page.locator("#plot")
    assert text["width"] < 0.6 * plot.bounding_box()["width"]
    assert found.page.locator("#before td[title]").count() == 6  # the classes, in full
    assert found.page.locator("#before th[title]").count() == 3
    found.page.close()


def test_a_page_of_one_row(chromium, iris, iris_model, tmp_path):
    path = tmp_path / "one.html"
    write_report(iris_model, iris.data[:1], iris.target[:1], path)
    found = Opened(chromium, path)
    assert found.troubles == []
    assert found.page.inner_text("#said") == "Row 0, 0. There is no other row."
    assert found.page.locator("#after tbody tr").count() == 1
    found.page.click("#next")
    assert found.page.input_value("#row") == "0"
    found.page.close()


@pytest.fixture(scope="module")
def many_classes(chromium, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "many.html"
    rng = np.random.default_rng(0)
    y = rng.permutation(70_000)
    y = np.append(y, [69_999] * 30)
    X = rng.normal(size=(len(y), 3))
    write_report(PCA(2).fit(X), X, y, path, class_names=[f"kind {c}" for c in range(70_000)])
    found = Opened(chromium, path)
    yield found, y
    found.page.close()


def test_more_classes_than_sixteen_bits_hold(many_classes):
    found, y = many_classes
    assert found.troubles == []
    rows = found.run("JSON.parse(document.getElementById('data').textContent).choice.first")
    for row in (rows, 65_536, 69_999, 12):
        found.page.fill("#row", str(row))
        found.page.keyboard.press("Enter")
        said = re.match(r"Row (\d+).*, kind (\d+)\.", found.page.inner_text("#said"))
        assert int(said[2]) == y[int(said[1])]
        for line in found.page.locator("#after tbody tr").all_inner_texts():
            cells = line.split("\t")
            assert cells[1].removesuffix(" ≠") == f"kind {y[int(cells[0])]}"


def test_many_classes_are_grouped(many_classes):
    found, y = many_classes
    toggles = found.page.locator("#toggles label").all_inner_texts()
    assert len(toggles) == 41
    assert "kind 69999 (31)" in toggles
    assert toggles[-1] == "others: 69,960 classes (69,960)"
    drawn = "document.getElementById('plot').data"
    assert found.run(f"{drawn}.length") == 44
    assert found.run(f"{drawn}[0].name") == "others: 69,960 classes"  # below the others
    # Each of them still says its own class under the mouse.
    rows, texts = found.run(f"[{drawn}[0].customdata.slice(0, 50), {drawn}[0].text.slice(0, 50)]")
    assert texts == [f"kind {y[row]}" for row in rows]
    found.page.locator("#toggles input").last.uncheck()
    assert found.run(f"{drawn}[0].visible") is False
    assert found.run(f"{drawn}.slice(1, 41).every((t) => t.visible)")
    found.page.locator("#toggles input").last.check()


def test_whole_numbers_are_shown_in_full(chromium, tmp_path):
    X = np.array([[98_765.0, 123_456_789.0, 2e300], [2023.0, 16_777_217.0, -1e-300], [1.5, 7, 0]])
    path = tmp_path / "page.html"
    write_report(FunctionTransformer().fit(X), X, None, path)
    found = Opened(chromium, path)
    shown = found.page.locator("#before").inner_text()
    for text in ("98765", "123456789", "2.000e+300", "2023", "16777217", "-1.000e-300", "1.5"):
        assert text in shown
    found.page.close()


def test_hundred_thousand_points(chromium, tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 26, 100_000)
    X = rng.normal(size=(100_000, 6)) + rng.normal(size=(26, 6))[y] * 3
    model = NeighborhoodComponents(n_components=2, tol=0.1).fit(X[:2000], y[:2000])
    path = tmp_path / "many.html"
    write_report(model, X, y, path, cv=None)
    assert path.stat().st_size < 6_000_000
    found = Opened(chromium, path)
    assert found.troubles == []
    assert (
        found.run(
            "document.getElementById('plot').data.slice(0, 26).reduce((n, t) => n + t.x.length, 0)"
        )
        == 100_000
    )
    # Most rows have no list of neighbors: the nearest one that has is shown, and that is said.
    rows = set(found.run("document.getElementById('plot').data[0].customdata"))
    found.page.fill("#row", str(next(iter(sorted(rows)))))
    found.page.keyboard.press("Enter")
    assert re.match(r"Row \d+", found.page.inner_text("#said"))
    found.page.close()


def test_many_points_without_a_graphics_card(chromium, tmp_path):
    X = np.random.default_rng(0).normal(size=(5500, 2))
    path = tmp_path / "page.html"
    write_report(PCA().fit(X), X, None, path)
    kinds = "[...new Set(document.getElementById('plot').data.map((t) => t.type))]"
    with_card = Opened(chromium, path)
    without = Opened(chromium, path, "HTMLCanvasElement.prototype.getContext = () => null")
    has_card = with_card.run("Boolean(document.createElement('canvas').getContext('webgl'))")
    assert with_card.run(kinds) == ["scattergl" if has_card else "scatter"]
    assert without.run(kinds) == ["scatter"]
    assert without.troubles == []


def channels(color):
    return [float(c) for c in re.findall(r"[\d.]+", color)[:3]]


def brightness(color):
    return sum(channels(color)) / 3


def luminance(color):
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (one / 255 for one in channels(color))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
