"""The page in a real browser: figures are drawn, tables sort by keyboard, nothing is loaded, nothing breaks."""

from __future__ import annotations

import dataclasses
import os
from contextlib import contextmanager
from pathlib import Path

import pytest

from iosonde.report.page import render
from page_sample import bare_page, bound_page, model_page, partial_page, sample_page

pytestmark = pytest.mark.browser

PAGES = {
    "whole": sample_page,
    "many": lambda: sample_page((1, 2, 4, 8, 16, 32), 256),
    "partial": partial_page,
    "bare": bare_page,
    "models": model_page,
    "bound": bound_page,
}
# The share of pixels that are not the background: axes alone are less than this.
LEAST_INK = 0.004

INK = """() => [...document.querySelectorAll("[data-figure]")].map(holder => {
    const find = root => [...root.querySelectorAll("canvas"),
        ...[...root.querySelectorAll("*")].flatMap(e => e.shadowRoot ? find(e.shadowRoot) : [])];
    const inked = find(holder).filter(c => c.width * c.height > 0).map(c => {
        const data = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
        const count = {}; let most = 0, pixels = 0;
        for (let i = 0; i < data.length; i += 4) {
            const colour = data.slice(i, i + 4).join();
            most = Math.max(most, count[colour] = (count[colour] ?? 0) + 1);
            pixels += 1;
        }
        return 1 - most / pixels;
    });
    return [holder.id, Math.max(0, ...inked)];
})"""


BACKGROUNDS = """() => Bokeh.documents.flatMap(one => one.roots().map(root =>
    root.background_fill_color.value ?? root.background_fill_color))"""


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


@pytest.mark.parametrize("name", PAGES)
def test_every_figure_is_drawn_and_nothing_is_loaded(browser, files, shots, name):
    with opened(browser, files / f"{name}.html") as page:
        ink = dict(page.evaluate(INK))
        assert all(share > LEAST_INK for share in ink.values()), ink
        assert len(ink) == page.locator("figure .plot").count()
        assert page.evaluate("document.documentElement.scrollWidth") == 1280
        shots(page, "light")


def test_the_first_screen_answers(browser, files):
    with opened(browser, files / "whole.html") as page:
        for heading in ("How fast", "How sure", "What looks wrong", "What was measured"):
            box = page.get_by_role("heading", name=heading, exact=True).bounding_box()
            assert box["y"] + box["height"] < 800, heading
        table = page.get_by_role("table").nth(1).bounding_box()
        assert table["y"] + table["height"] < 800


def test_a_table_sorts_by_keyboard(browser, files):
    with opened(browser, files / "whole.html") as page:
        table = page.locator("table.headline").first

        def column():
            return [float(v) for v in table.locator("tbody tr").evaluate_all(
                "rows => rows.map(row => row.cells[3].dataset.value)")]  # fmt: skip

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
        assert page.evaluate("document.activeElement.textContent") == "Skip to the results"
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
        figure.locator("summary").click()
        assert figure.locator("tbody tr").count() == 2
        with page.expect_download() as download:
            figure.get_by_text("Data as CSV").click()
        assert download.value.suggested_filename == "write_large-bandwidth_last_done.csv"
        download.value.save_as(tmp_path / "data.csv")
        assert (tmp_path / "data.csv").read_text().startswith("nodes,mean (bytes/s)")


def test_a_tooltip_gives_the_number_with_its_interval(browser, files):
    with opened(browser, files / "whole.html") as page:
        plot = page.locator("#bars-1")
        plot.scroll_into_view_if_needed()
        box = plot.bounding_box()
        page.mouse.move(box["x"] + box["width"] * 0.72, box["y"] + box["height"] * 0.5)
        tip = page.get_by_text("6 trials", exact=True)
        tip.wait_for(timeout=5_000)
        assert "MiB/s" in tip.locator("xpath=..").inner_text()


def test_the_dark_theme_is_dark_also_in_the_figures(browser, files, shots):
    with opened(browser, files / "whole.html", color_scheme="dark") as page:
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper == "rgb(22, 24, 27)"
        assert set(page.evaluate(BACKGROUNDS)) == {"#16181b"}
        shots(page, "dark")
        page.emulate_media(color_scheme="light")
        for _ in range(50):  # the page hears of it a moment later; its policy forbids Playwright's own waiting
            if set(page.evaluate(BACKGROUNDS)) == {"#fdfdfb"}:
                break
            page.wait_for_timeout(100)
        else:
            pytest.fail(f"the figures stayed {set(page.evaluate(BACKGROUNDS))}")


def test_on_paper_it_is_light_and_complete(browser, files, shots, tmp_path):
    with opened(browser, files / "whole.html", color_scheme="dark", viewport={"width": 720, "height": 1000}) as page:
        page.emulate_media(media="print", color_scheme="dark")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        figures = page.locator("svg.printed")
        assert figures.count() == page.locator("figure").count()
        assert all(figures.nth(i).bounding_box()["width"] > 100 for i in range(figures.count()))
        drawn = page.evaluate("[...document.querySelectorAll('svg.printed')].map(e => e.outerHTML).join()")
        assert "#0072b2" in drawn.lower() or "rgb(0,114,178)" in drawn.replace(" ", "")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(253, 253, 251)"
        assert not page.locator("nav").is_visible()
        shots(page, "print")
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert figures.count() == 0
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
            page.evaluate("""() => [...document.querySelectorAll(".first .scroll")]
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
        for _ in range(100):
            if shown.locator(".plot.drawn").count() == 4 and shown.locator("#model-2-4").inner_html():
                break
            shown.wait_for_timeout(100)
        assert [name for name, ink in shown.evaluate(INK) if ink > LEAST_INK][:1] == ["model-2-1"]


def test_without_javascript_text_and_tables_are_there(browser, files):
    with opened(browser, files / "whole.html", java_script_enabled=False) as page:
        assert page.locator("h1").is_visible()
        assert page.locator("table.headline tbody tr").count() == 10
        assert page.get_by_text("The figure needs JavaScript").first.is_visible()
        page.locator("#bars figure summary").first.click()
        assert page.locator("#bars figure table").first.is_visible()


def test_text_from_data_does_not_become_markup(browser, files):
    with opened(browser, files / "whole.html") as page:
        assert page.locator("img").count() == 0
        assert page.evaluate("typeof MathJax") == "undefined"


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
