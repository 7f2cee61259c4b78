"""S126: mixed units

What it says
    Some values differ from the others by a factor between common units: 1000
    or 1024 (once, twice or three times), 8 (bits and bytes), or 1.024, 1.0486
    and 1.0737 (kB and KiB, MB and MiB, GB and GiB).

How we know
    The trials of one cell fall into two groups whose medians differ by such a
    factor. For the small factors each group holds at least 3 trials, and the
    gap between them is ten times as wide as either group. Or levels of a text
    column (a host, a system, a file) differ by a large factor in every setting
    that both have. Or two columns have a constant ratio that differs by such a
    factor from that of the units in their names.

When it is wrong
    A cache can be a thousand times as fast as a disk, but seldom in every
    setting to within a third.

What to do
    Check where the rows came from, correct the unit of the wrong group, and
    write the unit into the column's name.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from iosonde.core.column_units import unit_to_bytes_per_s
from iosonde.core.contradiction import OTHER_UNIT
from iosonde.core.level_text import format_setting
from iosonde.core.table import Cell, Table, number_combinations
from iosonde.core.types import Finding, Severity
from iosonde.core.units import format_significant

from ..overview.cells import TrialCell, compute_sample_median, find_shared_grid
from . import MAX_LISTED, Subject

ACTION = "check where these rows came from, and write the unit into the column's name"
LARGE = {"1000": 1e3, "1024": 2.0**10, "1000²": 1e6, "1024²": 2.0**20, "1000³": 1e9, "1024³": 2.0**30}
SMALL = {"8": 8.0, "1.024": 1.024, "1.0486 (1024² ÷ 1000²)": 1.024**2, "1.0737 (1024³ ÷ 1000³)": 1.024**3}
_LARGE_TOLERANCE = math.log(4 / 3)
_LEAST_GAP = 100.0
_SMALL_GAP = 10.0


def check(subject: Subject) -> Iterator[Finding]:
    """Report groups of values, levels and columns that differ by a factor between units, else the few values of a table
    that other commands leave out."""
    yield from list(_report_mixed_units(subject)) or subject.report_warnings(OTHER_UNIT, "S126", ACTION)


def _report_mixed_units(subject: Subject) -> Iterator[Finding]:
    for (operation, metric), cells in subject.families.items():
        name = subject.name(operation, metric)
        yield from [*_report_mixed_cells(name, cells), *_report_mixed_levels(name, cells)]
    if subject.table is not None and not subject.runs:
        yield from _report_mixed_columns(subject.table, list(dict.fromkeys(cell.metric for cell in subject.cells)))


def _report_mixed_cells(name: str, cells: Sequence[TrialCell]) -> Iterator[Finding]:
    hits = [(cell, *groups) for cell in cells for groups in [_find_unit_gap(cell.values)] if groups]
    if not hits:
        return
    cell, factor, cut = hits[0]
    few = np.argsort(cell.values)[:cut] if 2 * cut <= cell.values.size else np.argsort(cell.values)[cut:]
    places = [cell.places[i] for i in few if i < len(cell.places)]
    more = f", and in {len(hits) - 1} more cells" if len(hits) > 1 else ""
    yield Finding(
        "S126",
        Severity.WARNING,
        f"trials of {cell.name} fall into two groups a factor of {factor} apart, as if in two units "
        f"({places[0] if places else name}){more}",
        {
            "metric": name,
            "factor": factor,
            "cells": {c.name: f for c, f, _ in hits[:MAX_LISTED]},
            "places": places[:MAX_LISTED],
        },
        ACTION,
    )


def _find_unit_gap(values: npt.NDArray[np.float64]) -> tuple[str, int] | None:
    """Return (factor, size of the lower group) of the widest gap in the logs, if it is a factor between units."""
    if values.size < 3 or np.any(values <= 0):
        return None
    x = np.sort(np.log(values))
    gaps = np.diff(x)
    cut = int(np.argmax(gaps)) + 1
    between = float(np.median(x[cut:]) - np.median(x[:cut]))
    within = max(float(x[cut - 1] - x[0]), float(x[-1] - x[cut]))
    if gaps[cut - 1] >= math.log(_LEAST_GAP) and within < math.log(2):
        return _match_factor(between, LARGE, _LARGE_TOLERANCE, cut)
    if min(cut, x.size - cut) >= 3 and gaps[cut - 1] > _SMALL_GAP * within:
        return _match_factor(between, SMALL, max(within / 2, 1e-6), cut)
    return None


def _match_factor(distance: float, factors: dict[str, float], tolerance: float, cut: int) -> tuple[str, int] | None:
    name = min(factors, key=lambda each: abs(distance - math.log(factors[each])))
    return (name, cut) if abs(distance - math.log(factors[name])) <= tolerance else None


def _report_mixed_levels(name: str, cells: Sequence[TrialCell]) -> Iterator[Finding]:
    units = cells[0].units if cells else {}
    for setting in _list_text_settings(cells):
        by_rest: dict[tuple[Cell, ...], dict[Cell, float]] = {}
        for cell in _select_comparable(cells, setting):
            if cell.values.size and (median := compute_sample_median(cell.values)) > 0:
                by_rest.setdefault(tuple(level for other, level in cell.by.items() if other != setting), {})[
                    cell.by[setting]
                ] = median
        levels = list(dict.fromkeys(level for medians in by_rest.values() for level in medians))
        for a, b in combinations(levels[:50], 2):
            ratios = np.array(
                [math.log(medians[b] / medians[a]) for medians in by_rest.values() if a in medians and b in medians]
            )
            middle = abs(float(np.median(ratios))) if ratios.size >= 3 else 0.0
            factor = _match_factor(middle, LARGE, _LARGE_TOLERANCE, 0)
            if (
                factor
                and np.all(np.abs(np.abs(ratios) - middle) < _LARGE_TOLERANCE)
                and abs(np.sign(ratios).sum()) == ratios.size
            ):
                yield Finding(
                    "S126",
                    Severity.WARNING,
                    f"{name} at {format_setting({setting: a}, units)} and "
                    f"{format_setting({setting: b}, units)} differ by "
                    f"a factor of about {factor[0]} "
                    f"in all {ratios.size} settings that both have, as if in two units",
                    {
                        "metric": name,
                        "setting": setting,
                        "levels": [a, b],
                        "factor": factor[0],
                        "ratio": math.exp(middle),
                        "n": int(ratios.size),
                    },
                    ACTION,
                )


def _list_text_settings(cells: Sequence[TrialCell]) -> list[str]:
    grid_rows = find_shared_grid(cells)
    if grid_rows is None:
        return sorted({name for cell in cells for name, level in cell.by.items() if isinstance(level, str)})
    columns = grid_rows[0].columns.items()
    return sorted(name for name, (_, levels) in columns if any(isinstance(level, str) for level in levels))


def _select_comparable(cells: Sequence[TrialCell], setting: str) -> Sequence[TrialCell]:
    """Select cells that share all other settings with another cell, if this is fast to determine: few of a million
    may."""
    grid_rows = find_shared_grid(cells)
    if grid_rows is None:
        return cells
    grid, rows = grid_rows
    _, first, counts = np.unique(
        number_combinations(
            [(codes[rows], len(levels)) for name, (codes, levels) in grid.columns.items() if name != setting],
            len(cells),
        ),
        return_inverse=True,
        return_counts=True,
    )
    return [cells[at] for at in np.flatnonzero(counts[first] > 1).tolist()]


def _report_mixed_columns(table: Table, names: Sequence[str]) -> Iterator[Finding]:
    for a, b in combinations(names, 2):
        x, y = table.numbers(a), table.numbers(b)
        both = ~(np.isnan(x) | np.isnan(y))
        units = unit_to_bytes_per_s(table.column(a).unit), unit_to_bytes_per_s(table.column(b).unit)
        if both.sum() < 3 or not all(units) or np.any(x[both] <= 0) or np.any(y[both] <= 0) or np.ptp(x[both]) == 0:
            continue
        ratios = y[both] / x[both]
        ratio = float(np.median(ratios))
        unit_ratios = [p / q for p in units[0] for q in units[1]]
        if np.ptp(ratios) < 0.002 * ratio and _is_unit_mistake(ratio, unit_ratios):
            expected = " or ".join(dict.fromkeys(format_significant(each, 4) for each in unit_ratios))
            yield Finding(
                "S126",
                Severity.ERROR,
                f"column '{b}' is {format_significant(ratio, 4)} times column '{a}' in every row, but by the units in "
                f"their names it should be {expected} times",
                {"columns": [a, b], "ratio": ratio, "expected": unit_ratios},
                ACTION,
            )


def _is_unit_mistake(ratio: float, unit_ratios: Sequence[float]) -> bool:
    """Return whether a ratio differs from all ``unit_ratios``, but by a factor between units from one of them."""
    off = [abs(math.log(ratio / each)) for each in unit_ratios]
    factors = [math.log(factor) for factor in (LARGE | SMALL).values()]
    return min(off) > 0.005 and any(abs(each - factor) < 0.005 for each in off for factor in factors)
