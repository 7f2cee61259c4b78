"""``iosonde store``: check, tag, annotate, merge, redact and prune stores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from iosonde.commands.command import command
from iosonde.commands.declaration import CommandGroup
from iosonde.commands.result import Result
from iosonde.commands.stored_run import StoredRunOptions, StoreOptions
from iosonde.core.front_end import get_front_end
from iosonde.core.option_kinds import Duration, Integer, Paths
from iosonde.core.options import Choice, Flag, NameList, Names, Text

from .answer import build_check_error, report_omissions

if TYPE_CHECKING:
    from .answer import StoreCheck, StoreCopy, StoreMerge, StoresIndexed
    from .factors import StoreFactors
    from .prune import StorePruning

GROUP = CommandGroup(
    "Look after stores: check one, tag and annotate its runs, merge several, make a copy to give away, remove what is "
    "old.",
    "store check results",
)


@command("store check", StoreOptions, "store check results")
def check_store(options: StoreOptions) -> Result[StoreCheck]:
    """Read every file of STORE: which runs are damaged or incomplete? Exit code 1 if one is.

    Returns
    -------
    Result[StoreCheck]
        One row a problem; ``.answer.serious`` are damage and files that are not the store's, ``.answer.incomplete``
        the runs that lack something.
    """
    from .answer import check
    from .text import check_lines

    store_check = check(options.store)
    return Result(store_check, check_lines, error=build_check_error(options.store, store_check))


@dataclass
class TagOptions(StoredRunOptions):
    """Options of ``iosonde store tag``."""

    add: Names[NameList] = Names("[TAGS]...", "Tags to give.", (), is_argument=True, is_repeatable=True)
    remove: Names[NameList] = Names("TAG", "Take this tag away. Repeatable.", (), is_repeatable=True)

    def change_tags(self) -> tuple[str, list[str]]:
        """Return the run's id and the tags that it has afterwards. Raises InputError, DataError."""
        from .answer import change_tags

        return change_tags(self.store, self.run, self.add or (), self.remove or ())


@command("", TagOptions, "tag_run results run-0001 baseline --remove odd")
def tag_run(options: TagOptions) -> list[str]:
    """Give a run tags, and take some away; ``where="tags=TAG"`` then selects it. It is ``iosonde store tag``.

    Returns
    -------
    list of str
        The tags that it has now.
    """
    return options.change_tags()[1]


@command("store tag", TagOptions, "store tag results run-0001 baseline --remove odd", in_python=False)
def show_changed_tags(options: TagOptions) -> str:
    """Give RUN tags; --where 'tags=TAG' then selects it. Prints the tags it has."""
    from iosonde.layout.text import escape

    run_id, tags = options.change_tags()
    return escape(f"{run_id}: {' '.join(tags) or 'no tags'}")


@dataclass
class NoteOptions(StoredRunOptions):
    """Options of ``iosonde store note``."""

    text: Text[str] = Text("TEXT", "The note.", is_argument=True, is_required=True)


@command("store note", NoteOptions, "store note results run-0001 'a switch failed at 10:12'")
def note_run(options: NoteOptions) -> None:
    """Write TEXT as a note to RUN, with the time of now. The run itself never changes.

    Returns
    -------
    None
    """
    from .answer import add_note

    add_note(options.store, options.run, options.text)


@dataclass
class MergeOptions:
    """Options of ``iosonde store merge``."""

    target: Text[str] = Text("TARGET", "The store to copy into.", is_argument=True, is_required=True)
    sources: Paths[NameList] = Paths(
        "SOURCES...", "The stores to copy from.", is_argument=True, is_required=True, is_repeatable=True
    )


@command("store merge", MergeOptions, "store merge all monday tuesday")
def merge_stores(options: MergeOptions) -> Result[StoreMerge]:
    """Copy the runs and experiments of SOURCES into the store TARGET, created if it does not exist.

    The same run is taken once. Two different ones under one id are an error, and then nothing is copied.

    Returns
    -------
    Result[StoreMerge]
        One row. What was damaged and left out is an ``IosondeWarning``.

    Raises
    ------
    InputError
        Two different runs have one id. Nothing was copied.
    """
    from .answer import merge
    from .text import merge_lines

    store_merge = merge(options.target, options.sources)
    report_omissions(store_merge.merged.problems)
    return Result(store_merge, merge_lines)


@dataclass
class RedactOptions(StoreOptions):
    """Options of ``iosonde store redact``."""

    copy: Text[str] = Text("COPY", "The store to create.", is_argument=True, is_required=True)
    also: Names[NameList] = Names("WORD", "Hide this word as well. Repeatable.", (), is_repeatable=True)


