"""``iosonde verify``: every stored number computed again, from the operations up."""

from __future__ import annotations

import click

from iosonde import answers, report
from iosonde.cli.options.data import DataOptions, data_options
from iosonde.cli.output import emit


@click.command(epilog="Example: iosonde verify results")
@data_options(response=None, on=None, argument="STORE")
def command(asked: DataOptions) -> None:
    """Compute every rate of STORE again from its operations, and the summary from those rates.

    Exit code 1 if a number differs, nothing can be computed again, a file is damaged, or a sealed decision was
    changed.
    """
    verification = answers.verify.verify(asked.open(), asked.level)
    emit(verification, report.text.verify.lines(verification), asked.as_json)
