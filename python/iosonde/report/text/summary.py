"""An Overview as text: shared facts once, one block a response, under 80 columns, a sentence at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from iosonde.core.clock_words import clock_words
from iosonde.core.column_units import titled
from iosonde.core.headlines import metric_words
from iosonde.core.level_text import levels_shown
from iosonde.core.units import human_scale
from iosonde.core.words import counted, listed
from iosonde.report.settings_layout import SEVERAL
from iosonde.stats.overview.types import Efficiency, Overview, OverviewLatency, OverviewRow

from . import calls, faults
from .cells import check_unit, every_cell, responses_of, title_of, with_titles
from .layout import estimate_parts, estimate_text, table, wrapped
from .settings_table import block, by_level, column_factor, fits
from .wide_table import check_column, wide

if TYPE_CHECKING:
    from iosonde.answers.summary import Summary

_SHARE = 0.2
_SAME_MEAN = 0.01  # a harmonic mean this near to the mean says nothing new
_MOST_HARMONIC = 4
_SCREEN = 45  # lines of the table, beyond which --all is needed


def lines(answer: Summary, every: bool = False, columns: str | None = None, unit: str | None = None) -> Iterator[str]:
    """The lines of the text; what the clock includes is named in the header where the rates come from a store.

    ``every``: each cell on a line of its own, with its median, and all of them; else at most a screen, with columns
    by one factor where there are several: ``columns``, if it is named, without durations then. ``unit``: of all rates
    of bytes. Raises InputError.
    """
    made = answer.overview
    check_unit(made, unit)
    settings, in_cells = (_wide(answer, columns, unit), []) if columns else (
        ([], made.rows) if every else _settings(answer, unit)
    )  # fmt: skip
    each = [] if settings else every_cell(answer, unit)
    yield from wrapped(_header(answer))
    if made.rows:
        yield ""
        yield from _screen(settings or each, every or bool(columns))
    if answer.spread:
        yield ""
        yield from _screen(list(_spread(answer)), every)
    if made.latency and not columns:
        yield ""
        yield from _screen(list(_latency(made)), every)
    if answer.faults:
        yield ""
        yield from faults.lines(answer.faults)
    if answer.calls:
        yield ""
        yield from calls.lines(answer.calls)
    if made.efficiency:
        yield ""
        yield from _efficiency(made.efficiency, made.units)
    if not settings:
        yield from _harmonic(made)
    with_median = set(map(id, in_cells))
    of_rows = (w for row in made.rows for w in (row.warnings if id(row) in with_median else row.mean.warnings))
    notes = list(dict.fromkeys([*made.warnings, *of_rows]))
    if notes or made.findings:
        yield ""
    for note in notes:
        yield from wrapped(f"~ {note}", "  ")
    for finding in made.findings:
        yield from wrapped(f"{finding.code} {finding.sentence}", "     ")
    yield ""
    yield from wrapped(made.sentence)


def _header(answer: Summary) -> str:
    made = answer.overview
    counts = sorted({row.n for row in made.rows})
    count = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}" if counts else "no"
    said = "; ".join(clock_words(answer.clock, answer.told))
    within = "the iterations within " if any(row.mean.within_run for row in made.rows) and counts == [1] else ""
    return (f"{said}; " if said else "") + (
        f"{100 * made.level:g} % intervals over {within}{count} {made.counted}{'s' if counts != [1] else ''} a cell"
    )


def _settings(answer: Summary, unit: str | None) -> tuple[list[str], Sequence[OverviewRow]]:
    """(the tables with columns by one factor, the rows that stand in lines of their own, as there is no room for their
    columns); no tables where there is no such factor, or no room for any."""
    made = answer.overview
    column = column_factor(made)
    if column is None:
        found = _responses_by_level(answer, unit)
        return found, [] if found else made.rows
    tables, in_cells = [], list[OverviewRow]()
    for (operation, metric), members in responses_of(made):
        laid = block(title_of(operation, metric, "", answer), members, made, column, unit)
        if not fits(laid):
            in_cells += members
            laid = every_cell(answer, unit, members)
        tables.append(laid)
    if len(in_cells) == len(made.rows):
        return [], made.rows
    return [line for number, laid in enumerate(tables) for line in ([""] if number else []) + laid], in_cells


def _wide(answer: Summary, columns: str, unit: str | None) -> list[str]:
    """The tables of two sides, with columns by the factor that was asked for."""
    made, found = answer.overview, list[str]()
    column = check_column(made, columns)
    for (operation, metric), members in responses_of(made):
        found += [""] if found else []
        found += wide(title_of(operation, metric, "", answer), members, made, column, unit)
    return found


def _responses_by_level(answer: Summary, unit: str | None) -> list[str]:
    """The table of several responses by the levels of one factor; empty where there are not."""
    made, several = answer.overview, responses_of(answer.overview)
    if len(made.by) != 1 or len(several) < SEVERAL or len({row.by.get(made.by[0]) for row in made.rows}) < 2:
        return []
    titles = [title_of(operation, metric, "", answer) for (operation, metric), _ in several]
    return by_level(titles, [rows for _, rows in several], made, unit)


def _screen(found: list[str], every: bool) -> Iterator[str]:
    """All lines, or as many as a screen has."""
    yield from found if every else found[:_SCREEN]
    if len(found) > _SCREEN and not every:
        yield f"… and {len(found) - _SCREEN} lines more: --all"


def _spread(answer: Summary) -> Iterator[str]:
    """A line for each quantile and geometric mean that the trials are enough for."""
    made, grid, titles = answer.overview, list[list[str]](), dict[int, str]()
    of_row = dict(zip(map(id, made.rows), answer.spread, strict=True))
    for (operation, metric), rows in responses_of(made):
        divisor, unit = human_scale(max(abs(row.mean.value or 0.0) for row in rows), rows[0].unit)
        lines = [[*levels_shown(made.by, row.by, made.units), name, *estimate_parts(one, divisor)]
                 for row in rows for name, one in of_row[id(row)].named.items() if one.low is not None]  # fmt: skip
        titles |= {len(grid): title_of(operation, metric, unit, answer)} if lines else {}
        grid += lines
    if grid:
        yield from with_titles([*made.by, "of the trials", "value", "interval"], grid, titles)
    few = [one.warnings[0] for each in answer.spread for one in each.named.values() if one.warnings]
    for note in dict.fromkeys(few):
        yield from wrapped(f"~ {note}", "  ")


def _harmonic(made: Overview) -> Iterator[str]:
    """The harmonic means of rates where they differ from the means, and when they are the right ones."""
    known = [
        (row, row.harmonic_mean)
        for row in made.rows
        if row.harmonic_mean
        and row.harmonic_mean.value
        and row.mean.value
        and row.harmonic_mean.value < (1 - _SAME_MEAN) * row.mean.value
    ]
    if not known:
        return
    said = []
    for row, harmonic in known[:_MOST_HARMONIC]:
        where = row.name(made.units)
        said.append(estimate_text(harmonic, row.unit) + (f" ({where})" if where else ""))
    more = f" and {len(known) - _MOST_HARMONIC} more (--json)" if len(known) > _MOST_HARMONIC else ""
    yield ""
    yield from wrapped(
        f"harmonic mean, the right one where every trial did the same work (it is all work by all time): "
        f"{', '.join(said)}{more}", "  "
    )  # fmt: skip


def _latency(made: Overview) -> Iterator[str]:
    """The calls that fill a phase; those that take less of it than :data:`_SHARE` are left to --json, as are settings
    and percentiles that too few calls were made for. A factor that none of them has is no column."""
    filling = _filling(made.latency)
    by = [name for name in made.by if any(item.by.get(name) is not None for item in filling)]
    known = {item.percentile for item in filling if item.duration.value is not None}
    percentiles = [p for p in dict.fromkeys(item.percentile for item in filling) if p in known]
    grid: list[list[str]] = []
    titles: dict[int, str] = {}
    few: list[str] = []
    for (operation, kind), members in groupby(filling, key=lambda item: (item.operation, item.kind)):
        items = list(members)
        values = [item.duration.value for item in items if item.duration.value is not None]
        divisor, unit = human_scale(min(values, default=1e-6), "s")
        begun = len(grid)
        for key, each in groupby(items, key=lambda item: tuple(item.by.values())):
            row = [item.duration for item in each if item.percentile in known]
            if any(one.value is not None for one in row):
                cells = [text for one in row for text in estimate_parts(one, divisor)]
                grid.append([*levels_shown(by, dict(zip(made.by, key, strict=True)), made.units), *cells])
            else:
                few.append(kind if kind == operation else f"{operation}: {kind}")
        titles |= {begun: f"{operation}: {kind}, {unit}"} if len(grid) > begun else {}
    if grid:
        yield "durations of operations over all ranks: geometric mean over trials"
        headers = [*by, *(text for p in percentiles for text in (f"p{100 * p:g}", "interval"))]
        yield from with_titles(headers, grid, titles)
    if few:
        yield from wrapped(f"too few calls for any percentile of {_kinds(few)}", "  ")


def _kinds(each: Sequence[str]) -> str:
    """``write (2 settings) and close``."""
    several = Counter(each).items()
    return listed([f"{kind} ({counted(n, 'setting')})" if n > 1 else kind for kind, n in several])


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


def _efficiency(items: Sequence[Efficiency], units: Mapping[str, str]) -> Iterator[str]:
    base, factor = items[0].base, items[0].factor
    yield f"efficiency against {base:g} {factor.removesuffix('s') if base == 1 else factor} (1 is linear)"
    rest = list(dict.fromkeys(name for item in items for name in item.by))
    several = len({(item.operation, item.metric) for item in items}) > len({item.operation for item in items})
    grid = []
    for item in items:
        metric = metric_words(item.metric) if item.operation else titled(item.metric, "")
        name = f"{item.operation} {metric}".strip() if several or not item.operation else item.operation
        grid.append(
            [
                name,
                *levels_shown(rest, item.by, units),
                f"{item.size:g}",
                *estimate_parts(item.efficiency),
            ]
        )
    headers = ["operation", *rest, factor, "efficiency", "interval"]
    yield from table(headers, grid, "l" + "r" * (len(headers) - 1)).splitlines()
