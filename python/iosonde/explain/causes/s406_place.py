"""S406: slow at places of a file

What it says
    Operations at some places of a unit of bytes are slow, in any order of
    access: those that begin a unit, that cross the border of two, or whose
    unit lies on one server of several.

How we know
    Offsets are folded by powers of two, by 3, 5 and 7 times these, by the
    units that the file system reports, and by the period of the slow places
    (autocorrelation). The places are learned from one half and judged on
    the other. Crossing a border is tested separately.

When it is wrong
    When offsets and time go together (a sequential pass): then S401 or S404
    describes it better.

What to do
    Shift all offsets by half of the unit, or align them. If the same places
    of a multiple of the unit stay slow, look at the server that holds them.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from iosonde.core.units import format_size
from iosonde.core.words import format_share

from ..folding import PeriodFold, find_best_slots_of_period, list_candidate_periods
from ..sizes import describe_size
from .target import LEAST, Agreement, Suspect, Target

CODE = "S406"
_SLOTS = 32
_ODD = 7  # servers, or parts, whose borders are met exactly
_LEAST_UNIT, _MOST_UNIT = 512, 1 << 30
_ROUND, _ROUND_ENOUGH = (1 << 20, 1 << 18, 1 << 16, 1 << 14, 1 << 12), 0.002
_SIMPLER = 0.03  # by how much better a longer period must agree


def find(target: Target) -> list[Suspect]:
    """Find the period of places, and the border, that agree best with the slow operations."""
    operations = target.operations
    if not operations.placed or target.rows.size < LEAST:
        return []
    slow, others = (operations.offset[rows].astype(np.int64) for rows in (target.some_slow, target.some_others))
    reach = int(max(slow.max(initial=0), others.max(initial=0))) + operations.size
    units = sorted({*_iter_units(reach, operations.units.values()), *_detect_periods(slow, reach)})
    crossing = _find_crossing(target, slow, others, units)
    suspects = [suspect for suspect in (crossing, _fold_by_unit(target, slow, others, units)) if suspect is not None]
    return [max(suspects, key=lambda suspect: suspect.agreement.kappa)] if suspects else []


def _iter_units(reach: int, units: Iterable[int]) -> Iterator[int]:
    for power in range(_LEAST_UNIT.bit_length() - 1, _MOST_UNIT.bit_length()):
        yield from (times << power for times in (1, 3, 5, 7) if 4 * (times << power) <= reach)
    yield from (unit for unit in units if 4 * unit <= reach)


def _detect_periods(slow: np.ndarray, reach: int) -> Iterator[int]:
    """Return the period of the slow places themselves (as of stripes over nine servers), at the roundest near number of
    bytes."""
    for length in list_candidate_periods(slow, reach):
        for step in _ROUND:
            multiple = round(length / step) * step
            if multiple and abs(multiple / length - 1) < _ROUND_ENOUGH and 4 * multiple <= reach:
                yield multiple
                break


def _find_crossing(target: Target, slow: np.ndarray, others: np.ndarray, units: list[int]) -> Suspect | None:
    """Test operations that lie in two units."""
    size = target.operations.size
    best: tuple[Agreement, int] | None = None
    for unit in units:
        crossed = [(offsets % unit) + size > unit for offsets in (slow, others)]
        if size > unit or (crossed[0].all() and crossed[1].all()):
            continue
        agreement = target.judge(crossed[0], crossed[1], len(units))
        if agreement.is_significant and (best is None or agreement.kappa > best[0].kappa + _SIMPLER):
            best = agreement, unit
    if best is None:
        return None
    agreement, unit = best
    size_text = format_size(unit)
    sentence = (
        f"{format_share(agreement.recall)} of them cross a border of "
        f"{size_text}{describe_size(unit, target.operations.units)}, "
        f"and {format_share(agreement.precision)} of those that do are slow"
    )
    return Suspect(
        CODE,
        target.place,
        f"crosses borders of {size_text}",
        sentence,
        agreement,
        "offsets that are multiples of the unit: none crosses then",
        {"unit_bytes": unit, "crosses": True},
    )


def _fold_by_unit(target: Target, slow: np.ndarray, others: np.ndarray, units: list[int]) -> Suspect | None:
    """Test operations at the same places of a unit."""
    best: tuple[PeriodFold, int] | None = None
    step = max(1, int(np.gcd.reduce(np.concatenate([slow, others]))))  # of the offsets: finer parts would be empty
    for unit in units:
        if unit <= target.operations.size:
            continue
        odd = unit // (unit & -unit)
        many = max(2, min(_SLOTS * (odd if odd <= _ODD else 1), unit // step))
        slots = [(offsets % unit) * many // unit for offsets in (slow, others)]
        period_fold = find_best_slots_of_period(slots[0], slots[1], many, target.prevalence, len(units))
        if period_fold.agreement.is_significant and (
            best is None or period_fold.agreement.kappa > best[0].agreement.kappa + _SIMPLER
        ):
            best = period_fold, unit
    if best is None:
        return None
    period_fold, unit = best
    width = period_fold.runs * unit // period_fold.of
    where = (
        f"the begin of every {format_size(unit)}"
        if period_fold.slots == (0,)
        else f"the same {format_size(width)} of every {format_size(unit)}"
    )
    agreement = period_fold.agreement
    unit_words = describe_size(unit, target.operations.units)
    sentence = (
        f"{format_share(agreement.recall)} of them are at {where}{unit_words}, and "
        f"{format_share(agreement.precision)} of the "
        "operations there are slow"
    )
    return Suspect(
        CODE,
        target.place,
        where,
        sentence,
        agreement,
        "all offsets moved by half of it: an effect of the place moves by as much",
        {
            "unit_bytes": unit,
            "from_bytes": period_fold.slots[0] * unit // period_fold.of,
            "width_bytes": width,
            "crosses": False,
        },
    )
