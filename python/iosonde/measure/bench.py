"""The shared settings of all trials of one campaign, and the directories of trials."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iosonde.ranks.forked import ForkedRanks
from iosonde.ranks.launch import Launcher

from . import faults
from .collect.commands import Parse
from .servers_seen import Look, ServerHands
from .spec import CacheRegime, CommandStep, Control, Step
from .target.keeper import ManagedWorkspace
from .target.workspace import Workspace


@dataclass(frozen=True)
class Bench:
    """The shared settings of all trials of one campaign. ``facts`` are stored with each run. ``allocation`` numbers the
    set of nodes (a resume on other nodes has another number). ``workspace`` is None without a target: commands choose
    where they write. ``parse`` reads the output of a step with ``parse``. ``remember`` holds what cannot be removed
    until a hung process ends (`leftovers.remove_remembered`). ``forked`` makes the ranks of single-rank trials on this
    host. ``look`` returns the condition of the target's file system, if known. ``server_hands`` act on the servers
    themselves, in an emulated cluster, and ``lab`` holds its orders.
    """

    experiment: str
    steps: tuple[Step, ...]
    launcher: Launcher
    workspace: Workspace | ManagedWorkspace | None
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
    look: Look | None = None
    server_hands: ServerHands | None = None
    lab: faults.LabOrders | None = None

    @property
    def sets(self) -> bool:
        """Return whether a trial sets anything before it measures."""
        return bool(self.set_up) or any(control.set for control in self.controls)

    @property
    def filesystem(self) -> dict[str, Any]:
        """The target's file system as it describes itself."""
        return (self.facts.get("machine") or {}).get("filesystem") or {}

    @property
    def filesystem_type(self) -> str:
        """Type of the target's file system, as its mount says."""
        return str(((self.facts.get("machine") or {}).get("mount") or {}).get("type") or "")
