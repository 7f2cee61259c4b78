"""``iosonde.open``: DATA, opened once for several questions; and opening it again with other conditions, as pages and
their figures are of one experiment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.commands.command import command
from iosonde.core.options import Data, NameList, Names, Text
from iosonde.data.options import DataOptions, RowOptions

if TYPE_CHECKING:
    from iosonde.data.source import Source


@dataclass
class OpenOptions:
    """What is opened of DATA."""

    data: Data = DataOptions.data
    where: Names[NameList] = RowOptions.where
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
    return RowOptions(where=options.where, experiment=options.experiment).open(options.data, ranks=True)


def build_opener(data: Any) -> Callable[[Any, Sequence[str], str | None], Source]:
    """Return what opens DATA with conditions and an experiment. A path may be given as the Store that is open."""

    def open_again(place: Any, where: Sequence[str], experiment: str | None) -> Source:
        return RowOptions(where=where, experiment=experiment).open(place if isinstance(data, (str, Path)) else data)

    return open_again
