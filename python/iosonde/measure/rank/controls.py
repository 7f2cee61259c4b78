"""Preparation of a trial: set caches and factors to the requested state, and verify it.

A failure is reported in a message, and the trial ends: a level that was not set, or a mount that stayed, must not
become a column of the results.
"""

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from iosonde.core.errors import IosondeError, SystemFaultError
from iosonde.core.level_text import is_same_level
from iosonde.core.message import Message, restore_message
from iosonde.core.types import FactorValue, level_text
from iosonde.measure import placeholders
from iosonde.measure.assignment import Assignment
from iosonde.measure.spec import CACHE_DROP, CACHE_NONE, CACHE_REMOUNT, SINGLE, CacheRegime, Control
from iosonde.ranks import mpi
from iosonde.ranks.heartbeat import RUNNING, Heartbeat, Pulse

from . import hooks, mounted
from .commands import collect_placeholder_values
from .mounted import RemountDone, utc_now

DROP_CACHES = Path("/proc/sys/vm/drop_caches")


def prepare_caches_and_levels(
    assignment: Assignment, ranks: mpi.Ranks, heart: Heartbeat
) -> tuple[list[str], list[RemountDone]]:
    """Set the caches, then every factor with a control. Return failures on any rank, as messages, and the remounts; the
    same on all ranks."""
    regime, variables = assignment.regime, collect_placeholder_values(assignment, ranks)
    anew: list[RemountDone] = []
    if regime.between_trials != CACHE_NONE:
        faults = _collect_faults(
            ranks,
            heart,
            "caches",
            ranks.local_rank == 0,
            lambda: anew.extend(drop_or_remount_caches(regime, variables)),
        )
        anew = [
            {**entry, "host": ranks.hosts[rank].name} for rank, of in enumerate(ranks.all_gather(anew)) for entry in of
        ]
        if faults:
            return faults, anew
    for control in assignment.factor_controls:
        mine = ranks.rank == 0 if control.on == SINGLE else ranks.local_rank == 0
        faults = _collect_faults(ranks, heart, control.factor, mine, partial(apply_level, control, variables))
        if faults:
            return faults, anew
    return [], anew


def _collect_faults(ranks: mpi.Ranks, heart: Heartbeat, what: str, mine: bool, act: Callable[[], None]) -> list[str]:
    message: Message | None = None
    if mine:
        heart.enter(what, RUNNING, pulse=Pulse(""))
        try:
            act()
        except IosondeError as error:
            where = f" (on {ranks.hosts[ranks.rank].name})" if ranks.nodes > 1 else ""
            message = restore_message(error.code, f"{error.message}{where}", error.values)
    ranks.wait_for_all()
    return [sentence for sentence in ranks.all_gather(message) if sentence]


def apply_level(control: Control, variables: dict[str, FactorValue]) -> None:
    """Set one factor to its level and read it back. Raises SystemFaultError if it did not take."""
    level = variables[control.factor]
    names = variables | {placeholders.LEVEL: level}
    for command in (control.set, control.read):
        placeholders.check_plain(command, names, f"factor {control.factor}")
    environment = placeholders.values_to_environment(names)
    if control.set:
        hooks.run(placeholders.fill(control.set, names), environment, f"factor {control.factor}: the command")
    if control.read:
        actual = _read_level(control, names, environment)
        if not is_same_level(level, actual):
            raise SystemFaultError(
                "level-not-set",
                "factor {factor}: level {level} did not take, the system says {actual}",
                "try the command that sets it by hand, and check the output of the one that reads it",
                factor=control.factor,
                level=level_text(level),
                actual=actual[:80] or "nothing",
            )


def _read_level(control: Control, names: dict[str, FactorValue], environment: dict[str, str]) -> str:
    """Return the output of the command that reads it; '' if there is none."""
    if not control.read:
        return ""
    placeholders.check_plain(control.read, names, f"factor {control.factor}")
    read = placeholders.fill(control.read, names)
    return hooks.run(read, environment, f"factor {control.factor}: the command").strip()


def drop_or_remount_caches(regime: CacheRegime, variables: dict[str, FactorValue]) -> list[RemountDone]:
    """Drop the kernel's caches of this node, or remount the target on it. Return the remounts. Raises
    SystemFaultError."""
    if regime.between_trials == CACHE_DROP:
        drop_caches()
    return [remount_target(regime, variables)] if regime.between_trials == CACHE_REMOUNT else []


def drop_caches(switch: Path = DROP_CACHES) -> None:
    """Write everything out, then drop the page cache, names and attributes of all file systems of this node."""
    os.sync()
    try:
        switch.write_text("3\n")
    except OSError as error:
        raise SystemFaultError(
            "cache-not-dropped",
            "cannot drop the kernel's caches: {reason} ({path})",
            "only root may: run as root, or take 'remount', or none with {spell.cache} cold of the native workloads",
            reason=error.strerror,
            path=switch,
        ) from error


def remount_target(regime: CacheRegime, variables: dict[str, FactorValue], mounts: Path = mounted.TABLE) -> RemountDone:
    """Unmount and mount the target's file system, and verify both in the mount table. Return when, and how long each
    took."""
    target, environment = str(variables["TARGET_ROOT"]), placeholders.values_to_environment(variables)
    for command in (regime.unmount, regime.mount):
        placeholders.check_plain(command, variables, "cache")
    os.chdir("/")  # our own working directory must not keep it busy
    before = mounted.mount_of(target, mounts.read_text())
    at, began_s = utc_now(), time.monotonic()
    hooks.run(placeholders.fill(regime.unmount, variables), environment, "the command that unmounts")
    between = mounted.mount_of(target, mounts.read_text())
    if between == before:
        raise SystemFaultError(
            "still-mounted",
            "'{command}' succeeded, but {mount_point} is still mounted",
            "unmount the target's file system; it may be in use (fuser -m)",
            command=regime.unmount,
            mount_point=before[1],
        )
    unmounted_s = time.monotonic()
    hooks.run(placeholders.fill(regime.mount, variables), environment, "the command that mounts")
    mounted_s = time.monotonic()
    after = mounted.mount_of(target, mounts.read_text())
    if after[1] != before[1] or after == between:
        raise SystemFaultError(
            "not-mounted",
            "'{command}' succeeded, but nothing is mounted at {mount_point}",
            "mount the target at its former mount point",
            command=regime.mount,
            mount_point=before[1],
        )
    return {"mount": after[1], "at": at, "unmount_s": unmounted_s - began_s, "mount_s": mounted_s - unmounted_s}
