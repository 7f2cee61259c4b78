"""An Overview as text: shared facts once, one block a response, under 80 columns, a sentence at the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from iosonde.core.table import show
from iosonde.core.units import human_scale, percent, significant
from iosonde.stats.overview.types import Efficiency, Overview, OverviewLatency, OverviewRow

from .layout import escape, estimate_parts, table, wrapped

if TYPE_CHECKING:
    from iosonde.answers.summary import Summary

_STOPS = {
    "last_done": "until the last rank is done",
    "first_done": "until the first rank is done",
    "sum_of_ranks": "sum of each rank's own rate",
    "overlap": "while all ranks were active",
    "all": "every clock: see the metric's name",
}
_SHARE = 0.2
_SAME_MEAN = 0.01  # a harmonic mean this near to the mean says nothing new
_MOST_HARMONIC = 4


def lines(answer: Summary) -> Iterator[str]:
    """The lines of the text; the clock is named in the header where the rates come from a store."""
    made = answer.overview
    yield from wrapped(_header(made, answer.clock))
    if made.rows:
        yield ""
        yield from _rows(made)
    if made.latency:
        yield ""
        yield from _latency(made)
    if made.efficiency:
        yield ""
        yield from _efficiency(made.efficiency)
    yield from _harmonic(made)
    notes = list(dict.fromkeys([*made.warnings, *(w for row in made.rows for w in row.warnings)]))
    if notes or made.findings:
        yield ""
    for note in notes:
        yield from wrapped(f"~ {note}", "  ")
    for finding in made.findings:
        yield from wrapped(f"{finding.code} {finding.sentence}", "     ")
    yield ""
    yield from wrapped(made.sentence)


def _header(made: Overview, clock: str) -> str:
    trials = sorted({row.n for row in made.rows})
    count = f"{trials[0]}" if len(trials) == 1 else f"{trials[0]} to {trials[-1]}" if trials else "no"
    stop = f"{_STOPS.get(clock, clock)}; " if clock else ""
    return f"{stop}{100 * made.level:g} % intervals over {count} trial{'s' if trials != [1] else ''} a cell"


def _rows(made: Overview) -> Iterator[str]:
    same_n = len({row.n for row in made.rows}) == 1
    headers = [*made.by, *([] if same_n else ["n"]), "mean", "interval", "median", "interval", "cv"]
    grid: list[list[str]] = []
    titles = {}
    for (operation, metric), members in groupby(made.rows, key=lambda row: (row.operation, row.metric)):
        rows = list(members)
        divisor, unit = human_scale(max(abs(row.mean.value or 0.0) for row in rows), rows[0].unit)
        titles[len(grid)] = _title(operation, metric, unit, made.rows)
        grid += [_row(row, made.by, same_n, divisor) for row in rows]
    yield from _with_titles(headers, grid, titles)


def _harmonic(made: Overview) -> Iterator[str]:
    """The harmonic means of rates where they differ from the means, and when they are the right ones."""
    known = [
        (row, row.harmonic_mean)
        for row in made.rows
        if row.harmonic_mean and row.mean.value and row.harmonic_mean < (1 - _SAME_MEAN) * row.mean.value
    ]
    if not known:
        return
    said = []
    for row, harmonic in known[:_MOST_HARMONIC]:
        divisor, unit = human_scale(abs(harmonic), row.unit)
        where = ", ".join(([row.operation] if row.operation else []) + [f"{k}={show(v)}" for k, v in row.by.items()])
        said.append(f"{significant(harmonic / divisor)} {unit}" + (f" ({where})" if where else ""))
    more = f" and {len(known) - _MOST_HARMONIC} more (--json)" if len(known) > _MOST_HARMONIC else ""
    yield ""
    yield from wrapped(
        f"harmonic mean, the right one where every trial did the same work (it is all work by all time): "
        f"{', '.join(said)}{more}", "  "
    )  # fmt: skip


def _title(operation: str, metric: str, unit: str, rows: Sequence[OverviewRow]) -> str:
    several = len({row.metric for row in rows if row.operation == operation}) > 1
    name = operation if operation and not several else f"{operation} {metric}".strip()
    return f"{name}, {unit}" if unit else name


def _row(row: OverviewRow, by: Sequence[str], same_n: bool, divisor: float) -> list[str]:
    mean, interval = estimate_parts(row.mean, divisor)
    median, order_interval = estimate_parts(row.median, divisor)
    return [*(show(row.by.get(name)) for name in by), *([] if same_n else [str(row.n)]), mean, interval, median,
            order_interval, "~" if row.cv is None else percent(row.cv)]  # fmt: skip


def _latency(made: Overview) -> Iterator[str]:
    """The calls that fill a phase; those that take less of it than :data:`_SHARE` are left to --json."""
    yield "durations of operations over all ranks: geometric mean over trials"
    names = [f"p{100 * p:g}" for p in dict.fromkeys(item.percentile for item in made.latency)]
    grid: list[list[str]] = []
    titles = {}
    for (operation, kind), members in groupby(_filling(made.latency), key=lambda item: (item.operation, item.kind)):
        items = list(members)
        known = [item.duration.value for item in items if item.duration.value is not None]
        divisor, unit = human_scale(min(known, default=1e-6), "s")
        titles[len(grid)] = f"{operation}: {kind}, {unit}"
        for key, row in groupby(items, key=lambda item: tuple(item.by.values())):
            cells = [text for item in row for text in estimate_parts(item.duration, divisor)]
            grid.append([*map(show, key), *cells])
    headers = [*made.by, *(text for name in names for text in (name, "interval"))]
    yield from _with_titles(headers, grid, titles)


def _filling(latency: Sequence[OverviewLatency]) -> list[OverviewLatency]:
    spent: dict[tuple[str, str], float] = {}
    for item in latency:
        if item.percentile == 0.5:
            key = (item.operation, item.kind)
            spent[key] = spent.get(key, 0.0) + item.n_operations * (item.duration.value or 0.0)
    whole: dict[str, float] = {}
    for (operation, _), seconds in spent.items():
        whole[operation] = whole.get(operation, 0.0) + seconds
    return [x for x in latency if spent.get((x.operation, x.kind), 0.0) >= _SHARE * whole.get(x.operation, 0.0)]


def _with_titles(headers: Sequence[str], grid: Sequence[Sequence[str]], titles: dict[int, str]) -> Iterator[str]:
    """A table, words to the left and numbers to the right, with a title line before some rows."""
    words = [any(row[column][:1].isalpha() for row in grid) for column in range(len(headers))]
    aligned = table(headers, grid, "".join("l" if word else "r" for word in words)).splitlines()
    yield aligned[0]
    for place, line in enumerate(aligned[1:]):
        if place in titles:
            yield escape(titles[place])
        yield line


def _efficiency(items: Sequence[Efficiency]) -> Iterator[str]:
    base, factor = items[0].base, items[0].factor
    yield f"efficiency against {base:g} {factor.removesuffix('s') if base == 1 else factor} (1 is linear)"
    rest = list(dict.fromkeys(name for item in items for name in item.by))
    several = len({(item.operation, item.metric) for item in items}) > len({item.operation for item in items})
    grid = []
    for item in items:
        name = f"{item.operation} {item.metric}".strip() if several or not item.operation else item.operation
        grid.append(
            [name, *(show(item.by.get(key)) for key in rest), f"{item.size:g}", *estimate_parts(item.efficiency)]
        )
    headers = ["operation", *rest, factor, "efficiency", "interval"]
    yield from table(headers, grid, "l" + "r" * (len(headers) - 1)).splitlines()
