"""The page in a real browser: figures are drawn, tables sort by keyboard, nothing is loaded, nothing breaks."""

from __future__ import annotations

import dataclasses
import os
from contextlib import contextmanager
from pathlib import Path

import pytest

from iosonde.commands.report.section import render
from page_sample import bare_page, bound_page, model_page, partial_page, sample_page, settings_page

pytestmark = pytest.mark.browser

PAGES = {
    "whole": sample_page,
    "many": lambda: sample_page((1, 2, 4, 8, 16, 32), 256),
    "partial": partial_page,
    "bare": bare_page,
    "models": model_page,
    "bound": bound_page,
    "settings": settings_page,
}
# What is drawn of data in each figure: shapes with an extent, besides axes and their texts.
DRAWN = """() => Object.fromEntries([...document.querySelectorAll(".plot")].map(place => [place.id,
    [...place.querySelectorAll("svg .mark-rect path, svg .mark-symbol path, svg .mark-line path, svg .mark-area path, "
        + "svg .mark-rule line, svg .mark-text text")]
        .filter(e => !e.closest(".role-axis, .role-legend, .role-title") && (e.getBoundingClientRect().width > 0
            || e.getBoundingClientRect().height > 0)).length]))"""
# The colour of the bars of the first figure, as the browser resolves it.
BAR = """() => getComputedStyle(document.querySelector("#bars-1 .mark-rect path")).fill"""
WAITS = 1200  # of 50 ms: how long a busy machine may take
LIGHT, DARK = "rgb(0, 114, 178)", "rgb(86, 180, 233)"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    for name, make in PAGES.items():
        (folder / f"{name}.html").write_text(render(make()), encoding="utf-8")
    return folder


@pytest.fixture
def shots(request, tmp_path):
    """Where screenshots go; IOSONDE_SHOTS=DIR keeps them."""
    folder = Path(os.environ.get("IOSONDE_SHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    return lambda page, label: page.screenshot(path=folder / f"{request.node.name}-{label}.png", full_page=True)


@contextmanager
def opened(browser, path, **options):
    """The page, drawn; fails if it loaded anything or complained."""
    said, loaded = [], []
    context = browser.new_context(viewport=options.pop("viewport", {"width": 1280, "height": 800}), **options)
    page = context.new_page()
    page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: loaded.append(request.url))
    page.goto(path.as_uri())
    if options.get("java_script_enabled", True):
        page.wait_for_selector("html[data-ready]", timeout=60_000)
    yield page
    assert said == []
    assert loaded == [path.as_uri()]
    context.close()


def draw_all(page):
    """What printing does, with everything that is folded open: draws whatever did not come into view."""
    page.evaluate("document.querySelectorAll('details.model').forEach(one => one.open = true)")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    for _ in range(WAITS):
        if page.evaluate("document.querySelectorAll('.plot:not(.drawn)').length === 0"):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"not drawn: {page.evaluate('[...document.querySelectorAll(`.plot:not(.drawn)`)].map(e => e.id)')}")


@pytest.mark.parametrize("name", PAGES)
def test_every_figure_is_drawn_and_nothing_is_loaded(browser, files, shots, name):
    with opened(browser, files / f"{name}.html") as page:
        draw_all(page)
        shapes = page.evaluate(DRAWN)
        assert all(shapes.values()), shapes
        assert len(shapes) == page.locator("figure .plot").count()
        assert page.locator(".failed").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") == 1280
        shots(page, "light")


def test_the_first_screen_answers(browser, files):
    with opened(browser, files / "whole.html") as page:
        for heading in ("What was measured", "What it says", "How sure", "What looks wrong", "How fast"):
            box = page.get_by_role("heading", name=heading, exact=True).bounding_box()
            assert box["y"] + box["height"] < 800, heading
        table = page.get_by_role("table").nth(0).bounding_box()
        assert table["y"] + table["height"] < 800


