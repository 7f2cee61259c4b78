"""``iosonde explain CODE``: the manual page of a finding."""

from __future__ import annotations

import click

from iosonde.cli.output import show


@click.command(epilog="Example: iosonde explain S104")
@click.argument("code", required=False)
def command(code: str | None) -> None:
    """What a finding says, how it is known, when it is wrong, what to do. Without CODE: all codes."""
    from iosonde.answers.explain import codes, page

    show(codes() if code is None else [page(code)])
