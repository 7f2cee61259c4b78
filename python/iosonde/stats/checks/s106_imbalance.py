"""S106: ranks finish unequally

What it says
    The slowest rank of a phase takes more than 10 % longer than the average
    rank. The others wait for it, so the total rate is lower than the ranks
    could reach.

How we know
    From each rank's own time between its first start and its last end,
    averaged over the trials. The evidence has the index of each phase (time of
    the slowest ÷ the mean, 1 is even) with its interval over trials.

    If one rank is the slowest more often than chance allows (binomial, 1 %
    over all phases), it is named: the cause is then its place. If the slowest
    rank had more work (bytes, or operations without bytes), this is reported,
    with an interval over trials, too: then the work is uneven, not the speed.
    With a single trial both are inconclusive.

When it is wrong
    When ranks have different work on purpose.

What to do
    Look at the timeline in the report. If one host is always last, look at its
    network link, its load, its mount. If it is a different one each time, the
    servers are unfair: compare the rates last_done and sum_of_ranks, and
    report which one you mean.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import fsum
from typing import Any

from iosonde.core.message import Message
from iosonde.core.stored import StoredPhase
from iosonde.core.types import Estimate, Finding, Severity
from iosonde.core.words import format_share_interval

from ..estimate.distributions import binomial_cdf
from ..estimate.summarise import estimate_mean
from . import FAMILY_ALPHA, MAX_LISTED, Subject
from .runs import group_phases_by_setting

NEEDS_RUNS = True
EXCESS = 0.10


def check(subject: Subject) -> list[Finding]:
    """Report phases whose slowest rank takes more than 10 % longer than the mean."""
    settings = group_phases_by_setting(subject.runs)
    uneven: dict[str, tuple[Estimate, Estimate, str]] = {}
    for name, phases in settings.items():
        times = [_compute_times(phase) for phase in phases]
        indices = [max(each.values()) / _compute_mean(each.values()) for each in times if len(each) > 1]
        if indices and _compute_mean(indices) > 1 + EXCESS:
            uneven[name] = (
                _estimate_over_trials(indices, 1.0, subject.level),
                _estimate_over_trials(
                    [
                        _compute_work_of_slowest(phase, each)
                        for phase, each in zip(phases, times, strict=True)
                        if len(each) > 1
                    ],
                    0.0,
                    subject.level,
                ),
                _describe_frequent_last_rank(phases, times, FAMILY_ALPHA / len(settings)),
            )
    if not uneven:
        return []
    worst = max(uneven, key=lambda name: uneven[name][0].value or 0.0)
    index, work_of_worst, always = uneven[worst]
    return [
        Finding(
            "S106",
            Severity.INFO,
            Message(
                "slow-rank",
                "the slowest rank takes {excess} longer than the average in {phase}{rank}{work}{more}",
                excess=_format_excess(index),
                phase=worst,
                rank=always,
                work=_describe_extra_work(work_of_worst),
                more=f" ({len(uneven)} phases in all)" if len(uneven) > 1 else "",
            ),
            {
                "tasks": [_flatten_row(name, *estimates[:2]) for name, estimates in list(uneven.items())[:MAX_LISTED]],
                "always_last": {name: who for name, (_, _, who) in uneven.items() if who},
            },
            "look at the timeline: is it always the same rank?",
        )
    ]


def _compute_times(phase: StoredPhase) -> dict[int, int]:
    return {
        rank["rank"]: rank["ended_ns"] - rank["started_ns"]
        for rank in phase.ranks
        if rank.get("ended_ns", 0) > rank.get("started_ns", 0)
    }


def _compute_work_of_slowest(phase: StoredPhase, times: Mapping[int, int]) -> float | None:
    """Return the work of the slowest rank relative to the mean of all; None if the store does not record it."""
    for kind in ("bytes", "operations"):
        work = {rank["rank"]: int(rank.get(kind) or 0) for rank in phase.ranks if rank["rank"] in times}
        if any(work.values()):
            return work[max(times, key=lambda rank: times[rank])] / _compute_mean(work.values())
    return None


def _estimate_over_trials(values: Sequence[float | None], least: float, level: float) -> Estimate:
    present = [value for value in values if value is not None]
    return estimate_mean(present, level).within(low=least) if present else Estimate(None, None, None, level, 0)


def _format_excess(index: Estimate) -> str:
    """Return how far an index is above 1: ``30.0 (21.2 to 38.8) %``."""
    value, low, high = (None if bound is None else bound - 1 for bound in (index.value, index.low, index.high))
    return format_share_interval(replace(index, value=value, low=low, high=high))


def _describe_extra_work(work: Estimate) -> str:
    """Describe by how much the slowest rank had more work, and how certain this is."""
    if work.value is None or work.value <= 1 + EXCESS / 2:
        return ""
    text = f": it has {_format_excess(work)} more work"
    if work.low is None:
        return f"{text} in a single trial: inconclusive"
    return text if work.low > 1 else f"{text}: not significant"


def _flatten_row(name: str, index: Estimate, work: Estimate) -> dict[str, Any]:
    """Return the columns of a row; ``n`` counts trials, ``confidence`` is the level of both intervals."""
    return {
        "phase": name,
        **index.flat("index"),
        "n": index.n,
        **(work.flat("work") | {"work_n": work.n}),
        "confidence": index.level,
    }


def _describe_frequent_last_rank(
    phases: Sequence[StoredPhase], times: Sequence[Mapping[int, int]], alpha: float
) -> str:
    last = Counter(max(each, key=lambda rank: each[rank]) for each in times if len(each) > 1)
    rank, often = last.most_common(1)[0]
    ranks, trials = max(len(each) for each in times), sum(last.values())
    by_chance = ranks * (1 - binomial_cdf(often - 1, trials, 1 / ranks))
    if by_chance >= alpha:
        return ""
    host = next((r.get("host") for p in phases for r in p.ranks if r["rank"] == rank), None)
    return f", rank {rank}{f' on {host}' if host else ''} in {often} of {trials} trials"


def _compute_mean(values: Collection[float]) -> float:
    return fsum(values) / len(values)