def test_a_table_sorts_by_keyboard(browser, files):
    with opened(browser, files / "whole.html") as page:
        table = page.locator("table.headline").first

        def column():
            return [
                float(v)
                for v in table.locator("tbody tr").evaluate_all("rows => rows.map(row => row.cells[3].dataset.value)")
            ]

        before = column()
        button = table.get_by_role("button", name="2 nodes")
        button.focus()
        page.keyboard.press("Enter")
        assert column() == sorted(before) != before
        assert table.locator("th[aria-sort=ascending]").inner_text().strip().startswith("2 nodes")
        page.keyboard.press("Space")
        assert column() == sorted(before, reverse=True)
        assert table.locator("th[aria-sort=descending]").count() == 1


def test_the_keyboard_reaches_everything(browser, files):
    with opened(browser, files / "whole.html") as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        assert page.locator(".skip").bounding_box()["x"] >= 0
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        summary = page.locator("#bars figure summary").first
        summary.focus()
        page.keyboard.press("Enter")
        assert page.locator("#bars figure details").first.get_attribute("open") is not None
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none"


def test_the_data_is_one_click_away(browser, files, tmp_path):
    with opened(browser, files / "whole.html", accept_downloads=True) as page:
        figure = page.locator("#bars figure").first
        figure.scroll_into_view_if_needed()
        page.wait_for_selector("#bars-1.drawn")  # drawing moves what is below
        figure.locator("summary").click()
        assert figure.locator("tbody tr").count() == 2
        with page.expect_download() as download:
            figure.get_by_text("Data as CSV").click()
        assert download.value.suggested_filename == "write_large-bandwidth_last_done.csv"
        download.value.save_as(tmp_path / "data.csv")
        assert (tmp_path / "data.csv").read_text().startswith("nodes,mean ")


# What the buttons would give to be saved, without saving it: [name, text] of each.
TAKEN = """async () => {
    const texts = [], links = [];
    URL.createObjectURL = blob => { texts.push(blob.text()); return "blob:x"; };
    HTMLAnchorElement.prototype.click = function () { links.push(this.download); };
    document.querySelectorAll(".take").forEach(button => button.click());
    return (await Promise.all(texts)).map((text, at) => [links[at], text]);
}"""


@pytest.mark.parametrize("name", ["whole", "models", "bound"])
def test_every_table_is_given_as_its_csv(browser, files, name):
    """Of tables that are shown and that are not: numbers in full, text visible, what steers a spreadsheet defused."""
    content = PAGES[name]()
    tables = {"trials": content.trials, "clocks": content.clocks}
    tables |= {f"{bars.operation}-{bars.metric}": bars.table() for bars in content.bars.items}
    tables |= {f"{one.operation}-distribution": one.buckets() for one in content.latencies.items}
    tables |= {f"{one.operation}-percentiles": one.table() for one in content.latencies.items}
    tables |= {f"{one.phase}-ranks": one.table() for one in content.timelines.items}
    tables |= {f"{one.title}-points": one.points() for one in content.models.items}
    tables.update(("bound", one.table()) for one in content.bound.items)
    with opened(browser, files / f"{name}.html") as page:
        taken = dict(page.evaluate(TAKEN))
        assert len(taken) >= 3
        compared = [key for key in tables if f"{key}.csv" in taken]
        assert compared
        for key in compared:
            assert taken[f"{key}.csv"] == tables[key].to_csv().replace("\x1b", "\\x1b"), key


def test_a_cell_that_a_spreadsheet_would_compute_is_text_in_the_csv(browser, files):
    with opened(browser, files / "whole.html") as page:
        page.evaluate("""() => { const cells = document.querySelector("#trials tbody tr").cells;
            ["=cmd()", "-1.5", "@a", 'a "b", c'].forEach((text, at) => {
                cells[at].textContent = text; delete cells[at].dataset.value; }); }""")
        text = dict(page.evaluate(TAKEN))["trials.csv"]
        assert text.split("\r\n")[1].startswith('\'=cmd(),-1.5,\'@a,"a ""b"", c"')


