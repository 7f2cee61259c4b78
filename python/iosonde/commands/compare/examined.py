"""The assumptions of a comparison that are examined, whatever comes out, and the limit of the hardware."""

from collections.abc import Sequence

from iosonde.answers.trials import build_probed_limits
from iosonde.core.message import Message
from iosonde.data.choice import column_to_texts
from iosonde.data.source import Source
from iosonde.stats.assumptions import AssumptionCheck, doubtful, holds, not_applicable
from iosonde.stats.assumptions.required import REQUIRED
from iosonde.stats.overview.cells import TrialCell

from .caveat import Caveat
from .cells import InCells
from .samples import SidePair

_DATA = ("impossible",)  # checked where DATA has runs


def list_examined(pair: SidePair) -> tuple[AssumptionCheck, ...]:
    """Return what the other caveats say nothing against. A published side has no trials to check."""
    codes = sorted(REQUIRED["difference"].difference(_DATA))
    return not_applicable(*codes) if pair.a.published or pair.b.published else holds(*codes)


class HardwareLimits:
    """The limits of the runs of several DATA."""

    def __init__(self, sources: Sequence[Source], level: float) -> None:
        self._limits = [(build_probed_limits(source, level), source.runs) for source in sources if source.runs]

    def check(self, matched: InCells) -> tuple[AssumptionCheck, tuple[Caveat, ...]]:
        """Return the check of the compared values, and its caveat."""
        part = matched.pair.part
        if not self._limits or "run" not in part.rows.columns:
            return not_applicable("impossible")[0], ()
        places = [f"run {run}" for run in column_to_texts(part.rows, "run")]
        operation = str(part.cell.get("operation") or "")
        cell = TrialCell({}, part.metric.name, part.unit, part.rows.numbers(part.column), operation, None, places)
        if not any(limits.impossible([cell], runs) for limits, runs in self._limits):
            return holds("impossible")[0], ()
        check = doubtful("impossible", Message("beyond-limit", "most values exceed the limit of the hardware (S127)"))
        return check, (Caveat(check.why, check),)
