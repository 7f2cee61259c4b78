"""The tool's total of all its threads or servers against its own numbers of each.

The whole ends when the last of them ends, so its rate is at most the sum of their own rates. fio's total over servers
once counted each of them several times (axboe/fio#752).
"""

from collections.abc import Iterator, Sequence

from iosonde.core.contradiction import Contradiction
from iosonde.core.message import Message
from iosonde.core.units import format_rate

from ..parsed import Parsed
from .numbers import Numbers

CODE = "S135"
_SUMMED = {"rate": ("rate_last_done", "rate"), "bandwidth": ("bandwidth_last_done", "bandwidth")}
# fio's text has three digits.
_ROUNDED_SHARE = 0.01


def find_excess_totals(run: Parsed, groups: Sequence[Numbers]) -> Iterator[Contradiction]:
    """Yield the rates of the whole that are above the sum of those of its parts."""
    parts: dict[tuple[str, int | None, str], list[Numbers]] = {}
    for group in groups:
        if group.rank is not None:
            parts.setdefault(_build_key(group), []).append(group)
    if not parts:
        return
    for group in groups:
        own = parts.get(_build_key(group), []) if group.rank is None else []
        for kind, metrics in _SUMMED.items():
            metric = next((name for name in metrics if name in group.rows), None)
            values = [value for part in own if (value := part.get(f"{kind}_own")) is not None]
            if metric is None or len(values) < 2 or len(values) < len(own):
                continue
            row, expected = group.rows[metric], sum(values)
            if row.value <= expected * (1 + _ROUNDED_SHARE):
                continue
            yield Contradiction(
                CODE,
                group.operation,
                (metric,),
                Message(
                    "total-above-parts",
                    "the total of {operation} {kind}, {total}, is above the sum of its {n_parts} parts, {expected}: "
                    "the parts are believed",
                    operation=group.operation,
                    kind=kind,
                    total=format_rate(row.value, row.unit),
                    n_parts=len(values),
                    expected=format_rate(expected, row.unit),
                ),
                row.line,
                group.factors,
            )


def _build_key(group: Numbers) -> tuple[str, int | None, str]:
    return group.operation, group.iteration, repr(sorted((group.factors or {}).items()))
