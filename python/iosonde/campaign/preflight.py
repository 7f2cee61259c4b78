"""What is checked before anything is made: target, places of the store and the spool, launcher, space, limits."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from iosonde.core.errors import InputError
from iosonde.core.message import Message, spell
from iosonde.core.types import Trial
from iosonde.core.units import format_size
from iosonde.core.words import counted
from iosonde.foreign.child import LIMIT_S
from iosonde.measure.asked_commands import check_names
from iosonde.measure.target.keeper import Keeper
from iosonde.measure.target.space import Limits, Need, QuotaFree, check_limits
from iosonde.ranks import machine, rollcall
from iosonde.ranks.launch import Launcher
from iosonde.ranks.machine import NO_TARGET, Facts, mount

from . import mpi_steps, roles, targets
from .asked_of import misnamed
from .campaign import Campaign
from .forecast import FinishedTrial, Forecast
from .in_memory import fits_in_memory
from .needs import forecast, space
from .skipped import skipped

# What a rank takes that has started and recorded little: Python, NumPy and an MPI library.
RANK_BYTES = 64 * 2**20


@dataclass(frozen=True)
class Ready:
    """What a campaign starts with. ``facts`` are the machine's with each target's, by its name; ``expected_s`` is of
    all trials that are ahead, ``jobs`` are the MPI jobs in them, whose launchers were tried; ``unchecked`` says what
    could not be held against a limit, and what may come from memory."""

    launcher: Launcher
    facts: Mapping[str, Facts]
    expected_s: float
    jobs: tuple[mpi_steps.MpiJob, ...] = ()
    unchecked: tuple[str, ...] = ()

    @property
    def node(self) -> Facts:
        """The machine's facts; what of them is a target's is of the first."""
        return next(iter(self.facts.values()))


def keeper(idle_s: float | None, waiting: Callable[[str, float], None]) -> Keeper:
    """The hands on the target, which wait for it no longer than for ranks that do not get on (``idle_s``)."""
    return Keeper(min(LIMIT_S, idle_s or LIMIT_S), waiting)


def places(campaign: Campaign, keeper: Keeper) -> None:
    """Refuse a target that is none, and a store or a spool that lies on it; and commands in which a shell would take
    a target's name apart. Raises InputError."""
    spool = Path(campaign.spool or tempfile.gettempdir()).resolve()
    for name, target in campaign.spec.targets.items():
        with targets.prefix_target_errors(name):
            _check_apart(campaign, target, spool)
            keeper.check(target, Need(0, 0), Limits())
    if not spool.is_dir() or not os.access(spool, os.W_OK | os.X_OK):
        raise InputError(
            "directory-not-writable",
            "the ranks cannot leave results in {directory}",
            "name with {spell.spool} a directory that is there and yours",
            directory=spool,
        )
    for place in campaign.spec.targets.values() or (None,):
        check_names(campaign.spec, place, spool)


def _check_apart(campaign: Campaign, target: Path, spool: Path) -> None:
    if mount.is_below(str(Path(campaign.store).resolve()), str(target)):
        raise InputError(
            "store-on-target",
            "the store {store} lies on the target {target}",
            "give another place with {spell.store}: keeping results must not disturb what is measured",
            store=campaign.store,
            target=target,
        )
    if mount.is_below(str(spool), str(target)):
        raise InputError(
            "spool-on-target",
            "the ranks' temporary results would lie on the target: {spool}",
            "give another place with {spell.spool}, as /dev/shm: keeping results must not disturb what is measured",
            spool=spool,
        )


