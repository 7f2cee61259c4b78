"""``iosonde.open``: DATA, opened once for several questions; and opening it again with other conditions, as pages and
their figures are of one experiment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.commands.command import command
from iosonde.core.option_kinds import Setting
from iosonde.core.options import Data, NameList, Names, Text
from iosonde.data.options import DataOptions, RowOptions

if TYPE_CHECKING:
    from iosonde.data.source import Source


@dataclass
class OpenOptions:
    """What is opened of DATA."""

    data: Data = DataOptions.data
    where: Names[NameList] = RowOptions.where
    roles: Setting[Mapping[str, str]] = RowOptions.roles
    experiment: Text[str | None] = RowOptions.experiment


@command("", OpenOptions)
def open(options: OpenOptions) -> Source:  # noqa: A001
    """Open DATA once, for several questions.

    Returns
    -------
    Source
        Rows, and of a store its runs and experiments. A damaged store is an ``IosondeWarning``.

    Raises
    ------
    InputError, DataError
        With what is wrong, and where.

    Examples
    --------
    >>> data = iosonde.open("results", where="fs=nfs")
    """
    return open_source(options)


def open_source(options: OpenOptions) -> Source:
    """Open DATA with its conditions and roles. Raises InputError, DataError."""
    row_options = RowOptions(where=options.where, roles=options.roles, experiment=options.experiment)
    return row_options.open(options.data, ranks=True)


def build_opener(
    data: Any, roles: Mapping[str, str] | None = None
) -> Callable[[Any, Sequence[str], str | None], Source]:
    """Return what opens DATA with conditions, an experiment, and ``roles``. A path may be given as the Store that is
    open."""

    def open_again(place: Any, where: Sequence[str], experiment: str | None) -> Source:
        row_options = RowOptions(where=where, roles=roles or {}, experiment=experiment)
        return row_options.open(place if isinstance(data, (str, Path)) else data)

    return open_again
