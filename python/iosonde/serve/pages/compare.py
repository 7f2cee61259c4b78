"""Compare any two sets of runs, as ``iosonde compare``: each is a store and conditions on its runs."""

from dataclasses import replace

from iosonde.commands.compare import answer as compare_answer
from iosonde.commands.compare import figure as compare_figure
from iosonde.commands.compare import text as compare_text
from iosonde.commands.compare.against import PairVerdicts
from iosonde.commands.compare.compared import Comparisons
from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.core.where import parse_where
from iosonde.data.query import ResponseQuery as Numbers
from iosonde.data.source import Source, open_data
from iosonde.serve.shelf import Shelf

from .web_page import Address, WebPage, build_figure_scripts, render_page

MOST = 2000  # runs per side


def render_compare_page(shelf: Shelf, address: Address) -> WebPage:
    """Render ``/compare``: ``a`` and ``b`` (stores), ``where_a`` and ``where_b``, ``response``. Raises InputError,
    DataError."""
    if not (address.parameter("a") and address.parameter("b")):
        latest = [(shelf.of(experiment.store), experiment) for experiment in shelf.view.experiments(0, 50)]
        return render_page("compare.html", shelf, address, "Compare", lines=[], notes=[], latest=latest, drawn=None)
    return WebPage(shelf.once(address.but(), lambda: _render_page(shelf, address).body))


def compare_selected_runs(shelf: Shelf, address: Address) -> tuple[Comparisons | PairVerdicts, list[str]]:
    """Return the comparison of the two sides of an address, and notes. Raises InputError, DataError."""
    (a, only_last_a), (b, only_last_b) = (_open_side(shelf, address, side) for side in "ab")
    comparison = compare_answer.compare(
        a, Numbers(tuple(address.parameters("response"))), compare_answer.Sides(other=b)
    )
    notes: list[str] = [
        Message(
            "last-experiment",
            "Using the last experiment of {source}, {experiment}: several would share a cell.",
            source=source.name,
            experiment=source.experiment,
        )
        for source, only_last in ((a, only_last_a), (b, only_last_b))
        if only_last
    ]
    return comparison, notes


def _render_page(shelf: Shelf, address: Address) -> WebPage:
    comparison, notes = compare_selected_runs(shelf, address)
    drawn = compare_figure.ratios_figure(comparison) if isinstance(comparison, Comparisons) else None
    a, b = (_name_side(shelf, address, side) for side in "ab")
    return render_page(
        "compare.html",
        shelf,
        address,
        f"A: {a}, B: {b}",
        latest=[],
        notes=notes,
        lines=list(compare_text.lines(comparison)),
        drawn=drawn,
        **build_figure_scripts({"ratios": drawn.spec} if drawn else {}),
    )


def _name_side(shelf: Shelf, address: Address, side: str) -> str:
    conditions = address.parameters(f"where_{side}")
    only = conditions[0].removeprefix("experiment=") if len(conditions) == 1 else ", ".join(conditions)
    return only or shelf.at(address.parameter(side)).name


def _open_side(shelf: Shelf, address: Address, side: str) -> tuple[Source, bool]:
    """Open a side, named by its content; return it, and whether it was reduced to the last of several experiments that
    would share a cell."""
    shelved, conditions = shelf.at(address.parameter(side)), address.parameters(f"where_{side}")
    part, total = shelf.part(shelved, parse_where(conditions), MOST)
    if not total:
        raise InputError("no-matching-runs", "no run on side {side}", "correct its conditions", side=side.upper())
    if total > MOST:
        raise InputError(
            "too-many-runs",
            "side {side} has {n_runs} runs; at most {limit} are compared here",
            "add conditions, or use iosonde compare",
            side=side.upper(),
            n_runs=total,
            limit=MOST,
        )
    name = _name_side(shelf, address, side)
    source, note = replace(open_data(part), name=name).separate_last(alike=True)
    return source, bool(note)
