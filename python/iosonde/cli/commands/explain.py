"""``iosonde explain CODE``: the manual page of a finding."""

from __future__ import annotations

import difflib

import click

from iosonde.core.errors import InputError


@click.command(epilog="Example: iosonde explain S104")
@click.argument("code", required=False)
def command(code: str | None) -> None:
    """What a finding says, how it is known, when it is wrong, what to do. Without CODE: all codes."""
    from iosonde.stats import checks
    from iosonde.store.findings import PAGES

    codes = [*checks.modules(), *PAGES]
    if code is None:
        for known in codes:
            click.echo((checks.page(known) or PAGES[known]).splitlines()[0])
        return
    text = checks.page(code) or PAGES.get(code.upper())
    if text is None:
        near = difflib.get_close_matches(code.upper(), codes, 3, 0.6)
        raise InputError(
            f"there is no finding '{code}'",
            f"did you mean {' or '.join(near)}?" if near else "list them: iosonde explain",
        )
    click.echo(text.rstrip())
