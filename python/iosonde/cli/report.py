"""``iosonde report``: one self-contained HTML page about a store or a table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from iosonde.core.errors import InputError

from ._output import replace_file, talk

if TYPE_CHECKING:
    from iosonde.report.content import Page


@click.command(epilog="Example: iosonde report results -o report.html")
@click.argument("data")
@click.option(
    "-o", "--output", metavar="FILE", default="iosonde-report.html", show_default=True, help="The page; replaced whole."
)
@click.option("--response", metavar="Y,…", help="Table: the measured column(s); by default what looks measured.")
@click.option("--on", metavar="X,…", help="What the regressions are on, as 'nodes,log2(size)'; by default what varies.")
@click.option("--by", metavar="X,…", help="Table: columns to group by; by default those of --on, or what varies.")
@click.option("--bound", metavar="NAME=V,…|FILE|STORE",
              help="The hardware, as 'servers=4,net=117MB/s' (the options of iosonde bound), or a probe of it.")
@click.option("--experiment", metavar="ID", help="Store: this experiment instead of the newest.")
@click.option("--where", multiple=True, metavar="COND", help="Only what fulfils it, as 'nodes>=2'. Repeatable.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence level of every interval.")
@click.option("--json", "as_json", is_flag=True, help="What the page shows, as JSON on stdout; no page is written.")
def command(
    data: str, output: str, response: str | None, on: str | None, by: str | None, bound: str | None,
    experiment: str | None, where: tuple[str, ...], level: float, as_json: bool,
) -> None:  # fmt: skip
    """Write one HTML page about DATA: the newest experiment of a store, a .csv or a .parquet.

    It answers on its first screen: what was measured, how fast it is, how sure that is, what looks wrong. The
    page is one file that loads nothing: mail it, archive it, print it.
    """
    from ._data import check_level

    check_level(level)
    again = _command(data, output, response, on, by, where, level, bound)
    page = _page(data, response, on, by, experiment, where, level, again, bound)
    from iosonde.report.page import page_json, render
    from iosonde.report.text import escape

    if as_json:
        click.echo(page_json(page))
        return
    path = replace_file(Path(output), render(page).encode())
    click.echo(escape(page.answers.headline))
    talk(f"the page: {path}")


def _page(
    data: str, response: str | None, on: str | None, by: str | None, experiment: str | None, where: tuple[str, ...],
    level: float, again: list[str], bound: str | None,
) -> Page:  # fmt: skip
    from ._data import open_data, split_names
    from ._page_bound import bound_of

    terms, groups = split_names(on), split_names(by) if by else None
    if Path(data).is_dir() and not response:
        from ._page import choose, page_of

        if by:
            raise InputError("--by needs --response", "without both, a store is grouped by every setting that varies")
        chosen = choose(data, where, experiment)
        page = page_of(chosen, level, data, again, terms)
        return replace(page, bound=bound_of(chosen.source, bound, (), None, level))
    from ._page_table import page_of_table

    source = open_data(data, where, experiment)
    responses = split_names(response)
    table = source.trials(responses[0] if responses else None, [*terms, *(groups or ())])
    page = page_of_table(table, data, responses, groups, terms, level, again)
    return replace(page, bound=bound_of(source, bound, responses, groups, level))


def _command(
    data: str, output: str, response: str | None, on: str | None, by: str | None, where: tuple[str, ...], level: float,
    bound: str | None,
) -> list[str]:  # fmt: skip
    """The words that make this page again."""
    named = {"--response": response, "--on": on, "--by": by, "--bound": bound,
             "--level": f"{level:g}" if level != 0.95 else None}  # fmt: skip
    words = [word for name, value in named.items() if value for word in (name, value)]
    conditions = [word for condition in where for word in ("--where", condition)]
    return ["iosonde", "report", data, "-o", output, *words, *conditions]
