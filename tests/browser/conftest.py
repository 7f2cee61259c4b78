"""Chromium, headless, driven by Playwright; says loudly what is missing where one of them is."""

import shutil

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        pytest.fail("missing: playwright; install it with: pip install 'playwright>=1.49,<2'", pytrace=False)
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        pytest.fail("missing: chromium; install it with: apt install chromium", pytrace=False)
    with sync_playwright() as playwright:
        # A fresh profile for each launch is what Playwright does by itself.
        running = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield running
        running.close()
