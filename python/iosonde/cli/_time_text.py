"""The time model as text: the parts under each condition, the diagnosis, what it cannot see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iosonde.core.units import format_rate, format_size, human_scale, significant
from iosonde.model.time_model import LIMITS, PARTS, Condition, Diagnosis, Line
from iosonde.report.text import table

from ._bound_text import wrapped

_WIDTH = 79
_CLOSE = 0.25


def lines(
    found: Sequence[Condition], asked: Sequence[int], told: Sequence[Diagnosis], fitted: Sequence[Line], level: float
) -> Iterator[str]:
    """The lines of the text."""
    if fitted:
        yield from _fitted(fitted, level)
    for size in asked:
        if fitted or size is not asked[0]:
            yield ""
        yield from _parts(found, size, not fitted)
    if told:
        yield ""
        yield from _diagnosis(told)
    yield ""
    if not fitted:
        yield from wrapped("; ".join(f"{name}: {text}" for name, text in PARTS.items()) + ".")
    yield from wrapped(f"Not in it: {'; '.join(LIMITS)}.", "  ")


def _parts(found: Sequence[Condition], size: int, with_parts: bool) -> Iterator[str]:
    divisor, unit = human_scale(max(one.seconds(size) for one in found), "s")
    names = list(PARTS) if with_parts else []
    rows = []
    for one in found:
        paid = {part.name: part.seconds(size) / divisor for part in one.parts}
        cells = [_short(paid[name]) if name in paid else "" for name in names]
        rows.append([one.name, *cells, _short(one.seconds(size) / divisor)])
    header = [format_size(size), *names, f"t, {unit}"]
    yield from table(header, rows, "l" + "r" * (len(names) + 1), _WIDTH).splitlines()


def _short(value: float) -> str:
    return significant(value, 4) if value else "0"


def _diagnosis(told: Sequence[Diagnosis]) -> Iterator[str]:
    rows = [
        [format_rate(one.observed_s, "s"), one.condition, format_rate(one.model_s, "s"), format_rate(one.lost_s, "s"),
         "not sure" if one.margin < _CLOSE else ""]
        for one in told
    ]  # fmt: skip
    header = ["observed", "nearest condition", "model", "lost", ""]
    yield from table(header, rows, "rlrrl", _WIDTH).splitlines()
    best = format_rate(told[0].best_s, "s")
    yield ""
    yield from wrapped(
        f"Best case {best}: what the operation takes if every optimisation works; the rest is lost time."
    )


def _fitted(fitted: Sequence[Line], level: float) -> Iterator[str]:
    yield from wrapped(f"time = c + f(size), a line for each condition; {100 * level:g} % intervals (HC3)")
    yield ""
    rows = []
    for line in fitted:
        divisor, unit = human_scale(line.fixed.high, "s")
        fixed = " to ".join(significant(x / divisor, 3) for x in (line.fixed.low, line.fixed.high))
        rows.append([line.name, line.n, f"{fixed} {unit}", _rate(line), f"{line.r2:.3f}"])
    yield from table(["condition", "n", "c", "1/f", "R²"], rows, "lrrrr", _WIDTH).splitlines()


def _rate(line: Line) -> str:
    """What a byte's time says as a rate, from its interval; without an end where the slope may be 0."""
    low, high = line.per_byte.low, line.per_byte.high
    if high <= 0:
        return "cannot tell"
    slow = format_rate(1 / high, "bytes/s")
    if low <= 0:
        return f"above {slow}"
    divisor, unit = human_scale(1 / low, "bytes/s")
    return f"{significant(1 / high / divisor)} to {significant(1 / low / divisor)} {unit}"
