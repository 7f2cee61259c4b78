"""DATA and the options that every analysis shares: the same names, with the same meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from iosonde.core.errors import InputError
from iosonde.core.front_end import get_front_end
from iosonde.core.levels import build_low_level_warning
from iosonde.core.message import spell
from iosonde.core.option_kinds import Level, Setting
from iosonde.core.options import Data, Flag, NameList, Names, Text
from iosonde.core.where import ALSO_INCOMPLETE, parse_where
from iosonde.foreign.reach import check_reachable

from .query import LAST_DONE, ResponseQuery

if TYPE_CHECKING:
    from .source import Source

RANK = "rank"  # the column
_LARGE_BYTES = 16 * 2**20


@dataclass(kw_only=True)
class LevelOptions:
    """The confidence of what is computed."""

    level: Level[float] = Level("C", "Confidence level of every interval.", 0.95)

    def __post_init__(self) -> None:
        """Warn of a level that is unusually low."""
        if low := build_low_level_warning(self.level):
            get_front_end().warn(low)


@dataclass(kw_only=True)
class RowOptions(LevelOptions):
    """Which rows of DATA, and of a store which experiment."""

    where: Names[NameList] = Names(
        "COND", "Only rows where it holds, as 'fs=nfs' or 'nodes>=2'. Repeatable.", (), is_repeatable=True
    )
    roles: Setting[Mapping[str, str]] = Setting(
        "COL=ROLE,…",
        "What columns are: response, setting, block, covariate, outcome, part, repetition, order, fact or ignore; "
        "'disk+setup=one' joins two, 'run1+run2=repetition' gathers.",
        default={},
        hint="write it as bw=response,rank=part",
    )
    incomplete: Flag[bool] = Flag("Store: with incomplete runs, which are else left out.")
    experiment: Text[str | None] = Text("ID|last|all", "Store: only this experiment.")

    # Whether several DATA are opened: the command then refuses options itself (``refuse_store_options``).
    opens_several: ClassVar[bool] = False
    # Options that mean nothing to a table.
    store_options: ClassVar[tuple[str, ...]] = ("experiment", "metric", "clock")

    @property
    def conditions(self) -> NameList:
        """``where``, with what ``incomplete`` stands for."""
        return (*(self.where or ()), *([ALSO_INCOMPLETE] if self.incomplete else ()))

    def open(self, data: Any, *, ranks: bool = False, question: NameList = ()) -> Source:
        """Open DATA with the conditions applied; warn of a damaged store. With ``ranks`` the single ranks of runs of
        very many are there, too. ``question``: texts that may name its columns. Raises InputError, DataError."""
        from .source import Source, open_data

        if isinstance(data, Source):
            source = data.narrow(parse_where(self.conditions), self.experiment).with_roles(self.roles)
        else:
            if isinstance(data, (str, Path)):
                _announce_reading(Path(data))
            with_ranks = ranks or any(condition.startswith(RANK) for condition in self.conditions)
            source = open_data(data, self.conditions, self.experiment, with_ranks).with_roles(self.roles)
            for finding in source.damage:
                get_front_end().warn(finding.sentence)
        if not self.opens_several:
            self.refuse_store_options(source)
        return source.fold_repeats((*question, *(self.where or ())))

    def refuse_store_options(self, *sources: Source) -> None:
        """Raise InputError for an option of stores if all DATA are tables."""
        if sources and all(source.store is None for source in sources):
            self.refuse_options_for_table(sources[0].name)

    def refuse_options_for_table(self, table: str) -> None:
        """Raise InputError for an option that means nothing to a table."""
        if name := self.find_store_option():
            raise InputError(
                "not-a-store",
                "{option} is for a store, but {name} is a table",
                "omit {option}",
                option=str(getattr(spell, name)),
                name=table,
            )

    def find_store_option(self) -> str:
        """Return the name of a given option that means nothing to a table; '' without one."""
        options = {name: getattr(type(self), name, None) for name in self.store_options}
        return next((name for name, option in options.items() if option and getattr(self, name) != option.default), "")


_DATA = (
    "A store, a table (.csv, .xlsx, .parquet), a tool's outputs or their directory; in Python also a table in memory."
)
# The argument DATA of commands that can do without.
OPTIONAL_DATA: Data = Data("DATA…", _DATA, is_argument=True, is_repeatable=True)


@dataclass(kw_only=True)
class DataOptions(RowOptions):
    """DATA, and what was measured. A command with factors adds ``on``, one with cells ``by``."""

    metric: Names[NameList] = Names(
        "NAME,…",
        "Store: only these metrics (bandwidth, iops, p99, …), or all.",
        (),
        default_text="each tool's headline",
    )
    clock: Text[str] = Text(
        "CLOCK,…",
        "Store: until when our engine's rates count: last_done, first_done, sum_of_ranks, overlap, all.",
        LAST_DONE,
    )
    data: Data = Data("DATA…", _DATA, is_argument=True, is_required=True, is_repeatable=True)
    response: Names[NameList] = Names(
        "Y,…",
        "What was measured: columns; of a store operations or metrics; log(Y), Y/nodes.",
        (),
        default_text="everything",
    )

    @property
    def query(self) -> ResponseQuery:
        """What the answers take."""
        factors = tuple(vars(self).get("on") or ())
        return ResponseQuery(self.response or (), factors, self.clock, self.level, self.metric or ())

    @property
    def grouping_columns(self) -> NameList:
        """The columns that ``on`` and ``by`` name, where the command has them."""
        return tuple(name for option in ("on", "by") for name in vars(self).get(option) or ())

    def open_data(self, data: Any = None) -> Source:
        """Open DATA, or ``data``, with the conditions applied. Raises InputError, DataError."""
        columns = (*self.grouping_columns, *(self.response or ()))
        question = (*columns, *self._list_side_columns())
        return self.open(self.data if data is None else data, ranks=RANK in columns, question=question)

    def _list_side_columns(self) -> NameList:
        """Return the columns of ``group`` and ``pair``, where the command has them."""
        group, pair = vars(self).get("group"), vars(self).get("pair")
        return (*([group] if group else []), *(pair or ()))

    def open_last_experiment(self, *cells: str, data: Any = None, alike: bool = True) -> Source:
        """Open DATA; of a store the last experiment alone where several would be one cell of ``on``, ``by`` and
        ``cells``, which is said; ``alike`` as in ``Source.separate_last``."""
        return select_last_experiment(self.open_data(data), (*self.grouping_columns, *cells), alike)


# The option ``on`` of commands that explain a response.
ON: Names[NameList] = Names("X,…", "The factors.", (), default_text="those that are known")
# Options that mean the same wherever they are.
SHARED = frozenset(("level", "where", "roles", "incomplete", "metric", "experiment", "clock"))


def select_last_experiment(source: Source, cells: NameList = (), alike: bool = True) -> Source:
    """Return the last experiment of a store if several would share a cell, which is said; as
    ``Source.separate_last``."""
    source, remark = source.separate_last(cells, alike)
    if remark:
        get_front_end().remark(remark)
    return source


def _announce_reading(path: Path) -> None:
    """Say that a large file is being read. Raises NoAnswerError."""
    check_reachable(path)
    if path.is_file() and path.stat().st_size >= _LARGE_BYTES:
        get_front_end().note(f"reading {path}, {path.stat().st_size / 2**20:.0f} MiB …")
