"""Before the steps of a trial: caches and factors are brought into the state that was asked for, and looked at.

What did not happen is said in a sentence, and the trial goes no further: a level that did not take, or a mount that
stayed, must not become a column of the results.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from iosonde.core.errors import IosondeError, SystemFaultError
from iosonde.core.level_text import same_level
from iosonde.core.types import FactorValue, level_text
from iosonde.measure import placeholders
from iosonde.measure.assignment import Assignment
from iosonde.measure.spec import CACHE_DROP, CACHE_NONE, CACHE_REMOUNT, SINGLE, CacheRegime, Control
from iosonde.ranks import mpi
from iosonde.ranks.heartbeat import RUNNING, Heartbeat
from iosonde.ranks.pulse import Pulse

from . import hooks
from .commands import values

DROP_CACHES = Path("/proc/sys/vm/drop_caches")
MOUNTS = Path("/proc/self/mountinfo")


def prepare(assignment: Assignment, ranks: mpi.Ranks, heart: Heartbeat) -> list[str]:
    """Caches first, then every factor with a control. What failed, on any rank, as sentences; the same on all ranks."""
    regime, known = assignment.regime, values(assignment, ranks)
    if regime.between_trials != CACHE_NONE:
        once_per_node = ranks.local_rank == 0
        faults = _agreed(ranks, heart, "caches", once_per_node, lambda: between_trials(regime, known))
        if faults:
            return faults
    for control in assignment.factor_controls:
        mine = ranks.rank == 0 if control.on == SINGLE else ranks.local_rank == 0
        faults = _agreed(ranks, heart, control.factor, mine, partial(apply, control, known))
        if faults:
            return faults
    return []


def found(assignment: Assignment, ranks: mpi.Ranks, heart: Heartbeat) -> dict[str, str]:
    """What the system says of each factor before the first trial sets anything; on rank 0. One that cannot be read yet
    is left out."""
    said: dict[str, str] = {}
    if assignment.look and ranks.rank == 0:
        known = values(assignment, ranks)
        for control in assignment.factor_controls:
            heart.enter(control.factor, RUNNING, pulse=Pulse(""))
            names = known | {placeholders.LEVEL: known[control.factor]}
            with suppress(IosondeError):
                said[control.factor] = _said(control, names, placeholders.as_environment(names))
    ranks.wait_for_all()
    return {factor: text for factor, text in said.items() if text}


def _agreed(ranks: mpi.Ranks, heart: Heartbeat, what: str, mine: bool, act: Callable[[], None]) -> list[str]:
    said = ""
    if mine:
        heart.enter(what, RUNNING, pulse=Pulse(""))
        try:
            act()
        except IosondeError as error:
            where = f" (on {ranks.hosts[ranks.rank].name})" if ranks.nodes > 1 else ""
            said = f"{error.message}{where}"
    ranks.wait_for_all()
    return [sentence for sentence in ranks.all_gather(said) if sentence]


def apply(control: Control, known: dict[str, FactorValue]) -> None:
    """Set one factor to its level and read it back. Raises SystemFaultError if it did not take."""
    level = known[control.factor]
    names = known | {placeholders.LEVEL: level}
    for command in (control.set, control.read):
        placeholders.check_plain(command, names, f"factor {control.factor}")
    environment = placeholders.as_environment(names)
    if control.set:
        hooks.run(placeholders.fill(control.set, names), environment, f"factor {control.factor}: the command")
    if control.read:
        said = _said(control, names, environment)
        if not same_level(level, said):
            raise SystemFaultError(
                f"factor {control.factor}: level {level_text(level)} did not take, the system says "
                f"{said[:80] or 'nothing'}",
                "try the command that sets it by hand, and look at what the one that reads it prints",
            )


def _said(control: Control, names: dict[str, FactorValue], environment: dict[str, str]) -> str:
    """What the command that reads it prints; '' where there is none."""
    if not control.read:
        return ""
    placeholders.check_plain(control.read, names, f"factor {control.factor}")
    read = placeholders.fill(control.read, names)
    return hooks.run(read, environment, f"factor {control.factor}: the command").strip()


def between_trials(regime: CacheRegime, known: dict[str, FactorValue]) -> None:
    """Drop the kernel's caches of this node, or remount the target on it. Raises SystemFaultError."""
    if regime.between_trials == CACHE_DROP:
        drop_caches()
    elif regime.between_trials == CACHE_REMOUNT:
        remount(regime, known)


def drop_caches(switch: Path = DROP_CACHES) -> None:
    """Write everything out, then drop the page cache, names and attributes of all file systems of this node."""
    os.sync()
    try:
        switch.write_text("3\n")
    except OSError as error:
        raise SystemFaultError(
            f"the kernel's caches cannot be dropped: {error.strerror} ({switch})",
            "only root may: run as root, or take 'remount', or none with --cache cold of the native workloads",
        ) from error


def remount(regime: CacheRegime, known: dict[str, FactorValue], mounts: Path = MOUNTS) -> None:
    """Unmount and mount the target's file system, and look in the mount table that both happened."""
    target, environment = str(known["TARGET_ROOT"]), placeholders.as_environment(known)
    for command in (regime.unmount, regime.mount):
        placeholders.check_plain(command, known, "cache")
    os.chdir("/")  # our own working directory must not keep it busy
    before = mount_of(target, mounts.read_text())
    hooks.run(placeholders.fill(regime.unmount, known), environment, "the command that unmounts")
    between = mount_of(target, mounts.read_text())
    if between == before:
        raise SystemFaultError(
            f"'{regime.unmount}' ended well, but {before[1]} is still mounted",
            "unmount what the target lies on; somebody may be using it (fuser -m)",
        )
    hooks.run(placeholders.fill(regime.mount, known), environment, "the command that mounts")
    after = mount_of(target, mounts.read_text())
    if after[1] != before[1] or after == between:
        raise SystemFaultError(
            f"'{regime.mount}' ended well, but nothing is mounted at {before[1]}",
            "mount the target where it was before",
        )


def mount_of(path: str, table: str) -> tuple[str, str]:
    """(mount id, mount point) of the file system that ``path`` lies on, from the text of a mountinfo (proc(5))."""
    found = ("", "")
    for line in table.splitlines():
        fields = line.split()
        if len(fields) < 5:
            continue
        point = _plain(fields[4])
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(found[1]):  # of several on one point the last hides the others
            found = (fields[0], point)
    return found


def _plain(text: str) -> str:
    """Blanks and backslashes are octal escapes in the table."""
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, character)
    return text
