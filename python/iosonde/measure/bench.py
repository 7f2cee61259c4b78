"""What all trials of one campaign share, and where they have their directories."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from iosonde.ranks.forked import ForkedRanks
from iosonde.ranks.launch import Launcher

from . import conditions, faults
from .collect.commands import Parse
from .servers_seen import ServerHands
from .spec import CacheRegime, CommandStep, Control, Step


class TrialDirectories(Protocol):
    """Where trials have their directories: a ``workspace.Workspace``, or one that a ``keeper`` looks after."""

    def trial(self, name: str) -> Path:
        """Make the directory of a trial."""

    def verify(self, name: str) -> None:
        """Raises TargetFaultError if it is not there any more."""

    def remove_trial(self, name: str) -> None:
        """Remove it."""

    def suspect(self) -> None:
        """Ranks hung on the target."""


@dataclass(frozen=True)
class Bench:
    """What all trials of one campaign share. ``facts`` are stored with each run; ``allocation`` numbers the set of
    nodes (a resume on other nodes has another number). ``workspace`` is None where commands alone are run and there is
    no target: they say themselves where they write. ``parse`` reads what a step with ``parse`` printed. In ``remember``
    is kept what cannot be removed before a process that hangs has ended (`leftovers.remove_remembered`). ``forked``
    makes the rank of trials that have one, on this host. ``look`` asks the target's file system how it is, where that
    answers; ``server_hands`` are hands on the servers themselves, in an emulated cluster, and ``lab`` is what is asked
    of that.
    """

    experiment: str
    steps: tuple[Step, ...]
    launcher: Launcher
    workspace: TrialDirectories | None
    facts: dict[str, Any]
    max_operations: int
    idle_s: float
    set_up: tuple[CommandStep, ...] = ()
    tear_down: tuple[CommandStep, ...] = ()
    controls: tuple[Control, ...] = ()
    servers: tuple[str, ...] = ()
    cache: CacheRegime = CacheRegime()
    parse: Parse | None = None
    on_tick: Callable[[Any], None] | None = None
    spool_parent: Path | None = None
    allocation: int = 0
    remember: Path | None = None
    forked: ForkedRanks | None = None
    look: conditions.Look | None = None
    server_hands: ServerHands | None = None
    lab: faults.LabOrders | None = None

    @property
    def sets(self) -> bool:
        """Whether a trial brings something into a state before it measures."""
        return bool(self.set_up) or any(control.set for control in self.controls)

    @property
    def filesystem(self) -> dict[str, Any]:
        """What the target's file system says of itself."""
        return (self.facts.get("machine") or {}).get("filesystem") or {}

    @property
    def filesystem_type(self) -> str:
        """Of the target's file system, as its mount says."""
        return str(((self.facts.get("machine") or {}).get("mount") or {}).get("type") or "")
