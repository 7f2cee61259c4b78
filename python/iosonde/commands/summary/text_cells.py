"""A table with a line per cell: its setting, n, mean and median with intervals, cv; a title per response."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, groupby, islice

from iosonde.core.column_units import format_column_title, unit_to_bytes_per_s
from iosonde.core.errors import InputError
from iosonde.core.grouping import group_by_key
from iosonde.core.headlines import format_metric
from iosonde.core.level_text import format_levels
from iosonde.core.transforms import is_logarithm
from iosonde.core.units import choose_human_scale, format_percent
from iosonde.layout.text import break_lines, escape, format_estimate_parts, get_columns, table, width, wrapped
from iosonde.stats.overview.types import Overview, OverviewRow

from .answer import Summary

Response = tuple[tuple[str, str], list[OverviewRow]]
_SHARING = 2  # least mean number of cells per heading line, if a table with truncated names would fit too
_MAX_EXHAUSTIVE = 8  # up to this many columns, all 2^n choices are tried


def group_by_response(overview: Overview) -> list[Response]:
    """Return ((operation, metric), its rows), in order."""
    return _group_rows_by_response(overview.rows)


def _group_rows_by_response(rows: Sequence[OverviewRow]) -> list[Response]:
    return [(key, list(its)) for key, its in groupby(rows, key=lambda row: (row.operation, row.metric))]


def split_by_columns(answer: Summary) -> list[Summary]:
    """Return a part of the answer for each group of responses whose tool has the same settings, or some of these; with
    the factors that vary in it. A table, and a single group, is not split."""
    overview = answer.overview
    parts: list[tuple[set[str], list[OverviewRow]]] = []
    for _, rows in group_by_response(overview):
        own = {name for name in overview.by if any(row.by.get(name) is not None for row in rows)}
        names, others = next((part for part in parts if own <= part[0] or own >= part[0]), (set[str](), []))
        if not others:
            parts.append((names, others))
        names |= own
        others += rows
    if len(parts) < 2 or not overview.rows[0].operation:
        return [answer]
    return [
        replace(answer, overview=replace(overview, rows=tuple(rows), by=_list_varying(overview.by, rows)))
        for _, rows in parts
    ]


def _list_varying(names: Sequence[str], rows: Sequence[OverviewRow]) -> tuple[str, ...]:
    return tuple(name for name in names if len({row.by.get(name) for row in rows}) > 1)


def format_response_title(operation: str, metric: str, unit: str, answer: Summary) -> str:
    """Return the title: the operation alone if it has one metric, whose clock the header names."""
    if is_logarithm(metric):
        return metric
    if operation in metric and not metric.isidentifier():  # computed, as write/nodes: named by its formula
        return format_column_title(metric, unit)
    if not operation:
        return format_column_title(metric, unit)
    metrics = {row.metric for row in answer.overview.rows if row.operation == operation}
    is_plain = len(metrics) == 1 and "latency" not in metric  # its unit says what it is
    name = operation if is_plain else f"{operation} {format_metric(metric, operation, metrics)}"
    return f"{name}, {unit}" if unit else name


def check_unit(overview: Overview, unit: str | None) -> None:
    """Raises InputError if ``unit`` is not a rate of bytes, or if no response is one."""
    if unit and not unit_to_bytes_per_s(unit):
        raise InputError(
            "unknown-unit", "{spell.unit:{unit}} is not a rate of bytes", "use KB/s, KiB/s, MB/s or MiB/s", unit=unit
        )
    if unit and not any(_unit_to_bytes_per_s(row.unit) for row in overview.rows):
        raise InputError(
            "no-rate-column",
            "cannot use {spell.unit:{unit}}: no response is a rate of bytes",
            "put the unit into the name of the column: write_MB/s",
            unit=unit,
        )


def _unit_to_bytes_per_s(unit: str) -> tuple[float, ...]:
    return unit_to_bytes_per_s("B/s" if unit == "bytes/s" else unit)


def choose_scale(rows: Sequence[OverviewRow], unit: str | None) -> tuple[float, str]:
    """Return (divisor, unit text) of these rows: ``unit`` if they are rates of bytes, else a readable unit."""
    own = rows[0].unit
    have = _unit_to_bytes_per_s(own)
    if unit is None or not have:
        return choose_human_scale(max(abs(row.mean.value or 0.0) for row in rows), own)
    scale = unit_to_bytes_per_s(unit)
    doubt = " (KB for 1000 bytes)" if unit != own and len(scale) + len(have) > 2 else ""
    return scale[0] / have[0], f"{unit}{doubt}"


def format_every_cell(
    answer: Summary, unit: str | None = None, members: Sequence[OverviewRow] | None = None
) -> list[str]:
    """Return the lines of the table, of all rows or of ``members``, with rates in ``unit``.
    If the factors do not fit in a line, some go in heading lines above the cells that share their levels.
    """
    overview = answer.overview
    rows = overview.rows if members is None else members
    rows_text = _build_text_rows(answer, rows, unit)
    if not rows_text:
        return []
    all_lines = _format_groups(rows_text, overview, ())
    fits = max(map(width, all_lines)) <= get_columns()
    if fits and not any("…" in line for line in all_lines):
        return all_lines
    above = _choose_heading_factors(rows_text, overview)
    if above and (not fits or len(_group_rows(rows_text, above)) <= len(rows) / _SHARING):
        return _format_groups(rows_text, overview, above)
    return all_lines


@dataclass(frozen=True)
class _TextRow:
    """A row as text: the title of its response, its levels by factor, its numbers with their headings."""

    row: OverviewRow
    title: str
    levels: dict[str, str]
    numbers: tuple[tuple[str, str], ...]


def _build_text_rows(answer: Summary, rows: Sequence[OverviewRow], unit_option: str | None) -> list[_TextRow]:
    overview, text_rows = answer.overview, []
    same_n = len({row.n for row in rows}) == 1
    has_intervals = any(row.median.low is not None for row in rows)
    for (operation, metric), its in _group_rows_by_response(rows):
        divisor, unit = choose_scale(its, unit_option)
        title = format_response_title(operation, metric, unit, answer)
        for row in its:
            levels = dict(zip(overview.by, format_levels(overview.by, row.by, overview.units), strict=True))
            n = () if same_n else (("n", str(row.n)),)
            text_rows.append(_TextRow(row, title, levels, (*n, *_format_numbers(row, divisor, has_intervals))))
    return text_rows


def _format_numbers(row: OverviewRow, divisor: float, has_intervals: bool) -> Iterator[tuple[str, str]]:
    """Yield (heading, text) of a row's numbers; ``has_intervals``: those of the medians are a column."""
    yield from zip(("mean", "interval"), format_estimate_parts(row.mean, divisor), strict=True)
    median = zip(("median", "interval"), format_estimate_parts(row.median, divisor), strict=True)
    yield from islice(median, 2 if has_intervals else 1)
    yield "cv", "~" if row.cv is None else format_percent(row.cv)


