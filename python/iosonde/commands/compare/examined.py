"""The assumptions of a comparison that are examined, whatever comes out, and the limit of the hardware."""

from collections.abc import Sequence

from iosonde.answers.trials import build_probed_limits
from iosonde.core.stored import StoredRun
from iosonde.data.choice import column_to_texts
from iosonde.data.source import Source
from iosonde.stats.assumptions import AssumptionCheck, holds, not_applicable
from iosonde.stats.assumptions.cells import check_hardware_limit
from iosonde.stats.assumptions.required import REQUIRED
from iosonde.stats.overview.cells import TrialCell
from iosonde.stats.overview.probed_limits import ProbedLimits

from .cells import InCells
from .parts import RESPONSE_LABELS
from .samples import SidePair

Limits = Sequence[tuple[ProbedLimits, Sequence[StoredRun]]]


def list_examined(pair: SidePair) -> tuple[AssumptionCheck, ...]:
    """Return what the other caveats say nothing against. A published side has no trials to check; the limit of the
    hardware is checked where DATA has runs."""
    codes = sorted(REQUIRED["difference"] - {"impossible"})
    return not_applicable(*codes) if pair.a.published or pair.b.published else holds(*codes)


def build_limits(sources: Sequence[Source], level: float) -> Limits:
    """Build the limits of the runs of several DATA."""
    return [(build_probed_limits(source, level), source.runs) for source in sources if source.runs]


def check_limits(matched: InCells, limits: Limits) -> tuple[AssumptionCheck, ...]:
    """Return the check of the compared values."""
    part = matched.pair.part
    if not limits or "run" not in part.rows.columns:
        return check_hardware_limit((), None)
    places = [f"run {run}" for run in column_to_texts(part.rows, "run")]
    operation = str(part.cell.get("operation") or "")
    setting = {name: level for name, level in part.cell.items() if name not in RESPONSE_LABELS}
    cell = TrialCell(setting, part.metric.name, part.unit, part.values, operation, None, places, units=part.units)
    impossible = [each for probed, runs in limits for each in probed.impossible([cell], runs)]
    return check_hardware_limit([cell], impossible)
