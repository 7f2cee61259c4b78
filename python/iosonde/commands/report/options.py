"""``iosonde report``: one self-contained HTML page about a store or a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.commands.command import command
from iosonde.commands.opened import build_opener
from iosonde.commands.page_file import Report, write_page
from iosonde.core.option_kinds import Setting
from iosonde.core.options import Data, Flag, NameList, Names, Text
from iosonde.data.options import DataOptions, RowOptions

from .choice import Hardware, build_choice

if TYPE_CHECKING:
    from iosonde.data.source import Source

    from .query import ReportQuery


@dataclass
class ReportOptions(DataOptions):
    """What a page is about."""

    data: Data = DataOptions.data
    output: Text[str] = Text("FILE", "The page; replaced whole.", "iosonde-report.html", short="-o")
    _: KW_ONLY
    response: Names[NameList] = Names("Y,…", "Table: the measured column(s); by default what looks measured.", ())
    on: Names[NameList] = Names(
        "X,…", "What the regressions are on, as 'nodes,log2(size)'; by default what varies.", ()
    )
    by: Names[NameList | None] = Names(
        "X,…", "What makes the cells; of a table by default those of `on`, or what varies."
    )
    bound: Hardware[str | None] = Hardware(
        "NAME=V,…|FILE|STORE",
        "The hardware, as 'servers=4,net=117MB/s' (options of iosonde bound), or a probe.",
    )
    choose: Names[NameList | None] = Names("A,…", "Settings that one may choose: which is best, and what it gains.")
    given: Names[NameList | None] = Names(
        "C,…", "For `choose`: the workload; by default every other setting that varies."
    )
    current: Setting[Mapping[str, str] | None] = Setting(
        "A=V,…", "For `choose`: the setting in use, which the gain is then over."
    )
    store_options = ("experiment", "metric", "clock", "questions")
    questions: Text[str | None] = Text("FILE", "Store: what is asked of it: the key 'questions' of a YAML file.")
    constraints: Names[NameList] = Names(
        "EXPR",
        "What settings fulfil that are offered, as 'stripes <= servers'. Repeatable.",
        (),
        flag="constraint",
        is_repeatable=True,
    )
    experiment: Text[str | None] = Text("ID|all", "Store: this experiment instead of the last.")

    def build_report(self) -> Report:
        """Return the page, which is not written yet. Raises InputError, DataError."""
        from iosonde.answers.row_summaries import represent_trials
        from iosonde.foreign.guarded import detect_path_kind

        from .answer import report

        is_path = isinstance(self.data, (str, Path))
        data = self.data if is_path else RowOptions().open(self.data)
        if not is_path:
            self.refuse_store_options(data)
        elif self.find_store_option() and detect_path_kind(Path(self.data)) == "file":
            self.refuse_options_for_table(str(self.data))
        name, experiment = (str(data), None) if is_path else (data.name, data.experiment)
        query = self.build_query(name, self.experiment or experiment)
        if not is_path and (data.where or not Path(name).exists()):  # no command writes it again
            query = replace(query, again=(), part=data.store)
        opener = build_opener(data, self.roles)

        def open_trials(*place: Any) -> Source:
            return represent_trials(opener(*place), query.cells, query.on)

        return Report(report(query, open_trials), Path(self.output))

    def build_query(self, name: str, experiment: str | None) -> ReportQuery:
        """Return what the answer takes, of DATA with this name. Raises InputError."""
        from iosonde.campaign.asked_of import read_questions

        from .query import ReportQuery

        return ReportQuery(
            data=name,
            response=self.response,
            on=self.on,
            by=self.by,
            bound=self.bound,
            choosing=build_choice(self.choose, self.given, self.current),
            experiment=experiment,
            where=self.conditions,
            roles=self.roles,
            level=self.level,
            clock=self.clock,
            metric=self.metric,
            questions=read_questions(Path(self.questions)) if self.questions else None,
            constraints=self.constraints,
        ).with_command(self.output, self.questions or "")


@dataclass
class ReportFileOptions(ReportOptions):
    """Options of ``iosonde report``."""

    as_json: Flag[bool] = Flag("What the page shows as JSON on stdout; no file is written.", flag="json")


@command("report", ReportFileOptions, "report results -o report.html", in_python=False)
def show_report(options: ReportFileOptions) -> Report:
    """Write one HTML page about DATA: the newest experiment of a store, a table, or a tool's output.

    It answers on its first screen: what was measured, how fast it is, how sure that is, what looks wrong. The
    page is one file that loads nothing: mail it, archive it, print it.
    """
    report = options.build_report()
    return report if options.as_json else _add_page_writer(report)


@command("", ReportOptions, "write_report results report.html")
def write_report(options: ReportOptions) -> Report:
    """Write one self-contained HTML page about DATA: the newest experiment of a store, or a table.

    It is ``iosonde report``.

    Returns
    -------
    Report
        Its text is the first sentence; ``.path`` is the file, ``.to_dict()`` what the page shows.
    """
    return _add_page_writer(options.build_report())


def _add_page_writer(report: Report) -> Report:
    return replace(report, write=lambda: write_page(report.page, str(report.path)))
