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
    found = []
    for name in files:
        one = answers.parse.parse(name, form, sys.stdin.buffer, columns)
        found.append(one)
        if isinstance(one, answers.parse.Parse) and not as_json:
            show(report.text.parse.lines(one))
    made = answers.parse.Parses(tuple(found))
    if as_json:
        emit(made, (), as_json)
    errors = made.errors
    if len(errors) == 1:
        raise errors[0]
    if errors:
        names = ", ".join(file.name for file in made.files if isinstance(file, answers.parse.NotUnderstood))
        text = "; ".join(error.message for error in errors)
        raise errors[0].with_words(restore("several-files-not-understood", text, {"files": names}))
