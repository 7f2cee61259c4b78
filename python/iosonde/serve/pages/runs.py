"""Runs, found by conditions, page by page; and one run, as ``iosonde show STORE RUN`` says it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from iosonde import answers, report
from iosonde.serve.shelf import Shelf
from iosonde.store.index_query import IndexedRun

from .shown import Address, WebPage, rendered

ON_A_PAGE = 100


def page(shelf: Shelf, asked: Address) -> WebPage:
    """``/runs``: ``store``, ``where`` as often as wanted, ``page``. Raises InputError."""
    view = shelf.narrowed(asked.one("store"))
    number = asked.number("page", 1, 10**6)
    found = view.runs(asked.where, (number - 1) * ON_A_PAGE, ON_A_PAGE)
    same = _same_in_all(found.runs)
    rows = [(shelf.of(one.store), one, {name: level for name, level in one.factors.items() if name not in same})
            for one in found.runs]  # fmt: skip
    return rendered("runs.html", shelf, asked, "Runs", found=rows, same=same,
                    total=found.total, columns=view.columns(), number=number,
                    pages=max(1, -(-found.total // ON_A_PAGE)))  # fmt: skip


def _same_in_all(runs: Sequence[IndexedRun]) -> dict[str, Any]:
    """The factors that have one level in all that are shown, which is said once."""
    sound = [one.factors for one in runs if not one.problem]
    if len(sound) < 2:
        return {}
    return {name: level for name, level in sound[0].items() if all(name in one and one[name] == level for one in sound)}


def one(shelf: Shelf, asked: Address) -> WebPage:
    """``/run``: ``store``, ``run``. Read from the store itself. Raises InputError, DataError."""
    shelved, run = shelf.at(asked.one("store")), asked.one("run")
    part = shelved.store.part([run])
    made = answers.show.detail(answers.show.ChosenRuns(part, run))
    return rendered("run.html", shelf, asked, f"Run {run}", shelved=shelved, run=made.stored,
                    lines=list(report.text.show.detail_lines(made)))  # fmt: skip
