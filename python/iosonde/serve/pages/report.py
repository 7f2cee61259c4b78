"""The page of ``iosonde report`` for one experiment or run."""

from collections.abc import Iterator

from iosonde.commands.report import answer as report_answer
from iosonde.commands.report import html as report_html
from iosonde.commands.report.query import ReportQuery
from iosonde.core.errors import InputError
from iosonde.core.where import Condition
from iosonde.page import carried
from iosonde.serve.shelf import Shelf, Shelved
from iosonde.store.index_query import IndexView

from .web_page import Address, WebPage, build_link

MOST = 10_000  # runs


def render_report_page(shelf: Shelf, address: Address) -> WebPage:
    """Render ``/report``, and ``/run`` without ``form``: ``store`` with ``experiment`` or ``run``. Raises
    InputError, DataError."""
    body = shelf.once(address.but(), lambda: _render_page(shelf, address))
    return WebPage(body, policy=f"{carried.build_policy()}; frame-ancestors 'none'")


def _render_page(shelf: Shelf, address: Address) -> bytes:
    shelved, experiment, run = (
        shelf.at(address.parameter("store")),
        address.parameter("experiment"),
        address.parameter("run"),
    )
    chosen = Condition("run", "=", run) if run else Condition("experiment", "=", experiment)
    if not chosen.value:
        raise InputError("missing-parameter", "a page needs an experiment or a run", "follow a link of the list")
    part, total = shelf.part(shelved, [chosen], MOST)
    if not total:
        raise InputError(
            "unknown-record",
            "unknown {column} {id} in {store}",
            "it may have been removed",
            column=chosen.column,
            id=chosen.value,
            store=shelved.name,
        )
    if total > MOST:
        raise InputError(
            "too-many-runs",
            "{id} has {n_runs} runs: its page takes minutes",
            "use iosonde report",
            id=chosen.value,
            n_runs=total,
        )
    again = ["iosonde", "report", str(shelved.store.path)]
    again += ["--where", f"run={run}"] if run else ["--experiment", experiment]
    report_page = report_answer.report(ReportQuery(str(shelved.store.path), part=part, again=tuple(again)))
    links = list(_iterate_links(shelf, shelved, experiment, run))
    return report_html.render_page_html(report_page, links=links).encode("utf-8", "replace")


def _iterate_links(shelf: Shelf, shelved: Shelved, experiment: str, run: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the address of each page around this one."""
    yield "Dashboard", "/"
    if run:
        experiment = IndexView(shelf.index, (shelved.number,)).find_experiment(run)
        yield "Experiment", build_link("/report", store=shelved.place, experiment=experiment)
        yield "Run as text", build_link("/run", store=shelved.place, run=run, form="text")
    yield "Runs", build_link("/runs", store=shelved.place, where=f"experiment={experiment}")
    yield "History", build_link("/history", store=shelved.place)
