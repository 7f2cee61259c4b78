"""S125: coarse clock

What it says
    The values are whole multiples of a step (a clock tick, or rounding) that
    is large relative to the values or their spread. Differences below a tick
    are invisible, and a spread of 0 does not mean an exact value.

How we know
    The step is the greatest common divisor of all values of a column. It is
    reported if half a step is more than 1 % of the median value of a cell, or
    in at least half of the cells all trials lie within two steps, or all
    values of a column are equal.

When it is wrong
    When the quantity is a count by nature and exact.

What to do
    Measure longer (more operations, larger files), so that a trial takes
    thousands of ticks; write the values with all their digits; compute rates
    from unrounded times.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from iosonde.core.message import spell
from iosonde.core.types import Finding, Severity
from iosonde.core.units import format_significant

from ..estimate.coarse import find_tick
from ..overview.cells import TrialCell, compute_sample_median
from . import MAX_LISTED, Subject

_COARSE = 0.01
_LEAST = 6  # values needed to accept a common divisor as a step


def check(subject: Subject) -> Iterator[Finding]:
    """Report metrics written in steps that hide their value or their spread."""
    for (operation, metric), cells in subject.families.items():
        if _is_constant(cells):
            yield _report_constant_values(subject.name(operation, metric), cells)
            continue
        resolution = _measure_coarseness(cells)
        if resolution is None:
            continue
        step, error, flat = resolution
        unit = f" {cells[0].unit}" if cells[0].unit else ""
        name = subject.name(operation, metric)
        sentence = f"{name} is written in steps of {format_significant(step)}{unit}: "
        if error > _COARSE:
            sentence += f"the smallest values are known to ± {100 * error:.2g} % at best"
        else:
            sentence += f"{len(flat)} cells show less spread than two steps"
        yield Finding(
            "S125",
            Severity.WARNING,
            sentence,
            {
                "operation": operation,
                "metric": metric,
                "step": step,
                "relative_error": error,
                "cells_within_two_steps": [cell.name for cell in flat[:MAX_LISTED]],
                "n_cells_within_two_steps": len(flat),
            },
            "measure longer, or write the values with all their digits",
        )


def _is_constant(cells: Sequence[TrialCell]) -> bool:
    """Return whether all of many values, including repeated trials, are equal."""
    values = np.concatenate([cell.values for cell in cells])
    return values.size >= _LEAST and np.ptp(values) == 0 and max(cell.values.size for cell in cells) >= 3


def _report_constant_values(name: str, cells: Sequence[TrialCell]) -> Finding:
    n, value = (
        sum(cell.values.size for cell in cells),
        next(float(cell.values[0]) for cell in cells if cell.values.size),
    )
    return Finding(
        "S125",
        Severity.WARNING,
        f"all {n} values of {name} are {format_significant(value)}: measurements always have a spread",
        {"operation": cells[0].operation, "metric": cells[0].metric, "value": value, "n": n},
        f"write the values with all their digits, or leave the column out with {spell.response}",
    )


def _measure_coarseness(cells: Sequence[TrialCell]) -> tuple[float, float, list[TrialCell]] | None:
    used = [cell for cell in cells if cell.values.size]
    values = np.concatenate([cell.values for cell in used]) if used else np.empty(0)
    step = find_tick(values) if values.size >= _LEAST else None
    if step is None:
        return None
    medians = [abs(compute_sample_median(cell.values)) for cell in used]
    smallest = min((median for median in medians if median > 0), default=0.0)
    error = 0.5 * step / smallest if smallest else 0.0
    repeated = [cell for cell in used if cell.values.size >= 3]
    flat = [cell for cell in repeated if np.ptp(cell.values) <= 2.000001 * step]
    return (step, error, flat) if error > _COARSE or (repeated and 2 * len(flat) >= len(repeated) and flat) else None
