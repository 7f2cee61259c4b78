"""``iosonde rank``: which factor matters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from iosonde.core.errors import DataError, InputError

from ._data import Source, check_level, open_data, options, split_names

if TYPE_CHECKING:
    from iosonde.model.sensitivity.ranking import Ranking
    from iosonde.stats.table import Table


@click.command(epilog="Example: iosonde rank runs.csv --response write_s --on network,servers --fixed network")
@click.argument("data", required=False)
@click.option("--response", metavar="Y,…", help="What was measured. Without it every measured column, or metric.")
@click.option("--on", metavar="X,…", help="The factors. Without it every column that was set.")
@click.option("--fixed", metavar="X,…", help="Factors that one cannot choose: rank the others within them, too.")
@click.option("--coefficients", metavar="FILE", help="Instead of DATA: .csv with feature and coefficient of a line.")
@click.option("--levels", multiple=True, metavar="X=V,V,…", help="Levels of a feature of FILE. Repeatable.")
@click.option("--clock", default="last_done", show_default=True, metavar="CLOCK", help="Store: as for summary.")
@click.option("--experiment", metavar="ID", help="Store: only this experiment.")
@click.option("--plot", metavar="FILE", help="Bars with intervals, S1 inside ST, as .png, .svg or .pdf.")
@options
def command(
    data: str | None, response: str | None, on: str | None, fixed: str | None, coefficients: str | None,
    levels: tuple[str, ...], clock: str, experiment: str | None, plot: str | None, where: tuple[str, ...],
    level: float, as_json: bool,
) -> None:  # fmt: skip
    """Rank factors by the share of the response's variance that is theirs.

    S1 is a factor's share by itself, ST the share it has a hand in. A ranking holds for the levels that were tried,
    which are printed with the effect of each step between them.
    """
    check_level(level)
    if plot:
        _check_plot(plot)
    if coefficients:
        from ._rank_coefficients import rankings as published

        if data is not None or on:
            raise InputError("--coefficients does not go with DATA or --on", "leave one out")
        made = published(coefficients, levels, split_names(response), split_names(fixed), where, level)
    else:
        if levels:
            raise InputError("--levels goes with --coefficients", "the levels of DATA are in DATA")
        if data is None:
            raise InputError("neither DATA nor --coefficients is given", "name a store, a .csv or a .parquet")
        source = open_data(data, where, experiment)
        made = list(_rankings(source, split_names(response), split_names(on), split_names(fixed), clock, level))
    if plot:
        _draw(made, Path(plot))
    _show(made, as_json, one=len(split_names(response)) == 1)


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
    source: Source, responses: list[str], on: list[str], fixed: list[str], clock: str, level: float
) -> Iterator[Ranking]:
    """One ranking for each response of a table, or each operation and metric of a store."""
    from iosonde.model.features import examples
    from iosonde.model.sensitivity.rank import rank

    if source.store is not None and not responses:
        for title, table, names in _metrics(source, on, clock):
            yield rank(examples(table, title, names), level, fixed)
        return
    from iosonde.stats import roles

    table = source.trials(responses[0] if responses else None, on)
    if len(table) == 0:
        raise InputError(f"{table.source or 'the table'} holds no rows", "give a table with measurements")
    found = roles.guess(table, responses, on or None) if not (responses and on) else None
    names = on if found is None else [name for name in found.settings if len(table.column(name).codes()[1]) > 1]
    if not names:
        raise InputError(
            f"{table.source}: no column that was set has two levels",
            "what never varies cannot matter; other columns are named with --on",
        )
    for response in responses if found is None else found.responses:
        yield rank(examples(table, response, names), level, [table.column(name).name for name in fixed])


def _metrics(source: Source, on: list[str], clock: str) -> Iterator[tuple[str, Table, list[str]]]:
    """(name of the response, its rows, the factors) of each operation and metric."""
    from iosonde.stats import overview
    from iosonde.stats.table import Column, Table

    rows, _ = overview.trials(source.table, clock)
    names = on or overview.settings(rows)
    if len(rows) == 0:
        raise DataError(f"{source.table.source} holds no complete trial", "iosonde show says what it holds")
    if not names:
        raise DataError(f"{source.table.source}: no setting varies", "a ranking needs runs at several settings")
    for (operation, metric), chosen in rows.groups(["operation", "metric"]):
        part = rows.take(chosen)
        title = f"{operation} {metric}"
        values = part.column("value").values
        unit = str(part.column("unit").values[0])
        yield title, Table({**part.columns, title: Column(title, values, title, unit)}, part.source), names


def _check_plot(plot: str) -> None:
    from iosonde.report.figures import FORMATS

    if Path(plot).suffix.lower().lstrip(".") not in FORMATS:
        raise InputError(f"{plot} is no figure's name", "end it in .png, .svg or .pdf")


def _draw(made: list[Ranking], path: Path) -> None:
    from iosonde.report import figures
    from iosonde.report.importance_figure import Bar, Importance, importance_figure

    from ._output import replace_file, talk

    items = [
        Importance(r.response, tuple(Bar(f.name, f.over_all.s1, f.over_all.st, f.zero_line) for f in r.factors))
        for r in made
    ]
    replace_file(path, figures.image(importance_figure(items), path.suffix.lower().lstrip(".")))
    talk(f"wrote {path}")
