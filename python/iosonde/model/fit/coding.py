"""Factors as the columns that trees and distances read: a number as it is, a text by one column for each level.

A text with two levels has one column (is it the second?). A form names its factors (``factors_to_json``), so that a
prediction needs nothing but the form.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .features import Array, Feature


@dataclass(frozen=True)
class Coded:
    """A column: the number of a factor (``code`` is None), or an indicator of the text level number ``code``."""

    index: int
    code: int | None = None

    def values(self, x: Array) -> Array:
        """The column for rows × features ``x``."""
        here = x[:, self.index]
        return here if self.code is None else (here == self.code).astype(float)


def factors_to_json(features: Sequence[Feature]) -> list[dict[str, Any]]:
    """Describe the factors for a form: names in the order of ``x``, and the levels of text."""
    return [{"name": f.name, **({} if f.numeric else {"levels": list(f.levels)})} for f in features]


def build_coded_columns(factors: Sequence[dict[str, Any]]) -> list[Coded]:
    """Return the columns of the factors in a form."""
    columns = []
    for index, factor in enumerate(factors):
        levels = factor.get("levels")
        if levels is None:
            columns.append(Coded(index))
        elif len(levels) == 2:
            columns.append(Coded(index, 1))
        else:
            columns += [Coded(index, code) for code in range(len(levels))]
    return columns


def expand_to_columns(factors: Sequence[dict[str, Any]], x: Array) -> Array:
    """Rows × columns."""
    return np.column_stack([column.values(x) for column in build_coded_columns(factors)])
