"""``iosonde explain CODE``: the manual page of a finding."""

from __future__ import annotations

import click

from iosonde import answers
from iosonde.cli.output import show


@click.command(epilog="Example: iosonde explain S104")
@click.argument("code", required=False)
def command(code: str | None) -> None:
    """What a finding says, how it is known, when it is wrong, what to do. Without CODE: all codes."""
    show(answers.explain.codes() if code is None else [answers.explain.page(code)])
