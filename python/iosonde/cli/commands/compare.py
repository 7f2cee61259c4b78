"""``iosonde compare``: is B different from A, by how much, and can these data tell at all?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from iosonde.core.errors import DataError, InputError

from .._data import Source, check_level, open_data, options, split_names
from .._summary_option import parse_summary

if TYPE_CHECKING:
    from iosonde.core.table import Table
    from iosonde.stats.estimate.compare import Comparison, Group

_CELL = ("operation", "metric", "unit")


@click.command(epilog="Example: iosonde compare runs.csv --response bandwidth --group version before after")
@click.argument("data", required=False)
@click.argument("levels", nargs=-1, metavar="[A B …]")
@click.option("--response", metavar="Y,…", help="The column(s) to compare. A store needs none.")
@click.option("--group", metavar="G", help="The column that tells A from B.")
@click.option("--by", metavar="X,…", help="Compare within every combination of these columns.")
@click.option("--pair", metavar="K,…", help="Columns whose equal values pair a trial of A with one of B.")
@click.option("--margin", default="2%", show_default=True, help="What counts as practically equal.")
@click.option("--a-summary", metavar="mean=…,n=…", help="A published side: mean, n, and sd or low, high, level.")
@click.option("--b-summary", metavar="mean=…,n=…", help="The same for B.")
@click.option("--clock", default="last_done", show_default=True, metavar="CLOCK",
              help="Store: last_done, first_done, sum_of_ranks, overlap, all, or the name of a metric.")  # fmt: skip
@click.option("--experiment", metavar="ID", help="Store: only this experiment.")
@options
def command(
    data: str | None, levels: tuple[str, ...], response: str | None, group: str | None, by: str | None,
    pair: str | None, margin: str, a_summary: str | None, b_summary: str | None, clock: str, experiment: str | None,
    where: tuple[str, ...], level: float, as_json: bool,
) -> None:  # fmt: skip
    """Compare level B of a column with level A (the base); without levels, all pairs.

    Without --group, A and B are two columns of a wide table. One thing decides: the interval of the ratio B ÷ A
    against 1 and against the margin. The tests beside it are evidence. With --a-summary and --b-summary no DATA is
    needed.
    """
    from iosonde.stats.estimate import compare

    check_level(level)
    sides = [parse_summary(text, name) for text, name in ((a_summary, "A"), (b_summary, "B")) if text]
    if data is None:
        pairs = [({}, *_both_published(sides))]
    else:
        source, first = open_data(data, where, experiment), a_summary is not None
        names = split_names(by), split_names(pair)
        pairs = list(_pairs(source, levels, response, group, *names, sides, first, clock))
    made = compare.with_holm([compare.compare(a, b, level, parse_share(margin), pairs=bool(pair)) for _, a, b in pairs])
    named = [(cell, one) for (cell, _, _), one in zip(pairs, made, strict=True)]
    if as_json:
        click.echo(json.dumps(_json(named, level, group), indent=1, ensure_ascii=False, allow_nan=False))
        return
    from .._compare_text import lines

    for line in lines(named, group, level):
        click.echo(line)


def parse_share(text: str) -> float:
    """``2%`` or ``0.02`` → 0.02. Raises InputError."""
    body, percent = text.strip().removesuffix("%"), text.strip().endswith("%")
    try:
        share = float(body) / (100 if percent else 1)
    except ValueError:
        raise InputError(f"'{text}' is not a share", "write it like 2% or 0.02") from None
    if not 0 <= share < 1:
        raise InputError(f"'{text}' is not between 0 and 1", "write it like 2% or 0.02")
    return share


def _both_published(sides: list[Group]) -> tuple[Group, Group]:
    if len(sides) != 2:
        raise InputError("there is nothing to compare", "name DATA, or both sides with --a-summary and --b-summary")
    return sides[0], sides[1]


def _pairs(
    source: Source, levels: tuple[str, ...], response: str | None, group: str | None, by: list[str], pair: list[str],
    published: list[Group], first_is_published: bool, clock: str,
) -> Any:  # fmt: skip
    """(cell, A, B) of every comparison that is asked for."""
    table, responses, by = _responses(source, response, by, group, clock)
    if group is None:
        yield from _columns(table, levels, response, by, published, first_is_published)
        return
    name = table.column(group).name
    wanted = _levels(table, name, levels, len(published))
    for key, rows in table.groups(by):
        cell_table = table.take(rows)
        for column in responses:
            cell = {**dict(zip(by, key, strict=True)), **({} if len(responses) == 1 else {"response": column})}
            groups = [_group(cell_table, name, value, column) for value in wanted]
            present = [one for one in groups if one is not None]
            if len(present) < len(groups) and not by:
                gone = [str(value) for value, one in zip(wanted, groups, strict=True) if one is None]
                raise DataError(
                    f"{table.source}: no value of {column} where {name} is {', '.join(gone)}", "look at the data"
                )
            sides = [*published, *present] if first_is_published else [*present, *published]
            for a, b in ((x, y) for i, x in enumerate(sides) for y in sides[i + 1 :]):
                yield (cell, *(_matched(cell_table, a, b, name, column, pair) if pair else (a, b)))


def _responses(
    source: Source, response: str | None, by: list[str], group: str | None, clock: str
) -> tuple[Table, list[str], list[str]]:
    """A store's default: every operation and metric of the clock at every setting other than the group."""
    if source.store is None or response is not None:
        return source.trials(response, [*by, group or ""]), split_names(response), by
    table = source.data.trials(clock).rows
    if group is None:
        raise InputError(
            "--group is missing", f"name the column that tells A from B: {', '.join(source.data.known.names)}"
        )
    settings = [name for name in source.data.known.names if name != table.column(group).name]
    return table, ["value"], [*_CELL, *(by or settings)]


