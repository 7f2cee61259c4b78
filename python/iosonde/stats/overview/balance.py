"""Load balance of servers (or devices) in a trial: the busiest ÷ the mean, and its possible cost."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from iosonde.core.grouping import group_by_key
from iosonde.core.schema import BRING_UP, CENTRE, OBSERVED_FACTORS, PROBE_FACTORS
from iosonde.core.stored import StoredRun
from iosonde.core.types import Estimate

from ..estimate.summarise import estimate_mean

# Key of a server's counters → the word for it.
KINDS = {"written_bytes": "written", "read_bytes": "read"}
# Factors that describe a trial and do not separate settings.
_OF_TRIAL = ("repetition", "block", CENTRE, *OBSERVED_FACTORS, *PROBE_FACTORS)


@dataclass(frozen=True)
class ServerBalance:
    """Load balance of the servers at one ``setting`` for ``what`` (written, read). ``index``: bytes of the busiest of
    ``n_servers`` ÷ their mean, over trials: 1 is even. ``lost``: the share of the rate that this costs if servers are
    the bottleneck, 1 − 1 ÷ index, as all wait for the busiest. ``least``: the least index of a trial. ``busiest``: the
    number of trials in which each server was the busiest."""

    what: str
    setting: str
    n_servers: int
    index: Estimate
    lost: Estimate
    least: float
    busiest: Counter[str]


def estimate_server_balances(runs: Sequence[StoredRun], level: float) -> list[ServerBalance]:
    """Return the balance of each setting of each experiment, from complete trials with counts of several servers."""
    cells = group_by_key(
        ((run.experiment, setting, what), moved)
        for run, setting in zip(runs, describe_run_settings(runs), strict=True)
        for key, what in KINDS.items()
        if run.counts and len(moved := _count_moved(run, key)) > 1 and any(moved.values())
    )
    return [_estimate_balance(what, setting, trials, level) for (_, setting, what), trials in cells.items()]


def _count_moved(run: StoredRun, key: str) -> dict[str, int]:
    """Return the bytes of each server by its counter ``key``."""
    profile = (run.facts.get("servers") or {}).get("profile") or {}
    return {str(name): int(counters.get(key, 0)) for name, counters in (profile.get("by_server") or {}).items()}


def compute_imbalance_index(counts: Sequence[float]) -> float:
    """Return the index: the largest count ÷ the mean of all; 1 is even."""
    return max(counts) * len(counts) / sum(counts)


def _estimate_balance(what: str, setting: str, trials: Sequence[dict[str, int]], level: float) -> ServerBalance:
    indices = [compute_imbalance_index(list(trial.values())) for trial in trials]
    index = estimate_mean(indices, level).within(low=1.0)
    lost = replace(
        index, value=_compute_loss(index.value), low=_compute_loss(index.low), high=_compute_loss(index.high)
    )
    return ServerBalance(
        what,
        setting,
        max(map(len, trials)),
        index,
        lost,
        min(indices),
        Counter(max(trial, key=lambda name: trial[name]) for trial in trials),
    )


def _compute_loss(index: float | None) -> float | None:
    return None if index is None else 1 - 1 / index


def describe_run_settings(runs: Sequence[StoredRun]) -> list[str]:
    """Describe the setting of each run: the levels of factors that vary in its experiment, except those that only
    separate trials."""
    levels = group_by_key(((run.experiment, name), str(level)) for run in runs for name, level in run.factors.items())
    return [
        ", ".join(
            f"{name}={level}"
            for name, level in run.factors.items()
            if name not in _OF_TRIAL and not name.startswith(BRING_UP) and len(set(levels[run.experiment, name])) > 1
        )
        for run in runs
    ]
