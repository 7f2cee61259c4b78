"""State of the target's file system before and after a trial: its health, and the options in effect. In an emulated
cluster also the state of its servers in their own view, and their counters.

Access to the servers is passed in: a client of a real system cannot query them.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iosonde.core.errors import IosondeError
from iosonde.core.schema import WELL
from iosonde.core.types import Observation
from iosonde.ranks.machine import TargetCondition
from iosonde.ranks.machine.filesystems.family import build_condition

# Time limits for an answer: usual, and after ranks hung on the target, when little of the 10 s remains.
LOOK_S, SOON_S = 8.0, 2.5

# Time limit in s → the current condition; None if unknown.
Look = Callable[[float], TargetCondition | None]


def build_condition_facts(before: TargetCondition | None, after: TargetCondition | None, sets: bool) -> dict[str, Any]:
    """Return the stored record of both checks. ``sets``: the trial sets options itself, so that the earlier ones are
    not its level."""
    looks = {"before": before, "after": after}
    states = {when: {"at": look["at"], "health": look["health"]} if look else None for when, look in looks.items()}
    return {**states, "options": _compare_options(before, after, sets)}


def compute_condition_level(before: TargetCondition | None, after: TargetCondition | None) -> str | None:
    """Return the trial's level: ``ok``, ``n2 down``, ``ok, then n2 down``. None if neither check knows it; if only one
    does, its level."""
    levels = ["; ".join(look["health"]) or WELL for look in (before, after) if look and look["health"] is not None]
    return ", then ".join(dict.fromkeys(levels)) or None


def _compare_options(before: TargetCondition | None, after: TargetCondition | None, sets: bool) -> dict[str, str]:
    first, last = (condition["options"] if condition else {} for condition in (before, after))
    if sets or not first or not last:
        return last or first
    return {
        name: _join_levels(first.get(name), last.get(name))
        for name in (*last, *(name for name in first if name not in last))
    }


def _join_levels(first: str | None, last: str | None) -> str:
    return str(last) if first == last else f"{first or 'unset'}, then {last or 'unset'}"


RAW = "servers-profile.json"
OPERATION = "servers"
_COUNT = re.compile(r" ?\(?(?<![\w.:])\d+(?:[./]\d+)?%?\)?(?![\w.:])")
# Key of their summed counters → unit.
_TOGETHER = {"read_bytes": "bytes", "written_bytes": "bytes", "operations": "operations"}


def strip_counts(complaint: str) -> str:
    """Shorten ``2 chunks have one copy`` to ``chunks have one copy``: trials with the same trouble have the same
    level."""
    return _COUNT.sub("", complaint).strip()


@dataclass(frozen=True)
class ServerHands:
    """Access to the servers. ``states``: host → (its service, whether that is healthy). ``health`` lists further
    complaints of the servers' own tools, such as copies that differ: a client may have no such tool. ``count`` resets
    the servers' counters and ``counted`` returns them, as plain values; None if not requested. All may raise
    IosondeError. ``tell`` is the command that prints the same as ``counted``, for rank 0; empty if not requested.
    """

    states: Callable[[], Mapping[str, tuple[str, bool]]]
    health: Callable[[], list[str]] = list
    count: Callable[[], None] | None = None
    counted: Callable[[], dict[str, Any]] | None = None
    tell: tuple[str, ...] = ()


@dataclass
class ServersOfTrial:
    """State of the servers before and after one trial; empty without ``hands``."""

    hands: ServerHands | None
    facts: dict[str, Any] = field(default_factory=dict)
    raw: dict[str, bytes | Path] = field(default_factory=dict)
    observations: list[Observation] = field(default_factory=list)

    def look(self, when: str, client_condition: TargetCondition | None) -> TargetCondition | None:
        """Record the states ``when`` (before, after). Return the condition, with the servers' troubles if the client
        knows of none. If all servers are up, their health is checked, too."""
        if self.hands is None:
            return client_condition
        try:
            states = self.hands.states()
            troubles = [f"{host}: {says}" for host, (says, well) in states.items() if not well]
            complaints = [] if troubles else self.hands.health()
        except IosondeError as error:
            states, complaints = {"servers": (error.message, False)}, []
            troubles = [error.message.prefixed("servers")]
        if complaints:
            self.facts.setdefault("complaints", {})[when] = complaints
            troubles = list(dict.fromkeys(map(strip_counts, complaints)))
        if not states and not troubles:
            return client_condition
        self.facts[when] = {host: says for host, (says, _) in states.items()}
        if client_condition is None:
            return build_condition(troubles)
        return {**client_condition, "health": client_condition["health"] or troubles}

    def count(self) -> None:
        """Start counting, if requested."""
        if self.hands and self.hands.count:
            try:
                self.hands.count()
            except IosondeError as error:
                self.facts["profile"] = {"why_not": error.message}

    def counted(self, repetition: int) -> None:
        """Keep their counters, complete and summed."""
        if not self.hands or not self.hands.counted or "profile" in self.facts:
            return
        try:
            counts = self.hands.counted()
        except IosondeError as error:
            self.facts["profile"] = {"why_not": error.message}
            return
        self.raw[RAW] = json.dumps(counts, indent=1).encode()
        self.facts["profile"] = counts["together"]
        self.observations += [
            Observation(OPERATION, name, float(counts["together"][name]), unit, repetition=repetition)
            for name, unit in _TOGETHER.items()
        ]
