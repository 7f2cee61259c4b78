"""An Overview as text: shared facts once, a block per response, under 80 columns, a sentence at the end."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from iosonde.core.clock_words import describe_clocks
from iosonde.core.column_units import format_column_title
from iosonde.core.grouping import group_by_key
from iosonde.core.headlines import format_metric
from iosonde.core.level_text import format_levels
from iosonde.core.message import spell
from iosonde.core.units import choose_human_scale
from iosonde.core.words import format_count, join_names
from iosonde.layout.text import format_estimate, format_estimate_parts, paragraphs, table, warning_lines, wrapped
from iosonde.stats.overview.types import Efficiency, Overview, OverviewLatency, OverviewRow

from .answer import Summary
from .text_cells import (
    check_unit,
    format_every_cell,
    format_response_title,
    format_titled_table,
    group_by_response,
    split_by_columns,
)
from .text_faults import format_fault_effects, format_server_calls
from .text_one_table import format_one_table
from .text_settings import (
    check_column,
    choose_column_name,
    format_response,
    format_wide_response,
    is_within_terminal,
)

_SHARE = 0.2
_SAME_MEAN = 0.01  # relative distance from the mean below which a harmonic mean is not shown
_MAX_HARMONIC_RANGE = 100.0  # upper ÷ lower end of its interval, above which a harmonic mean says nothing
_MOST_HARMONIC = 4
_MOST_EFFICIENCIES = 12
_SCREEN = 45  # lines of the table, beyond which --all is needed


def lines(answer: Summary, every: bool = False, columns: str | None = None, unit: str | None = None) -> Iterator[str]:
    """Yield the lines of the text; the header names what the clock includes if rates come from a store.
    ``every``: each cell on its own line with its median, without a limit. Else at most a screen, with columns by one
    factor if there are several: ``columns`` if given, and then without durations. ``unit``: of all rates of bytes.
    Raises InputError.
    """
    overview = answer.overview
    check_unit(overview, unit)
    if columns:
        table_lines, with_median = _format_wide(answer, columns, unit), list[OverviewRow]()
    else:
        table_lines, with_median = _format_parts(answer, every, unit)
    yield from wrapped(_format_header(answer))
    for content, text_lines in (
        (overview.rows, _limit_to_screen(table_lines, every or bool(columns))),
        (answer.spread, _limit_to_screen(_format_spread(answer), every)),
        (overview.latency and not columns, _limit_to_screen(_format_latency(overview), every)),
        (answer.faults, format_fault_effects(answer.faults)),
        (answer.calls, format_server_calls(answer.calls)),
        (overview.efficiency, _format_efficiency(overview.efficiency, overview.units, every)),
    ):
        if content:
            yield from ["", *text_lines]
    if len(with_median) == len(overview.rows):
        yield from _format_harmonic(overview)
    with_ids = set(map(id, with_median))
    warnings = (w for row in overview.rows for w in (row.warnings if id(row) in with_ids else row.mean.warnings))
    notes = list(dict.fromkeys([*overview.warnings, *warnings]))
    if notes or overview.findings:
        yield ""
    yield from warning_lines(notes)
    yield from paragraphs((f"{finding.code} {finding.sentence}" for finding in overview.findings), "     ")
    yield from ["", *wrapped(overview.sentence)]


def _format_header(answer: Summary) -> str:
    overview = answer.overview
    counts = sorted({row.n for row in overview.rows})
    count = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}" if counts else "no"
    clock_text = "; ".join(describe_clocks(answer.clock, answer.tool_clocks))
    within = "the iterations within " if any(row.mean.within_run for row in overview.rows) and counts == [1] else ""
    return (f"{clock_text}; " if clock_text else "") + (
        f"{100 * overview.level:g} % intervals over {within}{count} "
        f"{overview.counted}{'s' if counts != [1] else ''} a cell"
    )


def _format_parts(answer: Summary, every: bool, unit: str | None) -> tuple[list[str], list[OverviewRow]]:
    """Return (the tables of all parts of the answer, the rows that stand on lines of their own)."""
    text_lines, with_median = list[str](), list[OverviewRow]()
    for part in split_by_columns(answer):
        tables, in_cells = ([], part.overview.rows) if every else _format_settings(part, unit)
        text_lines += [*([""] if text_lines else []), *(tables or format_every_cell(part, unit))]
        with_median += in_cells
    return text_lines, with_median


def _format_settings(answer: Summary, unit: str | None) -> tuple[list[str], Sequence[OverviewRow]]:
    """Return (tables with columns by one factor, the rows that stand on lines of their own for lack of room).
    Several responses are one table if there is room. No tables without such a factor, or without room for any.
    """
    overview = answer.overview
    if together := format_one_table(answer, unit):
        return together, []
    column = choose_column_name(overview)
    if column is None:
        return [], overview.rows
    tables, in_cells = [], list[OverviewRow]()
    for (operation, metric), members in group_by_response(overview):
        laid = format_response(format_response_title(operation, metric, "", answer), members, overview, column, unit)
        if not is_within_terminal(laid):
            in_cells += members
            laid = format_every_cell(answer, unit, members)
        tables.append(laid)
    if len(in_cells) == len(overview.rows):
        return [], overview.rows
    return [line for number, laid in enumerate(tables) for line in ([""] if number else []) + laid], in_cells


def _format_wide(answer: Summary, columns: str, unit: str | None) -> list[str]:
    """Return the two-way tables with columns by the factor ``columns``."""
    overview, table_lines = answer.overview, list[str]()
    column = check_column(overview, columns)
    for (operation, metric), members in group_by_response(overview):
        table_lines += [""] if table_lines else []
        table_lines += format_wide_response(
            format_response_title(operation, metric, "", answer), members, overview, column, unit
        )
    return table_lines


def _limit_to_screen(text_lines: Iterable[str], every: bool) -> Iterator[str]:
    """Yield all lines, or as many as fit a screen."""
    all_lines = list(text_lines)
    yield from all_lines if every else all_lines[:_SCREEN]
    if len(all_lines) > _SCREEN and not every:
        yield f"… and {len(all_lines) - _SCREEN} lines more: {spell.all}"


def _format_spread(answer: Summary) -> Iterator[str]:
    """Format a line per quantile and geometric mean for which there are enough trials."""
    overview, grid, titles = answer.overview, list[list[str]](), dict[int, str]()
    spread_by_row = dict(zip(map(id, overview.rows), answer.spread, strict=True))
    for (operation, metric), rows in group_by_response(overview):
        divisor, unit = choose_human_scale(max(abs(row.mean.value or 0.0) for row in rows), rows[0].unit)
        lines = [
            [*format_levels(overview.by, row.by, overview.units), name, *format_estimate_parts(estimate, divisor)]
            for row in rows
            for name, estimate in spread_by_row[id(row)].by_label.items()
            if estimate.low is not None
        ]
        titles |= {len(grid): format_response_title(operation, metric, unit, answer)} if lines else {}
        grid += lines
    if grid:
        yield from format_titled_table([*overview.by, "of the trials", "value", "interval"], grid, titles)
    few = [estimate.warnings[0] for each in answer.spread for estimate in each.by_label.values() if estimate.warnings]
    yield from warning_lines(dict.fromkeys(few))


def _format_harmonic(overview: Overview) -> Iterator[str]:
    """Format harmonic means of rates that differ from the means, and when to use them."""
    rows = [
        (row, row.harmonic_mean)
        for row in overview.rows
        if row.harmonic_mean
        and row.harmonic_mean.value
        and row.mean.value
        and row.harmonic_mean.value < (1 - _SAME_MEAN) * row.mean.value
        and (row.harmonic_mean.high or 0.0) <= _MAX_HARMONIC_RANGE * (row.harmonic_mean.low or 0.0)
    ]
    if not rows:
        return
    texts = [
        format_estimate(harmonic, row.unit) + (f" ({where})" if where else "")
        for row, harmonic in rows[:_MOST_HARMONIC]
        for where in [row.name(overview.units)]
    ]
    more = f" and {len(rows) - _MOST_HARMONIC} more ({spell.json})" if len(rows) > _MOST_HARMONIC else ""
    yield ""
    yield from wrapped(
        f"harmonic mean (total work by total time), appropriate if every trial did the same work: "
        f"{', '.join(texts)}{more}",
        "  ",
    )


def _format_latency(overview: Overview) -> Iterator[str]:
    """Format the calls that dominate a phase.
    Calls that take less than :data:`_SHARE` of it are left to --json, and so are settings and percentiles with too few
    calls. Factors without a level in any of them have no column.
    """
    filling = _select_dominant_calls(overview.latency)
    by = [name for name in overview.by if any(item.by.get(name) is not None for item in filling)]
    with_durations = {item.percentile for item in filling if item.duration.value is not None}
    percentiles = [p for p in dict.fromkeys(item.percentile for item in filling) if p in with_durations]
    grid: list[list[str]] = []
    titles: dict[int, str] = {}
    few: list[str] = []
    for (operation, kind), members in groupby(filling, key=lambda item: (item.operation, item.kind)):
        items = list(members)
        values = [item.duration.value for item in items if item.duration.value is not None]
        divisor, unit = choose_human_scale(min(values, default=1e-6), "s")
        begun = len(grid)
        for key, each in groupby(items, key=lambda item: tuple(item.by.values())):
            row = [item.duration for item in each if item.percentile in with_durations]
            if any(cell.value is not None for cell in row):
                cells = [text for cell in row for text in format_estimate_parts(cell, divisor)]
                grid.append([*format_levels(by, dict(zip(overview.by, key, strict=True)), overview.units), *cells])
            else:
                few.append(kind if kind == operation else f"{operation}: {kind}")
        titles |= {begun: f"{operation}: {kind}, {unit}"} if len(grid) > begun else {}
    if grid:
        yield "durations of operations over all ranks: geometric mean over trials"
        headers = [*by, *(text for p in percentiles for text in (f"p{100 * p:g}", "interval"))]
        yield from format_titled_table(headers, grid, titles)
    if few:
        kinds = join_names(
            [f"{kind} ({format_count(n, 'setting')})" if n > 1 else kind for kind, n in Counter(few).items()]
        )
        yield from wrapped(f"too few calls for any percentile of {kinds}", "  ")


def _select_dominant_calls(latency: Sequence[OverviewLatency]) -> list[OverviewLatency]:
    spent: defaultdict[tuple[str, str], float] = defaultdict(float)
    totals: defaultdict[str, float] = defaultdict(float)
    for item in latency:
        if item.percentile == 0.5:
            spent[item.operation, item.kind] += item.n_operations * (item.duration.value or 0.0)
    for (operation, _), seconds in spent.items():
        totals[operation] += seconds
    return [item for item in latency if spent[item.operation, item.kind] >= _SHARE * totals[item.operation]]


def _format_efficiency(items: Sequence[Efficiency], units: Mapping[str, str], every: bool) -> Iterator[str]:
    """Format a line per efficiency; of many only if ``every`` is asked for, as the last sentences sum them up."""
    base, factor = items[0].base, items[0].factor
    title = f"efficiency against {base:g} {factor.removesuffix('s') if base == 1 else factor} (1 is linear)"
    if len(items) > _MOST_EFFICIENCIES and not every:
        yield f"{title}: {len(items)} rows with {spell.all}"
        return
    yield title
    rest = list(dict.fromkeys(name for item in items for name in item.by))
    metrics = group_by_key(dict.fromkeys((item.operation, item.metric) for item in items))
    several = any(len(own) > 1 for own in metrics.values())
    grid = []
    for item in items:
        metric = (
            format_metric(item.metric, item.operation, metrics[item.operation])
            if item.operation
            else format_column_title(item.metric, "")
        )
        name = f"{item.operation} {metric}".strip() if several or not item.operation else item.operation
        grid.append(
            [
                name,
                *format_levels(rest, item.by, units),
                f"{item.size:g}",
                *format_estimate_parts(item.efficiency),
            ]
        )
    headers = ["operation", *rest, factor, "efficiency", "interval"]
    yield from table(headers, grid, "l" + "r" * (len(headers) - 1)).splitlines()
