"""All pages: path of an address → function; style, script and drawing library come from the package only."""

from collections.abc import Callable
from importlib import resources

from iosonde.page import carried, library
from iosonde.serve.shelf import Shelf

from . import api, compare, experiments, history, live, metrics, report, runs
from .web_page import Address, WebPage

Page = Callable[[Shelf, Address], WebPage]

_SCRIPT = "text/javascript; charset=utf-8"


def _serve_file(kind: str, read: Callable[[], str]) -> Page:
    return lambda _, __: WebPage(read().encode(), kind, keep=True)


def _read_style() -> str:
    own = resources.files("iosonde.serve").joinpath("assets", "serve.css").read_text(encoding="utf-8")
    return carried.read_asset("page.css") + own


PAGES: dict[str, Page] = {
    "/": experiments.render_experiments_page,
    "/runs": runs.render_runs_page,
    "/run": runs.run_page,
    "/history": history.render_history_page,
    "/change": history.render_change_page,
    "/compare": compare.render_compare_page,
    "/report": report.render_report_page,
    "/live": live.render_live_page,
    "/metrics": metrics.render_metrics,
    **dict.fromkeys(api.DOCUMENTS, api.render_document),
    "/page.css": _serve_file("text/css; charset=utf-8", _read_style),
    "/page.js": _serve_file(_SCRIPT, lambda: carried.read_asset("page.js")),
    "/drawing.js": _serve_file(_SCRIPT, lambda: library.load_vega_script(lambda sentence: None)),
    "/favicon.ico": _serve_file("image/x-icon", str),
}
