"""One change of a history: the points of its series before it compared with those after it."""

from __future__ import annotations

from iosonde import answers, report
from iosonde.core.errors import InputError
from iosonde.serve.shelf import Shelf

from .drawn import scripts
from .history import watched
from .shown import Address, WebPage, rendered


def page(shelf: Shelf, address: Address) -> WebPage:
    """``/change``: the words of ``/history``, and ``series`` (its title) and ``run`` (the first after the change).
    Raises InputError, DataError."""
    return WebPage(shelf.once(address.but(), lambda: _render_page(shelf, address).body))


def _render_page(shelf: Shelf, address: Address) -> WebPage:
    history, _ = watched(shelf, address, address.one("store"))
    series, run = address.one("series"), address.one("run")
    change = next(
        (
            candidate
            for candidate in history.changes
            if (candidate.series.title, candidate.first_after.run) == (series, run)
        ),
        None,
    )
    if change is None:
        raise InputError("unknown-change", "this history has no such change now", "look at the history again")
    comparison = answers.watch_compare.compare_sides(change)
    drawn = report.figures.ratios.ratios_figure(comparison)
    point = "experiment, the mean of its trials" if change.series.nightly else "trial"
    notes = [
        f"{series}: its points before {change.first_after.started_at[:10]}, and those from then on, as far as the "
        f"changes next to it. A point is one {point}."
    ]
    return rendered(
        "compare.html",
        shelf,
        address,
        f"{series}: before and after",
        latest=[],
        notes=notes,
        lines=list(report.text.compare.lines(comparison)),
        drawn=drawn,
        **scripts({"ratios": drawn.spec} if drawn else {}),
    )
