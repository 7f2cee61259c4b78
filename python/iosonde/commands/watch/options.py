"""``iosonde watch``: what changed over a history, and is it a regression?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.commands.command import command
from iosonde.commands.files import announce_analysis
from iosonde.commands.result import Result
from iosonde.core.errors import InputError
from iosonde.core.front_end import get_front_end
from iosonde.core.option_kinds import Integer, Share
from iosonde.core.options import Data, Flag, NameList, Names, Text
from iosonde.data.options import DataOptions

if TYPE_CHECKING:
    from iosonde.changes.find import Search
    from iosonde.data.source import Source
    from iosonde.store.decisions import ChangeDecision

    from .answer import Watch
    from .gate import ForgeReport


@dataclass
class WatchOptions(DataOptions):
    """Options of ``iosonde watch``."""

    data: Data = DataOptions.data
    response: Names[NameList] = DataOptions.response
    _: KW_ONLY
    least: Share[float] = Share("SHARE", "The smallest change that counts.", "3%")
    min_segment: Integer[int] = Integer("N", "Points on either side of a change.", 5, least=3, most=1000)
    newest: Integer[int] = Integer("N", "Changes among so many last points are new.", 14, least=5, most=10_000)
    since: Text[str | None] = Text("DATE|RUN|COMMIT", "Changes from here on are new.")
    false_alarms: Share[float] = Share("SHARE", "The most false alarms of all series and looks together.", "5%")
    looks: Integer[int] = Integer("N", "How many looks share the false alarms.", 365, least=1)
    change: Text[str | None] = Text("CHANGE", "Show the change with this id: both sides, and what it may be due to.")
    bisect: Flag[bool] = Flag("Print how Git finds the commit of that change, or of the largest regression.")
    accept: Names[NameList] = Names(
        "CHANGE", "Accept the change with this id: it does not fail any more. Repeatable.", (), is_repeatable=True
    )
    baseline: Text[str | None] = Text("DATE|RUN|COMMIT", "Accept all changes until then: a new baseline.")
    because: Text[str | None] = Text("REASON", "Why it is accepted, or a baseline.")
    strict: Flag[bool] = Flag("Exit code 1 also if it is inconclusive.")
    markdown: Flag[bool] = Flag("Markdown, for the summary of a forge.")
    junit: Text[str | None] = Text("FILE", "Write JUnit XML, a test case for each series.")
    on_change: Text[str | None] = Text("COMMAND", "Run it once for each regression that opened or closed.")
    by: Text[str | None] = Text("NAME", "Who decides.", default_text="you")

    def locate_decisions(self) -> Path | None:
        """Return where decisions about DATA are; None for a table in memory, or a pipe."""
        from iosonde.data.source import is_list_of_files
        from iosonde.data.tables import is_pipe
        from iosonde.store import Store
        from iosonde.store.decisions import locate_decisions

        first = self.data[0] if is_list_of_files(self.data) else self.data
        first = first.path if isinstance(first, Store) else first
        return locate_decisions(first) if isinstance(first, (str, Path)) and not is_pipe(str(first)) else None

    def decide(self, history: Watch) -> tuple[ChangeDecision, ...]:
        """Write what ``accept`` and ``baseline`` decide about a history; return these decisions. Raises InputError,
        SystemFaultError."""
        from iosonde.store.decisions import write_decision

        from .deciding import accept_change, find_change, set_baseline

        if not self.accept and self.baseline is None:
            return ()
        directory, because = self.locate_decisions(), (self.because or "").strip()
        if not because:
            raise InputError(
                "missing-reason",
                "a decision needs a reason",
                "write why: {spell.because:'compression is worth 5 %'}",
            )
        if directory is None:
            raise _build_place_error()
        decisions = [accept_change(find_change(history.changes, name), because, self.by) for name in self.accept or ()]
        if self.baseline is not None:
            runs = [run for series in history.series for run in series.runs]
            decisions.append(set_baseline(runs, self.baseline, because, self.by))
        for decision in decisions:
            get_front_end().remark(f"recorded in {write_decision(directory, decision)}")
        return tuple(decisions)

    def build_writer(self, history: Watch, report: ForgeReport | None = None) -> Callable[[], None]:
        """Return what writes the files that were asked for, then runs the user's command for what opened or closed.
        Raises InputError if there is no place to keep what was announced."""
        from iosonde.commands.junit_file import write_junit

        from .announcing import announce_changes, locate_announced
        from .text_forge import build_name_speller

        directory = self.locate_decisions()
        if self.on_change and directory is None:
            raise _build_place_error()

        def write() -> None:
            if self.junit is not None and report is not None:
                write_junit(self.junit, report.suite, build_name_speller(report))
            if self.on_change and directory is not None:
                announce_changes(history, self.on_change, locate_announced(directory))

        return write

    def open_history(self) -> Source:
        """Open DATA as one history, also several stores or a directory of them. Raises InputError, DataError."""
        from iosonde.data.source import is_list_of_files
        from iosonde.ingest.temporary_stores import join_stores

        names = self.data if is_list_of_files(self.data) else [self.data]
        joined = join_stores([str(name) for name in names]) if isinstance(names[0], (str, Path)) else None
        return self.open_data() if joined is None else replace(self.open_data(joined[0]), name=joined[1])

    @property
    def search(self) -> Search:
        """What counts as a change. Raises InputError."""
        from .answer import build_search

        return build_search(self.least, self.min_segment, self.newest, self.false_alarms, self.looks)


def _build_place_error() -> InputError:
    return InputError(
        "no-place-for-decisions",
        "decisions are kept next to DATA, but these come from memory or a pipe",
        "write DATA to a file, or a store",
    )


@command("watch", WatchOptions, "watch nightly --since 2026-11-01")
def watch(options: WatchOptions) -> Result[Watch]:
    """Find changes over the history in DATA: when, by how much, and with which commit or change of the system.

    DATA: a store, several or a directory of them, a table with dates, outputs of tools. A series is one metric of one
    operation at one setting, in the order of time. Autocorrelation is respected, and false alarms are counted over all
    series and over a year of daily looks. Exit code 1: a change for the worse is new, or its level is not back; with
    `strict` also an inconclusive history. `accept` and `baseline` record who decided otherwise, and why.

    Returns
    -------
    Result[Watch]
        One row a change; ``.answer.problem`` is whether there is a new one for the worse.

    Examples
    --------
    >>> iosonde.watch("nightly", since="2026-11-01").to_frame()
    """
    from iosonde.store.decisions import read_decisions

    from .answer import watch as answer
    from .deciding import apply_decisions, find_change, find_largest
    from .gate import build_forge_report
    from .text import change_lines, lines
    from .text_bisect import bisect_lines
    from .text_forge import format_markdown

    search = options.search
    source = options.open_history()
    announce_analysis("changes", len(source.table), len(source.table.columns))
    directory = options.locate_decisions()
    decisions = read_decisions(directory) if directory else ()
    history = answer(source, options.query, search, options.since, decisions)
    if new := options.decide(history):
        decisions = (*decisions, *new)
        history = replace(history, changes=apply_decisions(history.changes, decisions), decisions=decisions)
    history = replace(history, strict=options.strict)
    if options.change is not None or options.bisect:
        change = find_change(history.changes, options.change) if options.change else find_largest(history.changes)
        text = list(bisect_lines(change) if options.bisect else change_lines(change))
        return Result(history, lambda _: text, write=options.build_writer(history))
    report = build_forge_report(history)
    write = options.build_writer(history, report)
    return Result(history, (lambda _: format_markdown(report)) if options.markdown else lines, write=write)
