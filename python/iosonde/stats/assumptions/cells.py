"""Assumptions about the trials of one response, from its cells: any command that has cells checks them here."""

from collections.abc import Iterator, Sequence

from iosonde.core.arrays import Indices
from iosonde.core.message import Message

from ..estimate.autocorrelation import Autocorrelation, estimate_autocorrelation
from ..estimate.coarse import build_coarse_clock_warning
from ..estimate.order_effect import DEPENDENCE_ALPHA
from ..overview.cells import TrialCell
from ..overview.coarse_cells import compute_cell_half_ticks
from .check import AssumptionCheck, doubtful, holds, not_applicable
from .dependence import describe_dependence


def check_cells(
    cells: Sequence[TrialCell], impossible: Sequence[TrialCell] | None = None, is_drifting: bool = False
) -> tuple[AssumptionCheck, ...]:
    """Return the checks of the clock, of the dependence of neighbours, of the hardware's limit, and of iterations.
    ``cells``: of one response; ``impossible``: those beyond the limit, None if no limit is known. ``is_drifting``:
    values drift, so that neighbours resemble each other; that is a check of its own."""
    neighbours = holds("dependent") if is_drifting else _check_neighbours(cells)
    return (
        *check_clock(cells),
        *neighbours,
        *check_hardware_limit(cells, impossible),
        *_check_iterations(cells),
    )


def check_clock(cells: Sequence[TrialCell]) -> tuple[AssumptionCheck, ...]:
    """Check whether the tick of the clock is as large as the spread of the trials."""
    half = max(compute_cell_half_ticks(cells), default=0.0)
    return (doubtful("coarse-clock", build_coarse_clock_warning(2 * half)),) if half else holds("coarse-clock")


def _check_neighbours(cells: Sequence[TrialCell]) -> tuple[AssumptionCheck, ...]:
    """Check trials whose settings were measured one after the other: random order makes neighbours exchangeable."""
    worth = measure_worth(cells)
    return (doubtful("dependent", describe_dependence(worth), worth=worth),) if worth < 1 else holds("dependent")


def measure_worth(cells: Sequence[TrialCell]) -> float:
    """Return the independent trials that a trial is worth, by the significant correlation of neighbours; 1 without."""
    related = _estimate_dependence(cells)
    return related.effective_share if related is not None and related.p < DEPENDENCE_ALPHA else 1.0


def _estimate_dependence(cells: Sequence[TrialCell]) -> Autocorrelation | None:
    if any(cell.within_run or cell.bring_ups is not None for cell in cells):
        return None
    cells = [part for cell in cells for part in cell.split_by_others()]
    times = [cell.times for cell in cells if cell.times is not None]
    if len(times) < max(2, len(cells)) or not _are_in_turn(times):
        return None
    return estimate_autocorrelation([cell.values for cell in cells], times)


def _are_in_turn(times: Sequence[Indices]) -> bool:
    """Return whether each cell was measured before the next one began."""
    ends = sorted((float(at.min()), float(at.max())) for at in times if at.size)
    return all(before[1] < after[0] for before, after in zip(ends, ends[1:], strict=False))


def check_hardware_limit(
    cells: Sequence[TrialCell], impossible: Sequence[TrialCell] | None
) -> tuple[AssumptionCheck, ...]:
    """Check whether any of the cells is one of the ``impossible`` ones; None if no limit is known."""
    if impossible is None:
        return not_applicable("impossible")
    beyond = [cell.name for cell in cells if any(cell is other for other in impossible)]
    if not beyond:
        return holds("impossible")
    template = "the values of {setting} exceed the limit of the hardware (S127)"
    return (doubtful("impossible", Message("beyond-limit", template, setting=beyond[0])),)


def _check_iterations(cells: Sequence[TrialCell]) -> Iterator[AssumptionCheck]:
    if any(cell.within_run for cell in cells):
        yield doubtful("within-run", Message("within-run", "iterations within one run are compared"))
