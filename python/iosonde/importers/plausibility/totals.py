"""The tool's total of all its threads, servers or directions against its own numbers of each.

The whole ends when the last of them ends, so its rate is at most the sum of their own rates. fio's total over servers
once counted each of them several times (axboe/fio#752). Amounts, and rates that the tool itself adds up, are equal to
the sum.
"""

from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

from iosonde.core.contradiction import Contradiction
from iosonde.core.message import Message
from iosonde.core.units import format_rate

from ..parsed import Parsed, Row
from .numbers import Numbers

CODE = "S135"
_SUMMED = {"rate": ("rate_last_done", "rate"), "bandwidth": ("bandwidth_last_done", "bandwidth")}
_ADDED_UP = {
    "bytes": "bytes",
    "operations": "operations",
    "rate_sum_of_ranks": "rate_own",
    "bandwidth_sum_of_ranks": "bandwidth_own",
}
# elbencho's total of reads and writes that ran at the same time.
_BOTH, _DIRECTIONS = "_total", ("_read", "_write")
# fio's and iperf's text has three digits, of the total and of each part.
_ROUNDED_SHARE, _BOTH_ROUNDED_SHARE = 0.01, 0.02


class _Sum(NamedTuple):
    """A total, the sum of its parts and their number; ``is_equal``: the total may not be below the sum either."""

    row: Row
    expected: float
    n_parts: int
    is_equal: bool


def find_wrong_totals(run: Parsed, groups: Sequence[Numbers]) -> Iterator[Contradiction]:
    """Yield the totals that are above the sum of their parts, and those that should be this sum and are not."""
    parts: dict[tuple[str, Hashable], list[Numbers]] = {}
    for group in groups:
        if group.rank is not None:
            parts.setdefault((group.operation, group.place), []).append(group)
        elif group.operation.endswith(_DIRECTIONS):
            parts.setdefault((group.operation.rpartition("_")[0] + _BOTH, group.place), []).append(group)
    for group in groups:
        own = parts.get((group.operation, group.place), []) if parts else []
        if group.rank is None and (own or group.statistics):
            for total in (*_list_sums(run, group, own), *_list_means(run, group)):
                if _is_wrong(total):
                    yield _build_contradiction(group, total)


def _list_sums(run: Parsed, group: Numbers, parts: Sequence[Numbers]) -> Iterator[_Sum]:
    """Yield the totals of a group with the sums over all of its parts, if there are several."""
    if len(parts) < 2:
        return
    if group.operation.endswith(_BOTH):
        pairs = [(metric, metric, True) for metric in group.rows if metric != "time"]
    else:
        first = {kind: next((name for name in names if name in group.rows), "") for kind, names in _SUMMED.items()}
        pairs = [(metric, f"{kind}_own", False) for kind, metric in first.items()]
        pairs += [(metric, own, True) for metric, own in _ADDED_UP.items() if not run.missing]
    for metric, own, is_equal in pairs:
        values = [value for part in parts if (value := part.get(own)) is not None]
        if metric in group.rows and len(values) == len(parts):
            yield _Sum(group.rows[metric], sum(values), len(values), is_equal)


def _list_means(run: Parsed, group: Numbers) -> Iterator[_Sum]:
    """Yield the sums over ranks that are printed with the mean of a rank."""
    n_ranks = group.get_settings(run).get("ranks")
    for kind in _SUMMED:
        total = group.rows.get(f"{kind}_sum_of_ranks")
        mean = group.statistics.get(f"{kind}_rank", {}).get("mean")
        if total and mean and isinstance(n_ranks, int):
            yield _Sum(total, mean.value * n_ranks, n_ranks, True)


def _is_wrong(total: _Sum) -> bool:
    value, tolerance = total.row.value, 1 + (_BOTH_ROUNDED_SHARE if total.is_equal else _ROUNDED_SHARE)
    return value > total.expected * tolerance or (total.is_equal and value * tolerance < total.expected)


def _build_contradiction(group: Numbers, total: _Sum) -> Contradiction:
    row, is_above = total.row, total.row.value > total.expected
    return Contradiction(
        CODE,
        group.operation,
        (row.metric,),
        Message(
            "total-above-parts" if is_above else "total-below-parts",
            "the total of {operation} {kind}, {total}, is {side} the sum of its {n_parts} parts, {expected}: "
            "the parts are believed",
            operation=group.operation,
            kind=row.metric.partition("_last_done")[0].partition("_sum_of_ranks")[0].replace("_", " "),
            total=format_rate(row.value, row.unit),
            side="above" if is_above else "below",
            n_parts=total.n_parts,
            expected=format_rate(total.expected, row.unit),
        ),
        row.line,
        group.factors,
    )