def _group_rows(text_rows: Sequence[_TextRow], above: Sequence[str]) -> list[list[_TextRow]]:
    """Group rows of one response by their levels of the factors ``above``, in order of first appearance."""
    groups = group_by_key(
        ((text_row.row.operation, text_row.row.metric, *(text_row.levels[name] for name in above)), text_row)
        for text_row in text_rows
    )
    return list(groups.values())


def _choose_heading_factors(text_rows: Sequence[_TextRow], overview: Overview) -> tuple[str, ...]:
    """Return the factors whose heading lines leave room for the others' columns; all, if no choice does."""
    columns = [[row.levels[name] for row in text_rows] for name in overview.by]
    numbers = [
        (header, [row.numbers[place][1] for row in text_rows]) for place, (header, _) in enumerate(text_rows[0].numbers)
    ]
    widths = list(map(_compute_column_width, overview.by, columns))
    free = get_columns() + 2 - sum(_compute_column_width(header, cells) for header, cells in numbers)
    keys = [(row.row.operation, row.row.metric) for row in text_rows]
    return tuple(overview.by[place] for place in choose_headings(columns, widths, free, keys))


def _compute_column_width(header: str, cells: Sequence[str]) -> int:
    return 2 + max(width(header), *(width(escape(cell)) for cell in cells))