def test_a_tooltip_gives_the_number_with_its_interval(browser, files):
    with opened(browser, files / "whole.html") as page:
        plot = page.locator("#bars-1")
        draw_all(page)  # one that is not drawn has no tips, and one that is drawn above it moves it from the mouse
        plot.scroll_into_view_if_needed()
        box = plot.bounding_box()
        page.mouse.move(box["x"] + box["width"] * 0.72, box["y"] + box["height"] * 0.5)
        tip = page.locator("#vg-tooltip-element.visible")
        tip.wait_for(timeout=60_000)
        assert "MiB/s" in tip.inner_text() and "6 trials" in tip.inner_text()


def test_a_tooltip_with_text_from_data_is_text(browser, files):
    with opened(browser, files / "whole.html") as page:
        draw_all(page)
        page.locator("#timeline-1").scroll_into_view_if_needed()
        late = page.locator("#timeline-1 .mark-rect path[fill='var(--late)']").bounding_box()
        page.mouse.move(late["x"] + late["width"] / 2, late["y"] + late["height"] / 2)
        tip = page.locator("#vg-tooltip-element.visible")
        tip.wait_for(timeout=60_000)
        assert "<img src=x onerror=alert(1)>$$x^2$$" in tip.inner_text() and "late" in tip.inner_text()
        assert page.locator("img").count() == 0


