"""Experiments; runs selected by conditions, page by page; and a single run."""

from collections.abc import Sequence
from typing import Any

from iosonde.commands.show import answer as show_answer
from iosonde.commands.show import text as show_text
from iosonde.serve.shelf import Shelf
from iosonde.store.index_query import IndexedRun

from .report import render_report_page
from .web_page import Address, WebPage, render_page

ON_A_PAGE = 100


def render_runs_page(shelf: Shelf, address: Address) -> WebPage:
    """Render ``/runs``: ``store``, any number of ``where``, ``page``. Raises InputError."""
    view = shelf.narrowed(address.parameter("store"))
    number = address.number("page", 1, 10**6)
    selection = view.runs(address.where, (number - 1) * ON_A_PAGE, ON_A_PAGE)
    same = _find_common_levels(selection.runs)
    rows = [
        (shelf.of(run.store), run, {name: level for name, level in run.factors.items() if name not in same})
        for run in selection.runs
    ]
    return render_page(
        "runs.html",
        shelf,
        address,
        "Runs",
        rows=rows,
        same=same,
        total=selection.total,
        columns=view.columns(),
        number=number,
        pages=max(1, -(-selection.total // ON_A_PAGE)),
    )


def _find_common_levels(runs: Sequence[IndexedRun]) -> dict[str, Any]:
    """Return the factors with one level in all displayed runs, which is shown once."""
    sound = [run.factors for run in runs if not run.problem]
    if len(sound) < 2:
        return {}
    return {
        name: level
        for name, level in sound[0].items()
        if all(name in factors and factors[name] == level for factors in sound)
    }


def run_page(shelf: Shelf, address: Address) -> WebPage:
    """Render ``/run``: ``store``, ``run``; with ``form=text`` as ``iosonde show STORE RUN`` shows it, else its report.
    Raises InputError, DataError."""
    if address.parameter("form") != "text":
        return render_report_page(shelf, address)
    shelved, run = shelf.at(address.parameter("store")), address.parameter("run")
    detail = show_answer.collect_run_details(show_answer.ChosenRuns(shelved.store.part([run]), run))
    return render_page(
        "run.html",
        shelf,
        address,
        f"Run {run}",
        shelved=shelved,
        run=detail.stored,
        lines=list(show_text.detail_lines(detail)),
    )
