"""A table with a line for each cell: its setting, n, mean and median with their intervals, cv; a title a response."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from iosonde.core.column_units import bytes_per_s, titled
from iosonde.core.errors import InputError
from iosonde.core.headlines import metric_words
from iosonde.core.level_text import levels_shown
from iosonde.core.units import human_scale, percent
from iosonde.stats.overview.types import Overview, OverviewRow

from .layout import WIDTH, escape, estimate_parts, table, wrapped

if TYPE_CHECKING:
    from iosonde.answers.summary import Summary

Response = tuple[tuple[str, str], list[OverviewRow]]
_LOGARITHM = re.compile(r"log\d*\(")


def responses_of(made: Overview) -> list[Response]:
    """((operation, metric), its rows), in order."""
    return _by_response(made.rows)


def _by_response(rows: Sequence[OverviewRow]) -> list[Response]:
    return [(key, list(its)) for key, its in groupby(rows, key=lambda row: (row.operation, row.metric))]


def title_of(operation: str, metric: str, unit: str, answer: Summary) -> str:
    """The operation alone where it has one metric, whose clock the header names."""
    if _LOGARITHM.match(metric):  # its brackets hold no unit
        return metric
    if operation in metric and not metric.isidentifier():  # computed, as write/nodes: its name is what was asked for
        return titled(metric, unit)
    several = len({row.metric for row in answer.overview.rows if row.operation == operation}) > 1
    several = several or bool(answer.told and metric.endswith("_of_ranks"))
    if not operation:
        return titled(metric, unit)
    name = f"{operation} {metric_words(metric)}" if several else operation
    return f"{name}, {unit}" if unit else name


def check_unit(made: Overview, unit: str | None) -> None:
    """Raises InputError for a unit that is no rate of bytes, or where nothing is one."""
    if unit and not bytes_per_s(unit):
        raise InputError(f"--unit {unit}: this is no rate of bytes", "as KB/s, KiB/s, MB/s, MiB/s")
    if unit and not any(_in_bytes_per_s(row.unit) for row in made.rows):
        raise InputError(
            f"--unit {unit}: nothing here is a rate of bytes", "say a column's unit in its name: write_MB/s"
        )


def _in_bytes_per_s(unit: str) -> tuple[float, ...]:
    return bytes_per_s("B/s" if unit == "bytes/s" else unit)


def scale_of(rows: Sequence[OverviewRow], unit: str | None) -> tuple[float, str]:
    """(divisor, unit text) of these rows: the ``unit`` that was asked for, if they are rates of bytes, else a readable
    one."""
    own = rows[0].unit
    have = _in_bytes_per_s(own)
    if unit is None or not have:
        return human_scale(max(abs(row.mean.value or 0.0) for row in rows), own)
    asked = bytes_per_s(unit)
    doubt = " (KB for 1000 bytes)" if unit != own and len(asked) + len(have) > 2 else ""
    return asked[0] / have[0], f"{unit}{doubt}"


def every_cell(answer: Summary, unit: str | None = None, members: Sequence[OverviewRow] | None = None) -> list[str]:
    """The lines of the table, of all rows or of ``members``, rates in ``unit``; where the factors are too many for a
    line, settings have a number and are told below."""
    made = answer.overview
    rows = made.rows if members is None else members
    found = _lines(answer, rows, made.by, [levels_shown(made.by, row.by, made.units) for row in rows], unit)
    if len(made.by) < 2 or all(len(line) <= WIDTH for line in found):
        return found
    names = [row.name(made.units).removeprefix(f"{row.operation}, ") for row in rows]
    numbers = {name: str(place) for place, name in enumerate(dict.fromkeys(names), 1)}
    found = _lines(answer, rows, ["setting"], [[numbers[name]] for name in names], unit)
    told = (line for name, number in numbers.items() for line in wrapped(f"{number}: {name}", "   "))
    return [*found, "", *told]


def _lines(
    answer: Summary, rows: Sequence[OverviewRow], by: Sequence[str], levels: Sequence[list[str]], asked: str | None
) -> list[str]:
    """``levels``: what stands before the numbers of each of ``rows``, under the headers ``by``."""
    same_n = len({row.n for row in rows}) == 1
    headers = [*by, *([] if same_n else ["n"]), "mean", "interval", "median", "interval", "cv"]
    grid: list[list[str]] = []
    titles = {}
    for (operation, metric), its in _by_response(rows):
        divisor, unit = scale_of(its, asked)
        titles[len(grid)] = title_of(operation, metric, unit, answer)
        for row in its:
            grid.append([*levels[len(grid)], *([] if same_n else [str(row.n)]), *_numbers(row, divisor)])
    return list(with_titles(headers, grid, titles))


def _numbers(row: OverviewRow, divisor: float) -> list[str]:
    return [*estimate_parts(row.mean, divisor), *estimate_parts(row.median, divisor),
            "~" if row.cv is None else percent(row.cv)]  # fmt: skip


def with_titles(headers: Sequence[str], grid: Sequence[Sequence[str]], titles: dict[int, str]) -> Iterator[str]:
    """A table, words to the left and numbers to the right, with a title line before some rows."""
    words = [any(row[column][:1].isalpha() for row in grid) for column in range(len(headers))]
    aligned = table(headers, grid, "".join("l" if word else "r" for word in words)).splitlines()
    yield aligned[0]
    for place, line in enumerate(aligned[1:]):
        if place in titles:
            yield escape(titles[place])
        yield line
