"""``iosonde import``: other tools' results into a store; a file that is there already is left alone."""

from __future__ import annotations

from pathlib import Path

import click

from iosonde import answers, campaign, report
from iosonde.cli.output import emit


@click.command(epilog="Example: iosonde import -r archive --store results --factors-from 'site={}/date={}/...'")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--store", required=True, metavar="DIR", help="The store; made if it is not there.")
@click.option("-r", "--recursive", is_flag=True, help="FILE may be a directory: everything in it is looked at.")
@click.option("--format", "form", metavar="TOOL", help="Read every file as this tool's output.")
@click.option("--columns", metavar="MAP", help="Read CSVs by this file that says what their columns are.")
@click.option("--factors-from", "sources", multiple=True, metavar="PATTERN|CSV",
              help="Factors from the path ('site={}/nodes={}/...') or from a manifest (.csv). Repeatable.")  # fmt: skip
@click.option("--experiment", default="imported", show_default=True, metavar="ID", help="What the runs belong to.")
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Processes that read; as many as there are CPUs.")
@click.option("--json", "as_json", is_flag=True, help="Stable JSON on stdout.")
def command(
    files: tuple[str, ...], store: str, recursive: bool, form: str | None, columns: str | None,
    sources: tuple[str, ...], experiment: str, jobs: int | None, as_json: bool,
) -> None:  # fmt: skip
    """Store what other tools' results in FILE say. The same content is never stored twice.

    Every result file keeps its own text, its warnings, and the line of each number. What is not understood is listed
    with the reason; runs that ended early are marked incomplete and left out of totals.
    """
    importing = campaign.import_files
    plan = importing.ImportPlan(Path(store), experiment, form, tuple(sources), answers.parse.map_of(columns))
    plan.prepare()
    with importing.iterate_file_groups(files, recursive, Path(store)) as paths:
        imported = importing.import_all(plan, paths, jobs)
    emit(imported, report.text.import_.lines(imported, store), as_json)
    imported.check(individually=not recursive)
