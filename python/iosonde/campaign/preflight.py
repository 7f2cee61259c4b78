"""Checks before a campaign: target, places of the store and the spool, launcher, space, limits."""

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from iosonde.core.errors import InputError
from iosonde.core.message import Message, spell
from iosonde.core.types import Experiment, Trial
from iosonde.core.units import format_size
from iosonde.core.words import format_count
from iosonde.foreign.child import LIMIT_S
from iosonde.measure.asked_commands import check_names
from iosonde.measure.target.keeper import Keeper
from iosonde.measure.target.space import Limits, Need, QuotaFree, check_limits
from iosonde.ranks import machine, rollcall
from iosonde.ranks.launch import Launcher
from iosonde.ranks.machine import NO_TARGET, Facts, mount
from iosonde.store import Store
from iosonde.store.lock import lock_experiment

from . import mpi_steps, targets
from .asked_of import find_misspelled_factors
from .campaign import Campaign
from .forecast import FinishedTrial, Forecast
from .needs import compute_space_needed, forecast_campaign
from .plan_warnings import warn_if_fits_in_memory, warn_of_misplaced_roles, warn_of_skipped_phases

# Memory of a rank after its start: Python, NumPy and an MPI library.
RANK_BYTES = 64 * 2**20


@dataclass(frozen=True)
class Ready:
    """State of a campaign before its start.

    ``facts`` are the machine's with each target's, by its name; ``expected_s`` is that of all trials ahead. ``jobs``
    are their MPI jobs, whose launchers were tested. ``unchecked`` names limits that could not be checked, and data that
    may come from memory."""

    launcher: Launcher
    facts: Mapping[str, Facts]
    expected_s: float
    jobs: tuple[mpi_steps.MpiJob, ...] = ()
    unchecked: tuple[str, ...] = ()

    @property
    def node(self) -> Facts:
        """The machine's facts; facts about a target are those of the first."""
        return next(iter(self.facts.values()))


def open_keeper(idle_s: float | None, waiting: Callable[[str, float], None]) -> Keeper:
    """Open access to the target; its timeout is that of inactive ranks (``idle_s``)."""
    return Keeper(min(LIMIT_S, idle_s or LIMIT_S), waiting)


def check_places(campaign: Campaign, keeper: Keeper) -> None:
    """Refuse an invalid target, a store or a spool on it, and commands in which a shell would split a target's name.
    Raises InputError."""
    spool = Path(campaign.spool or tempfile.gettempdir()).resolve()
    for name, target in campaign.spec.targets.items():
        with targets.prefix_target_errors(name):
            _check_apart(campaign, target, spool)
            keeper.check(target, Need(0, 0), Limits())
    if not spool.is_dir() or not os.access(spool, os.W_OK | os.X_OK):
        raise InputError(
            "directory-not-writable",
            "the ranks cannot leave results in {directory}",
            "name with {spell.spool} an existing directory of yours",
            directory=spool,
        )
    for place in campaign.spec.targets.values() or (None,):
        check_names(campaign.spec, place, spool)


def refuse_store_on_target(store: Path, target: Path) -> None:
    """Raise InputError if the store lies on the target."""
    if mount.is_below(str(store.resolve()), str(target)):
        raise InputError(
            "store-on-target",
            "the store {store} lies on the target {target}",
            "choose another place with {spell.store}: storing results must not disturb the measurement",
            store=store,
            target=target,
        )


def _check_apart(campaign: Campaign, target: Path, spool: Path) -> None:
    refuse_store_on_target(Path(campaign.store), target)
    if mount.is_below(str(spool), str(target)):
        raise InputError(
            "spool-on-target",
            "the ranks' temporary results would lie on the target: {spool}",
            "choose another place with {spell.spool}, as /dev/shm: storing results must not disturb the measurement",
            spool=spool,
        )


def check_ready(campaign: Campaign, ahead: Sequence[Trial], measured: Sequence[FinishedTrial], keeper: Keeper) -> Ready:
    """Refuse trials beyond the target, the limits or the launcher. ``measured``: as in ``forecast``."""
    launcher = campaign.find_launcher()
    ranks, memory = campaign.max_ranks, machine.compute_usable_memory()
    if launcher.name == "local" and ranks * RANK_BYTES > memory:
        raise InputError(
            "insufficient-memory",
            "{ranks} ranks on this host need about {needed_memory} of memory, it has {available_memory}",
            "ask for fewer ranks, or for more hosts with {spell.hosts:FILE}",
            ranks=ranks,
            needed_memory=format_size(ranks * RANK_BYTES),
            available_memory=format_size(memory),
        )
    expected = forecast_campaign(campaign, ahead, measured)
    facts = collect_machine_facts(campaign, keeper)
    check_room(campaign, expected.total_s, facts, keeper)
    if launcher.name != "local":
        spool = Path(campaign.spool) if campaign.spool else None
        targets = tuple(campaign.spec.targets.values())
        rollcall.call_roll(launcher, max(campaign.nodes), where=spool, targets=targets, leave_results=True)
    jobs = mpi_steps.try_launches(campaign.spec, ahead, launcher)
    messages = (
        *warn_of_unchecked_limits(campaign, expected),
        *find_misspelled_factors(campaign),
        *warn_of_misplaced_roles(campaign, next(iter(facts.values()))),
        *warn_if_fits_in_memory(campaign, ahead, memory),
        *warn_of_skipped_phases(campaign, ahead, facts),
    )
    return Ready(launcher, facts, expected.total_s, jobs, messages)


