"""Measurements against the bound: what share of it each cell delivered, and which ones cannot be true."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from iosonde.core.arrays import Array
from iosonde.core.types import Estimate
from iosonde.stats.estimate.summarise import estimate_mean

from .balance import get_evenly_placed_system
from .bound import Ceiling, compute_ceiling

ABOVE, PERHAPS = "above the bound", "may be above the bound"
MARKS = {ABOVE: "above", PERHAPS: "perhaps"}  # in tables
CURE = "a cache served it, or a unit is wrong: see 'iosonde explain S127'"


@dataclass(frozen=True)
class MeasuredShare:
    """Measured share of the bound in a cell: its settings, the bound, the mean in bytes/s and the share as Estimates.

    ``verdict`` is empty, :data:`ABOVE` or, if the interval also holds values below, :data:`PERHAPS`. ``runs`` are the
    ids of the trials if they come from a store. ``columns``: field of the system → its column. ``units``: units of the
    levels. ``sources``: field of the system → where its number is from, in words.
    """

    by: dict[str, Any]
    operation: str
    metric: str
    ceiling: Ceiling
    measured: Estimate
    share: Estimate
    verdict: str
    runs: tuple[str, ...] = ()
    columns: dict[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)

    def used(self) -> dict[str, float]:
        """Term → the share of its capacity that the mean used."""
        rate = self.measured.value
        return {} if rate is None else {term.name: rate / term.bytes_per_s for term in self.ceiling.terms}

    def to_json(self) -> dict[str, Any]:
        """The flat form."""
        return {
            "by": self.by,
            "operation": self.operation or None,
            "metric": self.metric,
            "n": self.measured.n,
            "s": self.ceiling.s,
            "limit": list(self.ceiling.limit),
            **self.measured.flat("mean"),
            **self.share.flat("share"),
            "used": self.used(),
            "verdict": self.verdict or None,
            "inputs": {
                name: {"value": getattr(self.ceiling.system, name), "from": source}
                for name, source in self.sources.items()
            },
            "warnings": list(dict.fromkeys((*self.measured.warnings, *self.share.warnings))),
        }


def estimate_share_of_bound(
    values: Array,
    system_ceiling: Ceiling,
    level: float,
    low: float | None = None,
    high: float | None = None,
) -> tuple[Estimate, Estimate, str]:
    """Return (mean, share, verdict) of trials in bytes/s. ``low`` and ``high`` are the ends of S if its inputs are
    measured. The share's interval is then that of the mean over both (not narrower than ``level``). Under random
    placement S is a mean that luck may exceed: only rates beyond the best case are above the bound."""
    measured = estimate_mean(values, level).within(low=0.0)
    share = _divide_estimate(
        measured, system_ceiling.s, system_ceiling.s if low is None else low, system_ceiling.s if high is None else high
    )
    return (
        measured,
        share,
        _judge_share(share, compute_ceiling(get_evenly_placed_system(system_ceiling.system)).s / system_ceiling.s),
    )


def _divide_estimate(measured: Estimate, s: float, low: float, high: float) -> Estimate:
    if measured.value is None:
        return measured
    ends = [None if end is None else end / by for end, by in ((measured.low, high), (measured.high, low))]
    return replace(measured, value=measured.value / s, low=ends[0], high=ends[1])


def _judge_share(share: Estimate, most: float) -> str:
    if share.value is None or share.value <= most:
        return ""
    return ABOVE if share.low is not None and share.low > most else PERHAPS
