"""``iosonde report``: one self-contained HTML page about a store or a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from iosonde import answers, campaign, report
from iosonde.cli.options.data import clock_option, incomplete_option, metric_option, open_data, split_names
from iosonde.cli.options.level import level_options
from iosonde.cli.output import show, show_json, talk
from iosonde.core.errors import InputError
from iosonde.core.pairs import pairs_of
from iosonde.core.whole_file import replace_file
from iosonde.data.asked import LAST_DONE


@click.command(epilog="Example: iosonde report results -o report.html")
@click.argument("data")
@click.option(
    "-o", "--output", metavar="FILE", default="iosonde-report.html", show_default=True, help="The page; replaced whole."
)
@click.option("--response", metavar="Y,…", help="Table: the measured column(s); by default what looks measured.")
@click.option("--on", metavar="X,…", help="What the regressions are on, as 'nodes,log2(size)'; by default what varies.")
@click.option("--by", metavar="X,…", help="What makes the cells; of a table by default those of --on, or what varies.")
@click.option(
    "--bound",
    metavar="NAME=V,…|FILE|STORE",
    help="The hardware, as 'servers=4,net=117MB/s' (options of iosonde bound), or a probe.",
)
@click.option("--choose", metavar="A,…", help="Settings that one may choose: which is best, and what it gains.")
@click.option("--given", metavar="C,…", help="For --choose: the workload; by default every other setting that varies.")
@click.option("--current", metavar="A=V,…", help="For --choose: the setting in use, which the gain is then over.")
@click.option("--questions", metavar="FILE", help="Store: what is asked of it: the key 'questions' of a YAML file.")
@click.option(
    "--constraint",
    "constraints",
    multiple=True,
    metavar="EXPR",
    help="What settings fulfil that are offered, as 'stripes <= servers'.",
)
@click.option("--experiment", metavar="ID|all", help="Store: this experiment instead of the last.")
@click.option("--where", multiple=True, metavar="COND", help="Only what fulfils it, as 'nodes>=2'. Repeatable.")
@metric_option
@incomplete_option
@clock_option
@level_options
def command(output: str, as_json: bool, **given: Any) -> None:
    """Write one HTML page about DATA: the newest experiment of a store, a .csv or a .parquet.

    It answers on its first screen: what was measured, how fast it is, how sure that is, what looks wrong. The
    page is one file that loads nothing: mail it, archive it, print it.
    """
    request = _build_request(given, output)
    if as_json:
        show_json(report.page.page.page_document(answers.report.report(request, open_data)))
        return
    page = answers.report.report(request, open_data)
    show(report.text.wrapped(page.headline))
    _write_page(page, output)


def check_place_of_page(output: str | None) -> None:
    """Before anything is measured. Raises InputError where the page could not be written afterwards."""
    if output and not Path(output).resolve().parent.is_dir():
        raise InputError(
            "no-such-directory",
            "the directory of {path} is not there",
            "name a page in a directory that is there",
            path=output,
        )


def write_page_of(store: str, experiment: str, level: float, output: str) -> None:
    """The page of one experiment, which ``iosonde report`` makes again."""
    arguments: dict[str, Any] = dict.fromkeys(answers.report.TEXT_OPTIONS) | {
        "clock": LAST_DONE,
        "where": (),
        "constraints": (),
    }
    request = _build_request(arguments | {"data": store, "experiment": experiment, "level": level}, output)
    _write_page(answers.report.report(request, open_data), output)


def _write_page(page: Any, output: str) -> None:
    talk(f"the page: {replace_file(Path(output), report.page.html.html_of(page, talk).encode())}")


def _build_request(arguments: dict[str, Any], output: str) -> answers.report.ReportQuery:
    return answers.report.ReportQuery(
        data=arguments["data"],
        response=tuple(split_names(arguments["response"])),
        on=tuple(split_names(arguments["on"])),
        by=tuple(split_names(arguments["by"])) if arguments["by"] else None,
        bound=arguments["bound"],
        choosing=_parse_choice(arguments["choose"], arguments["given"], arguments["current"]),
        experiment=arguments["experiment"],
        where=arguments["where"],
        level=arguments["level"],
        clock=arguments["clock"],
        metric=tuple(split_names(arguments["metric"])),
        questions=campaign.asked_of.questions_of(Path(arguments["questions"])) if arguments["questions"] else None,
        again=answers.report.words_again(arguments, output),
        constraints=arguments["constraints"],
    )


def _parse_choice(
    choose: str | None, workload_columns: str | None, current: str | None
) -> answers.page.advice.Choosing | None:
    if choose is None:
        if workload_columns is not None or current is not None:
            raise InputError(
                "option-requires-option",
                "{spell.given} and {spell.current} are about {spell.choose}",
                "name what may be set with {spell.choose}",
            )
        return None
    workload = None if workload_columns is None else tuple(split_names(workload_columns))
    in_use = None if current is None else pairs_of(current, "--current")
    return answers.page.advice.Choosing(tuple(split_names(choose)), workload, in_use)
