"""``iosonde report``: one self-contained HTML page about a store or a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from iosonde.core.errors import InputError
from iosonde.core.whole_file import replace_file
from iosonde.report.content import Section

from ..output import talk

if TYPE_CHECKING:
    from iosonde.report.advice_content import Advice
    from iosonde.report.content import Page


@click.command(epilog="Example: iosonde report results -o report.html")
@click.argument("data")
@click.option(
    "-o", "--output", metavar="FILE", default="iosonde-report.html", show_default=True, help="The page; replaced whole."
)
@click.option("--response", metavar="Y,…", help="Table: the measured column(s); by default what looks measured.")
@click.option("--on", metavar="X,…", help="What the regressions are on, as 'nodes,log2(size)'; by default what varies.")
@click.option("--by", metavar="X,…", help="Table: columns to group by; by default those of --on, or what varies.")
@click.option(
    "--bound",
    metavar="NAME=V,…|FILE|STORE",
    help="The hardware, as 'servers=4,net=117MB/s' (the options of iosonde bound), or a probe of it.",
)
@click.option("--choose", metavar="A,…", help="Settings that one may choose: which is best, and what it gains.")
@click.option("--given", metavar="C,…", help="For --choose: the workload; by default every other setting that varies.")
@click.option("--current", metavar="A=V,…", help="For --choose: the setting in use, which the gain is then over.")
@click.option("--experiment", metavar="ID", help="Store: this experiment instead of the newest.")
@click.option("--where", multiple=True, metavar="COND", help="Only what fulfils it, as 'nodes>=2'. Repeatable.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence level of every interval.")
@click.option("--json", "as_json", is_flag=True, help="What the page shows, as JSON on stdout; no page is written.")
def command(output: str, as_json: bool, **given: Any) -> None:
    """Write one HTML page about DATA: the newest experiment of a store, a .csv or a .parquet.

    It answers on its first screen: what was measured, how fast it is, how sure that is, what looks wrong. The
    page is one file that loads nothing: mail it, archive it, print it.
    """
    from .._data import check_level

    options = Options(**given)
    check_level(options.level)
    page = _page(options, _command(options, output))
    from iosonde.report.page import page_json, render
    from iosonde.report.text import escape

    if as_json:
        click.echo(page_json(page))
        return
    path = replace_file(Path(output), render(page, talk).encode())
    click.echo(escape(page.answers.headline))
    talk(f"the page: {path}")


@dataclass(frozen=True)
class Options:
    """What the page is about, as it was written."""

    data: str
    response: str | None
    on: str | None
    by: str | None
    bound: str | None
    choose: str | None
    given: str | None
    current: str | None
    experiment: str | None
    where: tuple[str, ...]
    level: float


def _page(asked: Options, again: list[str]) -> Page:
    from .._data import open_data, split_names
    from .._page_advice import advice_of_store, advice_of_table, asked_of
    from .._page_bound import bound_of

    level = asked.level
    terms, groups = split_names(asked.on), split_names(asked.by) if asked.by else None
    settings = asked_of(asked.choose, asked.given, asked.current)
    advice: Section[Advice] = Section()
    if Path(asked.data).is_dir() and not asked.response:
        from .._page import choose, page_of

        if asked.by:
            raise InputError("--by needs --response", "without both, a store is grouped by every setting that varies")
        chosen = choose(asked.data, asked.where, asked.experiment)
        page = page_of(chosen, level, asked.data, again, terms)
        if settings:
            advice = advice_of_store(chosen, page, settings, level)
        return replace(page, advice=advice, bound=bound_of(chosen.source, asked.bound, (), None, level))
    from .._page_table import page_of_table

    source = open_data(asked.data, asked.where, asked.experiment)
    responses = split_names(asked.response)
    table = source.trials(responses[0] if responses else None, [*terms, *(groups or ())])
    page = page_of_table(table, asked.data, responses, groups, terms, level, again)
    if settings:
        advice = advice_of_table(table, responses, groups, settings, level)
    return replace(page, advice=advice, bound=bound_of(source, asked.bound, responses, groups, level))


def _command(asked: Options, output: str) -> list[str]:
    """The words that make this page again."""
    named = ("response", "on", "by", "bound", "choose", "given", "current", "experiment")
    words = [word for name in named if (value := getattr(asked, name)) for word in (f"--{name}", value)]
    words += ["--level", f"{asked.level:g}"] if asked.level != 0.95 else []
    conditions = [word for condition in asked.where for word in ("--where", condition)]
    return ["iosonde", "report", asked.data, "-o", output, *words, *conditions]
