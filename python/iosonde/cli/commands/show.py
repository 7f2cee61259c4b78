"""``iosonde show``: what a store holds, one run in detail, and the way out to other tools."""

from __future__ import annotations

import contextlib
import io
import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from iosonde.core.errors import InputError

from ..output import whole_file

if TYPE_CHECKING:
    from iosonde.core.where import Condition
    from iosonde.store import Store

SCHEMA = 1


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
    store: str,
    run: str | None,
    experiment: str | None,
    where: tuple[str, ...],
    form: str | None,
    operations: bool,
    incomplete: bool,
    tool: str | None,
    output: str | None,
    printed: bool,
    ranks: tuple[int, ...],
    thesis_json: bool,
    as_json: bool,
) -> None:
    """Experiments and runs of STORE; with RUN, everything about that run.

    --where compares a run's columns (run, experiment, source, started_at, seconds, complete, tags) and factors;
    with --export also the columns of results (operation, metric, value, unit, rank, ...).
    """
    from iosonde.core.where import parse_where
    from iosonde.store import Store

    if printed or ranks or thesis_json:
        _other(store, run, experiment, where, form, output, printed, ranks, as_json)
        return
    opened, conditions = Store.open(store), parse_where(where)
    _check(form, operations, incomplete, output, as_json)
    if tool is not None:
        if form is not None:
            raise InputError(
                "--as and --export cannot be given together", "--as with --json gives numbers to go on with"
            )
        if run is not None:
            conditions = [*conditions, *parse_where([f"run={opened.run(run).id}"])]
        _as_tool(opened, tool, experiment, conditions, as_json)
    elif form is not None:
        if run is not None:
            conditions = [*conditions, *parse_where([f"run={opened.run(run).id}"])]
        _export(opened, form, operations, experiment, conditions, incomplete, output)
    elif run is not None:
        _one(opened, run, as_json)
    else:
        _all(opened, experiment, conditions, as_json)
    warn(opened)


def _other(
    store: str, run: str | None, experiment: str | None, where: tuple[str, ...], form: str | None,
    output: str | None, printed: bool, ranks: tuple[int, ...], as_json: bool,
) -> None:  # fmt: skip
    """What commands printed, or the totals in the layout of the thesis."""
    from iosonde.store import Store

    if form is not None or as_json:
        raise InputError("--printed and --thesis-json have one form", "leave out --export and --json")
    if printed or ranks:
        from .._printed import show

        if run is None or not printed:
            raise InputError(
                "--printed needs a run, and --rank needs --printed", f"'iosonde show {store}' lists the runs"
            )
        show(Store.open(store), run, ranks)
        return
    from .._bars import of_store

    found = of_store(store, experiment, (*where, f"run={run}") if run else where)
    with _sink("json", output) as file:
        file.write(json.dumps(found, indent=2).encode() + b"\n")


def warn(store: Store) -> None:
    """Say on stderr what is wrong in ``store``, as far as it is seen without reading every file."""
    from iosonde.report.text import escape

    for problem in store.problems(contents=False):
        click.echo(f"warning: {escape(problem.sentence)} [{problem.code}]", err=True)


def _check(form: str | None, operations: bool, incomplete: bool, output: str | None, as_json: bool) -> None:
    if form is None and (operations or incomplete or output):
        name = "--operations" if operations else "--incomplete" if incomplete else "--output"
        raise InputError(f"{name} needs --export", "add --export csv, json or parquet")
    if form is not None and as_json:
        raise InputError("--json and --export cannot be given together", "--export json writes the results as JSON")


def _all(store: Store, experiment: str | None, conditions: list[Condition], as_json: bool) -> None:
    runs = store.runs(experiment=experiment, where=conditions)
    experiments = [item for item in store.experiments() if experiment in (None, item.id)]
    tags = {run["id"]: store.notes.tags(run["id"]) for run in runs}
    if not as_json:
        from .._show_text import listing

        for line in listing(store.path, experiments, runs, tags):
            click.echo(line)
        return
    keys = ("id", "experiment", "source", "started_at", "seconds", "complete", "missing", "factors", "operations")
    print_json(
        {
            "schema": SCHEMA,
            "store": str(store.path),
            "experiments": [
                {"id": item.id, "name": item.name, "created_at": item.created_at, "seed": item.seed}
                for item in experiments
            ],
            "runs": [{**{key: run[key] for key in keys}, "tags": tags[run["id"]]} for run in runs],
            "problems": [problem.to_json() for problem in store.problems(contents=False)],
        }
    )


def _one(store: Store, run_id: str, as_json: bool) -> None:
    run = store.run(run_id)
    document = store.document(run_id)
    notes = store.notes.of(run_id)
    if not as_json:
        from .._show_text import detail

        for line in detail(run, document, notes):
            click.echo(line)
        return
    results = [vars(row) for row in run.observations]
    print_json({"schema": SCHEMA, "run": document, "results": results, **notes})


def _as_tool(store: Store, tool: str, experiment: str | None, conditions: list[Condition], as_json: bool) -> None:
    from .. import _as_tool

    found = _as_tool.recompute(store, tool, store.runs(experiment=experiment, where=conditions))
    if as_json:
        print_json(_as_tool.document(tool, found))
        return
    for line in _as_tool.lines(tool, found):
        click.echo(line)


def print_json(content: Any) -> None:
    """Stable JSON on stdout; NaN and infinities become null."""
    click.echo(json.dumps(_finite(content), indent=1, ensure_ascii=True, allow_nan=False))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _export(
    store: Store,
    form: str,
    operations: bool,
    experiment: str | None,
    conditions: list[Condition],
    incomplete: bool,
    output: str | None,
) -> None:
    from iosonde.store.export import export, operations_of

    if operations:
        runs = store.runs(experiment=experiment, where=conditions)
        batches = operations_of(store, [run["id"] for run in runs if incomplete or run["complete"]])
    else:
        table = store.results(experiment=experiment, where=conditions, include_incomplete=incomplete)
        batches = iter([table])
    with _sink(form, output) as file:
        export(batches, form, file)


@contextlib.contextmanager
def _sink(form: str, output: str | None) -> Iterator[BinaryIO]:
    """The file that was asked for, or stdout."""
    if output is None:
        if not sys.stdout.isatty():
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
            return
        if form == "parquet":
            raise InputError("a terminal cannot show Parquet", "give a file: -o results.parquet")
        from iosonde.report.text import escape

        buffer = io.BytesIO()
        yield buffer
        click.echo(
            "\n".join(escape(line) for line in buffer.getvalue().decode("utf-8", "replace").split("\n")), nl=False
        )
        return
    with whole_file(Path(output)) as file:
        yield file
