"""Phases that the file system, or the number of nodes, does not support; reported before the first trial."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from iosonde.core.message import Message
from iosonde.core.types import Trial, level_text
from iosonde.core.words import counted, listed
from iosonde.measure import items, placeholders
from iosonde.ranks.machine import Facts

from .campaign import Campaign


def skipped(campaign: Campaign, trials: Sequence[Trial], facts: Mapping[str, Facts]) -> Iterator[str]:
    """Yield a sentence for each skipped phase and reason, with the affected trials; each is judged by its own settings
    and file system."""
    trials_by_phase: dict[tuple[str, str], dict[int, Trial]] = {}
    for trial in trials:
        for phase, why in _iterate_skipped(campaign, trial, facts):
            trials_by_phase.setdefault((phase, why), {})[trial.index] = trial
    for (phase, why), there in trials_by_phase.items():
        yield Message(
            "skipped-phase",
            "{phase} is skipped{trials}: {reason}",
            phase=phase,
            trials=_describe_trials(list(there.values()), trials),
            reason=why,
        )


def _iterate_skipped(campaign: Campaign, trial: Trial, facts: Mapping[str, Facts]) -> Iterator[tuple[str, str]]:
    target_facts = facts.get(campaign.spec.target_name(trial.factors))
    kind = str(((target_facts and target_facts.get("mount")) or {}).get("type") or "")
    step_items = items.items((), campaign.spec.steps, (), placeholders.build_trial_values(trial, None))
    ranks = trial.nodes * trial.ranks_per_node
    for part in items.layout(items.skipping(step_items, ranks, kind, trial.nodes), 0, ranks, 0):
        yield from ((plan.operation, plan.skipped) for plan in part.plans if plan.skipped)


def _describe_trials(there: Sequence[Trial], trials: Sequence[Trial]) -> str:
    """Describe the affected trials: empty for all; else their number, and the levels that only they have."""
    if len(there) == len(trials):
        return ""
    theirs = {trial.index for trial in there}
    others = [trial for trial in trials if trial.index not in theirs]
    telling = [
        name for name in there[0].factors if _collect_levels(there, name).isdisjoint(_collect_levels(others, name))
    ]
    parts = [f"{name}={','.join(sorted(_collect_levels(there, name)))}" for name in telling]
    return f" in {counted(len(there), 'trial')} of {len(trials)}{f' ({listed(parts)})' if parts else ''}"


def _collect_levels(trials: Sequence[Trial], factor: str) -> set[str]:
    return {level_text(trial.factors[factor]) for trial in trials}
