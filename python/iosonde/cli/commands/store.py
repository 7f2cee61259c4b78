"""``iosonde store``: check, tag, annotate, merge, redact and prune stores."""

from __future__ import annotations

from collections.abc import Sequence

import click

from iosonde import answers, report
from iosonde.cli.options.types import Duration
from iosonde.cli.output import emit, show, sink, talk
from iosonde.core.errors import IncompleteError
from iosonde.core.types import Finding

_JSON = click.option("--json", "as_json", is_flag=True, help="Stable JSON on stdout.")


@click.group(epilog="Example: iosonde store check results")
def command() -> None:
    """Look after stores: check one, tag and annotate its runs, merge several, make a copy to give away, remove what
    is old."""


@command.command(epilog="Example: iosonde store check results")
@click.argument("store")
@_JSON
def check(store: str, as_json: bool) -> None:
    """Read every file of STORE. Exit code 1 if a run is damaged or incomplete."""
    store_check = answers.store.check(store)
    emit(store_check, report.text.store.check_lines(store_check), as_json)
    serious, incomplete = store_check.serious, store_check.incomplete
    if serious or incomplete:
        raise IncompleteError(
            "damaged-store" if serious else "incomplete-runs",
            "{store}: {n_damaged} damaged or foreign, {n_incomplete} incomplete of {runs}",
            "iosonde explain {finding} says what to do" if serious else "iosonde show {store} RUN says more",
            store=store,
            n_damaged=len(serious),
            n_incomplete=len(incomplete),
            runs=report.text.store.count(len(store_check.runs), "run"),
            finding=serious[0].code if serious else "",
        )


@command.command(epilog="Example: iosonde store tag results run-0001 baseline --remove odd")
@click.argument("store")
@click.argument("run")
@click.argument("tags", nargs=-1)
@click.option("--remove", multiple=True, metavar="TAG", help="Take this tag away. Repeatable.")
def tag(store: str, run: str, tags: tuple[str, ...], remove: tuple[str, ...]) -> None:
    """Give RUN tags; --where 'tags=TAG' then finds it. Prints the tags it has."""
    run_id, has = answers.store.tag(store, run, tags, remove)
    show([report.text.escape(f"{run_id}: {' '.join(has) or 'no tags'}")])


@command.command(epilog="Example: iosonde store note results run-0001 'a switch failed at 10:12'")
@click.argument("store")
@click.argument("run")
@click.argument("text")
def note(store: str, run: str, text: str) -> None:
    """Write TEXT beside RUN, with the time of now. The run itself never changes."""
    answers.store.note(store, run, text)


@command.command(epilog="Example: iosonde store merge all monday tuesday")
@click.argument("target")
@click.argument("sources", nargs=-1, required=True)
@_JSON
def merge(target: str, sources: tuple[str, ...], as_json: bool) -> None:
    """Copy the runs and experiments of SOURCES into the store TARGET, made if it is not there.

    The same run is taken once. Two different ones under one id are an error, and then nothing is copied.
    """
    store_merge = answers.store.merge(target, sources)
    emit(store_merge, report.text.store.merge_lines(store_merge), as_json)
    _report_omissions(store_merge.merged.problems)


@command.command(epilog="Example: iosonde store redact results to-share --also zeus")
@click.argument("store")
@click.argument("copy")
@click.option("--also", multiple=True, metavar="WORD", help="Hide this word as well. Repeatable.")
@_JSON
def redact(store: str, copy: str, also: tuple[str, ...], as_json: bool) -> None:
    """Make COPY, a store with the numbers of STORE but without its names and secrets.

    Host names, user names, addresses, secrets and the numbers of machines and jobs become host-1, user-1,
    address-1, secret-1, id-1, the same one everywhere. STORE stays as it is. Prints the words that may be names,
    and the paths and names that stay: look at them before you share the copy, and hide more with --also.
    """
    store_copy = answers.store.redact(store, copy, also)
    emit(store_copy, report.text.store.copy_lines(store_copy), as_json)
    _report_omissions(store_copy.redacted.problems)


@command.command(epilog="Example: iosonde store prune nightly --older-than 400d --keep-last 200")
@click.argument("store")
@click.option("--keep-last", type=click.IntRange(1), metavar="N", help="The newest N experiments stay.")
@click.option("--older-than", type=Duration(), metavar="TIME", help="Only those whose last run is older, as 400d.")
@click.option("--remove", is_flag=True, help="Do it. Without it nothing is done, and what would go is shown.")
@_JSON
def prune(store: str, keep_last: int | None, older_than: float | None, remove: bool, as_json: bool) -> None:
    """Remove old experiments of STORE with their runs; shows them first. What is tagged, noted, or next to a change
    that watch finds stays."""
    pruning = answers.store_prune.prune_store(store, keep_last, older_than, remove)
    emit(pruning, report.text.store.prune_lines(pruning), as_json)


@command.command(epilog="Example: iosonde store index nightly --into postgresql://reader@db/results")
@click.argument("stores", nargs=-1, required=True, metavar="STORE…")
@click.option("--into", metavar="URL", default="", envvar="IOSONDE_INDEX",
              help="postgresql://USER@HOST/DATABASE, or that in IOSONDE_INDEX [default: a file].")  # fmt: skip
@_JSON
def index(stores: tuple[str, ...], into: str, as_json: bool) -> None:
    """Bring the index of runs that serve asks up to date with STORE…, every run looked at. Exit code 1 if a run is
    damaged."""
    index_update = answers.store_index.index_stores(stores, into)
    emit(index_update, report.text.store.index_lines(index_update), as_json)


@command.command(epilog="Example: iosonde store export nightly old/nightly --as parquet -o history.parquet")
@click.argument("stores", nargs=-1, required=True, metavar="STORE…")
@click.option("--as", "form", type=click.Choice(["csv", "json", "parquet"]), default="csv", show_default=True,
              help="A spreadsheet may take a cell like =1+1 for a formula.")  # fmt: skip
@click.option("--incomplete", is_flag=True, help="The results of incomplete runs as well.")
@click.option("-o", "--output", metavar="FILE", type=click.Path(dir_okay=False), help="Where to, instead of stdout.")
def export(stores: tuple[str, ...], form: str, incomplete: bool, output: str | None) -> None:
    """The whole history of STORE… as one table: a row for each result of every run, the oldest first, with the date,
    the commit and the factors of its run. Needs little memory, however many runs there are."""
    with sink(form, output) as file:
        sentences = answers.store_history.write_history(stores, form, file, incomplete)
    for sentence in sentences:
        talk(sentence)


def _report_omissions(problems: Sequence[Finding]) -> None:
    for problem in problems:
        talk(f"left out: {problem.sentence} [{problem.code}]")
