"""The loss waterfalls of a store's cells: which runs, which operations, and the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from iosonde.core.errors import InputError
from iosonde.core.table import show
from iosonde.core.units import human_scale
from iosonde.report.text import estimate_parts, table

from ._bound_text import wrapped

if TYPE_CHECKING:
    from iosonde.explain.waterfall import Waterfall
    from iosonde.model.bound.shares import Share

    from ._data import Source

_WIDTH = 79
_UNEVEN = 0.02
_MUCH = 0.05
_TRAFFIC = "the bound's assumption that traffic with the metadata server is small does not hold here."


def waterfalls(source: Source, shares: Sequence[Share], level: float) -> tuple[list[Waterfall], list[str]]:
    """One for each measured cell whose operations were recorded, and why others have none. Raises InputError."""
    from iosonde import _native
    from iosonde.explain import waterfall

    if source.store is None:
        raise InputError("a waterfall needs the operations of a store", "give a store that 'iosonde run' made")
    phases = {run["id"]: {str(p.get("operation") or p.get("name")): p for p in run.get("phases") or ()}
              for run in source.runs()}  # fmt: skip
    trials: dict[int, list[waterfall.Trial]] = {}
    notes: dict[str, None] = {}
    for run_id in dict.fromkeys(run for one in shares for run in one.runs):
        rows = source.store.operations(run_id)  # one run in memory at a time
        for place, one in enumerate(shares):
            phase = phases.get(run_id, {}).get(one.operation)
            if run_id not in one.runs or phase is None:
                continue
            why = waterfall.why_not(phase, len(rows) > 0)
            if why:
                notes[f"{one.operation} has no waterfall: {why}"] = None
                continue
            own = rows[rows["phase"] == phase["index"]]
            bound_s = one.ceiling.seconds(waterfall.data_bytes(phase))
            trials.setdefault(place, []).append(waterfall.of_trial(phase, own, _native.KINDS, bound_s))
    found = [
        waterfall.together(shares[place].operation, shares[place].by, shares[place].ceiling, several, level)
        for place, several in sorted(trials.items())
    ]
    if not found:
        raise InputError("no cell has a waterfall", "; ".join(notes) or "operations of rates of bytes are needed")
    return found, list(notes)


def lines(found: Sequence[Waterfall], level: float) -> Iterator[str]:
    """A table for each cell, and a sentence."""
    from iosonde.explain.waterfall import TITLES

    for one in found:
        by = ", ".join(f"{name}={show(value)}" for name, value in one.by.items())
        trials = f"{one.delivered.n} trial{'' if one.delivered.n == 1 else 's'}"
        yield ""
        yield from wrapped(f"{one.operation}{f', {by}' if by else ''}; mean of {trials}, {100 * level:g} % intervals")
        yield ""
        total = one.delivered.value or 0.0
        divisor, unit = human_scale(total, "s")
        rows = []
        for name, estimate in [*one.parts.items(), ("delivered", one.delivered)]:
            value, interval = estimate_parts(estimate, divisor)
            share = f"{100 * (estimate.value or 0.0) / total:.1f} %" if total else "~"
            rows.append([TITLES.get(name, name), value, interval, share])
        yield from table(["", unit, "interval", "share"], rows, "lrrr", _WIDTH).splitlines()
        yield ""
        for sentence in said(one):
            yield from wrapped(sentence)


def said(one: Waterfall) -> Iterator[str]:
    """What a waterfall means, in sentences."""
    from iosonde.explain.waterfall import CURES, TITLES

    total = one.delivered.value or 0.0
    if one.largest:
        yield f"Most is surely lost to {TITLES[one.largest]}; what helps: {CURES[one.largest]}."
    if one.doubtful:
        yield f"~ {TITLES[one.doubtful]} may have cost more, but the interval holds 0: repeat the trials"
    calls = (one.parts["calls"].value or 0.0) / total if total else 0.0
    if calls > _MUCH:
        yield f"Open and other calls take {100 * calls:.0f} % of the time: {_TRAFFIC}"
    if one.work_excess > _UNEVEN:
        more = f"{100 * one.work_excess:.0f} %"
        yield f"The work is uneven: the busiest rank has {more} more bytes than the mean one."
    if (one.parts["slow_operations"].value or 0.0) < 0:
        yield "Operations were faster than the bound allows: a cache served them, or an input is wrong."
