"""What is checked before anything is made: target, places of the store and the spool, launcher, space, limits."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.core.errors import InputError
from iosonde.core.units import format_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iosonde.core.types import Trial
    from iosonde.measure.envelope import Settings
    from iosonde.measure.forecast import Measured
    from iosonde.ranks.launch import Launcher

    from ._campaign import Wanted

# What a rank takes that has started and recorded little: Python, NumPy and an MPI library.
RANK_BYTES = 64 * 2**20


@dataclass(frozen=True)
class Ready:
    """What a campaign starts with. ``facts`` are the machine's, ``expected_s`` all trials that are ahead."""

    launcher: Launcher
    settings: Settings
    facts: dict[str, Any]
    expected_s: float


def places(wanted: Wanted) -> None:
    """Refuse a target that is none, and a store or a spool that lies on it. Raises InputError."""
    from iosonde.measure import target as targets

    target, store = wanted.target_path, Path(wanted.store).resolve()
    if _below(store, target):
        raise InputError(
            f"the store {wanted.store} lies on the target {wanted.target}",
            "give another place with --store: keeping results must not disturb what is measured",
        )
    targets.check(target, targets.Need(0, 0), targets.Limits())
    spool = Path(wanted.spool or tempfile.gettempdir()).resolve()
    if _below(spool, target):
        raise InputError(
            f"the ranks' temporary results would lie on the target: {spool}",
            "give another place with --spool, as /dev/shm: keeping results must not disturb what is measured",
        )
    if not spool.is_dir() or not os.access(spool, os.W_OK | os.X_OK):
        raise InputError(
            f"the ranks cannot leave results in {spool}", "name with --spool a directory that is there and yours"
        )


def ready(wanted: Wanted, ahead: Sequence[Trial], measured: Sequence[Measured]) -> Ready:
    """Refuse what the target, the limits or the launcher cannot give. ``measured``: as of ``forecast``."""
    from iosonde.measure import forecast
    from iosonde.ranks import machine

    launcher, settings = wanted.find_launcher(), wanted.settings()
    ranks, memory = max(wanted.nodes) * wanted.ranks_per_node, machine.memory_bytes()
    if launcher.name == "local" and ranks * RANK_BYTES > memory:
        raise InputError(
            f"{ranks} ranks on this host need about {format_size(ranks * RANK_BYTES)} of memory, it has "
            f"{format_size(memory)}",
            "ask for fewer ranks, or for more hosts with --hosts FILE",
        )
    expected_s = forecast.forecast(ahead, measured, forecast.envelope_work(settings)).total_s
    facts = machine.facts(wanted.target_path)
    room(wanted, expected_s, facts)
    return Ready(launcher, settings, facts, expected_s)


def room(wanted: Wanted, expected_s: float, facts: dict[str, Any]) -> None:
    """Refuse what the target or the limits cannot hold. Raises InputError."""
    from iosonde.measure import envelope
    from iosonde.measure import target as targets

    settings, ranks = wanted.settings(), max(wanted.nodes) * wanted.ranks_per_node
    need = targets.Need(envelope.bytes_needed(settings, ranks), envelope.files_needed(settings, ranks), expected_s)
    limits = targets.Limits(wanted.max_bytes, wanted.max_files, wanted.max_seconds)
    targets.check(wanted.target_path, need, limits, _quota_free(facts))


def _below(path: Path, target: Path) -> bool:
    return path == target or target in path.parents


def _quota_free(facts: dict[str, Any]) -> int | None:
    """The least that any quota on the target leaves, in bytes; None if there is none that is known."""
    free = [entry["free_bytes"] for entry in facts["quota"] or () if entry["free_bytes"] is not None]
    return min(free, default=None)