def ready(campaign: Campaign, ahead: Sequence[Trial], measured: Sequence[FinishedTrial], keeper: Keeper) -> Ready:
    """Refuse what the target, the limits or the launcher cannot give. ``measured``: as of ``forecast``."""
    launcher = campaign.find_launcher()
    ranks, memory = campaign.max_ranks, machine.memory_bytes()
    if launcher.name == "local" and ranks * RANK_BYTES > memory:
        raise InputError(
            "insufficient-memory",
            "{ranks} ranks on this host need about {needed_memory} of memory, it has {available_memory}",
            "ask for fewer ranks, or for more hosts with {spell.hosts:FILE}",
            ranks=ranks,
            needed_memory=format_size(ranks * RANK_BYTES),
            available_memory=format_size(memory),
        )
    expected = forecast(campaign, ahead, measured)
    facts = machine_facts(campaign, keeper)
    room(campaign, expected.total_s, facts, keeper)
    if launcher.name != "local":
        spool = Path(campaign.spool) if campaign.spool else None
        targets = tuple(campaign.spec.targets.values())
        rollcall.call(launcher, max(campaign.nodes), where=spool, targets=targets, leave_results=True)
    jobs = mpi_steps.tried(campaign.spec, ahead, launcher)
    messages = (
        *unchecked(campaign, expected),
        *misnamed(campaign),
        *roles.misplaced(campaign, next(iter(facts.values()))),
        *fits_in_memory(campaign, ahead, memory),
        *skipped(campaign, ahead, facts),
    )
    return Ready(launcher, facts, expected.total_s, jobs, messages)


def unchecked(campaign: Campaign, expected: Forecast) -> Iterator[str]:
    """Which limits were given and cannot be checked, a sentence each: of a command nothing is known before it ran."""
    terms = campaign.terms
    if terms.max_seconds is not None and expected.unknown:
        yield Message(
            "unchecked-limit",
            "{spell.max_seconds} is not checked: how long {trials} will take is not known",
            options="max_seconds",
            trials=counted(expected.unknown, "trial"),
        )
    limits = [name for name in ("max_bytes", "max_files") if getattr(terms, name) is not None]
    if limits and len(campaign.spec.native) < len(campaign.spec.steps):
        yield Message(
            "unchecked-limit",
            "{flags} does not cover the commands: what they write is not known"
            if len(limits) == 1
            else "{flags} do not cover the commands: what they write is not known",
            options=" ".join(limits),
            flags=" and ".join(f"{getattr(spell, name)}" for name in limits),
        )


def machine_facts(campaign: Campaign, keeper: Keeper) -> dict[str, Facts]:
    """The machine's facts with those of each target, by its name; without any nothing is said of a file system."""
    node, facts_by_target = machine.node_facts(), {}
    for name, target in campaign.spec.targets.items():
        with targets.prefix_target_errors(name):
            facts_by_target[name] = Facts(**{**node, **keeper.facts(target)})
    return facts_by_target or {"": Facts(**{**node, **NO_TARGET})}


def room(campaign: Campaign, expected_s: float, facts: Mapping[str, Facts], keeper: Keeper) -> None:
    """Refuse what a target or the limits cannot hold. Raises InputError."""
    terms = campaign.terms
    limits = Limits(terms.max_bytes, terms.max_files, terms.max_seconds)
    need = Need(*space(campaign), expected_s)
    if not campaign.spec.targets:
        check_limits(need, limits)
    for name, target in campaign.spec.targets.items():
        with targets.prefix_target_errors(name):
            keeper.check(target, need, limits, quota_free(facts[name]))


def temporary_off(target: Path) -> None:
    """Refuse a directory for temporary files that lies on the target. Raises InputError."""
    place = Path(tempfile.gettempdir()).resolve()
    if mount.is_below(str(place), str(target)):
        raise InputError(
            "spool-on-target",
            "the ranks' temporary results would lie on the target: {directory}",
            "give another place with TMPDIR, as /dev/shm: keeping results must not disturb what is measured",
            directory=place,
        )


def quota_free(facts: Facts) -> QuotaFree:
    """The least that any quota on the target leaves."""
    n_bytes = [entry["free_bytes"] for entry in facts["quota"] or () if entry["free_bytes"] is not None]
    n_files = [entry["free_files"] for entry in facts["quota"] or () if entry["free_files"] is not None]
    return QuotaFree(min(n_bytes, default=None), min(n_files, default=None))
