"""The same regression without named rows, shown in addition, never instead (Jain, 1991, 'outliers')."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import InputError
from iosonde.core.table import Table
from iosonde.stats.regression.regress import Regression

INFLUENTIAL = "influential"


@dataclass(frozen=True)
class Without:
    """The ``regression`` of the remaining rows; ``excluded_rows`` names the others as messages do."""

    regression: Regression
    excluded_rows: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form."""
        return {"left_out": list(self.excluded_rows), **self.regression.to_json()}


def select_rows(table: Table, names: Sequence[str], influential: Iterable[int]) -> npt.NDArray[np.intp]:
    """Return the rows of ``table`` that ``names`` select: lines of its file, ids of runs (``Table.row_name``), or the
    word ``influential``, for those rows. Raises InputError for unknown names."""
    selected: set[int] = set()
    word, ids = table.row_word, [table.row_name(row) for row in range(len(table))]
    for name in names:
        mine = list(influential) if name == INFLUENTIAL else [row for row, row_id in enumerate(ids) if row_id == name]
        if not mine:
            raise InputError(
                "unknown-row",
                "{spell.without}: no row is influential (S305)"
                if name == INFLUENTIAL
                else "{spell.without}: unknown {row_word} '{name}'",
                "give {row_word}s as in S305, or 'influential'",
                row_word=word,
                name=name,
            )
        selected |= set(mine)
    if len(selected) == len(ids):
        raise InputError("no-rows-remaining", "{spell.without} removes every row", "keep some")
    return np.array(sorted(selected), dtype=np.intp)