def test_a_figure_is_zoomed_with_ctrl_and_the_wheel_and_put_back(browser, files):
    ticks = "() => [...document.querySelectorAll('#model-1-1 .role-axis text')].map(e => e.textContent).sort().join()"
    with opened(browser, files / "models.html") as page:
        draw_all(page)
        plot = page.locator("#model-1-1")
        plot.scroll_into_view_if_needed()
        box, before, down = plot.bounding_box(), page.evaluate(ticks), page.evaluate("scrollY")
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.wheel(0, 40)
        _until(page, lambda: page.evaluate("scrollY") > down)
        _until(page, lambda: page.evaluate(SCROLLS) == 0)
        assert page.evaluate(ticks) == before, "the wheel alone is the page's"
        box = plot.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.keyboard.down("Control")
        for _ in range(4):
            page.mouse.wheel(0, -300)
        page.keyboard.up("Control")
        _until(page, lambda: page.evaluate(ticks) != before)
        page.mouse.dblclick(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        _until(page, lambda: page.evaluate(ticks) == before)


# By how much the page scrolls in a tenth of a second.
SCROLLS = "() => { const at = scrollY; return new Promise(done => setTimeout(() => done(scrollY - at), 100)); }"


def _until(page, true):
    for _ in range(WAITS):
        if true():
            return
        page.wait_for_timeout(50)
    pytest.fail("nothing changed in a minute")


def test_a_figure_is_as_wide_as_its_place_also_after_it_changed(browser, files):
    with opened(browser, files / "whole.html") as page:
        page.locator("#bars-1").scroll_into_view_if_needed()
        page.wait_for_selector("#bars-1.drawn")
        for width in (1280, 700, 400, 1600):
            page.set_viewport_size({"width": width, "height": 800})
            _until(
                page,
                lambda: page.evaluate(
                    "() => { const place = document.querySelector('#bars-1');"
                    " const width = place.querySelector('svg').getBoundingClientRect().width;"
                    " return Math.abs(width - place.clientWidth) < 3; }"
                ),
            )


def test_the_dark_theme_is_dark_also_in_the_figures(browser, files, shots):
    with opened(browser, files / "whole.html", color_scheme="dark") as page:
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper == "rgb(22, 24, 27)"
        draw_all(page)
        assert page.evaluate(BAR) == DARK
        shots(page, "dark")
        page.emulate_media(color_scheme="light")
        assert page.evaluate(BAR) == LIGHT


def test_on_paper_it_is_light_and_complete(browser, files, shots, tmp_path):
    with opened(browser, files / "whole.html", color_scheme="dark", viewport={"width": 720, "height": 1000}) as page:
        page.emulate_media(media="print", color_scheme="dark")
        draw_all(page)
        figures = page.locator(".plot svg")
        assert figures.count() == page.locator("figure").count()
        assert all(figures.nth(i).bounding_box()["width"] > 100 for i in range(figures.count()))
        assert page.evaluate(BAR) == LIGHT
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(253, 253, 251)"
        assert not page.locator("nav").is_visible()
        shots(page, "print")
        page.pdf(path=tmp_path / "page.pdf")
        assert (tmp_path / "page.pdf").stat().st_size > 20_000


@pytest.mark.parametrize("name", PAGES)
def test_narrow_screens_do_not_scroll_sideways(browser, files, shots, name):
    with opened(browser, files / f"{name}.html", viewport={"width": 400, "height": 800}) as page:
        assert page.evaluate("document.documentElement.scrollWidth") == 400
        shots(page, "narrow")


@pytest.mark.parametrize("width", [900, 1100, 1280, 1600])
def test_strips_are_not_cut(browser, files, width):
    with opened(browser, files / "whole.html", viewport={"width": width, "height": 800}) as page:
        assert (
            page.evaluate("""() => [...document.querySelectorAll(".fast .scroll")]
            .filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.ariaLabel)""")
            == []
        )


def test_the_plots_of_a_closed_model_are_drawn_when_it_opens(browser, tmp_path):
    page = model_page()
    crowd = dataclasses.replace(page, models=dataclasses.replace(page.models, items=page.models.items * 2))
    (tmp_path / "many.html").write_text(render(crowd), encoding="utf-8")
    with opened(browser, tmp_path / "many.html") as shown:
        assert shown.locator("details.model").count() == 4
        assert shown.locator(".plot.drawn").count() == 0
        shown.locator("details.model > summary").nth(1).click()
        _until(shown, lambda: shown.locator(".plot.drawn").count() == 4)
        drawn = [name for name, shapes in shown.evaluate(DRAWN).items() if shapes]
        assert drawn == [f"model-2-{number}" for number in (1, 2, 3, 4)]


def test_what_is_out_of_sight_is_drawn_when_it_comes_into_view(browser, files):
    with opened(browser, files / "whole.html") as page:
        assert page.locator(".plot.drawn").count() < 10 and page.locator("#timeline-4.drawn").count() == 0
        page.locator("#timeline-4").scroll_into_view_if_needed()
        page.wait_for_selector("#timeline-4.drawn")


def test_without_javascript_text_and_tables_are_there(browser, files):
    with opened(browser, files / "whole.html", java_script_enabled=False) as page:
        assert page.locator("h1").is_visible()
        assert page.locator("table.headline tbody tr").count() == 10
        assert page.locator(".missing.unscripted").first.is_visible()
        page.locator("#bars figure summary").first.click()
        assert page.locator("#bars figure table").first.is_visible()
        page.locator("#latency figure summary").first.click()
        assert page.locator("#latency pre.csv").first.is_visible(), "what no table shows can be copied"
        assert page.locator(".take:visible").count() == 0


def test_text_from_data_does_not_become_markup(browser, files):
    with opened(browser, files / "whole.html") as page:
        assert page.locator("img").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_background(browser, files, scheme):
    """WCAG 2 level AA: 4.5 to 1, for every piece of text on the page."""
    with opened(browser, files / "whole.html", color_scheme=scheme) as page:
        colours = page.evaluate("""() => [...new Set([...document.querySelectorAll("main *, header *, footer")]
            .filter(e => e.childNodes.length && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
            .filter(e => !e.closest("svg, .plot")).map(e => getComputedStyle(e).color))]""")
        paper = _luminance(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        for colour in colours:
            light, dark = sorted([_luminance(colour), paper], reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5, colour


def _luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