def _format_groups(text_rows: Sequence[_TextRow], overview: Overview, above: Sequence[str]) -> list[str]:
    """Format the factors ``above`` as heading lines, the others as columns."""
    factors_inline = [name for name in overview.by if name not in above]
    headers = [*factors_inline, *(header for header, _ in text_rows[0].numbers)]
    grid: list[list[str]] = []
    titles = {}
    for group in _group_rows(text_rows, above):
        setting = group[0].row.setting(overview.units, above, "")
        titles[len(grid)] = f"{group[0].title}: {setting}" if setting else group[0].title
        grid += [
            [*(text_row.levels[name] for name in factors_inline), *(text for _, text in text_row.numbers)]
            for text_row in group
        ]
    return list(format_titled_table(headers, grid, titles))


def format_titled_table(headers: Sequence[str], grid: Sequence[Sequence[str]], titles: dict[int, str]) -> Iterator[str]:
    """Yield a table, text left-aligned and numbers right-aligned, with titles before the given rows."""
    words = [any(row[column][:1].isalpha() for row in grid) for column in range(len(headers))]
    aligned = table(headers, grid, "".join("l" if word else "r" for word in words)).splitlines()
    yield aligned[0]
    for place, line in enumerate(aligned[1:]):
        if place in titles:
            for title_line in wrapped(titles[place], "  "):
                yield from [title_line] if width(title_line) <= get_columns() else break_lines(title_line.strip())
        yield line


def choose_headings(
    columns: Sequence[Sequence[str]], widths: Sequence[int], free: int, keys: Sequence[Hashable]
) -> tuple[int, ...]:
    """Return the indices of the columns to use as headings, so that the ``widths`` of the others fit in ``free``.
    Minimizes the number of groups of rows with equal ``keys`` and headings, exactly for few columns. Returns all
    columns if no choice fits.
    """
    if len(columns) <= _MAX_EXHAUSTIVE:
        return _choose_headings_exhaustively(columns, widths, free, keys)
    return _choose_headings_greedily(columns, widths, free, keys)


def _choose_headings_exhaustively(
    columns: Sequence[Sequence[str]], widths: Sequence[int], free: int, keys: Sequence[Hashable]
) -> tuple[int, ...]:
    places = range(len(columns))
    choices = (above for size in places[1:] for above in combinations(places, size))
    return min(
        [above for above in choices if sum(widths) - sum(widths[place] for place in above) <= free],
        key=lambda above: len(set(zip(keys, *(columns[place] for place in above), strict=True))),
        default=tuple(places),
    )


def _choose_headings_greedily(
    columns: Sequence[Sequence[str]], widths: Sequence[int], free: int, keys: Sequence[Hashable]
) -> tuple[int, ...]:
    """Move the column that splits the groups least until the others fit, then restore what is not needed.
    The work grows with rows × columns², not with 2^columns.
    """
    above: list[int] = []
    below, groups = set(range(len(columns))), list(keys)
    wide = sum(widths)
    while wide > free and below:
        splits = {place: len(set(zip(groups, columns[place], strict=True))) for place in below}
        place = min(below, key=lambda place: (splits[place], -widths[place], place))
        below.remove(place)
        above.append(place)
        numbers: dict[tuple[Hashable, str], int] = {}
        groups = [numbers.setdefault(pair, len(numbers)) for pair in zip(groups, columns[place], strict=True)]
        wide -= widths[place]
    for place in reversed(above):
        if wide + widths[place] <= free:
            wide += widths[place]
            above.remove(place)
    return tuple(sorted(above))
