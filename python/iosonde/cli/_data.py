"""DATA for the commands that do not take ``DataOptions`` yet: the same Source, under the names that they use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from iosonde.cli.options.data import split_names
from iosonde.cli.output import talk, tell, tell_reading

if TYPE_CHECKING:
    from iosonde.core.table import Table
    from iosonde.data import source as sources
    from iosonde.stats.estimate.percentiles import TrialPercentiles
    from iosonde.stats.overview.cells import Measured
    from iosonde.store import Store

__all__ = ["Source", "check_level", "open_data", "options", "split_names", "tell"]
_F = TypeVar("_F", bound=Callable[..., Any])


def options(command: _F) -> _F:
    """The options that every analysis command has: ``--where``, ``--level``, ``--json``."""
    command = click.option("--json", "as_json", is_flag=True, help="Stable JSON on stdout.")(command)
    command = click.option(
        "--level", type=float, default=0.95, show_default=True, help="Confidence level of every interval."
    )(command)
    return click.option(
        "--where",
        multiple=True,
        metavar="COND",
        help="Only rows where it holds, as 'fs=nfs' or 'nodes>=2'. Repeatable.",
    )(command)


def check_level(level: float) -> float:
    """The confidence level; one below 0.9 is used and warned about on stderr."""
    from iosonde.core import levels

    levels.check_level(level)
    if levels.warning(level):
        talk(levels.warning(level))
    return level


class Source:
    """An opened DATA."""

    def __init__(self, data: sources.Source) -> None:
        self.data = data
        self.table: Table = data.table
        self.store: Store | None = data.store
        self.experiment, self.where = data.experiment, data.where

    def trials(self, response: str | None = None, named: Sequence[str] = ()) -> Table:
        """The rows that are trials. A store's ``value`` must be of one operation and metric, or ``named`` tells them
        apart."""
        from iosonde.data import stored

        rows = self.data.trials().rows
        if self.store is not None and response == "value" and len(rows):
            stored.refuse_many_kinds(rows, [name for name in ("operation", "metric") if name not in named])
        return rows

    def measured(self, clock: str, on: Sequence[str] = ()) -> Measured:
        """The trials of a store as cells."""
        from iosonde.answers.trials import measured
        from iosonde.data.asked import Asked

        return measured(self.data, Asked(clock=clock, on=tuple(on)))

    def factor_units(self) -> dict[str, str]:
        """Factor → base unit, of a store's experiments."""
        return self.data.units() if self.store is not None else {}

    def runs(self) -> list[dict[str, Any]]:
        """The run.json of every run that fulfils the conditions (incomplete ones too), the oldest first."""
        return [dict(run.document) for run in self.data.runs]

    def latencies(self, level: float) -> dict[str, list[TrialPercentiles]]:
        """Percentiles of each complete run's operations by run id."""
        from iosonde.answers.latencies import latencies

        return latencies(self.data, level)

    def taking(self, table: Table) -> Source:
        """The same with other rows."""
        return Source(replace(self.data, table=table))


def open_data(data: str, where: Sequence[str] = (), experiment: str | None = None) -> Source:
    """DATA with the conditions applied. Raises InputError, DataError."""
    from iosonde.data.source import open_data as opened

    tell_reading(Path(data))
    source = opened(data, where, experiment)
    for problem in source.problems:
        talk(f"warning: {problem}")
    return Source(source)
