"""The dashboard in a real browser: every page is shown under its policy, figures are drawn, links and forms lead on."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path

import pytest

import history_sample
import sample_store
from iosonde.serve.guard import Doorkeeper
from iosonde.serve.server import create_server, serve_in_background
from iosonde.serve.shelf import open_shelf
from iosonde.store import Store
from iosonde.store.index import Index

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=document.title='taken'>"
TOKEN = "a-token-that-nobody-guesses"


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stores")
    history_sample.write(str(folder / "nightly"))
    sample_store.main(str(folder / "results"))
    store = Store.open(folder / "results")
    odd = sample_store.run(99, 1, 0)
    odd.factors, odd.experiment, odd.source = {HOSTILE: HOSTILE, "nodes": 1, "repetition": 0}, "odd", HOSTILE
    store.append(odd)
    made = open_shelf([str(folder / "nightly"), str(folder / "results")], Index())
    made.look(thorough=True)
    return made


@pytest.fixture(scope="module")
def address(shelf):
    server = create_server("127.0.0.1", 0)
    port = server.server_address[1]
    with serve_in_background(server, shelf, Doorkeeper("127.0.0.1", port, TOKEN)):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def shots(request, tmp_path):
    """Where screenshots go; IOSONDE_SHOTS=DIR keeps them."""
    folder = Path(os.environ.get("IOSONDE_SHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    return lambda page, label: page.screenshot(path=folder / f"serve-{label}.png", full_page=True)


@contextmanager
def opened(browser, address, width=1280, **options):
    """A browser that has the token; fails if a page complained or asked for anything that is not ours."""
    said, asked = [], []
    context = browser.new_context(viewport={"width": width, "height": 800}, **options)
    page = context.new_page()
    page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}/?token={TOKEN}")
    assert page.url == f"{address}/", "the token is out of the address"
    yield page
    assert said == []
    assert [url for url in asked if not url.startswith(address)] == []
    context.close()


def wait_drawn(page):
    page.wait_for_selector("html[data-ready]", timeout=60_000)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.wait_for_function("document.querySelectorAll('.plot:not(.drawn)').length === 0", timeout=60_000)


PAGES = {
    "experiments": "/",
    "runs": "/runs?where=nodes%3D2",
    "run": "/run?store=2&run=envelope-7f3a-0005",
    "history": "/history?store=1",
    "live": "/live",
    "compare": "/compare?a=1&where_a=started_at%3C2026-08&b=1&where_b=started_at%3E%3D2026-09&response=write",
    "choose": "/compare",
    "odd": "/runs?store=2",
    "problem": "/runs?where=nods%3D2",
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_every_page_fits_and_says_nothing_wrong(browser, address, shots, scheme, width):
    with opened(browser, address, width, color_scheme=scheme) as page:
        for name in PAGES.keys() - {"problem"}:
            # The page before may load itself again at that moment, as its numbers have been computed.
            answered = page.goto(address + PAGES[name]) or page.goto(address + PAGES[name])
            assert answered.status == 200, name
            if name in ("history", "compare"):
                wait_drawn(page)
            assert page.evaluate("document.documentElement.scrollWidth") == width, name
            assert page.title() != "taken"
            shots(page, f"{name}-{scheme}-{width}")


def test_a_history_is_drawn_with_its_changes(browser, address):
    with opened(browser, address) as page:
        page.goto(address + PAGES["history"])
        wait_drawn(page)
        assert page.locator(".failed").count() == 0
        shown = page.locator("figure").first
        assert shown.locator("svg .mark-symbol path").count() > 80
        assert shown.locator("svg .mark-rule line").count() >= 2
        page.locator(".change a").first.click()
        page.wait_for_url("**/run?*")  # a click does not wait for the page that it leads to
        page.wait_for_selector("html[data-ready]", timeout=60_000)
        assert "/run?" in page.url and page.get_by_role("link", name="History").count() == 1


def test_a_comparison_is_drawn(browser, address):
    with opened(browser, address) as page:
        page.goto(address + PAGES["compare"])
        wait_drawn(page)
        assert page.locator(".failed").count() == 0
        drawn = page.locator("#ratios svg .mark-symbol path")
        assert drawn.count() == page.locator("#ratios svg .role-axis-label text").filter(has_text="write").count() == 2


def test_one_can_go_from_an_experiment_to_its_page(browser, address):
    with opened(browser, address) as page:
        page.get_by_role("link", name="MTC envelope of /mnt/zeus", exact=True).click()
        page.wait_for_url("**/runs?*")
        assert "experiment=envelope-7f3a" in page.locator("input[name=where]").first.input_value()
        page.get_by_role("link", name="envelope-7f3a-0003").click()
        page.get_by_role("link", name="Experiment", exact=True).click()
        page.wait_for_url("**/report?*")
        page.wait_for_selector("html[data-ready]", timeout=60_000)
        assert page.locator("main h1").inner_text()


def test_conditions_are_typed(browser, address):
    with opened(browser, address) as page:
        page.goto(f"{address}/runs")
        page.get_by_label("Runs with").fill("fs=nfs")
        page.get_by_role("button", name="Show").click()
        page.get_by_label("and").fill("nodes>=2")
        page.get_by_role("button", name="Show").click()
        page.wait_for_url("**nodes*")
        assert page.locator("table.list tbody tr").count() == 3
        assert page.locator("input[name=where]").first.input_value() == "fs=nfs"


def test_without_the_token_nothing_is_seen(browser, address):
    context = browser.new_context()
    page = context.new_page()
    assert page.goto(f"{address}/runs").status == 401
    assert "nightly" not in page.content()
    context.close()
