"""S123: missing or unbalanced cells

What it says
    Some combinations of the settings were not measured, some values are
    missing, or some cells have far fewer trials than others. Means over such a
    table compare different mixtures, and effects of settings run into each
    other.

How we know
    All combinations of the settings' levels are listed. If at least half of
    them were measured, the table is taken for a full grid, and the missing
    cells are named. With fewer it was not meant as a grid; this is information
    only. Cells are unbalanced if one has at most half as many trials as
    another.

When it is wrong
    When a combination is impossible (more servers than nodes), or the design
    is a fraction on purpose.

What to do
    Measure the missing cells (the same iosonde run command continues where it
    ended), or compare only cells that both sides have. In an analysis of
    variance, choose the type of sums of squares.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from iosonde.core.level_text import format_setting
from iosonde.core.table import Cell as Level
from iosonde.core.table import Table
from iosonde.core.types import Finding, Severity

from ..overview.cells import TrialCell, find_shared_grid, list_missing_values
from . import MAX_LISTED, Subject, format_some_names

_MOST_CELLS = 100_000
_GRID_SHARE = 0.5
_COUNTABLE = 10**15  # more combinations are reported as a power of ten
Key = tuple[tuple[str, Level], ...]
Units = Mapping[str, str]
Sizes = dict[Key, int]
ACTION = "measure them, or compare only cells that both sides have"


def check(subject: Subject) -> list[Finding]:
    """Report missing values, missing cells, and cells with few trials."""
    findings = (
        [] if subject.table is None or subject.runs else list(_report_missing_values(subject.table, subject.cells))
    )
    for (operation, metric), cells in subject.families.items():
        name = subject.name(operation, metric)
        levels = None if subject.observed else _count_levels(cells)
        # Avoids a pass over possibly a million cells.
        decidable = levels and (_is_sparse(len(cells), levels) or len(cells) == math.prod(levels))
        if levels and decidable and _is_balanced([cell.values.size for cell in cells]):
            findings += [_report_sparse_grid(name, len(cells), levels)] if _is_sparse(len(cells), levels) else []
            continue
        sizes = _count_trials(cells, subject.observed)
        findings += _report_missing_cells(name, sizes, cells[0].units) + _report_unbalanced(name, sizes, cells[0].units)
    return _merge_duplicates(findings)


def _count_levels(cells: Sequence[TrialCell]) -> list[int] | None:
    """Count the levels of each setting in these cells, which all hold a trial; None if this is slow to determine."""
    grid_rows = find_shared_grid(cells)
    if grid_rows is None or not all(cell.values.size for cell in cells):
        return None
    grid, rows = grid_rows
    return [int(np.count_nonzero(np.bincount(codes[rows]))) for codes, _ in grid.columns.values()]


def _is_sparse(n_there: int, levels: Sequence[int]) -> bool:
    """Return whether too few combinations were measured for a grid, or there are too many to list."""
    n_combinations = math.prod(levels)
    return (
        len(levels) > 1
        and n_there < n_combinations
        and (n_combinations > _MOST_CELLS or n_there < _GRID_SHARE * n_combinations)
    )


def _is_balanced(sizes: Collection[int]) -> bool:
    return not sizes or 2 * min(sizes) > max(sizes)


def _count_trials(cells: Sequence[TrialCell], observed: Sequence[str]) -> Sizes:
    sizes: Sizes = {}
    for cell in cells:
        key = tuple((name, level) for name, level in cell.by.items() if name not in observed)
        sizes[key] = sizes.get(key, 0) + cell.values.size
    return sizes


def _report_missing_values(table: Table, cells: Sequence[TrialCell]) -> Iterator[Finding]:
    for name in dict.fromkeys(cell.metric for cell in cells):
        absent = list_missing_values(table, name)
        if absent:
            more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
            yield Finding(
                "S123",
                Severity.WARNING,
                f"column '{name}' lacks {len(absent)} of {len(table)} values: {absent[0]}{more}",
                {"column": name, "n_missing": len(absent), "places": absent[:MAX_LISTED]},
                ACTION,
            )


def _report_missing_cells(name: str, sizes: Sizes, units: Units) -> list[Finding]:
    levels: dict[str, dict[Any, None]] = {}
    for key in sizes:
        for setting, level in key:
            levels.setdefault(setting, {})[level] = None
    counts = [len(values) for values in levels.values()]
    n_combinations = math.prod(counts)
    there = {tuple(level for _, level in key) for key, size in sizes.items() if size}
    if len(levels) < 2 or len(there) >= n_combinations:
        return []
    if _is_sparse(len(there), counts):
        return [_report_sparse_grid(name, len(there), counts)]
    evidence: dict[str, Any] = {"metric": name, "n_cells": len(there), "n_combinations": n_combinations}
    holes = [key for key in product(*levels.values()) if key not in there]
    names = [_format_cell_name(tuple(zip(levels, key, strict=True)), units) for key in holes]
    evidence["missing"] = names[:MAX_LISTED]
    return [
        Finding(
            "S123",
            Severity.WARNING,
            f"{len(holes)} of {n_combinations} cells of {name} are missing: {format_some_names(names)}",
            evidence,
            ACTION,
        )
    ]


def _report_sparse_grid(name: str, n_there: int, levels: Sequence[int]) -> Finding:
    n_combinations = math.prod(levels)
    counted = n_combinations if n_combinations <= _COUNTABLE else None
    of = n_combinations if counted else f"about 10^{round(sum(map(math.log10, levels)))}"
    return Finding(
        "S123",
        Severity.INFO,
        f"the settings of {name} are not a full grid: {n_there} of {of} combinations were measured",
        {"metric": name, "n_cells": n_there, "n_combinations": counted},
        "do not average over settings",
    )


def _report_unbalanced(name: str, sizes_by_key: Sizes, units: Units) -> list[Finding]:
    sizes = {key: size for key, size in sizes_by_key.items() if size}
    if _is_balanced(sizes.values()):
        return []
    least, largest = min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)
    fewest, most = _format_cell_name(least, units), _format_cell_name(largest, units)
    return [
        Finding(
            "S123",
            Severity.WARNING,
            f"cells of {name} are unbalanced: {sizes[least]} trials in {fewest}, {sizes[largest]} in {most}",
            {"metric": name, "fewest": {fewest: sizes[least]}, "most": {most: sizes[largest]}},
            "measure more trials of the small cells",
        )
    ]


def _format_cell_name(key: Key, units: Units) -> str:
    return format_setting(dict(key), units) or "the only cell"


def _merge_duplicates(findings: Sequence[Finding]) -> list[Finding]:
    """Merge findings on missing cells that all metrics of a store share."""
    first: dict[str, Finding] = {}
    metrics: dict[str, list[str]] = {}
    for finding in findings:
        name = str(finding.evidence.get("metric", ""))
        key = finding.sentence.replace(name, "…") if name else finding.sentence
        first.setdefault(key, finding)
        metrics.setdefault(key, []).append(name)
    return [
        finding
        if len(metrics[key]) == 1
        else Finding(
            "S123",
            finding.severity,
            finding.sentence.replace(metrics[key][0], f"{len(metrics[key])} metrics", 1),
            finding.evidence | {"metrics": metrics[key][:MAX_LISTED]},
            finding.action,
        )
        for key, finding in first.items()
    ]
