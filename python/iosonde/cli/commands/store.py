"""``iosonde store``: check, tag, annotate, merge and redact stores."""

from __future__ import annotations

from collections.abc import Sequence

import click

from iosonde.core.errors import IncompleteError
from iosonde.core.types import Finding

from .show import SCHEMA, print_json

_JSON = click.option("--json", "as_json", is_flag=True, help="Stable JSON on stdout.")


@click.group(epilog="Example: iosonde store check results")
def command() -> None:
    """Look after stores: check one, tag and annotate its runs, merge several, make a copy to give away."""


@command.command(epilog="Example: iosonde store check results")
@click.argument("store")
@_JSON
def check(store: str, as_json: bool) -> None:
    """Read every file of STORE. Exit code 1 if a run is damaged or incomplete."""
    from iosonde.report.text import escape
    from iosonde.store import Store

    opened = Store.open(store)
    problems, runs = opened.problems(), opened.runs()
    incomplete = [run for run in runs if not run["complete"]]
    if as_json:
        print_json(
            {
                "schema": SCHEMA,
                "runs": len(runs),
                "incomplete": [{"run": run["id"], "missing": run["missing"]} for run in incomplete],
                "problems": [problem.to_json() for problem in problems],
            }
        )
    else:
        for problem in problems:
            click.echo(f"{problem.code} {escape(problem.sentence)}\n     {escape(problem.action)}")
        for run in incomplete:
            click.echo(escape(f"run {run['id']} is incomplete: {'; '.join(run['missing'])}"))
    serious = [problem for problem in problems if problem.code != "D102"]
    if serious or incomplete:
        raise IncompleteError(
            f"{store}: {len(serious)} damaged or foreign, {len(incomplete)} incomplete of {_count(len(runs), 'run')}",
            f"iosonde explain {serious[0].code} says what to do" if serious else f"iosonde show {store} RUN says more",
        )
    if not as_json:
        click.echo(f"{escape(store)}: {_count(len(runs), 'run')}, all complete and as they were stored")


@command.command(epilog="Example: iosonde store tag results run-0001 baseline --remove odd")
@click.argument("store")
@click.argument("run")
@click.argument("tags", nargs=-1)
@click.option("--remove", multiple=True, metavar="TAG", help="Take this tag away. Repeatable.")
def tag(store: str, run: str, tags: tuple[str, ...], remove: tuple[str, ...]) -> None:
    """Give RUN tags; --where 'tags=TAG' then finds it. Prints the tags it has."""
    from iosonde.report.text import escape
    from iosonde.store import Store

    opened = Store.open(store)
    run_id = opened.run(run).id
    opened.notes.change(run_id, add=list(tags), remove=list(remove))
    click.echo(escape(f"{run_id}: {' '.join(opened.notes.tags(run_id)) or 'no tags'}"))


@command.command(epilog="Example: iosonde store note results run-0001 'a switch failed at 10:12'")
@click.argument("store")
@click.argument("run")
@click.argument("text")
def note(store: str, run: str, text: str) -> None:
    """Write TEXT beside RUN, with the time of now. The run itself never changes."""
    from iosonde.store import Store

    opened = Store.open(store)
    opened.notes.change(opened.run(run).id, note=text)


@command.command(epilog="Example: iosonde store merge all monday tuesday")
@click.argument("target")
@click.argument("sources", nargs=-1, required=True)
@_JSON
def merge(target: str, sources: tuple[str, ...], as_json: bool) -> None:
    """Copy the runs and experiments of SOURCES into the store TARGET, made if it is not there.

    The same run is taken once. Two different ones under one id are an error, and then nothing is copied.
    """
    from iosonde.store import Store
    from iosonde.store.merge import merge as merge_stores

    opened = [Store.open(source) for source in sources]
    done = merge_stores(Store.create(target), opened)
    if as_json:
        problems = [problem.to_json() for problem in done.problems]
        counts = {"runs": done.runs, "runs_there": done.runs_there, "experiments": done.experiments}
        print_json({"schema": SCHEMA, **counts, "problems": problems})
    else:
        there = f" ({done.runs_there} were there already)" if done.runs_there else ""
        click.echo(f"{_count(done.runs, 'run')} and {_count(done.experiments, 'experiment')} copied{there}")
    _left_out(done.problems)


@command.command(epilog="Example: iosonde store redact results to-share --also zeus")
@click.argument("store")
@click.argument("copy")
@click.option("--also", multiple=True, metavar="WORD", help="Hide this word as well. Repeatable.")
@_JSON
def redact(store: str, copy: str, also: tuple[str, ...], as_json: bool) -> None:
    """Make COPY, a store with the numbers of STORE but without its names and secrets.

    Host names, user names, addresses, home directories and secrets on command lines become host-1, user-1,
    address-1, secret-1, the same one everywhere. STORE stays as it is. Look through the copy before you share it:
    a name that stands nowhere as a name (a project, a model of machine) is only found by --also.
    """
    from iosonde.store import Store
    from iosonde.store.redact import redact as redact_store

    done = redact_store(Store.open(store), copy, also)
    if as_json:
        problems = [problem.to_json() for problem in done.problems]
        print_json({"schema": SCHEMA, "runs": done.runs, "replaced": done.replaced, "problems": problems})
    else:
        said = ", ".join(_plural(number, kind) for kind, number in sorted(done.replaced.items()))
        click.echo(f"{_count(done.runs, 'run')} copied; replaced: {said or 'nothing'}")
    _left_out(done.problems)


def _left_out(problems: Sequence[Finding]) -> None:
    from iosonde.report.text import escape

    for problem in problems:
        click.echo(f"left out: {escape(problem.sentence)} [{problem.code}]", err=True)


def _count(number: int, name: str) -> str:
    return f"{number:,} {name}" + ("" if number == 1 else "s")


def _plural(number: int, kind: str) -> str:
    return f"{number} {kind}{'' if number == 1 else 'es' if kind.endswith('s') else 's'}"
