"""S207: units mixed up

What it says
    Some values are larger than they can be, or 1000 or 1024 times (or a
    million times) their neighbours': KB among MB, ms among s.

How we know
    Values above the bound given with --limit. Inside a cell: trials 1000,
    1024, 10⁶ or 2²⁰ times the cell's median, within 10 %. Between the levels
    of a factor that is text: the median ratio of matching cells is such a
    factor, within 40 %.

When it is wrong
    When a factor's effect happens to be a thousandfold.

What to do
    Look at the unit that the source prints. Correct the rows, and write the
    unit into the column's name.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from iosonde.core.types import Finding, Severity

from ..cells import TrialCell
from . import SHOWN, Subject, families

CODE = "S207"
FACTORS = (1000, 1024, 10**6, 2**20)
WITHIN = 0.1
WITHIN_LEVELS = 0.4


def check(subject: Subject) -> list[Finding]:
    """Values beyond the bound, and ratios that are unit factors."""
    found = []
    for (operation, metric), cells in families(subject).items():
        said, evidence = [], []
        for cell in cells:
            middle = float(np.median(cell.values))
            for place, value in enumerate(cell.values):
                where = cell.places[place] if place < len(cell.places) else f"trial {place + 1}"
                if subject.limit is not None and value > subject.limit:
                    evidence.append({"cell": cell.name, "trial": where, "value": float(value)})
                    said.append(f"{value:g} is above the bound of {subject.limit:g} ({where})")
                elif cell.values.size > 2 and (factor := unit_factor(value, middle)):
                    evidence.append({"cell": cell.name, "trial": where, "value": float(value), "factor": factor})
                    said.append(f"{value:g} is {factor} times the median of {cell.name} ({where})")
        for name, one, other, factor in _levels(cells):
            evidence.append({"factor": name, "levels": [one, other], "ratio": factor})
            said.append(f"{name}={one} is {factor} times {name}={other}")
        if said:
            more = f", and {len(said) - 1} more" if len(said) > 1 else ""
            found.append(
                Finding(
                    CODE,
                    Severity.ERROR,
                    f"{operation or metric}: {said[0]}{more}: a unit mixed up?",
                    {"operation": operation, "metric": metric, "rows": evidence[:SHOWN], "n": len(said)},
                    "look at the unit that the source prints",
                )
            )
    return found


def unit_factor(value: float, middle: float, within: float = WITHIN) -> str:
    """``1000``, ``1/1024`` … if value ÷ middle is about such a factor, else empty."""
    if value <= 0 or middle <= 0:
        return ""
    ratio = value / middle
    candidates = [(f"{factor}", float(factor)) for factor in FACTORS] + [
        (f"1/{factor}", 1 / factor) for factor in FACTORS
    ]
    name, exact = min(candidates, key=lambda candidate: abs(math.log(ratio / candidate[1])))
    return name if abs(math.log(ratio / exact)) <= math.log1p(within) else ""


def _levels(cells: Sequence[TrialCell]) -> Iterator[tuple[str, Any, Any, str]]:
    """Pairs of levels of a text factor whose matching cells differ by a unit's factor."""
    for factor in cells[0].by:
        by_level: dict[Any, dict[tuple[Any, ...], float]] = {}
        for cell in cells:
            if isinstance(cell.by[factor], str):
                others = tuple(level for name, level in cell.by.items() if name != factor)
                by_level.setdefault(cell.by[factor], {})[others] = float(np.median(cell.values))
        for one, other in combinations(by_level, 2):
            both = [key for key in by_level[one] if key in by_level[other] and by_level[other][key] > 0]
            ratios = [by_level[one][key] / by_level[other][key] for key in both]
            name = unit_factor(float(np.median(ratios)), 1.0, WITHIN_LEVELS) if ratios else ""
            if name:
                yield factor, one, other, name
