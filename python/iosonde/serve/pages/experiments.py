"""The experiments of the stores, the last measured one first."""

from __future__ import annotations

from iosonde.serve.shelf import Shelf

from .web_page import Address, WebPage, rendered

ON_A_PAGE = 50


def page(shelf: Shelf, address: Address) -> WebPage:
    """Render ``/``: ``store``, ``page``."""
    view = shelf.narrowed(address.parameter("store"))
    number = address.number("page", 1, 10**6)
    selected = view.experiments((number - 1) * ON_A_PAGE, ON_A_PAGE)
    experiments, runs, damaged = view.counted()
    rows = [(shelf.of(experiment.store), experiment) for experiment in selected]
    return rendered(
        "experiments.html",
        shelf,
        address,
        "Experiments",
        rows=rows,
        experiments=experiments,
        runs=runs,
        damaged=damaged,
        problems=view.problems() if damaged else [],
        number=number,
        pages=max(1, -(-experiments // ON_A_PAGE)),
    )
