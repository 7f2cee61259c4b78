"""Commands that move less than a node's memory holds: what they read may never have come from the target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iosonde.core.types import Trial
from iosonde.core.units import format_size
from iosonde.core.words import counted
from iosonde.measure.spec import CommandStep

from .campaign import Campaign
from .needs import work_of


def fits_in_memory(campaign: Campaign, trials: Sequence[Trial], memory_bytes: int) -> Iterator[str]:
    """A sentence where what the commands of ``trials`` move (``moves``) fits into ``memory_bytes`` of a node.

    Native workloads are asked about nothing: they drop and look for their files in the cache, trial by trial (S104).
    Where ``moves`` is not given nothing is known of a command, and nothing is said.
    """
    if not campaign.terms.moves or not any(isinstance(step, CommandStep) for step in campaign.spec.steps):
        return
    work = work_of(campaign)
    moved = [found.n_bytes / _nodes(trial) for trial in trials if (found := work(trial.factors))]
    small = [n_bytes for n_bytes in moved if 0 < n_bytes <= memory_bytes]
    if small:
        of = "all trials" if len(small) == len(moved) else f"{counted(len(small), 'trial')} of {len(moved)}"
        yield (f"in {of} a node moves at most {format_size(max(small))}, which fits into this node's memory: "
               "what is read again may come from there (S104); cache: drop empties it between trials only, larger "
               "files or O_DIRECT go past it")  # fmt: skip


def _nodes(trial: Trial) -> int:
    nodes = trial.factors.get("nodes")
    return nodes if isinstance(nodes, int) else 1
