"""``iosonde parse``: what an importer understands of other tools' output, without storing it."""

from __future__ import annotations

import sys

import click

from iosonde import answers, report
from iosonde.cli.output import emit, show
from iosonde.core.message import restore


@click.command(epilog="Example: mdtest -n 1000 -d /mnt/x | iosonde parse -")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--format", "form", metavar="TOOL", help="Read as this tool's output, whatever it looks like.")
@click.option("--columns", metavar="MAP", help="Read CSVs by this file that says what their columns are.")
@click.option("--json", "as_json", is_flag=True, help="Stable JSON on stdout.")
def command(files: tuple[str, ...], form: str | None, columns: str | None, as_json: bool) -> None:
    """What other tools' results in FILE (- for standard input) say, in base units, with warnings.

    The tool is found by what is in the file; the evidence is shown. Nothing is stored: that is 'iosonde import'.
    """
    results = []
    for name in files:
        result = answers.parse.parse(name, form, sys.stdin.buffer, columns)
        results.append(result)
        if isinstance(result, answers.parse.Parse) and not as_json:
            show(report.text.parse.lines(result))
    parses = answers.parse.Parses(tuple(results))
    if as_json:
        emit(parses, (), as_json)
    errors = parses.errors
    if len(errors) == 1:
        raise errors[0]
    if errors:
        names = ", ".join(file.name for file in parses.files if isinstance(file, answers.parse.NotUnderstood))
        text = "; ".join(error.message for error in errors)
        raise errors[0].with_words(restore("several-files-not-understood", text, {"files": names}))
