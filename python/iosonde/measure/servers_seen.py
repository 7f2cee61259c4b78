"""The servers of an emulated cluster around a trial: their state as they see it themselves, and what they counted.

Who stands beside the servers is passed in: a client of a real system cannot ask them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iosonde.core.errors import IosondeError
from iosonde.core.types import Observation
from iosonde.ranks.machine import TargetCondition
from iosonde.ranks.machine.filesystems.family import condition

RAW = "servers-profile.json"
OPERATION = "servers"
_COUNT = re.compile(r" ?\(?(?<![\w.:])\d+(?:[./]\d+)?%?\)?(?![\w.:])")
# Key of what they counted together → unit.
_TOGETHER = {"read_bytes": "bytes", "written_bytes": "bytes", "operations": "operations"}


def without_counts(complaint: str) -> str:
    """``2 chunks have one copy`` → ``chunks have one copy``: trials with the same trouble have the same level."""
    return _COUNT.sub("", complaint).strip()


@dataclass(frozen=True)
class ServerHands:
    """``states``: host → (what serves there, whether that is well). ``health`` is what the servers' own tools complain
    of besides, such as copies that do not agree: a client may have no such tool. ``count`` has the servers count from
    zero and ``counted`` tells what they did since, as plain values; None where that is not asked for. All may raise
    IosondeError. ``tell`` is the command that prints what ``counted`` does, for rank 0; empty where it is not asked."""

    states: Callable[[], Mapping[str, tuple[str, bool]]]
    health: Callable[[], list[str]] = list
    count: Callable[[], None] | None = None
    counted: Callable[[], dict[str, Any]] | None = None
    tell: tuple[str, ...] = ()


@dataclass
class ServersOfTrial:
    """What is known of them before and after one trial; nothing where there are no ``hands``."""

    hands: ServerHands | None
    facts: dict[str, Any] = field(default_factory=dict)
    raw: dict[str, bytes | Path] = field(default_factory=dict)
    observations: list[Observation] = field(default_factory=list)

    def look(self, when: str, client_condition: TargetCondition | None) -> TargetCondition | None:
        """The states ``when`` (before, after), and the condition with what troubles the servers where the client knows
        of no trouble. Where all serve they are asked for more than that."""
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
            troubles = list(dict.fromkeys(map(without_counts, complaints)))
        if not states and not troubles:
            return client_condition
        self.facts[when] = {host: says for host, (says, _) in states.items()}
        if client_condition is None:
            return condition(troubles)
        return {**client_condition, "health": client_condition["health"] or troubles}

    def count(self) -> None:
        """Have them count, where that is asked for."""
        if self.hands and self.hands.count:
            try:
                self.hands.count()
            except IosondeError as error:
                self.facts["profile"] = {"why_not": error.message}

    def counted(self, repetition: int) -> None:
        """Keep what they counted: all of it as it is, and the sums."""
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
