"""The order in which the trials of two sides were measured: time that is in the difference, too."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from iosonde.core.level_text import level_shown
from iosonde.core.message import Message
from iosonde.core.stored import plain
from iosonde.core.table import Table
from iosonde.core.units import percent
from iosonde.core.verdict import VerdictState
from iosonde.stats.estimate.compare import DIFFERENT, Comparison
from iosonde.stats.estimate.order_effect import (
    OrderedTrials,
    OrderEffect,
    explains,
    order_effect,
    ordered,
    still_excludes,
)
from iosonde.stats.overview.measured_order import measured_order

from .caveat import Caveat
from .cells import InCells

Array = npt.NDArray[np.float64]

_LEAST = 4  # trials of a side: fewer are in turn by chance, and show no drift


def order_caveats(one: InCells, comparison: Comparison, group: str, by_rows: bool) -> list[Caveat]:
    """What the order says against a comparison of sides that were measured in turn. ``by_rows``: of somebody's table,
    whose rows stand in the order of the trials where nothing else tells it, for all that is known."""
    a, b = one.pair.a, one.pair.b
    alone = a.published or b.published or a.bring_ups or b.bring_ups or one.pair.part.within_run
    if alone or comparison.paired or min(a.values.size, b.values.size) < _LEAST:
        return []
    rows, names = _rows_of(one, group)
    order = measured_order(rows, (one.pair.part.column, group, *one.names))
    if order is None and not by_rows:
        return []
    trials = _ordered(one, rows, [name == b.name for name in names], order)
    if not trials.in_turn:
        return []
    sides = (b.name, a.name) if trials.of_b[0] else (a.name, b.name)
    shown = ", then ".join(level_shown(name, one.pair.part.units.get(group, "")) for name in sides)
    turn = f"{plain(group)} was measured one after the other ({shown}{'' if order is not None else ', by the rows'})"
    found = list(_against(order_effect(trials, comparison.decided.level), comparison, turn))
    if found or order is None or not by_rows:  # of a store's campaign that is said as a whole
        return found
    return [Caveat(measured_in_turn(turn), "order")]


def measured_in_turn(turn: str) -> Message:
    """Return the caveat that time is in a difference; ``turn`` says what was measured when."""
    return Message("measured-in-turn", "{turn}: a change with time is in the difference, too", turn=turn)


def _rows_of(one: InCells, group: str) -> tuple[Table, list[str]]:
    """The rows of both sides that have a value, and the side of each."""
    part = one.pair.part
    rows = part.rows.take(np.flatnonzero(~np.isnan(part.rows.numbers(part.column))))
    codes, levels = rows.column(group).codes()
    names = [str(levels[code]) for code in codes]
    places = [place for place, name in enumerate(names) if name in (one.pair.a.name, one.pair.b.name)]
    return rows.take(np.array(places, dtype=np.intp)), [names[place] for place in places]


def _ordered(one: InCells, rows: Table, of_b: list[bool], order: Array | None) -> OrderedTrials:
    columns = [rows.column(name).values.tolist() for name in one.names]
    cells: list[object] = list(zip(*columns, strict=True)) if columns else [()] * len(rows)
    places = np.arange(len(rows), dtype=float) if order is None else order
    return ordered(rows.numbers(one.pair.part.column), of_b, cells, places)


def _against(effect: OrderEffect, one: Comparison, turn: str) -> Iterator[Caveat]:
    """A drift, else a dependence, and whether it takes the claim away."""
    if effect.drift is not None:
        gone = explains(effect, one.above) if one.verdict == DIFFERENT else abs(effect.drift) > one.margin
        text = Message(
            "drift",
            "{turn}, and values drift inside the sides, by {drift} from the first trial to the last (p = {p:.2g})",
            turn=turn,
            drift=percent(abs(effect.drift)),
            p=effect.drift_p,
        )
        why = Message(
            "drift",
            "values drift with the order in which they were measured, which explains the difference"
            if one.verdict == DIFFERENT
            else "values drift with the order in which they were measured",
        )
        yield Caveat(text, "drift", VerdictState.INCONCLUSIVE if gone else None, why)
    elif effect.worth < 1:
        nothing = 1.0 if one.ratio is not None else 0.0
        gone = one.verdict == DIFFERENT and not still_excludes(one.decided, nothing, effect.worth)
        template = "neighbouring trials resemble each other, so that each is worth {worth:.2g}"
        why = Message("dependent-trials", template, worth=effect.worth)
        text = Message("dependent-trials", "{turn}, and {reason}", turn=turn, reason=why, worth=effect.worth)
        yield Caveat(text, "dependent", VerdictState.INCONCLUSIVE if gone else None, why)
