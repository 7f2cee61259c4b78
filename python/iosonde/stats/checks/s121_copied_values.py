"""S121: copied values

What it says
    The same values occur in more than one place: whole cells (all trials of
    one setting equal those of another), single rows, or a whole column. They
    were measured once and written twice.

How we know
    Equal pairs of values are counted, and compared with the number expected by
    chance for values of this precision: pairs a few ticks apart are as likely
    as equal ones (Poisson, one in a thousand). The tick is that of the digits,
    or of the time from which a rate was computed.

    In a store all metrics of a run are known: a copy repeats all of them, and
    a rate that recurs alone was rounded. 12 different numbers that all recur
    are no chance: one output was imported twice, as from a log that repeats
    it. A 0, lowest or highest value that
    occurs three times or more (a timeout) is left out. The setting in which
    most copies differ from their originals is named.

When it is wrong
    When the values come from a model or a simulation without noise. When a
    table's rates were computed from a coarse time, equal rates are natural.
    This is recognised if the work is equal or proportional to settings. If
    settings have one trial each and the equal ones follow no pattern, a
    warning names both causes.

What to do
    Look at the named rows and find out which setting was really measured.
    Remove the copies before fitting or validating anything: they pretend
    repetitions that were not measured (S122), and hide the effect of the
    setting.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from iosonde.core.contradiction import COPIED_ROWS
from iosonde.core.level_text import format_setting
from iosonde.core.table import Table
from iosonde.core.types import Finding, Severity

from ..estimate.copies import Copies, Pattern, find_copies
from ..overview.cells import TrialCell
from . import MAX_LISTED, Subject

ACTION = "find out which one was measured, and remove the copies before any analysis"
_LEAST_ROWS = 5
_LEAST_SINGLES = 4


def check(subject: Subject) -> Iterator[Finding]:
    """Report copied cells and rows of each metric, then columns that repeat another. Copies of whole blocks of rows are
    left out of a table when it is read."""
    yield from subject.report_warnings(COPIED_ROWS, "S121", ACTION)
    for (operation, metric), cells in subject.families.items():
        copies = find_copies(cells, subject.records)
        if copies is not None:
            name = f"{operation} {metric}".strip()
            yield from [
                finding
                for finding in (_report_copied_cells(copies, name), _report_copied_trials(copies, name))
                if finding
            ]
    if subject.table is not None and not subject.runs:
        yield from _report_repeated_columns(subject.table, subject.cells)


def _report_copied_cells(copies: Copies, name: str) -> Finding | None:
    if not copies.cells:
        return None
    n = len(copies.cells)
    what = "a whole cell is a copy of another" if n == 1 else f"{n} whole cells are copies of others"
    sure = _is_sure(copies)
    if not sure:
        what = "one setting has" if n == 1 else f"{n} settings have"
        what = f"{what} the same single value as another, by copying or by a coarse clock,"
    example, twin = copies.cells[0]
    where = _describe_pattern(copies.pattern, twin.units) if copies.pattern else f"{twin.name} equals {example.name}"
    pairs = [
        {
            "original": a.name,
            "copy": b.name,
            "original_places": list(a.places[:MAX_LISTED]),
            "copy_places": list(b.places[:MAX_LISTED]),
        }
        for a, b in copies.cells[:MAX_LISTED]
    ]
    evidence = {
        "metric": name,
        "n_cells": n,
        "n_trials": sum(b.values.size for _, b in copies.cells),
        "expected_by_chance": copies.expected,
        "pairs": pairs,
    }
    if copies.pattern:
        evidence["pattern"] = {
            "changed": [{"setting": s, "original": a, "copy": b} for s, a, b in copies.pattern.changed],
            "fixed": copies.pattern.fixed,
            "n_cells": copies.pattern.n,
            "of_cells": copies.pattern.of,
        }
    severity = Severity.ERROR if sure else Severity.WARNING
    return Finding("S121", severity, f"{what} in {name}: {where}", evidence, ACTION)


def _is_sure(copies: Copies) -> bool:
    """Return whether a coarse clock cannot explain the copies: cells of several trials are all equal, or single values
    recur at most of the settings that differ in the same way."""
    if any(copy.values.size > 1 for _, copy in copies.cells):
        return True
    pattern = copies.pattern
    return pattern is not None and pattern.n >= _LEAST_SINGLES and 2 * pattern.n > pattern.of


def _describe_pattern(pattern: Pattern, units: Mapping[str, str]) -> str:
    at = format_setting(pattern.fixed, units)
    here = format_setting({name: copy for name, _, copy in pattern.changed}, units)
    there = format_setting({name: original for name, original, _ in pattern.changed}, units)
    share = f"all {pattern.n}" if pattern.n == pattern.of else f"{pattern.n} of {pattern.of}"
    return f"{share} cells at {here} equal those at {there}{f' ({at})' if at else ''}"


def _report_copied_trials(copies: Copies, name: str) -> Finding | None:
    if not copies.trials:
        return None
    n = len(copies.trials)
    first, second = copies.trials[0]
    chance = f"where chance would give {copies.expected:.2g} equal pairs"
    why = "as have all numbers of its run" if copies.is_certain else chance
    what = f"{n} trial{'s have' if n > 1 else ' has'} the same value as another one in {name}"
    return Finding(
        "S121",
        Severity.WARNING,
        f"{what}, {why}: {first} and {second}",
        {
            "metric": name,
            "n_trials": n,
            "expected_by_chance": copies.expected,
            "places": [list(pair) for pair in copies.trials[:MAX_LISTED]],
        },
        ACTION,
    )


def _report_repeated_columns(table: Table, cells: Sequence[TrialCell]) -> Iterator[Finding]:
    names = list(dict.fromkeys(cell.metric for cell in cells))
    for place, name in enumerate(names):
        for other in names[:place]:
            a, b = table.numbers(other), table.numbers(name)
            both = ~(np.isnan(a) | np.isnan(b))
            if both.sum() >= _LEAST_ROWS and np.ptp(a[both]) > 0 and np.array_equal(a[both], b[both]):
                yield Finding(
                    "S121",
                    Severity.ERROR,
                    f"column '{name}' is a copy of column '{other}' ({int(both.sum())} rows)",
                    {"columns": [other, name], "n_rows": int(both.sum())},
                    ACTION,
                )
