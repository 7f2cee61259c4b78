"""S123: missing or unbalanced cells

What it says
    Some combinations of the settings were not measured, some values are
    missing, or some cells have far fewer trials than others. Means over such a
    table compare different mixtures, and effects of settings run into each
    other.

How we know
    The settings' levels are multiplied out. Where at least half of all
    combinations are there, the table is taken for a full grid with holes, and
    the holes are named. Where fewer are there it was not meant to be one; this
    is told as information only. Trials are called unbalanced where a cell has
    at most half as many as another.

When it is wrong
    When a combination is impossible (more servers than nodes), or the design
    is a fraction on purpose.

What to do
    Measure the missing cells (the same iosonde run command goes on where it
    ended), or compare only cells that both sides have. An analysis of variance
    needs to be told which sums of squares to use then.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

from iosonde.core.table import Cell as Level
from iosonde.core.table import Table, show
from iosonde.core.types import Finding, Severity

from ..overview.cells import TrialCell, missing_values
from . import SHOWN, Subject, families, some

CODE = "S123"
_MOST_CELLS = 100_000
_GRID_SHARE = 0.5
_COUNTABLE = 10**15  # more combinations are told by their power of ten
Key = tuple[tuple[str, Level], ...]
Sizes = dict[Key, int]
ACTION = "measure them, or compare only what both sides have"


def check(subject: Subject) -> list[Finding]:
    """Values that are missing, cells that are, cells with few trials."""
    found = [] if subject.table is None or subject.runs else _values(subject.table, subject.cells)
    for (operation, metric), cells in families(subject).items():
        sizes = _sizes(cells, subject.observed)
        found += _holes(operation or metric, sizes) + _unbalanced(operation or metric, sizes)
    return _said_once(found)


def _sizes(cells: Sequence[TrialCell], observed: Sequence[str]) -> Sizes:
    """Trials at each combination of the settings that were set."""
    sizes: Sizes = {}
    for cell in cells:
        key = tuple((name, level) for name, level in cell.by.items() if name not in observed)
        sizes[key] = sizes.get(key, 0) + cell.values.size
    return sizes


def _values(table: Table, cells: Sequence[TrialCell]) -> list[Finding]:
    found = []
    for name in dict.fromkeys(cell.metric for cell in cells):
        absent = missing_values(table, name)
        if absent:
            more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
            found.append(Finding(
                CODE, Severity.WARNING,
                f"column '{name}' lacks {len(absent)} of {len(table)} values: {absent[0]}{more}",
                {"column": name, "n_missing": len(absent), "places": absent[:SHOWN]}, ACTION))  # fmt: skip
    return found


def _holes(name: str, sizes: Sizes) -> list[Finding]:
    levels: dict[str, dict[Any, None]] = {}
    for key in sizes:
        for setting, level in key:
            levels.setdefault(setting, {})[level] = None
    whole = math.prod(len(found) for found in levels.values())
    there = {tuple(level for _, level in key) for key, size in sizes.items() if size}
    if len(levels) < 2 or len(there) >= whole:
        return []
    counted = whole if whole <= _COUNTABLE else None
    evidence: dict[str, Any] = {"metric": name, "n_cells": len(there), "n_combinations": counted}
    if whole > _MOST_CELLS or len(there) < _GRID_SHARE * whole:
        of = whole if counted else f"about 10^{round(sum(math.log10(len(found)) for found in levels.values()))}"
        return [Finding(CODE, Severity.INFO, f"the settings of {name} are not a full grid: {len(there)} of {of} "
                        "combinations were measured", evidence, "do not average over settings")]  # fmt: skip
    holes = [key for key in product(*levels.values()) if key not in there]
    names = [_name(tuple(zip(levels, key, strict=True))) for key in holes]
    evidence["missing"] = names[:SHOWN]
    sentence = f"{len(holes)} of {whole} cells of {name} are missing: {some(names)}"
    return [Finding(CODE, Severity.WARNING, sentence, evidence, ACTION)]


def _unbalanced(name: str, of_keys: Sizes) -> list[Finding]:
    sizes = {key: size for key, size in of_keys.items() if size}
    if not sizes or 2 * min(sizes.values()) > max(sizes.values()):
        return []
    least, largest = min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)
    fewest, most = _name(least), _name(largest)
    return [Finding(
        CODE, Severity.WARNING,
        f"cells of {name} are unbalanced: {sizes[least]} trials in {fewest}, {sizes[largest]} in {most}",
        {"metric": name, "fewest": {fewest: sizes[least]}, "most": {most: sizes[largest]}},
        "measure more trials of the small cells")]  # fmt: skip


def _name(key: Key) -> str:
    return ", ".join(f"{setting}={show(level)}" for setting, level in key) or "the only cell"


def _said_once(found: Sequence[Finding]) -> list[Finding]:
    """A hole that all metrics of a store share is one finding, and says so."""
    first: dict[str, Finding] = {}
    metrics: dict[str, list[str]] = {}
    for finding in found:
        name = str(finding.evidence.get("metric", ""))
        key = finding.sentence.replace(name, "…") if name else finding.sentence
        first.setdefault(key, finding)
        metrics.setdefault(key, []).append(name)
    return [
        finding if len(metrics[key]) == 1 else
        Finding(CODE, finding.severity, finding.sentence.replace(metrics[key][0], f"{len(metrics[key])} metrics", 1),
                finding.evidence | {"metrics": metrics[key][:SHOWN]}, finding.action)
        for key, finding in first.items()
    ]  # fmt: skip
