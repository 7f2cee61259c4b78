"""The cells of a response that are bounded: the trials at one setting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from iosonde.core.table import Cell as Level
from iosonde.data.responses import Response


@dataclass(frozen=True)
class BoundCell:
    """The trials at one setting: ``rows`` of the response that have a value."""

    by: dict[str, Level]
    rows: npt.NDArray[np.intp]

    def runs(self, response: Response) -> tuple[str, ...]:
        """The ids of its trials, where they come from a store."""
        columns = response.rows.columns
        return tuple(map(str, columns["run"].values[self.rows])) if "run" in columns else ()


def cells(response: Response, columns: Sequence[str]) -> Iterator[BoundCell]:
    """The settings of a response: its factors, and the ``columns`` that are named as words of the system."""
    has_value = ~np.isnan(response.values)
    by = list(dict.fromkeys([*response.names, *columns]))
    for key, rows in response.rows.groups(by):
        present = np.sort(rows[has_value[rows]])
        if present.size:
            yield BoundCell(dict(zip(by, key, strict=True)), present)
