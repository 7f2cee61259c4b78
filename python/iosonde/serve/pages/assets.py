"""The files that pages load: style, script and drawing library, only from the package."""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources

from iosonde.page import carried, library
from iosonde.serve.shelf import Shelf

from .web_page import Address, WebPage


def _serve_style(_: Shelf, __: Address) -> WebPage:
    own = resources.files("iosonde.serve").joinpath("assets", "serve.css").read_text(encoding="utf-8")
    return WebPage((carried.asset("page.css") + own).encode(), "text/css; charset=utf-8", keep=True)


def _serve_script(_: Shelf, __: Address) -> WebPage:
    return WebPage(carried.asset("page.js").encode(), "text/javascript; charset=utf-8", keep=True)


def _serve_drawing(_: Shelf, __: Address) -> WebPage:
    text = library.library(lambda sentence: None)
    return WebPage(text.encode(), "text/javascript; charset=utf-8", keep=True)


def _serve_empty_icon(_: Shelf, __: Address) -> WebPage:
    return WebPage(b"", "image/x-icon", keep=True)


FILES: dict[str, Callable[[Shelf, Address], WebPage]] = {
    "/page.css": _serve_style,
    "/page.js": _serve_script,
    "/drawing.js": _serve_drawing,
    "/favicon.ico": _serve_empty_icon,
}
