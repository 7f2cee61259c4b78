"""The page of a corpus in a real browser: its figures are drawn, a tooltip says which run, nothing of a name runs."""

from __future__ import annotations

import pytest

import corpus_sample as sample
from iosonde.commands.corpus.answer import HowCorpus, corpus
from iosonde.commands.corpus.for_page import build_corpus_page
from iosonde.commands.corpus.section import render_corpus
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data

pytestmark = pytest.mark.browser

MOST_BYTES = 5e6
DRAWN = """() => Object.fromEntries([...document.querySelectorAll(".plot")].map(place => [place.id,
    place.querySelectorAll("svg .mark-rect path, svg .mark-line path, svg .mark-symbol path").length]))"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Some 400 systems, one of a hostile name, and one's own result."""
    place = tmp_path_factory.mktemp("corpus")
    runs = sample.corpus(400)
    runs[-1].factors["system"] = "</script><script>document.title='run'</script><img src=x onerror=alert(1)>"
    made = corpus(
        open_data(sample.write(place / "s", runs)),
        ResponseQuery(on=("nodes", "api", "year")),
        HowCorpus(mine="submission=s05-0"),
    )
    page = place / "page.html"
    page.write_text(render_corpus(build_corpus_page(made)), encoding="utf-8")
    return page


def opened(browser, file, wrong, **words):
    page = browser.new_page(**words)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text))
    page.on("request", lambda request: None if request.url == file.as_uri() else wrong.append(request.url))
    page.goto(file.as_uri())
    for place in page.locator(".plot").all():
        place.scroll_into_view_if_needed()
        place.locator("svg").first.wait_for()
    return page


def test_all_figures_are_drawn_and_the_page_is_small(browser, file):
    assert file.stat().st_size <= MOST_BYTES
    wrong = []
    page = opened(browser, file, wrong)
    drawn = page.evaluate(DRAWN)
    assert [name for name in drawn if not name.startswith("shares")] == [
        "placed-1",
        "spread-1",
        "spread-2",
        "by-1",
        "by-2",
        "scores-1",
    ]
    assert len([name for name in drawn if name.startswith("shares")]) == 5
    assert all(drawn.values()), drawn
    assert " 399 " in page.title() and page.locator("img").count() == 0
    assert not wrong
    page.close()


def test_a_point_says_which_system_it_is(browser, file):
    page = opened(browser, file, [])
    page.locator("#scores-1").scroll_into_view_if_needed()
    page.locator("#scores-1 svg .mark-symbol path").last.hover(force=True)
    tip = page.locator("#vg-tooltip-element")
    tip.wait_for()
    assert "site" in tip.inner_text() and "GiB/s" in tip.inner_text()
    page.close()


@pytest.mark.parametrize(("width", "scheme"), [(400, "light"), (1200, "dark")])
def test_nothing_is_wider_than_the_window(browser, file, width, scheme):
    page = opened(browser, file, [], viewport={"width": width, "height": 900}, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()
