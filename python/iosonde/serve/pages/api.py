"""``/api/…``: the documents that ``iosonde show``, ``summary``, ``watch`` and ``compare`` print with ``--json``."""

import json
from collections.abc import Callable
from typing import Any

from iosonde.commands.result import build_document
from iosonde.commands.show import answer as show_answer
from iosonde.commands.summary import answer as summary_answer
from iosonde.commands.summary.sealed_pairs import lead_with_pairs
from iosonde.core.errors import InputError
from iosonde.core.where import Condition
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from iosonde.serve.shelf import Shelf
from iosonde.store import Store
from iosonde.store.index_query import IndexView

from .compare import compare_selected_runs
from .history import MOST, NEWEST, watch_selected_runs
from .web_page import Address, WebPage

JSON = "application/json"
PREFIX = "/api"

Document = dict[str, Any]


def list_stores(shelf: Shelf, address: Address) -> Document:
    """Return ``/api``: the stores with their numbers in addresses, and the addresses of documents."""
    stores = []
    for shelved in shelf.stores:
        experiments, runs, unreadable = IndexView(shelf.index, (shelved.number,)).counted()
        counts = {"experiments": experiments, "runs": runs, "unreadable_runs": unreadable}
        stores.append({"store": shelved.place, "name": shelved.name, **counts})
    return {"schema": 1, "stores": stores, "documents": [path for path in DOCUMENTS if path != PREFIX]}


def show(shelf: Shelf, address: Address) -> Document:
    """Return ``/api/show``: ``store``, then ``run``, or ``where``, ``experiment``, ``last``. Raises InputError,
    DataError."""
    shelved, run = shelf.at(_read_place(shelf, address)), address.parameter("run")
    if run:
        return show_answer.collect_run_details(show_answer.ChosenRuns(shelved.store.part([run]), run)).to_dict()
    experiment = address.parameter("experiment") or None
    chosen = show_answer.ChosenRuns(_select_runs(shelf, address), experiment=experiment)
    return show_answer.list_experiments(chosen).to_dict()


def summarize(shelf: Shelf, address: Address) -> Document:
    """Return ``/api/summary``: ``store``, ``where``, ``experiment``, ``last``, ``response``, ``by``. If several
    experiments would share a cell, only the last is summarized. Raises InputError, DataError."""
    source, _ = open_data(_select_runs(shelf, address)).separate_last(alike=False)
    by = tuple(address.parameters("by")) or None
    query = ResponseQuery(tuple(address.parameters("response")))
    return build_document(lead_with_pairs(summary_answer.summary(source, query, by), source, query))


def watch(shelf: Shelf, address: Address) -> Document:
    """Return ``/api/watch``: ``store``, ``where``, ``last``, ``response``. Raises InputError, DataError."""
    return build_document(watch_selected_runs(shelf, address, _read_place(shelf, address))[0])


def compare(shelf: Shelf, address: Address) -> Document:
    """Return ``/api/compare``: ``a``, ``b`` (stores), ``where_a``, ``where_b``, ``response``. Raises InputError,
    DataError."""
    if not (address.parameter("a") and address.parameter("b")):
        raise InputError("missing-parameter", "a comparison needs two sides", "give the stores a and b, as a=1&b=2")
    return build_document(compare_selected_runs(shelf, address)[0])


DOCUMENTS: dict[str, Callable[[Shelf, Address], Document]] = {
    PREFIX: list_stores,
    f"{PREFIX}/show": show,
    f"{PREFIX}/summary": summarize,
    f"{PREFIX}/watch": watch,
    f"{PREFIX}/compare": compare,
}


def render_document(shelf: Shelf, address: Address) -> WebPage:
    """Render the document of this address; it is computed once per state of the stores."""
    build = DOCUMENTS[address.path]
    return WebPage(shelf.once(address.but(), lambda: format_json(build(shelf, address))), JSON)


def format_json(document: Any) -> bytes:
    """Return JSON in ASCII: other characters, and what could steer a terminal, are escaped."""
    return f"{json.dumps(document, indent=1, allow_nan=False)}\n".encode()


def _read_place(shelf: Shelf, address: Address) -> str:
    """Return the number of the store; it may be left out if there is only one."""
    return address.parameter("store") or ("1" if len(shelf.stores) == 1 else "")


def _select_runs(shelf: Shelf, address: Address) -> Store:
    """Return a part of the store with the newest runs that fulfil the conditions. Raises InputError."""
    experiment = address.parameter("experiment")
    where = [*address.where, *([Condition("experiment", "=", experiment)] if experiment else [])]
    last = address.number("last", NEWEST, MOST)
    part, total = shelf.part(shelf.at(_read_place(shelf, address)), where, last)
    if not total:
        raise InputError("no-matching-runs", "no run fulfils the conditions", "correct the address")
    return part
