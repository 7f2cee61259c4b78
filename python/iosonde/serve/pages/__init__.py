"""All pages: path of an address → function."""

from __future__ import annotations

from collections.abc import Callable

from iosonde.serve.shelf import Shelf

from . import assets, change, compare, experiments, history, live, report, runs
from .web_page import Address, WebPage

Page = Callable[[Shelf, Address], WebPage]

PAGES: dict[str, Page] = {
    "/": experiments.page,
    "/runs": runs.page,
    "/run": runs.run_page,
    "/history": history.page,
    "/change": change.page,
    "/compare": compare.page,
    "/report": report.page,
    "/live": live.page,
    **assets.FILES,
}