def warn_of_unchecked_limits(campaign: Campaign, expected: Forecast) -> Iterator[str]:
    """Yield a sentence for each limit that cannot be checked, as far as the needs of commands are unknown."""
    terms = campaign.terms
    if terms.max_seconds is not None and expected.unknown:
        yield Message(
            "unchecked-limit",
            "{spell.max_seconds} is not checked: the duration of {trials} is unknown",
            options="max_seconds",
            trials=format_count(expected.unknown, "trial"),
        )
    limits = [name for name in ("max_bytes", "max_files") if getattr(terms, name) is not None]
    for step in compute_space_needed(campaign).uncounted if limits else ():
        yield Message(
            "unchecked-limit",
            "{flags} {verb} not cover '{command}': {reason}",
            options=" ".join(limits),
            flags=" and ".join(f"{getattr(spell, name)}" for name in limits),
            verb="does" if len(limits) == 1 else "do",
            command=step.command[:60],
            reason=step.reason,
        )


def collect_machine_facts(campaign: Campaign, keeper: Keeper) -> dict[str, Facts]:
    """Return the machine's facts with those of each target, by its name; without a target they omit a file system."""
    node, facts_by_target = machine.collect_node_facts(), {}
    for name, target in campaign.spec.targets.items():
        with targets.prefix_target_errors(name):
            facts_by_target[name] = Facts(**{**node, **keeper.facts(target)})
    return facts_by_target or {"": Facts(**{**node, **NO_TARGET})}


def check_room(campaign: Campaign, expected_s: float, facts: Mapping[str, Facts], keeper: Keeper) -> None:
    """Refuse trials that exceed a target or the limits. Raises InputError."""
    terms = campaign.terms
    limits = Limits(terms.max_bytes, terms.max_files, terms.max_seconds)
    space = compute_space_needed(campaign)
    need = Need(space.n_bytes, space.n_files, expected_s)
    if not campaign.spec.targets:
        check_limits(need, limits)
    for name, target in campaign.spec.targets.items():
        with targets.prefix_target_errors(name):
            keeper.check(target, need, limits, compute_quota_free(facts[name]))


def refuse_temporary_on_target(target: Path) -> None:
    """Refuse a directory for temporary files that lies on the target. Raises InputError."""
    place = Path(tempfile.gettempdir()).resolve()
    if mount.is_below(str(place), str(target)):
        raise InputError(
            "spool-on-target",
            "the ranks' temporary results would lie on the target: {directory}",
            "choose another place with TMPDIR, as /dev/shm: storing results must not disturb the measurement",
            directory=place,
        )


def compute_quota_free(facts: Facts) -> QuotaFree:
    """Return the least free space of all quotas on the target."""
    n_bytes = [entry["free_bytes"] for entry in facts["quota"] or () if entry["free_bytes"] is not None]
    n_files = [entry["free_files"] for entry in facts["quota"] or () if entry["free_files"] is not None]
    return QuotaFree(min(n_bytes, default=None), min(n_files, default=None))


def remove_leftovers(store: Store, target: Path, experiment: str, keeper: Keeper, say: Callable[[str], None]) -> None:
    """Remove data that earlier experiments left in the target, except that of ``experiment``, of a running measurement,
    or of other users."""
    others = [
        other.id for other in store.experiments() if other.id != experiment and str(target) in _list_targets(other)
    ]
    for old in keeper.list_leftovers(target, others):
        try:
            with lock_experiment(store.path, old):
                keeper.remove_leftover(target, old)
                say(
                    Message(
                        "stale-directory-removed",
                        "removed {path}, left by an earlier run",
                        path=f"{target}/iosonde-{old}",
                    )
                )
        except InputError as error:  # it is being measured, or another user's
            say(error.message.prefixed(f"{target}/iosonde-{old} stays"))


def _list_targets(experiment: Experiment) -> list[object]:
    settings = experiment.settings.get("probe", experiment.settings)
    return [settings.get("target"), *settings.get("targets", {}).values()]
