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
    skipped_by_work: dict[str, list[tuple[str, str]]] = {}  # a design may have thousands of trials, of few kinds
    for trial in trials:
        work = (
            _list_items(campaign, trial),
            trial.nodes * trial.ranks_per_node,
            _file_system_type(campaign, trial, facts),
            trial.nodes,
        )
        if (key := repr(work)) not in skipped_by_work:
            skipped_by_work[key] = list(_iterate_skipped(*work))
        for phase, why in skipped_by_work[key]:
            trials_by_phase.setdefault((phase, why), {})[trial.index] = trial
    for (phase, why), there in trials_by_phase.items():
        yield Message(
            "skipped-phase",
            "{phase} is skipped{trials}: {reason}",
            phase=phase,
            trials=_describe_trials(list(there.values()), trials),
            reason=why,
        )


def _list_items(campaign: Campaign, trial: Trial) -> list[items.Item]:
    return items.items((), campaign.spec.steps, (), placeholders.build_trial_values(trial, None))


def _file_system_type(campaign: Campaign, trial: Trial, facts: Mapping[str, Facts]) -> str:
    target_facts = facts.get(campaign.spec.target_name(trial.factors))
    return str(((target_facts and target_facts.get("mount")) or {}).get("type") or "")


def _iterate_skipped(
    step_items: list[items.Item], ranks: int, file_system: str, nodes: int
) -> Iterator[tuple[str, str]]:
    for part in items.layout(items.skipping(step_items, ranks, file_system, nodes), 0, ranks, 0):
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