def _columns(
    table: Table, levels: tuple[str, ...], response: str | None, by: list[str], published: list[Group], first: bool
) -> Any:
    """Two columns of a wide table as A and B; with --response and a published side, that column."""
    from iosonde.stats.estimate.compare import group

    names = list(levels) or split_names(response)
    if len(names) + len(published) < 2:
        raise InputError("--group is missing", "name the column that tells A from B, or two columns as A and B")
    for key, rows in table.groups(by):
        part = table.take(rows)
        sides = []
        for name in names:
            values = part.numbers(name)
            sides.append(group(part.column(name).name, values[values == values]))
        sides = [*published, *sides] if first else [*sides, *published]
        for i, a in enumerate(sides):
            for b in sides[i + 1 :]:
                yield dict(zip(by, key, strict=True)), a, b


def _levels(table: Table, name: str, levels: tuple[str, ...], published: int) -> list[Any]:
    """The levels of the group column that are meant: those given, in their order, else all."""
    known = [level for level in table.column(name).codes()[1] if level is not None]
    by_text = {str(level): level for level in known} | {
        f"{level:g}": level for level in known if not isinstance(level, str)
    }
    found = []
    for text in levels:
        if text not in by_text:
            raise InputError(f"column '{name}' has no value '{text}'", f"its values: {', '.join(map(str, known[:20]))}")
        found.append(by_text[text])
    chosen = found or known
    if len(chosen) + published < 2:
        raise InputError(
            f"one value of '{name}' cannot be compared with anything", f"its values: {', '.join(map(str, known[:20]))}"
        )
    return chosen


def _rows_of(table: Table, name: str, value: Any, column: str) -> Any:
    """Rows of one level that have a response."""
    codes, levels = table.column(name).codes()
    place = levels.index(value) if value in levels else -1
    return (codes == place) & ~(table.numbers(column) != table.numbers(column))


def _group(table: Table, name: str, value: Any, column: str) -> Group | None:
    from iosonde.stats.estimate.compare import group

    values = table.numbers(column)[_rows_of(table, name, value, column)]
    return group(str(value), values) if values.size else None


def _matched(table: Table, a: Group, b: Group, name: str, column: str, pair: list[str]) -> tuple[Group, Group]:
    """The trials of A and B that have a partner, in the same order. Raises DataError where a key is not unique."""
    from iosonde.stats.estimate.compare import group

    sides = []
    for one in (a, b):
        if one.values is None:
            raise InputError("a published side cannot be paired", "leave --pair out")
        known = {str(level): level for level in table.column(name).codes()[1]}
        part = table.take(_rows_of(table, name, known[one.name], column))
        values, keyed = part.numbers(column), {}
        for key, rows in part.groups(pair):
            if rows.size > 1:
                shown = ", ".join(f"{k}={v}" for k, v in zip(pair, key, strict=True))
                raise DataError(f"{name}={one.name} has {rows.size} trials with {shown}: which one is the partner?",
                                "add a column to --pair")  # fmt: skip
            keyed[key] = float(values[rows[0]])
        sides.append(keyed)
    common = [key for key in sides[0] if key in sides[1]]
    return group(a.name, [sides[0][key] for key in common]), group(b.name, [sides[1][key] for key in common])


def _json(named: list[tuple[dict[str, Any], Comparison]], level: float, group: str | None) -> dict[str, Any]:
    from iosonde.stats.estimate.compare_words import sentence

    comparisons = [{"by": cell, **one.to_json(), "sentence": sentence(one, group)} for cell, one in named]
    only = comparisons[0] if len(comparisons) == 1 else {}
    return {"schema": 1, "level": level, "group": group, **only, "comparisons": comparisons}
