"""Options of ``iosonde show``: which runs, and the form in which they are shown or exported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.commands.stored_run import StoreOptions
from iosonde.core.errors import InputError
from iosonde.core.front_end import get_front_end
from iosonde.core.message import Message, spell
from iosonde.core.option_kinds import Counts, Integer, Setting
from iosonde.core.options import Choice, Flag, NameList, Names, Text
from iosonde.data.options import RowOptions

if TYPE_CHECKING:
    from .answer import ChosenRuns

FORMATS = ("csv", "json", "parquet")
TOOLS = ("ior", "mdtest", "iozone", "fio", "elbencho")


@dataclass(kw_only=True)
class FormOptions:
    """How runs are shown: at most one of export, as, printed, thesis_json and slowest."""

    export: Choice[str | None] = Choice(
        FORMATS, "Write the results. A spreadsheet may take a cell like =1+1 for a formula."
    )
    operations: Flag[bool] = Flag("Export: every recorded operation instead of results.")
    incomplete: Flag[bool] = Flag("Export: the results of incomplete runs as well.")
    as_: Choice[str | None] = Choice(TOOLS, "The runs' numbers by this tool's own definitions, recomputed.")
    output: Text[str | None] = Text("FILE", "Where to, instead of stdout.", short="-o")
    printed: Flag[bool] = Flag("With RUN: what its commands printed, node by node.")
    rank: Counts[tuple[int, ...]] = Counts(
        "RANK", "With `printed`: only this rank. Repeatable.", (), least=0, is_repeatable=True
    )
    profile: Flag[bool] = Flag("What the columns are, which go together, the cells; of a table always.")
    roles: Setting[Mapping[str, str]] = RowOptions.roles
    thesis_json: Flag[bool] = Flag("Totals by node count, which iosonde plot draws as bars.")
    slowest: Integer[int | None] = Integer(
        "[N]", "The operations that took longest, one by one [N: 20].", without_value="20"
    )
    as_json: Flag[bool] = Flag("Stable JSON on stdout.", flag="json")

    def __post_init__(self) -> None:
        """Raise InputError for options that do not combine."""
        if self.profile and self.has_form:
            raise InputError("conflicting-options", "{spell.profile} is a table of its own", "leave out the other form")
        others = self.export or self.as_ or self.printed or self.rank or self.thesis_json
        if self.slowest is not None and others:
            raise InputError(
                "conflicting-options",
                "{spell.slowest} is a list of its own",
                "leave out {spell.export}, {spell.as}, {spell.printed} and {spell.thesis_json}",
            )
        if self.printed or self.rank or self.thesis_json:
            if self.export or self.as_json:
                raise InputError(
                    "conflicting-options",
                    "{spell.printed} and {spell.thesis_json} have one form",
                    "leave out {spell.export} and {spell.json}",
                )
        elif self.export is None:
            self._check_no_export()
        elif self.as_json:
            raise InputError(
                "conflicting-options",
                "{spell.json} and {spell.export} cannot be given together",
                "{spell.export:json} writes the results as JSON",
            )
        elif self.as_ is not None:
            raise InputError(
                "conflicting-options",
                "{spell.as} and {spell.export} cannot be given together",
                "{spell.as} with {spell.json} gives numbers to go on with",
            )

    @property
    def has_form(self) -> bool:
        """Whether an option asks for another form than the list of runs."""
        return bool(self.export or self.as_ or self.printed or self.thesis_json) or self.slowest is not None

    def _check_no_export(self) -> None:
        for name in ("operations", "incomplete", "output"):
            if getattr(self, name):
                raise InputError(
                    "option-requires-option",
                    "{option} needs {spell.export}",
                    "add {spell.export:csv}, json or parquet",
                    option=getattr(spell, name),
                )


def get_table_format(path: str) -> str:
    """Return the format that a table's name ends with. Raises InputError for a name that ends otherwise."""
    form = Path(path).suffix.lower().lstrip(".")
    if form not in FORMATS:
        raise InputError(
            "unknown-file-format",
            "{path} is not the name of a table",
            "end it in .{formats} or .{last_format}",
            path=path,
            formats=", .".join(FORMATS[:-1]),
            last_format=FORMATS[-1],
        )
    return form


@dataclass(kw_only=True)
class RunsOptions(StoreOptions):
    """Runs of a store."""

    experiment: Text[str | None] = Text("ID", "Only the runs of this experiment.")
    where: Names[NameList] = Names(
        "COND", "Only runs for which it holds, as 'fs=nfs'. Repeatable.", (), is_repeatable=True
    )


@dataclass(kw_only=True)
class RunOrRunsOptions(RunsOptions):
    """Runs of a store, or one of them."""

    run: Text[str | None] = Text("RUN", "Only this run: its id, or a beginning of it that no other run has.")


def choose_runs(options: StoreOptions) -> ChosenRuns:
    """Open the store and choose the runs. Raises InputError, DataError."""
    from .answer import open_chosen_runs

    values = vars(options)
    return open_chosen_runs(options.store, values.get("run"), values.get("experiment"), values.get("where") or ())


def choose_sound_runs(options: StoreOptions) -> ChosenRuns:
    """Choose the runs, and warn of what is damaged in the store. Raises InputError, DataError."""
    chosen = choose_runs(options)
    for problem in chosen.problems:
        template = "{sentence} [{finding}]"
        get_front_end().warn(Message("store-problem", template, sentence=problem.sentence, finding=problem.code))
    return chosen
