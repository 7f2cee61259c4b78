"""Cost of a client's operation for the servers: their calls by kind ÷ operations of the phase."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.core.grouping import group_by_key
from iosonde.core.schema import BRING_UP
from iosonde.core.stored import StoredPhase, StoredRun
from iosonde.core.types import Estimate

from ..estimate.summarise import estimate_mean
from .balance import describe_run_settings


@dataclass(frozen=True)
class PhaseCalls:
    """Calls of one phase (``operation``) at one setting, per operation of kind ``per`` (read, create …), over trials.
    ``client``: the client's own operations by kind, and ``client_in_all``; ``servers``: calls counted by all servers by
    kind, and ``in_all``."""

    operation: str
    setting: str
    per: str
    client: Mapping[str, Estimate]
    servers: Mapping[str, Estimate]
    in_all: Estimate
    client_in_all: Estimate

    def to_json(self) -> dict[str, Any]:
        """Return stable JSON."""
        return {
            "operation": self.operation,
            "setting": self.setting,
            "per": self.per,
            "n": self.in_all.n,
            **self.in_all.flat("calls"),
            "servers": [{"kind": kind, **estimate.flat("calls")} for kind, estimate in self.servers.items()],
            **self.client_in_all.flat("operations"),
            "client": [{"kind": kind, **estimate.flat("operations")} for kind, estimate in self.client.items()],
        }


def estimate_phase_calls(runs: Sequence[StoredRun], level: float) -> tuple[PhaseCalls, ...]:
    """Return the calls of each phase at each setting, from complete trials whose servers counted in it. Trials that
    share a bring-up are averaged."""
    cells = group_by_key(
        ((run.experiment, phase.operation, setting), (run.factors.get(BRING_UP, run.id), phase))
        for run, setting in zip(runs, describe_run_settings(runs), strict=True)
        for phase in run.phases
        if run.counts and phase.server_calls is not None and _count_operations(phase)
    )
    return tuple(
        _build_phase_calls(operation, setting, list(group_by_key(units).values()), level)
        for (_, operation, setting), units in cells.items()
    )


def _build_phase_calls(
    operation: str, setting: str, units: Sequence[Sequence[StoredPhase]], level: float
) -> PhaseCalls:
    done = [
        _average_counts(
            [
                {kind: total["count"] / _count_operations(phase) for kind, total in phase.totals.items()}
                for phase in unit
            ]
        )
        for unit in units
    ]
    served = [
        _average_counts(
            [{kind: n / _count_operations(phase) for kind, n in (phase.server_calls or {}).items()} for phase in unit]
        )
        for unit in units
    ]
    return PhaseCalls(
        operation,
        setting,
        str(units[0][0].counted_kind),
        _estimate_by_kind(done, level),
        _estimate_by_kind(served, level),
        _estimate_total(served, level),
        _estimate_total(done, level),
    )


def _estimate_total(units: Sequence[Mapping[str, float]], level: float) -> Estimate:
    return estimate_mean([sum(unit.values()) for unit in units], level).within(low=0.0)


def _average_counts(counters: Sequence[Mapping[str, float]]) -> dict[str, float]:
    kinds = dict.fromkeys(kind for counter in counters for kind in counter)
    return {kind: sum(counter.get(kind, 0.0) for counter in counters) / len(counters) for kind in kinds}


def _estimate_by_kind(units: Sequence[Mapping[str, float]], level: float) -> dict[str, Estimate]:
    kinds = dict.fromkeys(kind for unit in units for kind in unit)
    estimates = {kind: estimate_mean([unit.get(kind, 0.0) for unit in units], level).within(low=0.0) for kind in kinds}
    return dict(sorted(estimates.items(), key=lambda item: -(item[1].value or 0.0)))


def _count_operations(phase: StoredPhase) -> int:
    return int(phase.totals.get(phase.counted_kind or "", {}).get("count", 0))
