"""Phases of an experiment that its file system cannot do, said before the first trial."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from iosonde.core.types import Trial
from iosonde.measure import items, placeholders
from iosonde.ranks.machine import Facts

from .campaign import Campaign


def skipped(campaign: Campaign, trials: Sequence[Trial], facts: Mapping[str, Facts]) -> Iterator[str]:
    """A sentence for each phase of the first trial and each type of file system."""
    types = dict.fromkeys(str((one.get("mount") or {}).get("type") or "") for one in facts.values())
    for trial in trials[:1]:
        made = items.items((), campaign.spec.steps, (), placeholders.of_trial(trial, None))
        ranks = trial.nodes * trial.ranks_per_node
        for kind in types:
            for part in items.layout(items.skipping(made, ranks, kind), 0, ranks, 0):
                yield from (f"{plan.operation} is skipped: {plan.skipped}" for plan in part.plans if plan.skipped)
