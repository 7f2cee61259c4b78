"""DATA and the options that every analysis has, gathered into one value: the same names, with the same meaning."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from iosonde.cli.output import talk, tell_reading
from iosonde.core.levels import check_level, warning
from iosonde.core.where import ALSO_INCOMPLETE
from iosonde.data.asked import LAST_DONE, ResponseQuery

if TYPE_CHECKING:
    from iosonde.data.source import Source
    from iosonde.store import Store

Command = Callable[..., Any]

_RESPONSE = "What was measured: columns; of a store operations or metrics; log(Y), Y/nodes. Without it everything."
_ON = "The factors. Without it those that are known."
RANK = "rank"  # the column
_BY = "Within each combination of these columns."


@dataclass(frozen=True)
class DataOptions:
    """What was said on the command line about DATA. Names that hold a comma cannot be given."""

    data: str | None
    response: tuple[str, ...]
    on: tuple[str, ...]
    by: tuple[str, ...]
    where: tuple[str, ...]
    clock: str
    metric: tuple[str, ...]
    experiment: str | None
    level: float
    as_json: bool

    @property
    def query(self) -> ResponseQuery:
        """What the answers take."""
        return ResponseQuery(self.response, self.on, self.clock, self.level, self.metric)

    def open(self, data: str | None = None) -> Source:
        """DATA (or another one) with the conditions applied; a damaged store is said to be. Raises InputError,
        DataError."""
        ranks = RANK in (*self.on, *self.by, *self.response)
        return open_data(str(data or self.data), self.where, self.experiment, ranks)

    def open_last_experiment(self, *cells: str, data: str | None = None, alike: bool = True) -> Source:
        """DATA as ``open`` has it; of a store the last experiment alone, which is said, where several would be one cell
        of ``--on``, ``--by`` and these columns; as ``by_itself``."""
        return select_last_experiment(self.open(data), (*self.on, *self.by, *cells), alike)


def select_last_experiment(source: Source, cells: Sequence[str] = (), alike: bool = True) -> Source:
    """Of a store the last experiment alone where several would be in one cell, which is said; as ``by_itself``."""
    from iosonde.data.source import by_itself

    source, note = by_itself(source, cells, alike)
    if note:
        talk(note)
    return source


def open_data(
    data: str | Store, where: Sequence[str] = (), experiment: str | None = None, ranks: bool = False
) -> Source:
    """DATA (also a store that is open) with the conditions applied; a damaged store is said to be. The single ranks of
    runs of very many are there with ``ranks``, or where a condition is about them. Raises InputError, DataError."""
    from iosonde.data.source import open_data as opened

    if isinstance(data, str):
        tell_reading(Path(data))
    source = opened(data, where, experiment, ranks or any(condition.startswith(RANK) for condition in where))
    for problem in source.problems:
        talk(f"warning: {problem}")
    return source


def data_options(
    response: str | None = _RESPONSE, on: str | None = _ON, by: str | None = None, argument: str = "DATA",
    required: bool = True, clock: bool = True,
) -> Callable[[Command], Command]:  # fmt: skip
    """DATA and its options, handed to the command as ``query``. A help of None, or ``clock=False``, leaves that option
    out, where it has no meaning: a command without factors has no ``--on``, one without rates no ``--clock``."""

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def called(**arguments: Any) -> Any:
            level = check_level(arguments.pop("level"))
            if low := warning(level):
                talk(f"warning: {low}")
            options = DataOptions(
                arguments.pop("data"), _names(arguments.pop("response", None)), _names(arguments.pop("on", None)),
                _names(arguments.pop("by", None)), arguments.pop("where"), arguments.pop("clock", LAST_DONE),
                _names(arguments.pop("metric")), arguments.pop("experiment"), level, arguments.pop("as_json"),
            )  # fmt: skip
            return command(asked=options, **arguments)

        decorated: Command = incomplete_option(called)
        for option in reversed(_options(response, on, by, clock)):
            decorated = option(decorated)
        return click.argument("data", metavar=argument if required else f"[{argument}]", required=required)(decorated)

    return decorate


def split_names(text: str | None) -> list[str]:
    """``a, b`` → ["a", "b"]; a name that holds a comma cannot be given."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def incomplete_option(command: Command) -> Command:
    """``--incomplete``, which is one more condition of ``where``."""

    @functools.wraps(command)
    def called(*args: Any, incomplete: bool, where: tuple[str, ...], **arguments: Any) -> Any:
        return command(*args, where=(*where, ALSO_INCOMPLETE) if incomplete else where, **arguments)

    return click.option(
        "--incomplete", is_flag=True, help="Store: with incomplete runs, which are else left out."
    )(called)  # fmt: skip


def clock_option(command: Command) -> Command:
    """``--clock``, handed to the command as ``clock``."""
    return click.option(
        "--clock", default=LAST_DONE, show_default=True, metavar="CLOCK,…",
        help="Store: until when our engine's rates count: last_done, first_done, sum_of_ranks, overlap, all.",
    )(command)  # fmt: skip


def metric_option(command: Command) -> Command:
    """``--metric``, handed to the command as ``metric``."""
    return click.option(
        "--metric", metavar="NAME,…",
        help="Store: only these metrics (bandwidth, iops, p99, …), or all [default: each tool's headline].",
    )(command)  # fmt: skip


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(split_names(text))


def _options(response: str | None, on: str | None, by: str | None, clock: bool) -> list[Callable[[Command], Command]]:
    column_options = [
        click.option(f"--{name}", metavar=metavar, help=text)
        for name, metavar, text in (("response", "Y,…", response), ("on", "X,…", on), ("by", "X,…", by))
        if text is not None
    ]
    return [
        *column_options,
        click.option("--where", multiple=True, metavar="COND",
                     help="Only rows where it holds, as 'fs=nfs' or 'nodes>=2'. Repeatable."),
        metric_option,
        *([clock_option] if clock else []),
        click.option("--experiment", metavar="ID|last|all", help="Store: only this experiment."),
        click.option("--level", type=float, default=0.95, show_default=True,
                     help="Confidence level of every interval."),
        click.option("--json", "as_json", is_flag=True, help="Stable JSON on stdout."),
    ]  # fmt: skip
