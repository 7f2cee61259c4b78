"""``iosonde explain-difference``: why two tools, or two definitions on one run, give different numbers."""

from __future__ import annotations

import click

from iosonde import answers, report
from iosonde.cli.output import emit


@click.command(epilog="Example: iosonde explain-difference --store results RUN@ior RUN@iozone --operation write_large")
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option("--store", metavar="DIR", help="A and B are runs of this store.")
@click.option("--operation", metavar="A[,B]", help="Which to compare, where there are several; B's if it differs.")
@click.option("--json", "as_json", is_flag=True, help="Stable JSON on stdout.")
def command(a: str, b: str, store: str | None, operation: str | None, as_json: bool) -> None:
    """Split the difference between the numbers A and B into named parts that multiply to the whole.

    A and B are each STORE:RUN@TOOL (TOOL: ior, mdtest, iozone, iozone/parent, fio, elbencho, elbencho/first or
    iosonde: its definition, set on recorded operations), STORE:RUN of an import, or a FILE that a tool wrote (FILE#2:
    its third result).
    """
    explanation = answers.explain_difference.explain_difference(a, b, store, operation)
    emit(explanation, report.text.explain_difference.lines(explanation), as_json)
