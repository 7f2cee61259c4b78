"""``iosonde import``: other tools' results into a store; a file that is there already is left alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from iosonde.core.errors import DataError, InputError

if TYPE_CHECKING:
    from .._import_files import Outcome

SCHEMA = 1
SHOWN = 20


@click.command(epilog="Example: iosonde import -r archive --store results --factors-from 'site={}/date={}/...'")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--store", required=True, metavar="DIR", help="The store; made if it is not there.")
@click.option("-r", "--recursive", is_flag=True, help="FILE may be a directory: everything in it is looked at.")
@click.option("--format", "form", metavar="TOOL", help="Read every file as this tool's output.")
@click.option("--factors-from", "sources", multiple=True, metavar="PATTERN|CSV",
              help="Factors from the path ('site={}/nodes={}/...') or from a manifest (.csv). Repeatable.")  # fmt: skip
@click.option("--experiment", default="imported", show_default=True, metavar="ID", help="What the runs belong to.")
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Processes that read; as many as there are CPUs.")
@click.option("--json", "as_json", is_flag=True, help="Stable JSON on stdout.")
def command(
    files: tuple[str, ...], store: str, recursive: bool, form: str | None, sources: tuple[str, ...], experiment: str,
    jobs: int | None, as_json: bool,
) -> None:  # fmt: skip
    """Store what other tools' results in FILE say. The same content is never stored twice.

    Every result file keeps its own text, its warnings, and the line of each number. What is not understood is listed
    with the
    reason; runs that ended early are marked incomplete and left out of totals.
    """
    from .._import_files import Plan, found_files, import_all

    paths = found_files(files, recursive, Path(store))
    plan = Plan(Path(store), experiment, form, tuple(sources))
    plan.prepare()
    outcomes = import_all(plan, paths, jobs)
    _print_json(outcomes) if as_json else _print(outcomes, store)
    failed = [outcome for outcome in outcomes if outcome.reason]
    if failed and len(failed) == len(outcomes):
        raise DataError(f"nothing was imported: {failed[0].reason}", "'iosonde parse FILE' says more about one file")
    if failed and not recursive:
        raise InputError(f"{len(failed)} of {len(outcomes)} files were not imported", "see the list above")


def _print_json(outcomes: list[Outcome]) -> None:
    from .show import print_json

    print_json(
        {
            "schema": SCHEMA,
            "files": len(outcomes),
            "runs": sum(outcome.runs for outcome in outcomes),
            "incomplete": sum(outcome.incomplete for outcome in outcomes),
            "already_there": sum(outcome.there for outcome in outcomes),
            "imported": [
                {"file": o.file, "format": o.format, "runs": o.runs, "incomplete": o.incomplete, "warnings": o.warnings}
                for o in outcomes
                if not o.reason and not o.there
            ],
            "unknown": [{"file": outcome.file, "reason": outcome.reason} for outcome in outcomes if outcome.reason],
        }
    )


def _print(outcomes: list[Outcome], store: str) -> None:
    from iosonde.report.text import escape, table

    formats: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        if not outcome.reason:
            formats.setdefault(outcome.format, []).append(outcome)
    rows = [
        (name, len(found), sum(o.runs for o in found), sum(o.incomplete for o in found), sum(o.there for o in found))
        for name, found in sorted(formats.items())
    ]
    if rows:
        click.echo(table(("tool", "files", "runs", "incomplete", "there before"), rows, "lrrrr"))
    failed = [outcome for outcome in outcomes if outcome.reason]
    if failed:
        click.echo(f"\nnot imported: {len(failed)}")
        for outcome in failed[:SHOWN]:
            click.echo(escape(f"  {outcome.file}: {outcome.reason}"))
        if len(failed) > SHOWN:
            click.echo(f"  and {len(failed) - SHOWN} more (--json lists all)")
    total = sum(outcome.runs for outcome in outcomes)
    click.echo(f"\n{len(outcomes)} files looked at, {total} runs stored in {escape(store)}")
