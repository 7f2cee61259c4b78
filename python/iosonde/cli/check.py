"""``iosonde check``: can this data be trusted? Every finding with its evidence and its cure."""

from __future__ import annotations

import json

import click

from iosonde.core.errors import InputError

from ._data import Source, check_level, open_data, options, split_names, tell


@click.command(epilog="Example: iosonde check runs.csv --response write_MiB/s --by fs,nodes --bound 117MB/s")
@click.argument("data")
@click.option("--response", metavar="Y,…", help="The measured columns; by default what looks measured.")
@click.option("--by", metavar="X,…", help="The settings; by default all other columns that do not count rows.")
@click.option(
    "--bound", metavar="RATE", help="What the hardware can carry: 117MB/s, 1Gbit/s, or in the response's unit."
)
@click.option("--clock", default="last_done", show_default=True, metavar="CLOCK",
              help="Store: last_done, first_done, sum_of_ranks, overlap, all, or the name of a metric.")  # fmt: skip
@click.option("--experiment", metavar="ID", help="Store: only this experiment.")
@click.option("--noise", is_flag=True, help="The noise passport: false alarms, variances, smallest differences.")
@options
def command(
    data: str, response: str | None, by: str | None, bound: str | None, clock: str, experiment: str | None,
    noise: bool, where: tuple[str, ...], level: float, as_json: bool,
) -> None:  # fmt: skip
    """What is suspicious in DATA, before any analysis of it is believed.

    DATA is a store, a .csv or a .parquet. Exit code 1 if a warning or an error was found, 0 if not.
    """
    check_level(level)
    carried, limit = (None, None) if bound is None else _bound(bound)
    source = open_data(data, where, experiment)
    if noise:
        _noise(source, level, response, by, clock, as_json)
        return
    from iosonde.stats import examine

    tell("check", source.table)
    responses = split_names(response)
    if source.store is not None and not responses:
        if by:
            raise InputError("--by needs --response", "without both, a store is grouped by every setting that varies")
        if limit is not None:
            raise InputError(f"--bound '{bound}' has no unit", "write it like 117MB/s or 1Gbit/s")
        planned = {factor.name for item in source.store.experiments() for factor in item.factors}
        problems = source.store.problems()
        made = examine.of_store(source.table, level, source.runs(), carried, clock, problems, sorted(planned))
    else:
        made = examine.of_table(_whole(source), level, responses, split_names(by) if by else None, carried, limit)
    if as_json:
        click.echo(json.dumps({"schema": 1, **made.to_json()}, indent=1, ensure_ascii=False, allow_nan=False))
    else:
        from ._check_text import lines

        for line in lines(made):
            click.echo(line)
    if made.suspicious:
        raise click.exceptions.Exit(1)


def _noise(source: Source, level: float, response: str | None, by: str | None, clock: str, as_json: bool) -> None:
    from iosonde.stats import noise

    responses = split_names(response)
    if source.store is not None and not responses:
        made = noise.of_store(source.table, level, clock)
    else:
        made = noise.of_table(_whole(source), level, responses, split_names(by) if by else None)
    if as_json:
        click.echo(json.dumps({"schema": 1, **made.to_json()}, indent=1, ensure_ascii=False, allow_nan=False))
        return
    from ._noise_text import lines

    for line in lines(made):
        click.echo(line)


def _whole(source: Source):  # type: ignore[no-untyped-def]
    from iosonde.stats.overview import whole_rows

    return source.table if source.store is None else source.table.take(whole_rows(source.table))


def _bound(text: str) -> tuple[float | None, float | None]:
    """(bytes/s of ``117MB/s`` or ``1Gbit/s``, None), or (None, a plain number). Raises InputError."""
    import re

    from iosonde.stats.column_units import bytes_per_s

    found = re.match(r"^\s*(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*(\S*)\s*$", text)
    readings = bytes_per_s(found[2]) if found else ()
    if not found or (found[2] and not readings) or not float(found[1]) > 0:
        hint = "write it like 117MB/s, 1Gbit/s, or as a plain number in the response's own unit"
        raise InputError(f"--bound '{text}' is no rate", hint)
    return (float(found[1]) * min(readings), None) if readings else (None, float(found[1]))
