"""``iosonde show``: what a store holds, one run in detail, and the way out to other tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click

from iosonde import answers, report
from iosonde.cli.output import emit, show_printed, sink, talk, write_json
from iosonde.core.errors import InputError


@click.command(epilog="Example: iosonde show results --where 'nodes>=2' --export csv -o results.csv")
@click.argument("store", metavar="STORE")
@click.argument("run", metavar="[RUN]", required=False)
@click.option("--experiment", metavar="ID", help="Only the runs of this experiment.")
@click.option("--where", multiple=True, metavar="COND", help="Only runs for which it holds, as 'fs=nfs'. Repeatable.")
@click.option("--export", "form", type=click.Choice(["csv", "json", "parquet"]),
              help="Write the results. A spreadsheet may take a cell like =1+1 for a formula.")  # fmt: skip
@click.option("--operations", is_flag=True, help="With --export: every recorded operation instead of results.")
@click.option("--incomplete", is_flag=True, help="With --export: the results of incomplete runs as well.")
@click.option("--as", "tool", type=click.Choice(["ior", "mdtest", "iozone", "fio", "elbencho"]),
              help="The runs' numbers by this tool's own definitions, recomputed.")  # fmt: skip
@click.option("-o", "--output", metavar="FILE", type=click.Path(dir_okay=False), help="Where to, instead of stdout.")
@click.option("--printed", is_flag=True, help="With RUN: what its commands printed, node by node.")
@click.option("--rank", "ranks", type=click.IntRange(0), multiple=True, help="With --printed: only this rank.")
@click.option("--thesis-json", is_flag=True, help="Totals by node count, as plot --bars reads them.")
@click.option("--slowest", type=int, is_flag=False, flag_value=20, metavar="[N]",
              help="The operations that took longest, one by one [N: 20].")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Stable JSON on stdout.")
def command(store: str, run: str | None, experiment: str | None, where: tuple[str, ...], **given: Any) -> None:
    """Experiments and runs of STORE; with RUN, everything about that run.

    --where compares a run's columns (run, experiment, source, started_at, seconds, complete, tags) and factors;
    with --export also the columns of results (operation, metric, value, unit, rank, ...).
    """
    form = Form(**given)
    chosen = answers.show.choose(store, run, experiment, where)
    if form.printed or form.ranks:
        _show_printed(chosen, form)
    elif form.thesis_json:
        write_json(answers.thesis.build_thesis_document(chosen), form.output)
    else:
        _show_runs(chosen, form)
        for problem in chosen.problems:
            talk(f"warning: {problem.sentence} [{problem.code}]")


@dataclass(frozen=True)
class Form:
    """How the runs are shown: at most one of --export, --as, --printed, --thesis-json, --slowest. Raises InputError
    where two do not go together."""

    form: str | None
    operations: bool
    incomplete: bool
    tool: str | None
    output: str | None
    printed: bool
    ranks: tuple[int, ...]
    thesis_json: bool
    slowest: int | None
    as_json: bool

    def __post_init__(self) -> None:
        if self.slowest is not None and (self.form or self.tool or self.printed or self.ranks or self.thesis_json):
            raise InputError(
                "conflicting-options",
                "{spell.slowest} is a list of its own",
                "leave out {spell.export}, {spell.as}, {spell.printed} and {spell.thesis_json}",
            )
        if self.printed or self.ranks or self.thesis_json:
            if self.form is not None or self.as_json:
                raise InputError("conflicting-options", "{spell.printed} and {spell.thesis_json} have one form",
                                 "leave out {spell.export} and {spell.json}")  # fmt: skip
        elif self.form is None and (self.operations or self.incomplete or self.output):
            name = "--operations" if self.operations else "--incomplete" if self.incomplete else "--output"
            raise InputError("option-requires-option", "{option} needs {spell.export}",
                             "add {spell.export} csv, json or parquet", option=name)  # fmt: skip
        elif self.form is not None and self.as_json:
            raise InputError("conflicting-options", "{spell.json} and {spell.export} cannot be given together",
                             "{spell.export} json writes the results as JSON")  # fmt: skip
        elif self.form is not None and self.tool is not None:
            raise InputError("conflicting-options", "{spell.as} and {spell.export} cannot be given together",
                             "{spell.as} with {spell.json} gives numbers to go on with")  # fmt: skip


def _show_runs(chosen: answers.show.ChosenRuns, form: Form) -> None:
    """The runs by a tool's definitions, their results in a file, one run, or the list of all."""
    if form.slowest is not None:
        longest = answers.slowest.slowest_of(chosen, form.slowest)
        emit(longest, report.text.slowest.lines(longest), form.as_json)
    elif form.tool is not None:
        recomputed = answers.as_tool.as_tool(chosen, form.tool)
        emit(recomputed, report.as_tool.lines(recomputed), form.as_json)
    elif form.form is not None:
        with sink(form.form, form.output) as file:
            answers.show.export(chosen, form.form, file, form.operations, form.incomplete)
    elif chosen.run is not None:
        run = answers.show.detail(chosen)
        emit(run, report.text.show.detail_lines(run), form.as_json)
    else:
        listing = answers.show.listing(chosen)
        emit(listing, report.text.show.listing_lines(listing), form.as_json)


def _show_printed(chosen: answers.show.ChosenRuns, form: Form) -> None:
    """What commands printed, between lines that a program can find."""
    if chosen.run is None or not form.printed:
        raise InputError("option-requires-option",
                         "{spell.printed} needs a run, and {spell.rank} needs {spell.printed}",
                         "'iosonde show {store}' lists the runs", store=chosen.store.path)  # fmt: skip
    for output in answers.printed.printed(chosen, form.ranks):
        show_printed(f"==> {output.head}, {output.size} bytes <==", output.pieces())
