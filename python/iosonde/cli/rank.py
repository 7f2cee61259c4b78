"""``iosonde rank``: which factor matters."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from iosonde.core.errors import InputError

from ._data import Source, check_level, open_data, options, split_names
from ._responses import responses_of

if TYPE_CHECKING:
    from iosonde.model.features import Examples
    from iosonde.model.sensitivity.ranking import Ranking
    from iosonde.stats.table import Table


_MANY_ROWS = 20_000  # more take seconds


@click.command(epilog="Example: iosonde rank runs.csv --response write_s --on network,servers --fixed network")
@click.argument("data", required=False)
@click.option(
    "--response", metavar="Y,…", help="What was measured, or log(Y). Without it every measured column, or metric."
)
@click.option("--on", metavar="X,…", help="The factors. Without it every column that was set.")
@click.option("--fixed", metavar="X,…", help="Factors that one cannot choose: rank the others within them, too.")
@click.option("--block", multiple=True, metavar="NAME=X,…", help="Factors entered together, in order. Repeatable.")
@click.option("--coefficients", metavar="FILE", help="Instead of DATA: .csv with feature and coefficient of a line.")
@click.option("--levels", multiple=True, metavar="X=V,V,…", help="Levels of a feature of FILE. Repeatable.")
@click.option("--clock", default="last_done", show_default=True, metavar="CLOCK", help="Store: as for summary.")
@click.option("--experiment", metavar="ID", help="Store: only this experiment.")
@click.option("--plot", metavar="FILE", help="Bars with intervals, S1 inside ST, as .png, .svg or .pdf.")
@options
def command(
    data: str | None, response: str | None, on: str | None, fixed: str | None, block: tuple[str, ...],
    coefficients: str | None, levels: tuple[str, ...], clock: str, experiment: str | None, plot: str | None,
    where: tuple[str, ...], level: float, as_json: bool,
) -> None:  # fmt: skip
    """Rank factors by the share of the response's variance that is theirs.

    S1 is a factor's share by itself, ST the share it has a hand in. A ranking holds for the levels that were tried,
    which are printed with the effect of each step between them.
    """
    check_level(level)
    if plot:
        from iosonde.report.figures.files import format_of

        format_of(plot)
    if coefficients:
        from ._rank_coefficients import rankings as published

        if data is not None or on or block:
            raise InputError("--coefficients does not go with DATA, --on or --block", "leave one out")
        made = published(coefficients, levels, split_names(response), split_names(fixed), where, level)
    else:
        if levels:
            raise InputError("--levels goes with --coefficients", "the levels of DATA are in DATA")
        if data is None:
            raise InputError("neither DATA nor --coefficients is given", "name a store, a .csv or a .parquet")
        source = open_data(data, where, experiment)
        blocks = _blocks(block)
        if blocks and fixed:
            raise InputError("--fixed does not go with --block", "make the fixed factors the first block")
        names = split_names(on) or [name for chosen in blocks.values() for name in chosen]
        made = list(_rankings(source, split_names(response), names, split_names(fixed), blocks, clock, level))
    if plot:
        _draw(made, plot)
    _show(made, as_json, one=len(split_names(response)) == 1)


def _blocks(texts: Sequence[str]) -> dict[str, list[str]]:
    """``hardware=network,disk`` → {"hardware": ["network", "disk"]}. Raises InputError."""
    found: dict[str, list[str]] = {}
    for text in texts:
        name, equals, factors = (part.strip() for part in text.partition("="))
        if not name or not equals or not split_names(factors):
            raise InputError(f"--block '{text}' names no factors", "write --block 'hardware=network,disk'")
        if name in found:
            raise InputError(f"there are two blocks '{name}'", "name every block once, with all its factors")
        found[name] = split_names(factors)
    return found


def _show(made: list[Ranking], as_json: bool, one: bool) -> None:
    if as_json:
        content = made[0].to_json() if one and len(made) == 1 else {"rankings": [ranking.to_json() for ranking in made]}
        click.echo(json.dumps({"schema": 1, **content}, indent=1, ensure_ascii=False, allow_nan=False))
        return
    from ._rank_text import lines

    for number, ranking in enumerate(made):
        if number:
            click.echo()
        for line in lines(ranking):
            click.echo(line)


def _rankings(
    source: Source, responses: list[str], on: list[str], fixed: list[str], blocks: Mapping[str, Sequence[str]],
    clock: str, level: float,
) -> Iterator[Ranking]:  # fmt: skip
    """One ranking for each response of a table, or each operation and metric of a store."""
    for table, response, names in responses_of(source, responses, on, clock):
        yield _ranked(table, response, names, fixed, blocks, level)


def _ranked(
    table: Table, response: str, names: list[str], fixed: Sequence[str], blocks: Mapping[str, Sequence[str]],
    level: float,
) -> Ranking:  # fmt: skip
    from dataclasses import replace

    from iosonde.model.features import examples
    from iosonde.model.sensitivity.rank import rank
    from iosonde.stats.formula import apply, parse_response
    from iosonde.stats.table import Column, Table

    from ._rank_text import LOGARITHMS

    asked = parse_response(response, table)
    if asked.transform:
        measured = table.column(asked.column)
        response = f"{asked.transform}({measured.label})"
        values = apply(asked.transform, table.numbers(asked.column), asked.column)
        table = Table({**table.columns, response: Column(response, values, response, "")}, table.source)
    data = examples(table, response, names)
    if asked.transform and measured.name in [feature.name for feature in data.features]:
        raise InputError(f"'{measured.name}' is the response", "a factor is another column")
    held = [table.column(name).name for name in fixed]
    parts = {title: [table.column(name).name for name in chosen] for title, chosen in blocks.items()}
    made = rank(data, level, held, blocks=parts, progress=_teller(data))
    if not asked.transform:
        return made
    shown = ": ratios count, not differences; the means shown are geometric" if asked.transform in LOGARITHMS else ""
    said = f"shares are of the variance of {response}{shown}"
    return replace(made, transform=asked.transform, unit=measured.unit, warnings=(said, *made.warnings))


def _teller(data: Examples) -> Callable[[str], None]:
    """Says on stderr what begins, where it may take a while."""
    from ._output import talk

    if len(data) < _MANY_ROWS:
        return lambda what: None
    return lambda what: talk(f"{data.response}: {what} of {len(data)} rows by {len(data.features)} factors …")


def _draw(made: list[Ranking], path: str) -> None:
    from iosonde.report.figures.figure import together
    from iosonde.report.figures.importance import Bar, Importance, importance_figure

    from ._output import write_figure

    items = [
        Importance(r.response, tuple(Bar(f.name, f.over_all.s1, f.over_all.st, f.zero_line) for f in r.factors))
        for r in made
    ]
    write_figure(path, together([importance_figure(item) for item in items], columns=2))
