"""``iosonde show``: what a store holds, one run in detail, and the way out to other tools."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from iosonde.cli.output import emit, show_printed, sink, talk
from iosonde.core.errors import InputError

if TYPE_CHECKING:
    from iosonde.answers.show import Chosen
    from iosonde.core.types import Finding


@dataclass(frozen=True)
class _Way:
    """Which way out of the store: at most one of --export, --as, --printed, --thesis-json."""

    form: str | None
    operations: bool
    incomplete: bool
    tool: str | None
    output: str | None
    printed: bool
    ranks: tuple[int, ...]
    thesis_json: bool
    as_json: bool


@click.command(epilog="Example: iosonde show results --where 'nodes>=2' --export csv -o results.csv")
@click.argument("store", metavar="STORE")
@click.argument("run", metavar="[RUN]", required=False)
@click.option("--experiment", metavar="ID", help="Only the runs of this experiment.")
@click.option("--where", multiple=True, metavar="COND", help="Only runs for which it holds, as 'fs=nfs'. Repeatable.")
@click.option("--export", "form", type=click.Choice(["csv", "json", "parquet"]), help="Write the results.")
@click.option("--operations", is_flag=True, help="With --export: every recorded operation instead of results.")
@click.option("--incomplete", is_flag=True, help="With --export: the results of incomplete runs as well.")
@click.option("--as", "tool", type=click.Choice(["ior", "mdtest", "iozone", "fio", "elbencho"]),
              help="The runs' numbers by this tool's own definitions, recomputed.")  # fmt: skip
@click.option("-o", "--output", metavar="FILE", type=click.Path(dir_okay=False), help="Where to, instead of stdout.")
@click.option("--printed", is_flag=True, help="With RUN: what its commands printed, node by node.")
@click.option("--rank", "ranks", type=click.IntRange(0), multiple=True, help="With --printed: only this rank.")
@click.option("--thesis-json", is_flag=True, help="Totals by node count, as plot --bars reads them.")
@click.option("--json", "as_json", is_flag=True, help="Stable JSON on stdout.")
def command(
    store: str, run: str | None, experiment: str | None, where: tuple[str, ...], form: str | None, operations: bool,
    incomplete: bool, tool: str | None, output: str | None, printed: bool, ranks: tuple[int, ...], thesis_json: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Experiments and runs of STORE; with RUN, everything about that run.

    --where compares a run's columns (run, experiment, source, started_at, seconds, complete, tags) and factors;
    with --export also the columns of results (operation, metric, value, unit, rank, ...).
    """
    from iosonde.answers.show import choose

    way = _Way(form, operations, incomplete, tool, output, printed, ranks, thesis_json, as_json)
    if printed or ranks or thesis_json:
        _check_other(way)
        chosen = choose(store, run, experiment, where)
        _thesis(chosen, output) if thesis_json and not (printed or ranks) else _printed(chosen, way)
        return
    chosen = choose(store, run, experiment, where)
    _check(way)
    if tool is not None or form is not None:
        _as_tool(chosen, tool, as_json) if tool is not None else _export(chosen, way)
    elif run is not None:
        from iosonde.answers.show import detail
        from iosonde.report.text.show import detail_lines

        one = detail(chosen)
        emit(one, detail_lines(one), as_json)
    else:
        from iosonde.answers.show import listing
        from iosonde.report.text.show import listing_lines

        several = listing(chosen)
        emit(several, listing_lines(several), as_json)
    warn(chosen.problems)


def warn(problems: list[Finding]) -> None:
    """Say on stderr what is wrong in a store."""
    for problem in problems:
        talk(f"warning: {problem.sentence} [{problem.code}]")


def _check_other(way: _Way) -> None:
    if way.form is not None or way.as_json:
        raise InputError("--printed and --thesis-json have one form", "leave out --export and --json")


def _check(way: _Way) -> None:
    if way.form is None and (way.operations or way.incomplete or way.output):
        name = "--operations" if way.operations else "--incomplete" if way.incomplete else "--output"
        raise InputError(f"{name} needs --export", "add --export csv, json or parquet")
    if way.form is not None and way.as_json:
        raise InputError("--json and --export cannot be given together", "--export json writes the results as JSON")
    if way.tool is not None and way.form is not None:
        raise InputError("--as and --export cannot be given together", "--as with --json gives numbers to go on with")


def _printed(chosen: Chosen, way: _Way) -> None:
    """What commands printed, between lines that a program can find."""
    from iosonde.answers.printed import printed

    if chosen.run is None or not way.printed:
        hint = f"'iosonde show {chosen.store.path}' lists the runs"
        raise InputError("--printed needs a run, and --rank needs --printed", hint)
    for one in printed(chosen, way.ranks):
        show_printed(f"==> {one.head}, {one.size} bytes <==", one.pieces())


def _thesis(chosen: Chosen, output: str | None) -> None:
    """The totals in the layout of the thesis."""
    from iosonde.answers.thesis import of_store

    found = of_store(chosen)
    with sink("json", output) as file:
        file.write(json.dumps(found, indent=2).encode() + b"\n")


def _as_tool(chosen: Chosen, tool: str, as_json: bool) -> None:
    from iosonde.answers.as_tool import as_tool
    from iosonde.report.as_tool import lines

    made = as_tool(chosen, tool)
    emit(made, lines(made), as_json)


def _export(chosen: Chosen, way: _Way) -> None:
    from iosonde.answers.show import export

    assert way.form is not None
    with sink(way.form, way.output) as file:
        export(chosen, way.form, file, way.operations, way.incomplete)
