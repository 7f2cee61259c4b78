"""S406: slow at places of a file

What it says
    Operations at some places of every so many bytes are slow, in whatever
    order they are made: those that begin a unit, that cross the border of two,
    or whose unit lies on one server of several.

How we know
    Offsets are folded by powers of two, by 3, 5 and 7 times these, by what the
    file system says it works in, and by the period that the slow ones show (by
    autocorrelation); the places are learned from one half and
    judged on the other. Crossing a border is asked apart.

When it is wrong
    When offsets and time go together (a sequential pass): then S401 or S404
    says it better.

What to do
    Shift all offsets by half of the unit, or align them. If the same places of
    a unit's multiple stay slow, look at the server that holds them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from iosonde.core.units import format_size
from iosonde.core.words import percent

from ..folding import PeriodFold, fold, lengths
from ..sizes import named
from .target import LEAST, Agreement, Suspect, Target

CODE = "S406"
_SLOTS = 32
_ODD = 7  # servers, or parts, whose borders are met exactly
_LEAST_UNIT, _MOST_UNIT = 512, 1 << 30
_ROUND, _ROUND_ENOUGH = (1 << 20, 1 << 18, 1 << 16, 1 << 14, 1 << 12), 0.002
_SIMPLER = 0.03  # a longer period has to agree so much better


def find(target: Target) -> list[Suspect]:
    """The period of places that tells slow operations best, and the border that does."""
    operations = target.operations
    if not operations.placed or target.rows.size < LEAST:
        return []
    slow, others = (operations.offset[rows].astype(np.int64) for rows in (target.some_slow, target.some_others))
    reach = int(max(slow.max(initial=0), others.max(initial=0))) + operations.size
    units = sorted({*_units(reach, operations.units.values()), *_seen(slow, reach)})
    crossing = _crossing(target, slow, others, units)
    folded = _folded(target, slow, others, units)
    found = [one for one in (crossing, folded) if one is not None]
    return [max(found, key=lambda one: one.agreement.kappa)] if found else []


def _units(reach: int, known: Iterable[int]) -> Iterator[int]:
    for power in range(_LEAST_UNIT.bit_length() - 1, _MOST_UNIT.bit_length()):
        yield from (times << power for times in (1, 3, 5, 7) if 4 * (times << power) <= reach)
    yield from (one for one in known if 4 * one <= reach)


def _seen(slow: np.ndarray, reach: int) -> Iterator[int]:
    """The period that the places show themselves, as stripes over nine servers have it: as the roundest number of
    bytes that is nearly as long."""
    for length in lengths(slow, reach):
        for step in _ROUND:
            whole = round(length / step) * step
            if whole and abs(whole / length - 1) < _ROUND_ENOUGH and 4 * whole <= reach:
                yield whole
                break


def _crossing(target: Target, slow: np.ndarray, others: np.ndarray, units: list[int]) -> Suspect | None:
    """Operations that lie in two units."""
    size = target.operations.size
    best: tuple[Agreement, int] | None = None
    for unit in units:
        crossed = [(one % unit) + size > unit for one in (slow, others)]
        if size > unit or (crossed[0].all() and crossed[1].all()):
            continue
        made = target.judge(crossed[0], crossed[1], len(units))
        if made.seen and (best is None or made.kappa > best[0].kappa + _SIMPLER):
            best = made, unit
    if best is None:
        return None
    made, unit = best
    size_text = format_size(unit)
    sentence = (f"{percent(made.recall)} of them cross a border of {size_text}{named(unit, target.operations.units)}, "
                f"and {percent(made.precision)} of those that do are slow")  # fmt: skip
    return Suspect(CODE, target.place, f"crosses borders of {size_text}", sentence, made,
                   "offsets that are multiples of the unit: none crosses then",
                   {"unit_bytes": unit, "crosses": True})  # fmt: skip


def _folded(target: Target, slow: np.ndarray, others: np.ndarray, units: list[int]) -> Suspect | None:
    """Operations at the same places of a unit."""
    best: tuple[PeriodFold, int] | None = None
    step = max(1, int(np.gcd.reduce(np.concatenate([slow, others]))))  # of the offsets: finer parts would be empty
    for unit in units:
        if unit <= target.operations.size:
            continue
        odd = unit // (unit & -unit)
        many = max(2, min(_SLOTS * (odd if odd <= _ODD else 1), unit // step))
        slots = [(one % unit) * many // unit for one in (slow, others)]
        made = fold(slots[0], slots[1], many, target.prevalence, len(units))
        if made.agreement.seen and (best is None or made.agreement.kappa > best[0].agreement.kappa + _SIMPLER):
            best = made, unit
    if best is None:
        return None
    made, unit = best
    width = made.runs * unit // made.of
    where = f"the begin of every {format_size(unit)}" if made.slots == (0,) else \
        f"the same {format_size(width)} of every {format_size(unit)}"  # fmt: skip
    found = made.agreement
    unit_words = named(unit, target.operations.units)
    sentence = (f"{percent(found.recall)} of them are at {where}{unit_words}, and {percent(found.precision)} of the "
                "operations there are slow")  # fmt: skip
    return Suspect(CODE, target.place, where, sentence, found,
                   "all offsets moved by half of it: what belongs to the place moves by as much",
                   {"unit_bytes": unit, "from_bytes": made.slots[0] * unit // made.of, "width_bytes": width,
                    "crosses": False})  # fmt: skip