@command("store redact", RedactOptions, "store redact results to-share --also zeus")
def redact_store(options: RedactOptions) -> Result[StoreCopy]:
    """Make COPY, a store with the numbers of STORE but without its names and secrets.

    Host names, user names, addresses, secrets and the numbers of machines and jobs become host-1, user-1,
    address-1, secret-1, id-1, the same one everywhere. STORE stays as it is. The words that may be names are shown,
    and the paths and names that stay: look at them before you share the copy, and hide more with `also`.

    Returns
    -------
    Result[StoreCopy]
        One row a kind of name. What was damaged and left out is an ``IosondeWarning``.
    """
    from .answer import redact
    from .text import copy_lines

    store_copy = redact(options.store, options.copy, options.also or ())
    report_omissions(store_copy.redacted.problems)
    return Result(store_copy, copy_lines)


@dataclass
class PruneOptions(StoreOptions):
    """Options of ``iosonde store prune``."""

    keep_last: Integer[int | None] = Integer("N", "The newest N experiments stay.", least=1)
    older_than: Duration[float | None] = Duration("TIME", "Only those whose last run is older, as 400d.")
    remove: Flag[bool] = Flag("Do it. Without it nothing is done, and what would go is shown.")


@command("store prune", PruneOptions, "store prune nightly --older-than 400d --keep-last 200")
def prune_store(options: PruneOptions) -> Result[StorePruning]:
    """Remove old experiments of STORE with their runs; shows them first.

    What is tagged, noted, or next to a change that watch detects stays.

    Returns
    -------
    Result[StorePruning]
        One row an experiment that goes, or is old and stays.
    """
    from .prune import prune_store as prune
    from .text import prune_lines

    return Result(prune(options.store, options.keep_last, options.older_than, options.remove), prune_lines)


@dataclass
class FactorsOptions(StoreOptions):
    """Options of ``iosonde store factors``."""

    names: Names[NameList] = Names(
        "[PART=NAME|FACTOR:LEVEL=LEVEL]...",
        "Make this part of the paths, or this added factor, the factor NAME; or rename a level, which merges it with "
        "one of that name.",
        (),
        is_argument=True,
        is_repeatable=True,
    )
    drop: Names[NameList] = Names(
        "NAME",
        "Take away an added factor, or leave out a part of the paths. Repeatable.",
        (),
        is_repeatable=True,
    )


@command("store factors", FactorsOptions, "store factors results dir1=system --drop name")
def change_factors(options: FactorsOptions) -> Result[StoreFactors]:
    """Show, name and drop the factors that imported runs received from the paths of their files.

    A part of the paths that differs between files of one setting is a factor by itself, such as dir1. Naming it keeps
    it, also for later imports; a name that exists receives the levels that it lacks. A level that is renamed stays so
    for later imports. Runs themselves never change.

    Returns
    -------
    Result[StoreFactors]
        One row a factor.
    """
    from .factors import change_factors as change
    from .text import factor_lines

    factors = change(options.store, options.names or (), options.drop or ())
    return Result(factors, factor_lines)


@dataclass
class StoresOptions:
    """The stores that a command is about."""

    stores: Paths[NameList] = Paths("STORE…", "The stores.", is_argument=True, is_required=True, is_repeatable=True)


@dataclass
class IndexOptions(StoresOptions):
    """Options of ``iosonde store index``."""

    into: Text[str] = Text(
        "URL",
        "postgresql://USER@HOST/DATABASE, or that in IOSONDE_INDEX.",
        "",
        variable="IOSONDE_INDEX",
        default_text="a file",
    )


@command("store index", IndexOptions, "store index nightly --into postgresql://reader@db/results", in_python=False)
def index_stores(options: IndexOptions) -> Result[StoresIndexed]:
    """Bring the index of runs that serve asks up to date with STORE…, every run looked at.

    Exit code 1 if a run is damaged.
    """
    from .answer import index_stores as index
    from .text import index_lines

    return Result(index(options.stores, options.into), index_lines)


@dataclass
class ExportOptions(StoresOptions):
    """Options of ``iosonde store export``."""

    form: Choice[str] = Choice(
        ("csv", "json", "parquet"), "A spreadsheet may take a cell like =1+1 for a formula.", "csv", flag="as"
    )
    incomplete: Flag[bool] = Flag("The results of incomplete runs as well.")
    output: Text[str | None] = Text("FILE", "Where to, instead of stdout.", short="-o")


@command(
    "store export",
    ExportOptions,
    "store export nightly old/nightly --as parquet -o history.parquet",
    in_python=False,
)
def export_history(options: ExportOptions) -> None:
    """Write the whole history of STORE… as one table, the oldest run first.

    A row for each result of every run, with the date, the commit and the factors of its run. Needs little memory,
    however many runs there are.
    """
    from .answer import write_history

    with get_front_end().open_output(options.form, options.output) as file:
        sentences = write_history(options.stores, options.form, file, options.incomplete)
    for sentence in sentences:
        get_front_end().remark(sentence)
