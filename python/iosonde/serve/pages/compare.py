"""Any two sets of runs, as ``iosonde compare`` says it: each is a store and conditions on its runs."""

from __future__ import annotations

from dataclasses import replace

from iosonde import answers, report
from iosonde.core.errors import InputError
from iosonde.core.where import parse_where
from iosonde.data.asked import Asked as Numbers
from iosonde.data.source import Source, open_data
from iosonde.serve.shelf import Shelf

from .shown import Asked, Shown, rendered

MOST = 2000  # runs of a side


def page(shelf: Shelf, asked: Asked) -> Shown:
    """``/compare``: ``a`` and ``b`` (stores), ``where_a`` and ``where_b``, ``response``. Raises InputError,
    DataError."""
    if not (asked.one("a") and asked.one("b")):
        latest = [(shelf.of(one.store), one) for one in shelf.view.experiments(0, 50)]
        return rendered("compare.html", shelf, asked, "Compare", lines="", verdicts=[], latest=latest)
    return Shown(shelf.once(asked.but(), lambda: _made(shelf, asked).body))


def _made(shelf: Shelf, asked: Asked) -> Shown:
    a, b = _side(shelf, asked, "a"), _side(shelf, asked, "b")
    made = answers.compare.compare(a, Numbers(tuple(asked.many("response"))), answers.compare.Sides(other=b))
    return rendered("compare.html", shelf, asked, f"{a.name} and {b.name}", latest=[],
                    lines="\n".join(report.text.compare.lines(made)))  # fmt: skip


def _side(shelf: Shelf, asked: Asked, side: str) -> Source:
    """Named by its store and what it is of."""
    shelved, said = shelf.at(asked.one(side)), asked.many(f"where_{side}")
    part, total = shelf.part(shelved, parse_where(said), MOST)
    if not total:
        raise InputError(f"no run is on the side {side.upper()}", "correct its conditions")
    if total > MOST:
        raise InputError(f"the side {side.upper()} has {total} runs, and at most {MOST} are compared here",
                         "narrow it by conditions, or use iosonde compare")  # fmt: skip
    only = said[0].removeprefix("experiment=") if len(said) == 1 else ", ".join(said)
    return replace(open_data(part), name=f"{side.upper()} {only or shelved.name}")
