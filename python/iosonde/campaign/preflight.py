"""What is checked before anything is made: target, places of the store and the spool, launcher, space, limits."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from iosonde.core.errors import InputError
from iosonde.core.types import Trial
from iosonde.core.units import format_size
from iosonde.measure import trial
from iosonde.measure.target.keeper import Keeper
from iosonde.measure.target.space import Limits, Need, check_limits
from iosonde.ranks import machine, rollcall
from iosonde.ranks.helper import LIMIT_S
from iosonde.ranks.launch import Launcher
from iosonde.ranks.machine import NO_TARGET, Facts

from .campaign import Campaign
from .forecast import FinishedTrial
from .needs import forecast, space

# What a rank takes that has started and recorded little: Python, NumPy and an MPI library.
RANK_BYTES = 64 * 2**20


@dataclass(frozen=True)
class Ready:
    """What a campaign starts with. ``facts`` are the machine's, ``expected_s`` all trials that are ahead."""

    launcher: Launcher
    facts: Facts
    expected_s: float


def keeper(idle_s: float | None, waiting: Callable[[str, float], None]) -> Keeper:
    """The hands on the target, which wait for it no longer than for ranks that do not get on (``idle_s``)."""
    return Keeper(min(LIMIT_S, idle_s or LIMIT_S), waiting)


def places(campaign: Campaign, keeper: Keeper) -> None:
    """Refuse a target that is none, and a store or a spool that lies on it; and commands in which a shell would take
    the target's name apart. Raises InputError."""
    target, store = campaign.spec.target, Path(campaign.store).resolve()
    if target and _below(store, target):
        raise InputError(
            f"the store {campaign.store} lies on the target {target}",
            "give another place with --store: keeping results must not disturb what is measured",
        )
    if target:
        keeper.check(target, Need(0, 0), Limits())
    spool = Path(campaign.spool or tempfile.gettempdir()).resolve()
    if target and _below(spool, target):
        raise InputError(
            f"the ranks' temporary results would lie on the target: {spool}",
            "give another place with --spool, as /dev/shm: keeping results must not disturb what is measured",
        )
    if not spool.is_dir() or not os.access(spool, os.W_OK | os.X_OK):
        raise InputError(
            f"the ranks cannot leave results in {spool}", "name with --spool a directory that is there and yours"
        )
    trial.check_names(campaign.spec, target, spool)


def ready(campaign: Campaign, ahead: Sequence[Trial], measured: Sequence[FinishedTrial], keeper: Keeper) -> Ready:
    """Refuse what the target, the limits or the launcher cannot give. ``measured``: as of ``forecast``."""
    launcher = campaign.find_launcher()
    ranks, memory = campaign.max_ranks, machine.memory_bytes()
    if launcher.name == "local" and ranks * RANK_BYTES > memory:
        raise InputError(
            f"{ranks} ranks on this host need about {format_size(ranks * RANK_BYTES)} of memory, it has "
            f"{format_size(memory)}",
            "ask for fewer ranks, or for more hosts with --hosts FILE",
        )
    expected_s = forecast(campaign, ahead, measured).total_s
    facts = machine_facts(campaign, keeper)
    room(campaign, expected_s, facts, keeper)
    if launcher.name != "local":
        rollcall.call(launcher, max(campaign.nodes))
    return Ready(launcher, facts, expected_s)


def machine_facts(campaign: Campaign, keeper: Keeper) -> Facts:
    """The machine's facts; without a target nothing is said of a file system."""
    target = campaign.spec.target
    return {**machine.node_facts(), **(keeper.facts(target) if target else NO_TARGET)}


def room(campaign: Campaign, expected_s: float, facts: Facts, keeper: Keeper) -> None:
    """Refuse what the target or the limits cannot hold. Raises InputError."""
    terms = campaign.terms
    limits = Limits(terms.max_bytes, terms.max_files, terms.max_seconds)
    need = Need(*space(campaign), expected_s)
    if campaign.spec.target:
        keeper.check(campaign.spec.target, need, limits, _quota_free(facts))
    else:
        check_limits(need, limits)


def _below(path: Path, target: Path) -> bool:
    return path == target or target in path.parents


def _quota_free(facts: Facts) -> int | None:
    """The least that any quota on the target leaves, in bytes; None if there is none that is known."""
    free = [entry["free_bytes"] for entry in facts["quota"] or () if entry["free_bytes"] is not None]
    return min(free, default=None)
