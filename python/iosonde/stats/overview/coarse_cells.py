"""Cells measured by a clock whose tick is as large as their spread: half a tick is added to their intervals."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from iosonde.core.grouping import group_by_key
from iosonde.core.metrics import build_metric, is_count
from iosonde.core.types import Estimate

from ..estimate.coarse import build_coarse_clock_warning, compute_half_ticks, widen_estimate
from ..estimate.summarise import compute_sd
from .cells import TrialCell


def compute_cell_half_ticks(cells: Sequence[TrialCell]) -> list[float]:
    """Return the possible error of the mean of each cell; 0 for counts, which are exact, and for cells spread over
    ticks. Each metric of an operation has its own clock."""
    errors = [0.0] * len(cells)
    clocks = group_by_key(((cell.operation, cell.metric, cell.unit), place) for place, cell in enumerate(cells))
    for (_, metric, unit), places in clocks.items():
        repeated = {place for place in places if cells[place].independent.size > 1}
        if not repeated or is_count(build_metric(metric, unit)):
            continue
        spreads = [compute_sd(cells[place].independent) if place in repeated else np.inf for place in places]
        halves = compute_half_ticks([cells[place].values for place in places], spreads)
        for place, half in zip(places, halves, strict=True):
            errors[place] = half
    return errors


def widen_by_half_tick(estimate: Estimate, half: float) -> Estimate:
    """Return the estimate with half a tick added to its interval, and a warning."""
    return (
        estimate
        if not half or estimate.low is None
        else replace(
            widen_estimate(estimate, half), warnings=(*estimate.warnings, build_coarse_clock_warning(2 * half))
        )
    )
