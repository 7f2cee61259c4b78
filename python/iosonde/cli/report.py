"""``iosonde report``: one self-contained HTML page about the runs of a store."""

from __future__ import annotations

from pathlib import Path

import click

from ._output import replace_file, talk


@click.command(epilog="Example: iosonde report results -o report.html")
@click.argument("store")
@click.option(
    "-o", "--output", metavar="FILE", default="iosonde-report.html", show_default=True, help="The page; replaced whole."
)
@click.option("--experiment", metavar="ID", help="This experiment instead of the newest.")
@click.option("--where", multiple=True, metavar="COND", help="Only what fulfils it, as 'nodes>=2'. Repeatable.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence level of every interval.")
@click.option("--json", "as_json", is_flag=True, help="What the page shows, as JSON on stdout; no page is written.")
def command(
    store: str, output: str, experiment: str | None, where: tuple[str, ...], level: float, as_json: bool
) -> None:
    """Write one HTML page about the newest experiment in STORE.

    It answers on its first screen: what was measured, how fast it is, how sure that is, what looks wrong. The
    page is one file that loads nothing: mail it, archive it, print it.
    """
    from ._data import check_level
    from ._page import choose, page_of

    check_level(level)
    page = page_of(choose(store, where, experiment), level, store, ["iosonde", "report", store, "-o", output])
    from iosonde.report.page import page_json, render
    from iosonde.report.text import escape

    if as_json:
        click.echo(page_json(page))
        return
    path = replace_file(Path(output), render(page).encode())
    click.echo(escape(page.answers.headline))
    talk(f"the page: {path}")
