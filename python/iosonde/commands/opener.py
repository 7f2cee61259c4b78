"""Opening DATA again, with other conditions: pages and their figures are of one experiment, chosen from the store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.data.options import RowOptions

if TYPE_CHECKING:
    from iosonde.data.source import Source


def opener(data: Any) -> Callable[[Any, Sequence[str], str | None], Source]:
    """Return what opens DATA with conditions and an experiment. A path may be given as the Store that is open."""

    def open_again(place: Any, where: Sequence[str], experiment: str | None) -> Source:
        rows = RowOptions(where=where, experiment=experiment)
        return rows.open(place if isinstance(data, (str, Path)) else data)

    return open_again
