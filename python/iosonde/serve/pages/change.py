"""A change in a history: the points of its series before it compared with those after it."""

from __future__ import annotations

from iosonde.commands.compare import figure as compare_figure
from iosonde.commands.compare import text as compare_text
from iosonde.commands.watch import compare as watch_compare
from iosonde.core.errors import InputError
from iosonde.serve.shelf import Shelf

from .history import watched
from .web_page import Address, WebPage, rendered, scripts


def page(shelf: Shelf, address: Address) -> WebPage:
    """Render ``/change``: the parameters of ``/history``, and ``series`` (its title) and ``run`` (the first after the
    change). Raises InputError, DataError."""
    return WebPage(shelf.once(address.but(), lambda: _render_page(shelf, address).body))


def _render_page(shelf: Shelf, address: Address) -> WebPage:
    history, _ = watched(shelf, address, address.parameter("store"))
    series, run = address.parameter("series"), address.parameter("run")
    change = next(
        (
            candidate
            for candidate in history.changes
            if (candidate.series.title, candidate.first_after.run) == (series, run)
        ),
        None,
    )
    if change is None:
        raise InputError("unknown-change", "this history no longer has that change", "reload the history")
    comparison = watch_compare.compare_sides(change)
    drawn = compare_figure.ratios_figure(comparison)
    point = "experiment, the mean of its trials" if change.series.nightly else "trial"
    notes = [
        f"{series}: points before {change.first_after.started_at[:10]} against points from then on, up to the "
        f"neighbouring changes. A point is one {point}."
    ]
    return rendered(
        "compare.html",
        shelf,
        address,
        f"{series}: before and after",
        latest=[],
        notes=notes,
        lines=list(compare_text.lines(comparison)),
        drawn=drawn,
        **scripts({"ratios": drawn.spec} if drawn else {}),
    )
